"""The pages name every option and every key that there is, and no command that there is not."""

import re
from pathlib import Path
from typing import Any

import pytest
import typer.main

from pinctl.app import app
from pinctl.tools.files import pins_file, plan_file, plan_measure
from pinctl.tools.files.declaration import Shape

TOP = Path(__file__).parents[2]
GROUP: Any = typer.main.get_command(app)
COMMANDS: dict[str, Any] = GROUP.commands
LINK = re.compile(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)")


def page(name: str) -> str:
    return (TOP / name).read_text()


def options_of(command: Any) -> set[str]:
    return {name for item in command.params for name in item.opts if name.startswith("--")} - {"--help"}


def section_of(command: str) -> str:
    """Returns the part of the page whose heading names a command."""
    sections = (part.split("\n", 1) for part in page("docs/commands.md").split("\n## ")[1:])
    (found,) = (text for heading, text in sections if command in heading.split(", "))
    return found


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_a_command_is_named(command: str) -> None:
    named = set(re.findall(r"--[a-z-]+", section_of(command)))

    assert options_of(COMMANDS[command]) - named == set()


def test_every_global_option_is_named() -> None:
    head = page("docs/commands.md").split("\n## ")[0]

    assert options_of(GROUP) - set(re.findall(r"--[a-z-]+", head)) == set()


def test_no_page_names_an_option_that_there_is_not() -> None:
    known = {name for command in (GROUP, *COMMANDS.values()) for name in options_of(command)}

    assert set(re.findall(r"`(--[a-z-]+)", page("docs/commands.md"))) - known == set()


def test_the_readme_lists_every_command() -> None:
    assert set(re.findall(r"^\| `pinctl ([a-z-]+)", page("README.md"), re.MULTILINE)) == set(COMMANDS)


@pytest.mark.parametrize(
    ("shape", "where"),
    [
        (pins_file._File, "docs/pins.md"),
        (pins_file._Superproject, "docs/pins.md"),
        (pins_file._Component, "docs/pins.md"),
        (pins_file._Pin, "docs/pins.md"),
        (plan_file._File, "docs/plans.md"),
        (plan_file._Change, "docs/plans.md"),
        (plan_file._Constraint, "docs/plans.md"),
        (plan_file._Contract, "docs/plans.md"),
        (plan_file._Lock, "docs/plans.md"),
        (plan_file._Client, "docs/probes.md"),
        (plan_measure.MeasureTable, "docs/measure.md"),
        (plan_measure._BudgetTable, "docs/measure.md"),
    ],
)
def test_every_key_is_named(shape: type[Shape], where: str) -> None:
    text = page(where)
    keys = {item.alias or name for name, item in shape.model_fields.items()}

    assert {key for key in keys if not re.search(rf"(^|[`.\[]){key}(`| = |[.\]])", text, re.MULTILINE)} == set()


@pytest.mark.parametrize("path", [*TOP.glob("*.md"), *TOP.glob("docs/**/*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target, place in LINK.findall(path.read_text()):
        file = (path.parent / target) if target else path
        assert file.exists(), target
        if place:
            headings = re.findall(r"^#+ (.*)$", file.read_text(), re.MULTILINE)
            anchors = {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}
            assert place in anchors, f"{target}#{place}"
