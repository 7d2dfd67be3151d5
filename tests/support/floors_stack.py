"""Builds a stack of the shape of release-floors: a pin past its newest release, and an environment that conflicts."""

from dataclasses import dataclass
from pathlib import Path

from support.rig import Repo
from support.stack import CONFIGS_MANIFEST, ROOT_MANIFEST, replaced
from support.uv_rig import Files, UvRig, project

PLAN = "landing_plans/release-floors.toml"
ALE_CLI = "deps/prime-envs/environments/office/ale_cli"

_TOP = Path(__file__).parents[2]
_PINS = """\
version = 1

[superproject]
name = "prime-rl"
branch = "main"
manifests = ["pyproject.toml", "packages/prime-rl-configs/pyproject.toml"]
lock = "uv.lock"

[components.renderers]
distribution = "renderers"
tags = "renderers-v[0-9]*"
pin = { gitlink = "deps/renderers" }
floor = "release"

[components.verifiers]
distribution = "verifiers"
pin = { gitlink = "deps/verifiers" }
floor = "release"

[components.prime-envs]
pin = { gitlink = "deps/prime-envs" }
"""
_WORKSPACE = """\
[tool.uv.workspace]
members = ["packages/*", "deps/prime-envs/environments/*/*"]
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorsStack:
    """The stack: a checkout of prime-rl with its remote, which has the head of #4056, and the components' remotes.

    Attributes:
        rig: with the components' remotes.
        renderers: the commits between which its pin moves, and one that needs another version of somebody else's.
        environments: those between which prime-envs' pin moves.
        verifiers: its pin, which stays.
    """

    superproject: Repo
    rig: UvRig
    renderers: tuple[str, str, str]
    environments: tuple[str, str]
    verifiers: str


def floors_stack(top: Path) -> FloorsStack:
    """Builds the stack in an empty directory."""
    rig = UvRig(top=top)
    rig.third_party("numpy", "2.3.5", "2.4.4")
    rig.third_party("vllm", "0.31.0", requires=["numpy<2.4"])
    rig.third_party("pillow", "12.0.0", "12.1.0")
    renderers = _renderers(rig)
    environments = _environments(rig)
    verifiers = _verifiers(rig)
    floors = (
        ('"verifiers[harbor]>=0.3.1.dev59"', '"verifiers[harbor]>=0.4.0"'),
        ('"renderers[multimodal]>=0.1.12.dev4"', '"renderers[multimodal]>=0.1.12"'),
    )
    before = (
        rig.root(
            "verifiers",
            "renderers",
            requires=["vllm", *(old.strip('"') for old, _ in floors), "prime-rl-configs"],
            more=_WORKSPACE,
        ).replace('name = "super"', 'name = "prime-rl"')
        + "prime-rl-configs = { workspace = true }\n"
    )
    plan = replaced((_TOP / PLAN).read_text("utf-8"), ("5d870d8", renderers[1][:7]), ("91d7d15", environments[1][:7]))
    files: Files = {CONFIGS_MANIFEST: project("prime-rl-configs", requires=["verifiers>=0.3.1.dev59"]), PLAN: plan}
    pins = {"renderers": renderers[0], "prime-envs": environments[0], "verifiers": verifiers}
    superproject = rig.locked(pins, manifest=before, pins_toml=_PINS, files=files)
    # As a person would have written it: the floors of one manifest, and nothing of the rest.
    superproject.commit(
        "refs/pull/4056/head",
        "Require released versions",
        files={ROOT_MANIFEST: replaced(before, *floors), "docs/floors.md": "Floors name releases.\n"},
        parents=[superproject.oid("main")],
    )
    remote = Repo.make(top / "remotes" / "prime-rl.git", bare=True)
    superproject.git("remote", "add", "origin", remote.directory)
    superproject.git("push", "--quiet", "origin", "main", "refs/pull/4056/head")
    return FloorsStack(
        superproject=superproject, rig=rig, renderers=renderers, environments=environments, verifiers=verifiers
    )


def _renderers(rig: UvRig) -> tuple[str, str, str]:
    def at(version: str, pillow: str) -> str:
        extra = f'[project.optional-dependencies]\nmultimodal = ["pillow{pillow}"]\n'
        return project("renderers", version, requires=["numpy"], more=extra)

    repo = rig.component("renderers", commits=0)
    released = repo.commit(message="Release 0.1.12", files={"pyproject.toml": at("0.1.12", "<12.1")})
    repo.git("update-ref", "refs/tags/renderers-v0.1.12", released)
    moves = (
        ("Read packed completion logprobs (#174)", "0.1.13.dev1", "<12.1"),
        ("Take any pillow", "0.1.13.dev2", ""),
        ("Need a new pillow", "0.1.13.dev3", ">=12.1"),
    )
    one, two, three = (
        repo.commit(message=message, files={"pyproject.toml": at(version, pillow)})
        for message, version, pillow in moves
    )
    return one, two, three


def _verifiers(rig: UvRig) -> str:
    repo = rig.library("verifiers", "0.4.0", more="[project.optional-dependencies]\nharbor = []\n")
    for number in range(1, 13):
        what = "Decode packed sampling masks (#2778)" if number == 7 else f"Change {number} of 12"
        repo.commit(message=what, files={f"change_{number}.py": f"{number}\n"})
    return repo.oid()


def _environments(rig: UvRig) -> tuple[str, str]:
    repo = rig.component("prime-envs", commits=0)
    before = repo.commit(files={"environments/math/sums/pyproject.toml": project("sums", requires=["numpy"])})
    added = {"environments/office/ale_cli/pyproject.toml": project("ale-cli", requires=["numpy>=2.4.4"])}
    return before, repo.commit(message="Add office environments", files=added)
