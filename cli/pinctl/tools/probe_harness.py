"""Runs a probe inside the environment under test; knows nothing but the standard library.

Started as `python -I probe_harness.py PROBE BYTES`; BYTES is the memory that it may use. Reads one JSON object a line
and answers each with one (protocol 1, described in docs/probes.md). What the code under test prints goes to stderr: it
cannot be taken for an answer.
"""

import contextlib
import json
import os
import resource
import sys
from types import ModuleType
from typing import IO, Any

PROTOCOL = 1


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
    try:
        body = probe.encode(request["case"])
        if isinstance(body, bytes):
            body = body.decode("utf-8")
        text = body if isinstance(body, str) else json.dumps(body)
        text.encode("utf-8")
        answer["body"] = text
    except BaseException as error:  # noqa: BLE001 - whatever the server raises is its answer, leaving the program too
        answer["failure"] = _describe(error)
    return answer


def _decode(probe: ModuleType, request: dict[str, Any]) -> dict[str, Any]:
    body = request["body"].encode("utf-8")
    calls = [(field, f"decode_{field}") for field in request["reads"]]
    calls += [(field, f"relay_{field}") for field in request["relays"]]
    fields = {field: _field(probe, name, body, request["request"]) for field, name in calls}
    for field in request["reads"]:
        if "value" in fields[field] and hasattr(probe, f"consume_{field}"):
            fields[field] |= _use(probe, field, body, request["request"])
    return {"case": request["case"], "fields": fields}


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
    function = getattr(probe, name, None)
    if function is None:
        return None, {"failure": f"the probe has no function {name}"}
    try:
        return function(body, dict(request)), {}
    except ImportError as error:
        return None, {"failure": _describe(error)}
    except (SystemExit, KeyboardInterrupt, MemoryError) as error:
        return None, {"failure": _describe(error)}
    except BaseException as error:  # noqa: BLE001 - whatever the client raises is its refusal
        return None, {"refusal": _describe(error)}


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
