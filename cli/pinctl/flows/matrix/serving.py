"""Gets what servers say that pinctl does not run itself: reference encoders, recordings, and live servers."""

import json
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urljoin, urlsplit

from pinctl.errors import CouldNotFindOutError
from pinctl.model.recording import Response
from pinctl.model.variant import Live, Recorded, Wire, parse_live
from pinctl.tools.files.recording import read_recording
from pinctl.tools.http import Answer, NoConnectionError, TooSlowError, post
from pinctl.tools.probes.probe import Body
from pinctl.wire.case import Case
from pinctl.wire.forms import encode_response
from pinctl.wire.recognised import recognise
from pinctl.wire.refusal import UnencodableError, WireRefusal

CASE_HEADER = "Pinctl-Case"
"""The response header by which a server says that it answered with the true values of a case."""

_OK = 200
_REDIRECTS = range(300, 400)
_GONE = frozenset({404, 405, 410})
_SHOWN = 200


def bodies_served(
    server: Wire | Recorded | Live, cases: tuple[Case, ...], *, seconds: float
) -> Mapping[str, Body] | str:
    """Returns what a server says to cases.

    Args:
        server: the variant.
        cases: what is asked.
        seconds: the time that a live server has for all of them.

    Returns:
        The bodies by case, each with what is true of it; or why the server cannot be asked at all.

    Raises:
        BadInputError: a recording is none.
    """
    match server:
        case Wire():
            return {case.name: _encoded(server.form, case) for case in cases}
        case Recorded():
            found: Mapping[str, Response] | str = read_recording(server.directory, truths_of(cases)).responses
        case Live():
            found = ask_live(server, cases, seconds=seconds)
    if isinstance(found, str):
        return found
    return {case.name: _with_truth(case, found[case.name]) for case in cases}


def ask_live(server: Live, cases: tuple[Case, ...], *, seconds: float) -> Mapping[str, Response] | str:
    """Posts cases to a live server, one after the other.

    Args:
        server: whom to ask.
        cases: what is asked.
        seconds: the time for all of them.

    Returns:
        What it answered to each; or why nobody is there.
    """
    end = time.monotonic() + seconds
    too_slow = Response(failure=f"{server.label} took longer than {seconds:g} s for all cases")
    responses: dict[str, Response] = {}
    for case in cases:
        left = end - time.monotonic()
        if left <= 0:
            responses[case.name] = too_slow
            continue
        try:
            answer = post(server, json.dumps(request_of(case)).encode(), seconds=left)
        except TooSlowError:
            responses[case.name] = too_slow
        except CouldNotFindOutError as error:
            if not responses and isinstance(error, NoConnectionError):
                return error.message
            responses[case.name] = Response(failure=error.message)
        else:
            responses[case.name] = _response(server, case, answer)
    return responses


def request_of(case: Case) -> dict[str, Any]:
    """Returns what is posted to a live server: what clients post, and the case for servers that can replay it.

    A real server samples as many tokens as the case has; it cannot sample none.
    """
    request = case.request()
    start = request["routed_experts_start"]
    return {
        "token_ids": request["prompt_token_ids"],
        "sampling_params": {
            "max_tokens": max(1, *(len(choice.token_ids) for choice in case.choices)),
            "stop_token_ids": [],
            "logprobs": 1,
            **({} if start is None else {"routed_experts_start": start}),
            **({"n": len(case.choices)} if case.more else {}),
        },
        "pinctl_case": case.truth(),
    }


def truths_of(cases: tuple[Case, ...]) -> dict[str, Mapping[str, Any]]:
    """Returns the true values of cases, by case."""
    return {case.name: case.truth() for case in cases}


def _encoded(form: str, case: Case) -> Body:
    try:
        return Body(text=encode_response(form, case).decode())
    except UnencodableError as error:
        return Body(failure=f"the server failed: {error}")


def _response(server: Live, case: Case, answer: Answer) -> Response:
    words = f"POST {urlsplit(server.endpoint).path}: HTTP {answer.status} {_printable(answer.reason)}".rstrip()
    if answer.status == _OK:
        replayed = answer.headers.get(CASE_HEADER.lower())
        if replayed is not None and replayed != case.name:
            return Response(failure=f"{server.label} replayed the case {replayed[:_SHOWN]!r}, not {case.name!r}")
        return Response(data=answer.body, replayed=replayed is not None)
    if answer.status in _GONE:
        return Response(refusal=f"{words}: nothing is served there")
    if answer.status in _REDIRECTS:
        place = _place(server, answer.headers.get("location", ""))
        return Response(failure=f"{words}: redirects are not followed, and this one leads to {place}")
    said = _printable(answer.body[:_SHOWN].decode("utf-8", "replace"))
    return Response(failure=f"{words}: {said}" if said else words)


def _with_truth(case: Case, response: Response) -> Body:
    if response.data is None:
        return Body(refusal=response.refusal, failure=response.failure)
    try:
        text = response.data.decode()
    except UnicodeDecodeError:
        return Body(failure="the response is not UTF-8")
    if response.replayed:
        return Body(text=text)
    try:
        values = [recognise(response.data, dict(case.request(index))).values for index in range(len(case.choices))]
    except WireRefusal as refusal:
        return Body(failure=f"nothing says what is true of the response: {refusal}")
    return Body(text=text, truth={"choices": values} if case.more else values[0])


def _place(server: Live, location: str) -> str:
    """Returns where a redirect leads, without what may be secret in it."""
    try:
        place = parse_live(urljoin(server.endpoint, location.partition("?")[0]))
    except ValueError:
        place = None
    return "no URL" if place is None else place.url


def _printable(text: str) -> str:
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())
