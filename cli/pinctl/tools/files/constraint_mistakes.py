"""Finds mistakes in the `[[constraints]]` of a landing plan that the shape of the file cannot say."""

from collections.abc import Iterator
from typing import Any

from pinctl.errors import Mistake
from pinctl.model.contract import FIELDS
from pinctl.tools.files.declaration import listed, mistake_at, unknown_names
from pinctl.tools.toml.source import KeyPath, TomlSource


def constraint_mistakes(source: TomlSource, changes: tuple[str, ...]) -> Iterator[Mistake]:
    """Finds them in the raw values, whose shape may be wrong as well.

    Args:
        source: the plan's file.
        changes: the ids of its changes.
    """
    constraints = [(index, item) for index, item in enumerate(listed(source.at(("constraints",)))) if _is_table(item)]
    contract = source.at(("contract",))
    if constraints and contract is None:
        words = "there is no [contract], so there are no cases that could need all of the changes"
        yield mistake_at(source, ("constraints", constraints[0][0]), words)
    cases = tuple(map(str, listed(contract.get("cases")))) if isinstance(contract, dict) else ()
    features: set[str] = set()
    for index, item in constraints:
        at: KeyPath = ("constraints", index)
        feature = item.get("for")
        if isinstance(feature, str):
            if feature in features:
                yield mistake_at(source, (*at, "for"), f"{feature!r} is what another constraint is for already")
            features.add(feature)
        if len(listed(item.get("together"))) == 1:
            yield mistake_at(source, (*at, "together"), "must name two changes or more")
        yield from _names(source, (*at, "together"), item.get("together"), changes, "change of this plan")
        yield from _names(source, (*at, "fields"), item.get("fields"), FIELDS, "field of the contract")
        if isinstance(contract, dict):
            yield from _names(source, (*at, "cases"), item.get("cases"), cases, "case of this contract")
        if not listed(item.get("cases")) and not listed(item.get("fields")) and not _wrong_type(item):
            yield mistake_at(source, at, "must name the cases or the fields that need all of the changes")


def _names(source: TomlSource, at: KeyPath, names: Any, known: tuple[str, ...], what: str) -> Iterator[Mistake]:
    yield from unknown_names(source, at, names, known, what=what)
    for index, name in enumerate(listed(names)):
        if isinstance(name, str) and name in listed(names)[:index]:
            yield mistake_at(source, (*at, index), f"{name!r} is named twice")


def _is_table(value: Any) -> bool:
    return isinstance(value, dict)


def _wrong_type(item: dict[str, Any]) -> bool:
    """Tells whether a key that should hold names holds something else, which is a mistake of its own."""
    return any(key in item and not isinstance(item[key], list) for key in ("cases", "fields"))
