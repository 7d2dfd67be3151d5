"""Tells the history of the embedded stack: who committed which files, when, and on top of what.

Both component changes were squashed on merging, so the heads of their pull requests are on no branch. renderers had not
moved in between and the squash has the tree of the head; verifiers had, and only the difference is the same.
"""

from pinctl.demo.commits import Commit, Person, Repository, Tag

MAIN = ("refs/heads/main",)
LANDING_BRANCH = "refs/heads/perf/packed-generate-gc"
BACKEND = "stack/_shared/pure_backend.py"

MARA = Person(name="Mara Lindqvist", email="mara@prime.example")
TOMAS = Person(name="Tomas Okafor", email="tomas@prime.example")
INES = Person(name="Ines Calder", email="ines@contributors.example")
YUKI = Person(name="Yuki Brandt", email="yuki@contributors.example")

RENDERERS = Repository(
    name="renderers",
    commits=(
        Commit(
            name="0-base",
            subject="Generate with one token per byte",
            body="A renderer without a vocabulary, and the client of /inference/v1/generate.",
            author=MARA,
            date="2026-05-04T09:12:40+02:00",
            refs=MAIN,
            tags=(Tag(name="renderers-v0.1.11", message="renderers 0.1.11"),),
            shared={"_backend/pure_backend.py": BACKEND},
        ),
        Commit(
            name="1-sampling-mask",
            subject="Return the sampling mask of a completion",
            body="The engine sends it; until now it was dropped on the way.",
            author=TOMAS,
            date="2026-05-11T16:03:05+01:00",
            parent="0-base",
            refs=MAIN,
            tags=(Tag(name="renderers-v0.1.12", message="renderers 0.1.12"),),
        ),
        Commit(
            name="2-docs",
            subject="Describe what generate() reads of a response",
            author=MARA,
            date="2026-05-18T10:41:22+02:00",
            parent="1-sampling-mask",
            refs=MAIN,
        ),
        Commit(
            name="pr174-1-unpack",
            subject="Unpack a float32 array strictly",
            author=INES,
            date="2026-06-02T14:20:00-04:00",
            parent="2-docs",
            refs=("refs/pull/174/head",),
        ),
        Commit(
            name="pr174-2-read",
            subject="Read completion_logprobs where the engine sends it",
            body="The checks are those of the per-token form, which stays.",
            author=INES,
            date="2026-06-03T11:37:51-04:00",
            parent="pr174-1-unpack",
            refs=("refs/pull/174/head",),
        ),
        Commit(
            name="3-squash-174",
            subject="Read packed completion logprobs (#174)",
            body="* Unpack a float32 array strictly\n\n* Read completion_logprobs where the engine sends it\n\n"
            "Co-authored-by: Ines Calder <ines@contributors.example>",
            author=MARA,
            date="2026-06-09T09:30:12+02:00",
            parent="2-docs",
            refs=MAIN,
            squashes=("pr174-1-unpack", "pr174-2-read"),
        ),
        Commit(
            name="4-exports",
            subject="Export the public names from the package",
            author=TOMAS,
            date="2026-06-12T17:55:30+01:00",
            parent="3-squash-174",
            refs=MAIN,
        ),
    ),
)

