"""The log-probabilities of the sampled tokens, one for each completion token, in every form they travel in."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pinctl.wire import arrays, typed
from pinctl.wire.arrays import WireDtype
from pinctl.wire.refusal import WireRefusal

NO_EVIDENCE = -9999.0
"""What the servers write for "missing", for NaN, for minus infinity, and for anything below: it says nothing."""


def floored(logprobs: Sequence[float | None]) -> NDArray[np.float64]:
    """Returns what a server may write: every number that is no evidence becomes `NO_EVIDENCE`.

    A comparison picks, not `max`: `max(nan, -9999.0)` is nan. Plus infinity, which no log-probability can be, is no
    evidence either.

    Args:
        logprobs: the engine's numbers, in nats; None where it has none.

    Returns:
        Array [tokens], float64, in nats, finite.
    """
    values = np.array([math.nan if logprob is None else logprob for logprob in logprobs], dtype=np.float64)
    return np.where(np.isfinite(values) & (values > NO_EVIDENCE), values, NO_EVIDENCE)


def encode_vllm(logprobs: Sequence[float | None], token_ids: Sequence[int]) -> dict[str, object]:
    """Encodes the list form: `logprobs: {"content": [{"token", "logprob", "bytes", "top_logprobs"}]}`.

    Source: vLLM's /inference/v1/generate, with tokens returned as token ids (WIRE.md, `vllm`).

    Args:
        logprobs: the engine's numbers, in nats; None where it has none.
        token_ids: of the completion, as many.

    Returns:
        The value of the choice's `logprobs`.
    """
    names = [f"token_id:{token_id}" for token_id in token_ids]
    return {
        "content": [
            {"token": name, "logprob": logprob, "bytes": list(name.encode()), "top_logprobs": []}
            for name, logprob in zip(names, floored(logprobs).tolist(), strict=True)
        ]
    }


def decode_vllm(value: object, *, token_ids: Sequence[int], field: str = "logprobs") -> NDArray[np.float64]:
    """Decodes the list form.

    Args:
        value: anything.
        token_ids: of the completion: entry i must name token i.
        field: the place, for the refusal.

    Returns:
        Array [tokens], float64, in nats, every one of them evidence.

    Raises:
        WireRefusal: the length is wrong, an entry names another token, or has no evidence.
    """
    place = f"{field}.content"
    entries = _content(value, field=field, length=len(token_ids))
    names = [entry.get("token") for entry in entries]
    expected = [f"token_id:{token_id}" for token_id in token_ids]
    if names != expected:
        index = next(i for i, (name, right) in enumerate(zip(names, expected, strict=True)) if name != right)
        raise WireRefusal(f"{place}[{index}].token", f"does not name the token {token_ids[index]}")
    return _evidence([entry.get("logprob") for entry in entries], field=place)


def encode_skyrl(logprobs: Sequence[float | None]) -> dict[str, object]:
    """Encodes the list form without names: `logprobs: {"content": [{"logprob": float}]}`.

    Source: SkyRL's generate endpoint, which writes the floats alone (WIRE.md, "SkyRL after #1915").

    Args:
        logprobs: the engine's numbers, in nats; None where it has none.

    Returns:
        The value of the choice's `logprobs`.
    """
    return {"content": [{"logprob": logprob} for logprob in floored(logprobs).tolist()]}


def decode_skyrl(value: object, *, tokens: int, field: str = "logprobs") -> NDArray[np.float64]:
    """Decodes the list form without names.

    Args:
        value: anything.
        tokens: how many completion tokens there are.
        field: the place, for the refusal.

    Returns:
        Array [tokens], float64, in nats, every one of them evidence.

    Raises:
        WireRefusal: the length is wrong, or an entry has no evidence.
    """
    entries = _content(value, field=field, length=tokens)
    return _evidence([entry.get("logprob") for entry in entries], field=f"{field}.content")


def encode_packed(logprobs: Sequence[float | None]) -> dict[str, object]:
    """Encodes the packed form: `completion_logprobs`, an array of float32, instead of `logprobs`.

    Source: prime-rl #3900 (WIRE.md, `packed`).

    Args:
        logprobs: the engine's numbers, in nats; None where it has none.

    Returns:
        The value of the choice's `completion_logprobs`: a packed array [tokens], float32, in nats.
    """
    return arrays.pack(floored(logprobs).astype(np.float32))


def decode_packed(value: object, *, tokens: int, field: str = "completion_logprobs") -> NDArray[np.float64]:
    """Decodes the packed form.

    Args:
        value: anything.
        tokens: how many completion tokens there are.
        field: the place, for the refusal.

    Returns:
        Array [tokens], float64, in nats, every one of them evidence.

    Raises:
        WireRefusal: it is not a packed array of so many float32, or an element is no evidence.
    """
    packed = arrays.unpack(value, field=field, dtypes=(WireDtype.FLOAT32,), ndim=1)
    if len(packed) != tokens:
        raise WireRefusal(f"{field}.shape", f"says {len(packed)} tokens, expected {tokens}")
    # Widened first: the conversion of a signalling NaN may warn, and is refused below all the same.
    with np.errstate(invalid="ignore"):
        values = packed.astype(np.float64)
    _check_evidence(values, field=field)
    return values


def encode_teacher(logprobs: Sequence[float], prompt_token_ids: Sequence[int]) -> list[object]:
    """Encodes a teacher's scores of a prompt: `prompt_logprobs: [null, {"<token id>": {"logprob", "rank"}}, ...]`.

    Source: prime-rl at the vLLM 0.20 migration (WIRE.md, `vllm-0.20 teacher`). A likelier token stands first in
    every object, so that a reader which takes the first entry instead of the prompt's own is found out.

    Args:
        logprobs: of every prompt token, in nats; the first, which nothing precedes, is 0 and not written.
        prompt_token_ids: as many.

    Returns:
        The value of the response's `prompt_logprobs`.
    """
    scored = zip(prompt_token_ids[1:], floored(logprobs).tolist()[1:], strict=True)
    return [
        None,
        *(
            {
                str(token_id ^ 1): {"logprob": logprob / 2, "rank": 1, "decoded_token": None},
                str(token_id): {"logprob": logprob, "rank": 2, "decoded_token": None},
            }
            for token_id, logprob in scored
        ),
    ]


def decode_teacher(
    value: object, *, prompt_token_ids: Sequence[int], field: str = "prompt_logprobs"
) -> NDArray[np.float64]:
    """Decodes a teacher's scores of a prompt.

    Args:
        value: anything.
        prompt_token_ids: of the request: entry i must score token i.
        field: the place, for the refusal.

    Returns:
        Array [prompt tokens], float64, in nats; the first is 0.

    Raises:
        WireRefusal: the length is wrong, the first entry is not null, or a token has no evidence of its own.
    """
    entries = typed.as_list(value, field=field, length=len(prompt_token_ids))
    if not entries:
        return np.zeros(0)
    if entries[0] is not None:
        raise WireRefusal(f"{field}[0]", "scores the first token, which nothing precedes; expected null")
    numbers: list[object] = [0.0]
    for index, (entry, token_id) in enumerate(zip(entries[1:], prompt_token_ids[1:], strict=True), start=1):
        place = f"{field}[{index}]"
        own = typed.as_object(entry, field=place).get(str(token_id))
        numbers.append(typed.as_object(own, field=f"{place}.{token_id}").get("logprob"))
    return _evidence(numbers, field=field)


def _content(value: object, *, field: str, length: int) -> list[dict[str, object]]:
    # The envelope is open: other servers put more beside `content`, and beside `logprob`.
    content = typed.as_object(value, field=field).get("content")
    entries = typed.as_list(content, field=f"{field}.content", length=length)
    for index, entry in enumerate(entries):
        if type(entry) is not dict:
            typed.as_object(entry, field=f"{field}.content[{index}]")
    objects: list[dict[str, object]] = entries  # type: ignore[assignment]  # every entry was just seen to be one
    return objects


def _evidence(numbers: list[object], *, field: str) -> NDArray[np.float64]:
    if not set(map(type, numbers)) <= {float, int}:  # bool is neither
        index = next(i for i, number in enumerate(numbers) if type(number) not in {float, int})
        raise WireRefusal(f"{field}[{index}].logprob", "is not a number")
    try:
        values = np.array(numbers, dtype=np.float64)
    except OverflowError as error:
        raise WireRefusal(field, "holds a number that no float can hold") from error
    _check_evidence(values, field=field)
    return values


def _check_evidence(values: NDArray[np.float64], *, field: str) -> None:
    bad = np.flatnonzero(~(np.isfinite(values) & (values > NO_EVIDENCE)))
    if bad.size:
        index = int(bad[0])
        raise WireRefusal(f"{field}[{index}]", f"is {values[index]}, which is no evidence")
