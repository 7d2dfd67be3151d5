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
    """

    prompt_token_ids: tuple[int, ...]
    routed_experts_start: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """What the server answered.

    Attributes:
        fields: the whole body.
        choice: its one choice.
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
    return Request(prompt_token_ids=tuple(prompt.tolist()), routed_experts_start=start)


def parse_response(body: bytes) -> Response:
    """Reads the body of a response with one choice.

    The envelope is open: keys that no form reads are let pass, at the top and in the choice. What is read is strict:
    JSON without NaN or infinities, no key twice in one object (which of the two counts depends on the reader), one
    choice with the index 0, token ids that are integers.

    Args:
        body: anything.

    Returns:
        The response.

    Raises:
        WireRefusal: it is not one.
    """
    fields = typed.as_object(_parse(body), field="body")
    typed.as_text(fields.get("request_id"), field="request_id")
    choice = typed.as_object(typed.as_list(fields.get("choices"), field="choices", length=1)[0], field="choices[0]")
    index = typed.as_count(choice.get("index"), field="choices[0].index")
    if index != 0:
        raise WireRefusal("choices[0].index", f"is {index}, expected 0")
    if choice.get("finish_reason") is not None:
        typed.as_text(choice["finish_reason"], field="choices[0].finish_reason")
    token_ids = typed.as_token_ids(choice.get("token_ids"), field="token_ids")
    return Response(fields=fields, choice=choice, token_ids=tuple(token_ids.tolist()))


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
