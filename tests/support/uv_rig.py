"""Builds superprojects that uv can lock: components with versions, and other people's packages as tiny wheels."""

import io
import json
import os
import subprocess
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uv

import pinctl.demo
from support import Pinctl
from support.rig import Repo, Rig

Files = Mapping[str, str | bytes | None]

BACKEND = (Path(pinctl.demo.__file__).parent / "stack/_shared/pure_backend.py").read_text("utf-8")
"""Builds a project with nothing installed, and derives a dynamic version from tags that begin with `v`."""

IN_TREE = '[build-system]\nrequires = []\nbuild-backend = "pure_backend"\nbackend-path = ["_backend"]\n'
HATCH = (
    '[build-system]\nrequires = ["hatchling", "hatch-vcs"]\nbuild-backend = "hatchling.build"\n\n'
    '[tool.hatch.version]\nsource = "vcs"\n'
)

WHEELS = "wheels"
"""The directory of the superproject that holds other people's packages."""


def project(
    name: str, version: str | None = "0.1.0", *, requires: Sequence[str] = (), more: str = "", python: str = ">=3.11"
) -> str:
    """Writes a pyproject.toml; without a version it is dynamic."""
    lines = ["[project]", f'name = "{name}"', f'version = "{version}"' if version else 'dynamic = ["version"]']
    lines += ['description = "Made for a test."', f'requires-python = "{python}"']
    lines.append(f"dependencies = {json.dumps(list(requires))}")
    return "\n".join([*lines, "", more])


