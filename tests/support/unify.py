"""Builds a stack of the shape of unify-generate: a route that moves, and a client that gets an exact pin."""

from dataclasses import dataclass
from pathlib import Path

from support.rig import Repo
from support.stack import replaced
from support.uv_rig import BACKEND, IN_TREE, Files, UvRig, project

OLD, NEW = "/v1/generate", "/inference/v1/generate"

_TOP = Path(__file__).parents[2] / "landing_plans/vllm-0.20"
PLAN = "landing_plans/unify-generate.toml"
_PROBES = ("server.py", "renderers_client.py", "verifiers_client.py", "teacher.py")

_SERVE = '''\
"""Answers a request to generate."""

import base64
import struct

ROUTE = "{route}"


def respond(token_ids, logprobs, experts):
    """Returns a choice of the response."""
    content = [
        {{"token": f"token_id:{{token_id}}", "logprob": logprob, "bytes": None, "top_logprobs": []}}
        for token_id, logprob in zip(token_ids, logprobs, strict=True)
    ]
    choice = {{"token_ids": token_ids, "finish_reason": "stop", "logprobs": {{"content": content}}}}
    return choice if experts is None else {{**choice, "routed_experts": _base85(experts)}}


def scored(logprobs, token_ids):
    """Returns what a teacher says of a prompt."""
    return {scored}


def _base85(rows):
    ids = [expert for row in rows for layer in row for expert in layer]
    shape = [len(rows), len(rows[0]), len(rows[0][0])]
    return {{"data": base64.b85encode(struct.pack(f"<{{len(ids)}}i", *ids)).decode(), "shape": shape}}
'''

_BY_CANDIDATE = """[
        None,
        *(
            {str(token_id + 1): {"logprob": -0.5, "rank": 1}, str(token_id): {"logprob": logprob, "rank": 2}}
            for logprob, token_id in zip(logprobs[1:], token_ids[1:], strict=True)
        ),
    ]"""

_TEACHER = '''\
"""Scores a prompt with the teacher."""


def flattened(prompt_logprobs, token_ids):
    """Returns a number for each token of the prompt, 0 for the first."""
    return {flattened}
'''
_AS_IT_CAME = _TEACHER.format(flattened="prompt_logprobs")
_BY_TOKEN = _TEACHER.format(
    flattened="[0.0, *(c[str(t)]['logprob'] for c, t in zip(prompt_logprobs[1:], token_ids[1:], strict=True))]"
)
_BY_RANK = _TEACHER.format(flattened="[0.0, *(next(iter(c.values()))['logprob'] for c in prompt_logprobs[1:])]")

_RENDERERS = '''\
"""Asks the engine to generate."""


def generate(post, prompt_ids):
    """Returns what the engine sampled."""
    choice = post("{route}", {{"token_ids": prompt_ids}})["choices"][0]
    entries = choice["logprobs"]["content"]
    if len(entries) != len(choice["token_ids"]):
        raise ValueError("a token has no logprob")
    return {{"completion_logprobs": [entry["logprob"] for entry in entries]}}
'''

_VERIFIERS = '''\
"""Asks the engine for a rollout."""

import base64
import math
import struct


def routed_experts(post, prompt_ids):
    """Returns the experts of each forwarded position."""
    sent = post("{route}", {{"token_ids": prompt_ids}})["choices"][0].get("routed_experts")
    if sent is None:
        return None
    rows, layers, top_k = sent["shape"]
    ids = struct.unpack(f"<{{math.prod(sent['shape'])}}i", base64.b85decode(sent["data"]))
    return [[list(ids[(row * layers + layer) * top_k :][:top_k]) for layer in range(layers)] for row in range(rows)]
'''


@dataclass(frozen=True, slots=True, kw_only=True)
class UnifyStack:
    """The stack: a checkout of prime-rl with its remote, which has the head of #2408, and the components' remotes.

    A branch `first-candidate` flattens what a teacher says in a careless way.

    Attributes:
        renderers: the commits of 0.1.5, of #1, and of 0.1.6; one more follows.
        verifiers: the commits between which its pin moves.
    """

    superproject: Repo
    rig: UvRig
    renderers: tuple[str, str, str]
    verifiers: tuple[str, str]


