"""Reads the envelope of a /generate response, and the request that it answers, as far as every form needs them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import orjson

from pinctl.wire import typed
from pinctl.wire.refusal import WireRefusal
from pinctl.wire.routed_experts import forwarded_positions


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the client asked for.

    Attributes:
        prompt_token_ids: of the prompt.
        routed_experts_start: the position from which experts were asked for; None if they were not.
        choices: how many choices were asked for.
        choice: the index of the one that is to be read.
    """

    prompt_token_ids: tuple[int, ...]
    routed_experts_start: int | None
    choices: int = 1
    choice: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the server answered.

    Attributes:
        fields: the whole body.
        choice: the one that was asked for.
        token_ids: of the completion.
    """

    fields: Mapping[str, object]
    choice: Mapping[str, object]
    token_ids: tuple[int, ...]

    def end_of(self, request: Request) -> int:
        """Returns where the rows of the routed experts must end.

        Args:
            request: that this answers.

        Returns:
            The number of forwarded positions.
        """
        return forwarded_positions(prompt_tokens=len(request.prompt_token_ids), completion_tokens=len(self.token_ids))


def parse_request(value: object) -> Request:
    """Reads a request.

    Args:
        value: anything; see `Case.request`.

    Returns:
        The request.

    Raises:
        WireRefusal: it is not one.
    """
    fields = typed.as_object(value, field="request")
    prompt = typed.as_token_ids(fields.get("prompt_token_ids"), field="request.prompt_token_ids")
    start = fields.get("routed_experts_start")
    if start is not None:
        start = typed.as_count(start, field="request.routed_experts_start")
    choices = typed.as_count(fields.get("choices", 1), field="request.choices")
    choice = typed.as_count(fields.get("choice", 0), field="request.choice")
    if choice >= choices:
        raise WireRefusal("request.choice", f"is {choice}, expected less than {choices}")
    return Request(prompt_token_ids=tuple(prompt.tolist()), routed_experts_start=start, choices=choices, choice=choice)


def parse_response(body: bytes, *, choices: int = 1, choice: int = 0) -> Response:
    """Reads the body of a response, and one of its choices.

    The envelope is open: keys that no form reads are let pass, at the top and in the choice. What is read is strict:
    JSON without NaN or infinities, no key twice in one object (which of the two counts depends on the reader), as
    many choices as were asked for, each at the place that its index says, token ids that are integers.

    Args:
        body: anything.
        choices: how many were asked for.
        choice: the index of the one to read.

    Returns:
        The response.

    Raises:
        WireRefusal: it is not one.
    """
    fields = typed.as_object(_parse(body), field="body")
    typed.as_text(fields.get("request_id"), field="request_id")
    found = typed.as_list(fields.get("choices"), field="choices", length=choices)
    for expected, entry in enumerate(found):
        place = f"choices[{expected}]"
        index = typed.as_count(typed.as_object(entry, field=place).get("index"), field=f"{place}.index")
        if index != expected:
            raise WireRefusal(f"{place}.index", f"is {index}, expected {expected}")
    place = f"choices[{choice}]"
    chosen = typed.as_object(found[choice], field=place)
    if chosen.get("finish_reason") is not None:
        typed.as_text(chosen["finish_reason"], field=f"{place}.finish_reason")
    token_ids = typed.as_token_ids(chosen.get("token_ids"), field="token_ids")
    return Response(fields=fields, choice=chosen, token_ids=tuple(token_ids.tolist()))


def _parse(body: bytes) -> object:
    try:
        value: object = orjson.loads(body)
        # orjson takes the last of two equal keys and says nothing; its strictness about all else comes first.
        json.loads(body.decode(), object_pairs_hook=_refuse_repeated_keys)
    except (ValueError, RecursionError) as error:
        raise WireRefusal("body", "is not JSON") from error
    return value


def _refuse_repeated_keys(pairs: list[tuple[str, object]]) -> None:
    if len({key for key, _ in pairs}) != len(pairs):
        raise WireRefusal("body", "has an object that holds one key twice")