def wheel(name: str, version: str, *, requires: Sequence[str] = ()) -> dict[str, bytes]:
    """Makes a wheel of a distribution that holds nothing, as a file of the superproject."""
    stem = f"{name.replace('-', '_')}-{version}"
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {requirement}" for requirement in requires]
    members = {
        "METADATA": "\n".join([*lines, ""]),
        "WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for member, text in members.items():
            # A fixed time: the lock holds the digest of some wheels.
            archive.writestr(zipfile.ZipInfo(f"{stem}.dist-info/{member}", date_time=(1980, 1, 1, 0, 0, 0)), text)
    return {f"{WHEELS}/{stem}-py3-none-any.whl": packed.getvalue()}


@dataclass(kw_only=True)
class UvRig(Rig):
    """A rig whose superproject has a pyproject.toml, a pins.toml and a lock that uv made.

    Attributes:
        wheels: other people's packages, as files of the superproject.
    """

    wheels: dict[str, bytes] = field(default_factory=dict)

    def third_party(self, name: str, *versions: str, requires: Sequence[str] = ()) -> None:
        """Publishes versions of somebody else's distribution."""
        for version in versions:
            self.wheels |= wheel(name, version, requires=requires)

    def library(
        self,
        name: str = "lib",
        *versions: str,
        requires: Sequence[str] = (),
        tag: str | None = "v{}",
        more: str = "",
    ) -> Repo:
        """Makes a component with a commit for each of some versions, each with its tag."""
        repo = self.component(name, commits=0)
        for version in versions or ("0.1.0", "0.2.0"):
            self.release(repo, name, version, requires=requires, tag=tag, more=more)
        return repo

    def release(
        self,
        repo: Repo,
        name: str,
        version: str,
        *,
        requires: Sequence[str] = (),
        tag: str | None = "v{}",
        more: str = "",
        branch: str = "main",
    ) -> str:
        """Adds a commit that sets a component's version, with its tag where it has one."""
        text = project(name, version, requires=requires, more=more)
        oid = repo.commit(branch, f"{name} {version}", files={"pyproject.toml": text})
        if tag is not None:
            repo.git("update-ref", f"refs/tags/{tag.format(version)}", oid)
        return oid

    def root(
        self,
        *names: str,
        requires: Sequence[str] = (),
        more: str = "",
        uv_options: str = "",
        sources: str | None = None,
    ) -> str:
        """Writes the superproject's own pyproject.toml, where components are path sources."""
        paths = "".join(f'{name} = {{ path = "deps/{name}", editable = true }}\n' for name in names)
        table = f"[tool.uv.sources]\n{paths if sources is None else sources}"
        options = f'[tool.uv]\nfind-links = ["{WHEELS}"]\nno-index = true\n{uv_options}\n'
        return project("super", "0", requires=requires, more=f"{more}\n{options}\n{table}")

    def declared(
        self, *names: str, more: Mapping[str, str] | None = None, head: str = "", distribution: bool = True
    ) -> str:
        """Writes a pins.toml whose components are distributions of their own name, with a lock."""
        own = {name: f'distribution = "{name}"\n' if distribution else "" for name in names}
        lines = {name: own[name] + (more or {}).get(name, "") for name in names}
        return self.pins_toml(*names, more=lines, head=f'lock = "uv.lock"\n{head}')

    def locked(
        self,
        pins: Mapping[str, str],
        *,
        manifest: str,
        pins_toml: str | None = None,
        files: Files | None = None,
        relocked: bool = True,
    ) -> Repo:
        """Makes the superproject with a manifest, a pins.toml and the lock that uv makes of them."""
        written: dict[str, str | bytes | None] = {f"{WHEELS}/.keep": "", **self.wheels, "pyproject.toml": manifest}
        written |= files or {}
        if pins_toml is not None:
            written["pins.toml"] = pins_toml
        if relocked:
            written["uv.lock"] = self.lock_of(pins, written)
        return self.superproject(pins, files=written)

    def lock_of(self, pins: Mapping[str, str], files: Files, *, before: bytes | str | None = None) -> bytes:
        """Returns the lock that uv makes of some files with components at some commits."""
        with tempfile.TemporaryDirectory() as name:
            top = Path(name)
            for path, contents in files.items():
                if contents is not None:
                    (top / path).parent.mkdir(parents=True, exist_ok=True)
                    (top / path).write_bytes(contents.encode() if isinstance(contents, str) else contents)
            for component, oid in pins.items():
                directory = top / "deps" / component
                directory.mkdir(parents=True)
                repository = self.components[component].directory
                clone = ["git", "clone", "--quiet", "--shared", "--no-checkout", str(repository), str(directory)]
                subprocess.run(clone, check=True)
                subprocess.run(["git", "-C", str(directory), "checkout", "--quiet", "--detach", oid], check=True)
            if before is not None:
                (top / "uv.lock").write_bytes(before.encode() if isinstance(before, str) else before)
            ended = subprocess.run(
                [uv.find_uv_bin(), "lock", "--no-progress"],
                cwd=top,
                env={**os.environ, "NO_COLOR": "1"},
                check=False,
                capture_output=True,
                text=True,
            )
            assert ended.returncode == 0, ended.stderr
            return (top / "uv.lock").read_bytes()


def answered(pinctl: Pinctl, repo: Repo, *arguments: str, status: int = 0) -> dict[str, Any]:
    """Runs a command with `--format json`, and holds it to an exit status and to printing nothing but its answer."""
    result = pinctl(*arguments, "--format", "json", cwd=repo.directory)
    assert (result.status, result.stderr) == (status, ""), result
    data: dict[str, Any] = json.loads(result.stdout)
    return data


def pins_of(pinctl: Pinctl, repo: Repo, *, status: int = 0) -> dict[str, dict[str, Any]]:
    """Runs `pinctl status`, and returns its pins by component."""
    return {pin["component"]: pin for pin in answered(pinctl, repo, "status", status=status)["pins"]}


def refusals(pinctl: Pinctl, repo: Repo, *arguments: str, status: int = 1) -> list[dict[str, Any]]:
    """Runs a command that must be refused, and returns what is in its way."""
    found: list[dict[str, Any]] = answered(pinctl, repo, *arguments, status=status)["objections"]
    return found


def blob(repo: Repo, revision: str, path: str = "pyproject.toml") -> bytes:
    """Returns a file's bytes at a revision."""
    command = ["git", "-C", str(repo.directory), "cat-file", "blob", f"{revision}:{path}"]
    return subprocess.run(command, check=True, capture_output=True).stdout


def text_of(repo: Repo, revision: str, path: str = "pyproject.toml") -> str:
    """Returns a file's text at a revision, line ends as they are."""
    return blob(repo, revision, path).decode()


def changed(repo: Repo, before: str, after: str) -> list[str]:
    """Lists what differs between two revisions."""
    listing = repo.git("diff-tree", "-r", "--name-only", "--no-renames", "--ignore-submodules=none", before, after)
    return listing.splitlines()
