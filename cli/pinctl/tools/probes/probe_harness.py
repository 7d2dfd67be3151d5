"""Runs a probe inside the environment under test; knows nothing but the standard library.

Started as `python -I probe_harness.py PROBE BYTES`; BYTES is the memory that it may use. Reads one JSON object a line
and answers each with one (protocol 1, described in docs/probes.md). What the code under test prints goes to stderr: it
cannot be taken for an answer.
"""

import contextlib
import gc
import inspect
import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import IO, Any, TypedDict

PROTOCOL = 1

ENOUGH = 0.25
"""Seconds after which a call that was timed as often as asked is not timed again: short calls vary most."""

Call = Callable[[], object]


class Times(TypedDict):
    """What some runs of one call took, in seconds."""

    best: float
    median: float


def main() -> int:
    """Answers every request until there is none left."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    # A probe that takes more gets a MemoryError; where the system has no such limit, it has none either.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_DATA, (int(sys.argv[2]),) * 2)
    try:
        probe = _load(sys.argv[1])
    except BaseException as error:  # noqa: BLE001 - whatever importing the code under test raises is its answer
        _send(answers, {"protocol": PROTOCOL, "failure": f"the probe cannot be loaded: {_describe(error)}"})
        return 1
    _send(answers, {"protocol": PROTOCOL, "ready": True})
    for line in sys.stdin:
        request = json.loads(line)
        _send(answers, _encode(probe, request) if request["role"] == "server" else _decode(probe, request))
    return 0


def timed(call: Call, repeat: int) -> Times:
    """Times a call, with the garbage collector off while it runs, and without the time that freeing its result takes.

    Args:
        call: what is timed; it should have been called once before, for what it does only the first time.
        repeat: how often at least; a short call is timed until `ENOUGH` seconds have gone into it.

    Returns:
        The shortest and the median time.
    """
    times: list[float] = []
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        while len(times) < repeat or sum(times) < ENOUGH:
            start = time.perf_counter()
            kept = call()
            times.append(time.perf_counter() - start)
            del kept
    finally:
        if was_enabled:
            gc.enable()
    return Times(best=min(times), median=statistics.median(times))


def tracked(call: Call) -> int:
    """Counts the objects that a call's result, held alive, adds to what each full garbage collection walks over."""
    # What is there already takes no part in collections nor in the count.
    gc.freeze()
    try:
        kept = call()
        gc.collect()
        count = len(gc.get_objects())
        del kept
    finally:
        gc.unfreeze()
    return count


def _load(path: str) -> ModuleType:
    # Not by an import, which would leave a __pycache__ beside the probe, in the user's checkout.
    module = ModuleType("pinctl_probe")
    module.__file__ = path
    sys.modules["pinctl_probe"] = module
    with open(path, "rb") as source:  # noqa: PTH123 - the harness stands alone
        code = compile(source.read(), path, "exec")
    exec(code, module.__dict__)  # noqa: S102 - to run the probe is what the harness is for
    return module


def _encode(probe: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    answer: dict[str, Any] = {"case": request["case"]["name"]}
    wrong = _wrong(probe, "encode", request["case"])
    if wrong is not None:
        return answer | {"failure": wrong}
    try:
        answer["body"] = _body(probe.encode(request["case"]))
    except BaseException as error:  # noqa: BLE001 - whatever the server raises is its answer, leaving the program too
        answer["failure"] = _describe(error)
        return answer
    if "repeat" in request:
        answer["measured"] = _measured(lambda: _body(probe.encode(request["case"])), request["repeat"])
    return answer


def _body(response: Any) -> str:
    """Returns a response's text; a server that writes its JSON itself is timed with its own writer."""
    if isinstance(response, bytes):
        return response.decode("utf-8")
    if response is None:
        raise TypeError("encode returned nothing, expected a dict, a str or bytes")
    text = response if isinstance(response, str) else json.dumps(response)
    text.encode("utf-8")
    return text


def _decode(probe: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    body = request["body"].encode("utf-8")
    calls = [(field, f"decode_{field}") for field in request["reads"]]
    calls += [(field, f"relay_{field}") for field in request["relays"]]
    fields = {field: _field(probe, name, body, request["request"]) for field, name in calls}
    for field in request["reads"]:
        if "value" in fields[field] and hasattr(probe, f"consume_{field}"):
            fields[field] |= _use(probe, field, body, request["request"])
    answer: dict[str, Any] = {"case": request["case"], "fields": fields}
    if "repeat" in request:
        answer["measured"] = _measured(_receiving(probe, calls, body, request["request"]), request["repeat"])
    return answer


def _receiving(probe: ModuleType, calls: list[tuple[str, str]], body: bytes, request: dict[str, Any]) -> Call:
    """Returns what a client does with a response: the probe's `receive`, or each of its fields on its own."""
    receive = getattr(probe, "receive", None)
    if receive is not None:
        return lambda: receive(body, dict(request))
    return lambda: [getattr(probe, name)(body, dict(request)) for _, name in calls]


def _measured(call: Call, repeat: int) -> dict[str, Any]:
    try:
        call()
        return {**timed(call, repeat), "objects": tracked(call)}
    except BaseException as error:  # noqa: BLE001 - what cannot be measured says why, and ends no other request
        return {"failure": _describe(error)}


def _use(probe: ModuleType, field: str, body: bytes, request: dict[str, Any]) -> dict[str, Any]:
    """Returns why the client cannot use what it decoded; nothing where it can."""
    _, raised = _call(probe, f"consume_{field}", body, request)
    return {"unusable": raised["refusal"]} if "refusal" in raised else raised


def _field(probe: ModuleType, name: str, body: bytes, request: dict[str, Any]) -> dict[str, Any]:
    value, raised = _call(probe, name, body, request)
    if raised:
        return raised
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        return {"failure": f"{name} returned what is not JSON: {error}"}
    return {"value": value}


def _call(probe: ModuleType, name: str, body: bytes, request: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Returns what a function of the probe returns, and what it raises instead."""
    wrong = _wrong(probe, name, body, request)
    if wrong is not None:
        return None, {"failure": wrong}
    try:
        return getattr(probe, name)(body, dict(request)), {}
    except ImportError as error:
        return None, {"failure": _describe(error)}
    except (SystemExit, KeyboardInterrupt, MemoryError) as error:
        return None, {"failure": _describe(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the client raises is its refusal
        return None, {"refusal": _describe(error)}


def _wrong(probe: ModuleType, name: str, *arguments: object) -> str | None:
    """Returns why a function of the probe cannot be called: that is a mistake in the probe, and nobody's refusal."""
    function = getattr(probe, name, None)
    if function is None:
        return f"the probe has no function {name}"
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError as error:
        return f"the probe's {name} cannot be called with {len(arguments)} positional arguments: {error}"
    except ValueError:
        # Not written in Python, it may not say what it takes.
        return None
    return None


def _describe(error: BaseException) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = f"{text} (more than the plan's memory for this probe)".strip()
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _send(answers: IO[str], answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


if __name__ == "__main__":
    sys.exit(main())