VERIFIERS = Repository(
    name="verifiers",
    commits=(
        Commit(
            name="0-base",
            subject="Keep rollouts as graphs of messages",
            author=TOMAS,
            date="2026-04-20T11:00:00+01:00",
            refs=MAIN,
            tags=(Tag(name="v0.3.0", message="verifiers 0.3.0"),),
            shared={"_backend/pure_backend.py": BACKEND},
        ),
        Commit(
            name="1-placeholder",
            subject="Replace the placeholder once its routing is known",
            body="A turn's last token is forwarded by the next turn's prefill, which brings its true row.",
            author=TOMAS,
            date="2026-05-12T15:26:48+01:00",
            parent="0-base",
            refs=MAIN,
            tags=(Tag(name="v0.4.0", message="verifiers 0.4.0"),),
        ),
        Commit(
            name="2a-stats",
            subject="Sum up a rollout for the logs",
            author=MARA,
            date="2026-05-20T08:58:17+02:00",
            parent="1-placeholder",
            refs=MAIN,
            tags=(Tag(name="v0.5.0.dev1"),),
        ),
        Commit(
            name="2-docs",
            subject="Explain how a graph grows",
            author=TOMAS,
            date="2026-05-27T13:14:09+01:00",
            parent="2a-stats",
            refs=MAIN,
        ),
        Commit(
            name="pr2778-1-unpack",
            subject="Unpack an int32 array strictly",
            author=YUKI,
            date="2026-06-04T19:08:33+09:00",
            parent="2a-stats",
            refs=("refs/pull/2778/head",),
        ),
        Commit(
            name="pr2778-2-read",
            subject="Read a packed sampling mask",
            body="A mask may come as two arrays, ids and counts. Lists stay.",
            author=YUKI,
            date="2026-06-05T18:45:10+09:00",
            parent="pr2778-1-unpack",
            refs=("refs/pull/2778/head",),
        ),
        Commit(
            name="3-rewards",
            subject="Turn a group's rewards into advantages",
            author=MARA,
            date="2026-06-08T10:02:55+02:00",
            parent="2-docs",
            refs=MAIN,
        ),
        Commit(
            name="4-squash-2778",
            subject="Decode packed sampling masks (#2778)",
            body="* Unpack an int32 array strictly\n\n* Read a packed sampling mask\n\n"
            "Co-authored-by: Yuki Brandt <yuki@contributors.example>",
            author=TOMAS,
            date="2026-06-10T12:31:44+01:00",
            parent="3-rewards",
            refs=MAIN,
            squashes=("pr2778-1-unpack", "pr2778-2-read"),
        ),
        Commit(
            name="5-kept-set",
            subject="Report the mean size of the kept-set",
            author=MARA,
            date="2026-06-15T09:47:03+02:00",
            parent="4-squash-2778",
            refs=MAIN,
        ),
    ),
)

PRIME_RL = Repository(
    name="prime-rl",
    commits=(
        Commit(
            name="0-base",
            subject="Roll out conversations with an in-process server",
            author=MARA,
            date="2026-05-13T10:20:31+02:00",
            refs=MAIN,
            shared={
                "_backend/pure_backend.py": BACKEND,
                "packages/prime-rl-configs/_backend/pure_backend.py": BACKEND,
            },
            gitlinks={
                "deps/renderers": ("renderers", "1-sampling-mask"),
                "deps/verifiers": ("verifiers", "1-placeholder"),
            },
        ),
        Commit(
            name="1-bump",
            subject="Bump renderers and verifiers",
            body="Record the pins in pins.toml, and the plan for packed payloads beside it.",
            author=TOMAS,
            date="2026-05-21T14:09:26+01:00",
            parent="0-base",
            refs=MAIN,
            shared={
                f"landing_plans/probes/{name}": f"probes/{name}"
                for name in ("generate_server.py", "renderers_client.py", "verifiers_client.py")
            },
            gitlinks={
                "deps/renderers": ("renderers", "2-docs"),
                "deps/verifiers": ("verifiers", "2a-stats"),
            },
        ),
        Commit(
            name="pr3900-1-pack",
            subject="Pack the per-token payloads of /generate",
            body="Needs renderers#174 and verifiers#2778; the pins are the heads of both while they are in review.",
            author=YUKI,
            date="2026-06-05T20:17:42+09:00",
            parent="1-bump",
            refs=(LANDING_BRANCH,),
            gitlinks={
                "deps/renderers": ("renderers", "pr174-2-read"),
                "deps/verifiers": ("verifiers", "pr2778-2-read"),
            },
        ),
        Commit(
            name="pr3900-2-gc",
            subject="Freeze the garbage collector after start-up",
            author=YUKI,
            date="2026-06-06T15:33:08+09:00",
            parent="pr3900-1-pack",
            refs=(LANDING_BRANCH, "refs/pull/3900/head"),
        ),
        Commit(
            name="2-bump-verifiers",
            subject="Bump verifiers",
            author=TOMAS,
            date="2026-06-08T16:40:00+01:00",
            parent="1-bump",
            refs=MAIN,
            gitlinks={"deps/verifiers": ("verifiers", "2-docs")},
        ),
        Commit(
            name="3-batch",
            subject="Lay rollouts out for the trainer",
            author=MARA,
            date="2026-06-11T11:25:37+02:00",
            parent="2-bump-verifiers",
            refs=MAIN,
        ),
    ),
)

COMPONENTS = (RENDERERS, VERIFIERS)
SUPERPROJECT = PRIME_RL
