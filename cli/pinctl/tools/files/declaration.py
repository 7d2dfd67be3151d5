"""Holds a TOML file against the shape it should have, and reports every mistake in it with its line."""

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Annotated, Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from pinctl.errors import BadFileError, Mistake
from pinctl.tools.toml.source import KeyPath, TomlSource, dotted


def _is_one(value: Any) -> int:
    """Accepts the number 1 itself: neither true nor 1.0, which Python takes for the same."""
    if type(value) is not int or value != 1:
        msg = "must be 1"
        raise ValueError(msg)
    return 1


Version = Annotated[int, BeforeValidator(_is_one)]
"""The version of a file's format."""

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]


class Shape(BaseModel):
    """A table of a file: known keys of known types, and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


ShapeT = TypeVar("ShapeT", bound=Shape)

_WORDS = {
    "missing": "is missing",
    "missing_keyword_only_argument": "is missing",
    "extra_forbidden": "is no key of this table",
    "unexpected_keyword_argument": "is no key of this table",
    "string_type": "must be a string",
    "string_too_short": "must not be empty",
    "int_type": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "tuple_type": "must be an array",
    "list_type": "must be an array",
    "dict_type": "must be a table",
    "model_type": "must be a table",
    "dataclass_type": "must be a table",
    "too_short": "must not be empty",
}


def shaped(source: TomlSource, shape: type[ShapeT], mistakes: Iterable[Mistake]) -> ShapeT:
    """Returns a file's values as its shape.

    Args:
        source: the file.
        shape: what it should look like.
        mistakes: what else was found wrong with it.

    Raises:
        BadFileError: with every mistake, in the order of their lines.
    """
    found = list(mistakes)
    value: ShapeT | None = None
    try:
        value = shape.model_validate(_with_tuples(source.values))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        places = [problem["loc"] for problem in problems]
        found.extend(
            _mistake(source, shape, problem["loc"], problem["type"], problem["msg"])
            for problem in problems
            # An array of items that are all wrong counts as empty; its items say what is wrong.
            if problem["type"] != "too_short" or not any(_is_inside(place, problem["loc"]) for place in places)
        )
    if value is None or found:
        unique = {(mistake.key, mistake.message): mistake for mistake in found}
        raise BadFileError(source.path, tuple(sorted(unique.values(), key=lambda mistake: mistake.line or 0)))
    return value


def mistake_at(source: TomlSource, key_path: KeyPath, message: str) -> Mistake:
    """Makes the mistake at a key path."""
    return Mistake(key=dotted(key_path), line=source.line(key_path), message=message)


def words_of(kind: str, text: str) -> str:
    """Returns what pydantic says of a mistake in pinctl's words.

    Args:
        kind: pydantic's name of the mistake.
        text: its own words.
    """
    if kind == "value_error":
        return text.removeprefix("Value error, ")
    return _WORDS.get(kind, text[:1].lower() + text[1:]).replace("input should be", "must be")


def nearest(name: str, names: Iterable[str]) -> str:
    """Returns a phrase that offers the nearest right name, or lists the few there are; empty where there are none."""
    known = tuple(names)
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are {', '.join(map(repr, known))}" if 0 < len(known) <= 12 else ""


def unknown_names(
    source: TomlSource, at: KeyPath, names: Any, known: tuple[str, ...], *, what: str
) -> Iterator[Mistake]:
    """Finds the names of an array that name nothing.

    Args:
        source: the file.
        at: the place of the array.
        names: the array as it is in the raw file; anything else has no names.
        known: what there is.
        what: what the names should be, as in "case".
    """
    for index, name in enumerate(listed(names)):
        if isinstance(name, str) and name not in known:
            yield mistake_at(source, (*at, index), f"{name!r} is no {what}{nearest(name, known)}")


def listed(value: Any) -> list[Any]:
    """Returns an array of the raw file; an empty one where there is something else."""
    return value if isinstance(value, list) else []


def _is_inside(place: KeyPath, outer: KeyPath) -> bool:
    return len(place) > len(outer) and place[: len(outer)] == outer


def _as_written(source: TomlSource, loc: KeyPath) -> KeyPath:
    """Takes out of a location the indices of arrays that the file writes as their only item."""
    written: KeyPath = ()
    for part in loc:
        if not (isinstance(part, int) and isinstance(source.at(written), dict)):
            written = (*written, part)
    return written


def _mistake(source: TomlSource, shape: type[Shape], loc: KeyPath, kind: str, text: str) -> Mistake:
    words = words_of(kind, text)
    if kind == "extra_forbidden":
        words += nearest(str(loc[-1]), _keys_at(shape, loc[:-1]))
    return mistake_at(source, _as_written(source, loc), words)


def _keys_at(shape: type[Shape], loc: KeyPath) -> tuple[str, ...]:
    """Returns the keys of the table that a location leads to."""
    current: Any = shape
    for part in loc:
        if isinstance(current, type) and issubclass(current, Shape):
            field = current.model_fields.get(str(part)) or next(
                (field for field in current.model_fields.values() if field.alias == part), None
            )
            current = field.annotation if field else None
        else:
            current = _element(current)
        current = _plain(current)
    if not (isinstance(current, type) and issubclass(current, Shape)):
        return ()
    return tuple(field.alias or name for name, field in current.model_fields.items())


def _plain(annotation: Any) -> Any:
    """Takes the `| None` and what is said beside the type off an annotation."""
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    options = [option for option in get_args(annotation) if option is not type(None)]
    is_optional = len(options) < len(get_args(annotation))
    return options[0] if is_optional and len(options) == 1 else annotation


def _element(annotation: Any) -> Any:
    """Returns what an array or a table of tables holds."""
    arguments = [argument for argument in get_args(annotation) if argument is not Ellipsis]
    return arguments[-1] if arguments else None


def _with_tuples(value: Any) -> Any:
    """Turns arrays into tuples, which is what frozen shapes hold."""
    if isinstance(value, dict):
        return {key: _with_tuples(item) for key, item in value.items()}
    if isinstance(value, list):
        return tuple(_with_tuples(item) for item in value)
    return value
