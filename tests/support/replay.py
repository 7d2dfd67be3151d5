"""Builds a stack of the shape of router-replay-pd: a server with prefill and decode apart, and a router by release."""

from dataclasses import dataclass
from pathlib import Path

import pinctl.demo
from support.rig import Repo, Rig
from support.uv_rig import BACKEND, IN_TREE, project

PLAN = "landing_plans/router-replay-pd.toml"
PROBES = ("prefill_decode_server.py", "router_client.py")
RELEASES = "https://releases.example/router"

_TOP = Path(__file__).parents[2]
_STACK = Path(pinctl.demo.__file__).parent / "stack/prime-rl"
_SERVING = "src/prime_rl/inference/vllm/serving_tokens.py"
_DISAGGREGATED = "src/prime_rl/inference/vllm/disaggregated.py"

_PREFILL = '''\
"""Says what a prefill instance answers beside the one token that nobody reads."""


def prefill_experts(rows):
    """Returns the experts of the prompt that a prefill instance hands out, None where it keeps them to itself."""
    return {result}
'''

_JOIN = '''\
"""Joins the routed experts of a prefill and a decode instance."""

import base64
import math


def join(prefill, decode, *, prompt_tokens):
    """Returns the experts of the whole completion, packed as the two parts are."""
    size = math.prod(decode["shape"][1:]) * {{"uint8": 1, "uint16": 2}}[decode["dtype"]]
    rows = decode["shape"][0]
{cut}
    data = base64.b64decode(prefill["data"]) + base64.b64decode(decode["data"])[cut * size :]
    shape = [prefill["shape"][0] + rows - cut, *decode["shape"][1:]]
    return {{**prefill, "data": base64.b64encode(data).decode(), "shape": shape}}
'''

PADDED = """\
    # The decode instance's rows are taken to be padded with zeros for the whole prompt.
    cut = prompt_tokens
    if rows < cut:
        raise ValueError(f"decode routed_experts has {rows} rows, expected at least {cut}")"""
"""How a router joins before v0.2.3."""

BY_POSITION = """\
    cut = prefill["start"] + prefill["shape"][0] - decode["start"]
    if not 0 <= cut <= rows:
        raise ValueError(f"decode routed_experts starts at {decode['start']}, prefill ends elsewhere")"""
"""How a router joins since v0.2.3."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayStack:
    """The stack: a checkout of prime-rl with its remote, and the router's remote.

    Attributes:
        remote: prime-rl's, with the heads of #3830 and #3900.
        heads: these heads, by change of the plan.
    """

    superproject: Repo
    remote: Repo
    router: Repo
    heads: dict[str, str]

    def merge(self, change: str) -> str:
        """Merges a change of the server on the remote's main, as a forge does, and brings the checkout there."""
        numbers = {"replay": 3830, "packed": 3900}
        before, head = self.remote.oid("main"), self.heads[change]
        tree = self.remote.git("merge-tree", "--write-tree", before, head)
        merged = self.remote.commit("main", f"Merge {change} (#{numbers[change]})", tree=tree, parents=[before])
        self.superproject.git("pull", "--quiet", "--ff-only", "origin", "main")
        return merged


def replay_stack(top: Path, *, join: str = BY_POSITION) -> ReplayStack:
    """Builds the stack, with the router's change merged and released as v0.2.3.

    Args:
        top: an empty directory.
        join: how the router joins since that release.
    """
    rig = Rig(top=top)
    router = rig.component("vllm-router", commits=0)
    _release(router, "0.2.2", "Release v0.2.2", PADDED)
    _release(router, "0.2.3", "Join routed experts by position (#61)", join)
    files = {
        "pyproject.toml": _manifest("0.2.2"),
        "_backend/pure_backend.py": BACKEND,
        "src/prime_rl/__init__.py": "",
        "src/prime_rl/inference/__init__.py": "",
        "src/prime_rl/inference/vllm/__init__.py": "",
        _SERVING: (_STACK / "0-base" / _SERVING).read_text("utf-8"),
        _DISAGGREGATED: _PREFILL.format(result=None),
        "pins.toml": "\n".join(
            [
                'version = 1\n[superproject]\nname = "prime-rl"\nbranch = "main"\n[components.vllm-router]',
                f'url = "{router.directory}"\nbranch = "main"\ndistribution = "vllm-router"',
                'pin = { source = "vllm-router" }\ntag = "v0.2.2"\n',
            ]
        ),
        PLAN: (_TOP / PLAN).read_text("utf-8"),
    } | {f"landing_plans/probes/{name}": (_TOP / "landing_plans/probes" / name).read_text("utf-8") for name in PROBES}
    remote = Repo.make(top / "remotes" / "prime-rl.git", bare=True)
    base = remote.commit("main", "Serve with prefill and decode apart", files=files)
    changed = {
        "replay": (3830, {_DISAGGREGATED: _PREFILL.format(result="rows")}),
        "packed": (3900, {_SERVING: (_STACK / "pr3900-1-pack" / _SERVING).read_text("utf-8")}),
    }
    heads = {
        name: remote.commit(f"refs/pull/{number}/head", f"Change {name}", files=changes, parents=[base])
        for name, (number, changes) in changed.items()
    }
    superproject = Repo.make(top / "super")
    superproject.git("remote", "add", "origin", remote.directory)
    superproject.git("pull", "--quiet", "origin", "main")
    return ReplayStack(superproject=superproject, remote=remote, router=router, heads=heads)


def _release(router: Repo, version: str, message: str, cut: str) -> None:
    oid = router.commit(
        message=message,
        files={
            "pyproject.toml": project("vllm-router", version, more=IN_TREE),
            "_backend/pure_backend.py": BACKEND,
            "vllm_router/__init__.py": "",
            "vllm_router/routed_experts.py": _JOIN.format(cut=cut),
        },
    )
    router.git("update-ref", f"refs/tags/v{version}", oid)


def _manifest(router: str) -> str:
    wheel = f"{RELEASES}/v{router}/vllm_router-{router}-cp38-abi3-manylinux_2_28"
    lines = [
        "[tool.uv.sources]",
        "vllm-router = [",
        *(
            f"""    {{ url = "{wheel}_{machine}.whl", marker = "platform_machine == '{machine}'" }},"""
            for machine in ("x86_64", "aarch64")
        ),
        "]\n",
    ]
    return project("prime-rl", "0.5.0", requires=["vllm-router"], more=f"{IN_TREE}\n" + "\n".join(lines))
