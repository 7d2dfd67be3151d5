"""Environments of the code under test: made once, kept, and told apart by everything that is in them."""

import subprocess
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pinctl.errors import CouldNotFindOutError
from pinctl.tools.python.environment import Recipe, python_for

BACKEND = Path(__file__).parents[3] / "cli" / "pinctl" / "demo" / "stack" / "_shared" / "pure_backend.py"


def write_project(directory: Path, *, value: str, dependencies: str = "[]") -> Path:
    (directory / "_backend").mkdir(parents=True)
    (directory / "_backend" / "pure_backend.py").write_bytes(BACKEND.read_bytes())
    (directory / "sample").mkdir()
    (directory / "sample" / "__init__.py").write_text(f"VALUE = {value!r}\n")
    (directory / "pyproject.toml").write_text(
        "[build-system]\nrequires = []\nbuild-backend = 'pure_backend'\nbackend-path = ['_backend']\n"
        "[project]\nname = 'sample'\nversion = '1.0'\ndescription = 'x'\nrequires-python = '>=3.11'\n"
        f"dependencies = {dependencies}\n"
    )
    return directory


@pytest.fixture(autouse=True)
def environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of environments: of this test alone."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "pinctl" / "environments"


class Counted:
    """Lays out a project, and counts how often."""

    def __init__(self, value: str = "new", dependencies: str = "[]") -> None:
        self.times = 0
        self._value = value
        self._dependencies = dependencies

    def __call__(self, directory: Path) -> Path:
        self.times += 1
        time.sleep(0.1)
        return write_project(directory, value=self._value, dependencies=self._dependencies)


def value_in(python: Path) -> str:
    command = [str(python), "-I", "-c", "import sample; print(sample.VALUE, end='')"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def left_in(environments: Path) -> list[str]:
    return sorted(path.name for path in environments.iterdir() if path.suffix != ".lock")


def test_an_environment_has_the_code_and_is_made_once(environments: Path) -> None:
    lay_out = Counted("new")
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=lay_out)
    python = python_for(recipe)
    assert python == environments / f"sample-{recipe.key}" / "bin" / "python"
    assert value_in(python) == "new"
    assert python_for(replace(recipe, lay_out=Counted("other"))) == python
    assert (value_in(python), lay_out.times) == ("new", 1)
    assert left_in(environments) == [f"sample-{recipe.key}"]
    assert list((environments.parent / "scratch").iterdir()) == []


def test_an_editable_dependency_inside_the_source_outlives_the_source() -> None:
    def lay_out(directory: Path) -> Path:
        write_project(directory, value="top", dependencies="['inner']")
        with (directory / "pyproject.toml").open("a") as file:
            file.write("[tool.uv.sources]\ninner = { path = 'inner', editable = true }\n")
        inner = write_project(directory / "inner", value="inner")
        manifest = inner / "pyproject.toml"
        manifest.write_text(manifest.read_text().replace("name = 'sample'", "name = 'inner'"))
        (inner / "sample").rename(inner / "inner")
        return directory

    python = python_for(Recipe(name="sample", identity="sample tree-1", lay_out=lay_out))
    command = [str(python), "-I", "-c", "import inner, sample; print(inner.VALUE, sample.VALUE, end='')"]
    assert subprocess.run(command, check=False, capture_output=True, text=True).stdout == "inner top"


def test_another_tree_is_another_environment() -> None:
    one = python_for(Recipe(name="sample", identity="sample tree-1", lay_out=Counted("one")))
    two = python_for(Recipe(name="sample", identity="sample tree-2", lay_out=Counted("two")))
    assert (value_in(one), value_in(two)) == ("one", "two")


def test_the_key_is_that_of_everything_that_decides_what_is_in_it() -> None:
    recipe = Recipe(name="sample", identity="sample tree-1", extra=("httpx", "numpy>=2"))
    assert replace(recipe, extra=("numpy>=2", "httpx")).key == recipe.key
    assert replace(recipe, name="other").key == recipe.key
    others = (
        replace(recipe, identity="sample tree-2"),
        replace(recipe, extra=("httpx",)),
        replace(recipe, extra=("httpx", "numpy>=2.1")),
        replace(recipe, extra=()),
        replace(recipe, dependencies=False),
    )
    assert len({recipe.key, *(other.key for other in others)}) == 1 + len(others)