def unify_stack(top: Path) -> UnifyStack:
    """Builds the stack in an empty directory."""
    rig = UvRig(top=top)
    rig.third_party("vllm", "0.19.0", "0.20.0")
    rig.third_party("renderers", "0.1.5")
    renderers, verifiers = _renderers(rig), _verifiers(rig)
    files: Files = {
        PLAN: replaced((_TOP / PLAN).read_text("utf-8"), ("7bdc769", verifiers[1][:7])),
        "_backend/pure_backend.py": BACKEND,
        "prime_rl/__init__.py": "",
        "prime_rl/inference/__init__.py": "",
        "prime_rl/inference/serve.py": _SERVE.format(route=OLD, scored="logprobs"),
        "prime_rl/teacher.py": _AS_IT_CAME,
        **{f"landing_plans/probes/{name}": (_TOP / "landing_plans/probes" / name).read_text() for name in _PROBES},
    }
    manifest = rig.root("verifiers", requires=["verifiers", "vllm==0.19.0"], more=IN_TREE)
    manifest = replaced(manifest, ('name = "super"', 'name = "prime-rl"'))
    head, _, components = (_TOP / "pins.toml").read_text("utf-8").partition("[components.renderers]\n")
    url = "https://github.com/PrimeIntellect-ai/{}.git"
    pins_toml = replaced(
        f"{head}[components.renderers]\n{components}",
        (url.format("renderers"), str(rig.components["renderers"].directory)),
        (url.format("verifiers"), str(rig.components["verifiers"].directory)),
    )
    pins = {"verifiers": verifiers[0]}
    lock = rig.lock_of(pins, {"pyproject.toml": manifest, **rig.wheels})
    # Published since.
    rig.third_party("renderers", "0.1.6")
    superproject = rig.locked(
        pins, manifest=manifest, pins_toml=pins_toml, files={**files, "uv.lock": lock}, relocked=False
    )
    head = superproject.commit(
        "refs/pull/2408/head",
        "Move to the endpoint of vLLM 0.20",
        files={
            "pyproject.toml": replaced(manifest, ('"vllm==0.19.0"', '"vllm==0.20.0", "renderers==0.1.6"')),
            "prime_rl/inference/serve.py": _SERVE.format(route=NEW, scored=_BY_CANDIDATE),
            "prime_rl/teacher.py": _BY_TOKEN,
        },
        parents=[superproject.oid("main")],
    )
    superproject.commit(
        "first-candidate", "Take the first candidate", files={"prime_rl/teacher.py": _BY_RANK}, parents=[head]
    )
    remote = Repo.make(top / "remotes" / "prime-rl.git", bare=True)
    superproject.git("remote", "add", "origin", remote.directory)
    superproject.git("push", "--quiet", "origin", "main", "refs/pull/2408/head")
    return UnifyStack(superproject=superproject, rig=rig, renderers=renderers, verifiers=verifiers)


def _renderers(rig: UvRig) -> tuple[str, str, str]:
    repo = rig.component("renderers", commits=0)

    def commit(message: str, version: str, route: str) -> str:
        files = {"pyproject.toml": project("renderers", version, more=IN_TREE), "_backend/pure_backend.py": BACKEND}
        code = {"renderers/__init__.py": "", "renderers/client.py": _RENDERERS.format(route=route)}
        return repo.commit(message=message, files={**files, **code})

    before = commit("Release 0.1.5", "0.1.5", OLD)
    change = commit("Ask the endpoint of vLLM 0.20 (#1)", "0.1.5", NEW)
    # The tag is on the commit that sets the version, which is not that of the change.
    after = commit("Release 0.1.6", "0.1.6", NEW)
    commit("Work on the next", "0.1.7", NEW)
    repo.git("update-ref", "refs/tags/renderers-v0.1.5", before)
    repo.git("update-ref", "refs/tags/renderers-v0.1.6", after)
    return before, change, after


def _verifiers(rig: UvRig) -> tuple[str, str]:
    repo = rig.component("verifiers", commits=0)

    def commit(message: str, needs: str, route: str) -> str:
        text = project("verifiers", "0.2.0", requires=[needs], more=IN_TREE)
        files = {"pyproject.toml": text, "_backend/pure_backend.py": BACKEND}
        code = {"verifiers/__init__.py": "", "verifiers/engine.py": _VERIFIERS.format(route=route)}
        return repo.commit(message=message, files={**files, **code})

    before = commit("Roll out", "renderers>=0.1.5", OLD)
    return before, commit("Ask the endpoint of vLLM 0.20 (#1282)", "renderers>=0.1.6", NEW)
