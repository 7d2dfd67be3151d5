"""Turns parsed JSON of any kind into the few types that the decoders rely on, or refuses it."""

import reprlib
from collections.abc import Collection
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from pinctl.wire.refusal import WireRefusal

TOKEN_ID_LIMIT = 2**31
"""Token ids are below this: every packed form holds them as int32."""

COUNT_LIMIT = 2**63
"""Counts and dimensions are below this; a JSON parser may hand over longer numbers."""

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "a boolean",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def as_object(value: object, *, field: str) -> dict[str, object]:
    """Returns a JSON object that may hold more keys than are read.

    Args:
        value: anything.
        field: the place, for the refusal.

    Returns:
        The same object.

    Raises:
        WireRefusal: it is not an object.
    """
    if not isinstance(value, dict):
        raise WireRefusal(field, f"is {_describe(value)}, expected an object")
    return value


def as_closed_object(value: object, *, field: str, keys: Collection[str]) -> dict[str, object]:
    """Returns a JSON object that holds exactly the given keys.

    A payload is closed, unlike the envelope around it: a key that its form does not have (`dtype` where ids are
    always uint8) may change what the bytes mean, so reading on without it would be a guess.

    Args:
        value: anything.
        field: the place, for the refusal.
        keys: every key of the form; none is optional.

    Returns:
        The same object.

    Raises:
        WireRefusal: it is not an object, a key is missing, or there is one more.
    """
    found = as_object(value, field=field)
    for key in keys:
        if key not in found:
            raise WireRefusal(f"{field}.{key}", "is missing")
    for key in found:
        if key not in keys:
            raise WireRefusal(field, f"has a key that this form does not have: {reprlib.repr(key)}")
    return found


def as_list(value: object, *, field: str, length: int | None = None) -> list[object]:
    """Returns a JSON array.

    Args:
        value: anything.
        field: the place, for the refusal.
        length: how many entries there must be.

    Returns:
        The same list.

    Raises:
        WireRefusal: it is not an array, or not of that length.
    """
    if not isinstance(value, list):
        raise WireRefusal(field, f"is {_describe(value)}, expected a list")
    if length is not None and len(value) != length:
        raise WireRefusal(field, f"has {len(value)} entries, expected {length}")
    return value


def as_text(value: object, *, field: str) -> str:
    """Returns a JSON string.

    Args:
        value: anything.
        field: the place, for the refusal.

    Returns:
        The same string.

    Raises:
        WireRefusal: it is not a string.
    """
    if not isinstance(value, str):
        raise WireRefusal(field, f"is {_describe(value)}, expected a string")
    return value


def as_count(value: object, *, field: str) -> int:
    """Returns an integer from 0 to `COUNT_LIMIT`; true and 1.0 are none.

    Args:
        value: anything.
        field: the place, for the refusal.

    Returns:
        The same number.

    Raises:
        WireRefusal: it is not an integer, or out of range.
    """
    if type(value) is not int:  # bool is an int to isinstance
        raise WireRefusal(field, f"is {_describe(value)}, expected an integer")
    if not 0 <= value < COUNT_LIMIT:
        raise WireRefusal(field, f"is {_number(value)}, expected 0 or more and less than 2**63")
    return value


def as_token_ids(value: object, *, field: str, vocab: int | None = None) -> NDArray[np.int32]:
    """Returns a JSON array of token ids.

    Args:
        value: anything.
        field: the place, for the refusal.
        vocab: the number of token ids there are, if known.

    Returns:
        Array [entries], int32, of token ids.

    Raises:
        WireRefusal: it is not an array, or an entry is not a token id.
    """
    entries = as_list(value, field=field)
    return _ids(entries, field=field, vocab=vocab)


def as_token_id_rows(
    value: object, *, field: str, rows: int, vocab: int | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Returns a JSON array of arrays of token ids, end to end.

    Args:
        value: anything.
        field: the place, for the refusal.
        rows: how many rows there must be.
        vocab: the number of token ids there are, if known.

    Returns:
        Array [ids], int32, of the token ids of all rows; array [rows], int32, of the length of each row.

    Raises:
        WireRefusal: it is not an array of so many arrays of token ids.
    """
    entries = as_list(value, field=field, length=rows)
    for index, entry in enumerate(entries):
        if not isinstance(entry, list):
            raise WireRefusal(f"{field}[{index}]", f"is {_describe(entry)}, expected a list")
    nested: list[list[object]] = entries  # type: ignore[assignment]  # every entry was just seen to be a list
    ids = _ids(list(chain.from_iterable(nested)), field=field, vocab=vocab)
    return ids, np.fromiter(map(len, nested), dtype=np.int32, count=rows)


def check_token_ids(ids: NDArray[np.int32], *, field: str, vocab: int | None = None) -> None:
    """Refuses an array that holds something else than token ids.

    Args:
        ids: array of any shape, int32.
        field: the place, for the refusal.
        vocab: the number of token ids there are, if known.

    Raises:
        WireRefusal: an id is below 0, or not below the vocabulary's size.
    """
    if ids.size == 0:
        return
    _check_range(int(ids.min()), int(ids.max()), field=field, vocab=vocab)


def _ids(entries: list[object], *, field: str, vocab: int | None) -> NDArray[np.int32]:
    # One pass in C over 12,500 tokens and their rows; which entry is wrong is looked up only when one is.
    if not set(map(type, entries)) <= {int}:
        index, entry = next((i, entry) for i, entry in enumerate(entries) if type(entry) is not int)
        raise WireRefusal(field, f"id {index} is {_describe(entry)}, expected an integer")
    numbers: list[int] = entries  # type: ignore[assignment]  # every entry was just seen to be an int
    if numbers:
        _check_range(min(numbers), max(numbers), field=field, vocab=vocab)
    return np.array(numbers, dtype=np.int32)


def _check_range(lowest: int, highest: int, *, field: str, vocab: int | None) -> None:
    limit = TOKEN_ID_LIMIT if vocab is None else vocab
    if lowest < 0:
        raise WireRefusal(field, f"holds the id {_number(lowest)}, expected 0 or more")
    if highest >= limit:
        raise WireRefusal(field, f"holds the id {_number(highest)}, expected less than {limit}")


def _describe(value: object) -> str:
    # The parsed payload may be megabytes of somebody else's data: its kind is named, its contents are not repeated.
    if type(value) in {int, float}:
        return f"the number {_number(value)}"
    return _KINDS.get(type(value), f"a {type(value).__name__}")


def _number(value: object) -> str:
    try:
        return repr(value)[:40]
    except ValueError:  # Python refuses to write out an integer of thousands of digits
        return "of thousands of digits"