def test_threads_that_want_the_same_environment_make_it_once(environments: Path) -> None:
    lay_out = Counted("new")
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=lay_out)
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(python_for(recipe))) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [environments / f"sample-{recipe.key}" / "bin" / "python"] * 6
    assert (lay_out.times, value_in(found[0])) == (1, "new")


def test_a_failed_build_leaves_nothing_and_says_why(environments: Path) -> None:
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=Counted(dependencies="['no-such-thing==1.0']"))
    with pytest.raises(CouldNotFindOutError) as caught:
        python_for(recipe)
    assert caught.value.message.startswith("the environment of sample cannot be made: ")
    assert "no-such-thing" in caught.value.message
    assert left_in(environments) == []
    # What it was not built with can be left out, and then it can be built.
    without = replace(recipe, lay_out=Counted("new", "['no-such-thing==1.0']"), dependencies=False)
    assert value_in(python_for(without)) == "new"


def test_what_failed_is_not_tried_again_in_the_same_run() -> None:
    tries: list[Path] = []

    def lay_out(directory: Path) -> Path:
        tries.append(directory)
        write_project(directory, value="never")
        (directory / "_backend" / "pure_backend.py").write_text("raise OSError(__file__)\n")
        return directory

    failed: dict[str, str] = {}
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=lay_out)
    said = []
    for run in (failed, failed, {}):
        with pytest.raises(CouldNotFindOutError) as caught:
            python_for(recipe, failed=run)
        said.append(caught.value.message)
    assert len(tries) == 2
    # The same failure is told in the same words: none is the name of a scratch directory.
    assert len(set(said)) == 1
    assert "OSError: ./_backend/pure_backend.py" in said[0]


def test_an_interrupted_build_leaves_nothing(environments: Path) -> None:
    def interrupted(directory: Path) -> Path:
        write_project(directory, value="half")
        raise KeyboardInterrupt

    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=interrupted)
    with pytest.raises(KeyboardInterrupt):
        python_for(recipe)
    assert left_in(environments) == []
    assert value_in(python_for(replace(recipe, lay_out=Counted("whole")))) == "whole"


def test_what_a_killed_build_left_is_made_anew(environments: Path) -> None:
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=Counted("whole"))
    half = environments / f"sample-{recipe.key}"
    (half / "bin").mkdir(parents=True)
    (half / "bin" / "python").write_text("half")
    assert value_in(python_for(recipe)) == "whole"


def test_an_environment_whose_interpreter_is_gone_is_made_anew() -> None:
    # Environments point to the interpreter they were made with, which the user may remove.
    recipe = Recipe(name="sample", identity="sample tree-1", lay_out=Counted("new"))
    python = python_for(recipe)
    python.unlink()
    python.symlink_to("/no/such/python")
    assert value_in(python_for(recipe)) == "new"


def test_releases_of_one_distribution_do_not_wait_for_each_other() -> None:
    # A version has dots, and what stands behind the last of them is no suffix to be cut off.
    entered, may_go_on = threading.Event(), threading.Event()

    def slow(directory: Path) -> Path:
        entered.set()
        assert may_go_on.wait(timeout=20)
        return write_project(directory, value="slow")

    one = Recipe(name="sample-0.1.11", identity="sample==0.1.11", lay_out=slow)
    other = Recipe(name="sample-0.1.12", identity="sample==0.1.12", lay_out=Counted("fast"))
    threads = [threading.Thread(target=python_for, args=(recipe,)) for recipe in (one, other)]
    threads[0].start()
    assert entered.wait(timeout=20)
    threads[1].start()
    threads[1].join(timeout=6)
    is_waiting = threads[1].is_alive()
    may_go_on.set()
    for thread in threads:
        thread.join()
    assert not is_waiting
