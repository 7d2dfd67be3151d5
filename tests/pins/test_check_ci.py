"""Finds what to judge in GitHub Actions and GitLab, from their environment and in their kinds of checkouts."""

import json
from pathlib import Path
from typing import Any

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked

ZERO = "0" * 40


class Forge:
    """A superproject on a forge, with a pull request that takes lib back, and a main that went on since.

    Attributes:
        main: the target's tip.
        head: of the pull request.
        merge: the forge's test merge of the two.
    """

    def __init__(self, top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.rig = Rig(top=top)
        self.monkeypatch = monkeypatch
        self.lib = self.rig.component("lib", commits=4)
        self.there = self.rig.superproject({"lib": self.lib.oid("main~1")}, files={"code.py": "x = 1\n"})
        self.fork = self.there.oid()
        back = {"deps/lib": self.lib.oid("main~2")}
        self.head = self.there.commit("pr", "Move lib back", gitlinks=back, parents=[self.fork])
        self.head = self.there.commit("pr", "Change code", files={"more.py": "x = 2\n"})
        self.main = self.there.commit("main", "Change other code", files={"code.py": "x = 3\n"})
        self.merge = self.there.commit("refs/pull/1/merge", "Merge", parents=[self.main, self.head], tree="pr")
        self.merge = self.there.commit(
            "refs/pull/1/merge",
            "Merge",
            parents=[self.main, self.head],
            gitlinks=back,
            files={"more.py": "x = 2\n"},
        )
        self.there.branch("refs/pull/1/head", self.head)

    def checkout(self, revision: str, *options: str, refs: tuple[str, ...] = ()) -> Repo:
        """Makes a checkout as a CI system does: some refs fetched, one commit checked out."""
        here = Repo.make(self.rig.top / "checkout")
        here.git("remote", "add", "origin", f"file://{self.there.directory}")
        here.git("fetch", "--quiet", "--no-tags", *options, "origin", *refs, f"+{revision}:refs/remotes/ci/head")
        here.git("checkout", "--quiet", "--detach", "refs/remotes/ci/head")
        return here

    def github(self, name: str, event: dict[str, Any], **env: str) -> None:
        """Sets the environment of a GitHub workflow."""
        path = self.rig.top / "event.json"
        path.write_text(json.dumps(event))
        values = {"GITHUB_ACTIONS": "true", "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(path), **env}
        for key, value in values.items():
            self.monkeypatch.setenv(key, value)

    def gitlab(self, source: str, **env: str) -> None:
        """Sets the environment of a GitLab pipeline."""
        for key, value in {"GITLAB_CI": "true", "CI_PIPELINE_SOURCE": source, **env}.items():
            self.monkeypatch.setenv(key, value)

    def pull(self) -> dict[str, Any]:
        return {"pull_request": {"base": {"ref": "main", "sha": self.main}, "head": {"ref": "pr", "sha": self.head}}}


@pytest.fixture
def forge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Forge:
    return Forge(tmp_path, monkeypatch)


ALL = ("+refs/heads/*:refs/remotes/origin/*",)
BROKEN = (1, [("PIN002", "deps/lib")])


def test_a_pull_request_with_its_test_merge_checked_out(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/pull/1/merge", refs=ALL)
    forge.github("pull_request", forge.pull(), GITHUB_SHA=forge.merge, GITHUB_BASE_REF="main")

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    expected = {"base": forge.main, "head": forge.merge, "source": "GitHub's pull_request"}
    assert {key: found.data[key] for key in expected} == expected


@pytest.mark.parametrize("refs", [ALL, ()])
def test_a_pull_request_with_its_head_checked_out(forge: Forge, pinctl: Pinctl, refs: tuple[str, ...]) -> None:
    here = forge.checkout("refs/pull/1/head", refs=refs)
    forge.github("pull_request", forge.pull(), GITHUB_SHA=forge.merge, GITHUB_BASE_REF="main")

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert found.data["base"] == forge.main
    assert found.data["head"] in {forge.head, forge.merge}


@pytest.mark.parametrize("options", [(), ("--deepen",)])
def test_a_pull_request_in_a_checkout_of_one_commit(forge: Forge, pinctl: Pinctl, options: tuple[str, ...]) -> None:
    """What actions/checkout leaves without fetch-depth."""
    here = forge.checkout("refs/pull/1/merge", "--depth=1")
    forge.github("pull_request", forge.pull(), GITHUB_SHA=forge.merge, GITHUB_BASE_REF="main")

    if options:
        assert checked(pinctl, here, *options).answer() == BROKEN
    else:
        result = pinctl("check", cwd=here.directory)
        assert (result.status, result.stdout) == (3, "")
        assert "shallow" in result.stderr


@pytest.mark.parametrize("refs", [ALL, ("+refs/heads/main:refs/remotes/origin/main",)])
def test_pull_request_target_judges_the_pull_request_and_not_the_target_that_is_checked_out(
    forge: Forge, pinctl: Pinctl, refs: tuple[str, ...]
) -> None:
    here = forge.checkout("refs/heads/main", refs=refs)
    forge.github("pull_request_target", forge.pull(), GITHUB_SHA=forge.main, GITHUB_BASE_REF="main")

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert (found.data["base"], found.data["head"]) == (forge.main, forge.head)
    assert found.data["source"] == "GitHub's pull_request_target"


def test_pull_request_target_whose_head_cannot_be_had_is_unknown(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/heads/main", refs=("+refs/heads/main:refs/remotes/origin/main",))
    event = forge.pull()
    event["pull_request"]["head"]["sha"] = "5" * 40
    forge.github("pull_request_target", event, GITHUB_SHA=forge.main)

    result = pinctl("check", cwd=here.directory)

    assert (result.status, result.stdout) == (3, "")


def test_a_merge_queues_commit_is_judged_against_the_tip_below_it(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/pull/1/merge", refs=ALL)
    event = {"merge_group": {"base_sha": forge.main, "head_sha": forge.merge, "base_ref": "refs/heads/main"}}
    forge.github("merge_group", event, GITHUB_SHA=forge.merge)

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert (found.data["base"], found.data["head"]) == (forge.main, forge.merge)
    assert found.data["source"] == "GitHub's merge_group"


def test_a_merge_queue_does_not_blame_one_change_for_another_before_it(forge: Forge, pinctl: Pinctl) -> None:
    following = forge.there.commit("refs/queue/2", "Merge another", files={"z.py": "z\n"}, parents=[forge.merge])
    here = forge.checkout("refs/queue/2", refs=ALL)
    event = {"merge_group": {"base_sha": forge.merge, "head_sha": following}}
    forge.github("merge_group", event, GITHUB_SHA=following)

    assert checked(pinctl, here).answer() == (0, [])


def test_a_push_is_judged_from_where_the_branch_was(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/heads/pr", refs=ALL)
    forge.github("push", {"before": forge.fork, "after": forge.head}, GITHUB_SHA=forge.head)

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert (found.data["base"], found.data["head"]) == (forge.fork, forge.head)


@pytest.mark.parametrize("forge_name", ["github", "gitlab"])
def test_the_first_push_of_a_branch_is_judged_against_the_target(forge: Forge, pinctl: Pinctl, forge_name: str) -> None:
    """Its pin moved in the first of its two commits."""
    here = forge.checkout("refs/heads/pr", refs=ALL)
    here.git("update-ref", "refs/heads/main", "refs/remotes/origin/main")
    if forge_name == "github":
        forge.github("push", {"before": ZERO, "after": forge.head, "created": True}, GITHUB_SHA=forge.head)
    else:
        forge.gitlab("push", CI_COMMIT_SHA=forge.head, CI_COMMIT_BEFORE_SHA=ZERO)

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert (found.data["base"], found.data["head"]) == (forge.main, forge.head)


def test_the_very_first_push_of_a_repository_is_judged_by_itself(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/heads/main", refs=("+refs/heads/main:refs/remotes/origin/main",))
    here.git("checkout", "--quiet", "--detach", forge.fork)
    here.git("update-ref", "refs/remotes/origin/main", forge.fork)
    forge.github("push", {"before": ZERO, "after": forge.fork}, GITHUB_SHA=forge.fork)

    found = checked(pinctl, here)

    assert found.answer() == (0, [])
    assert (found.data["base"], found.data["judged"]) == (None, ["1 of 1 pins"])


def test_a_push_that_rewrote_a_branch_is_judged_from_where_it_was(forge: Forge, pinctl: Pinctl) -> None:
    former = forge.there.commit("pr", "Rewritten", files={"w.py": "w\n"}, parents=[forge.fork])
    forge.there.branch("pr", forge.head)
    here = forge.checkout("refs/heads/pr", refs=ALL)
    forge.github("push", {"before": former, "after": forge.head, "forced": True}, GITHUB_SHA=forge.head)

    assert checked(pinctl, here).answer() == BROKEN


def test_other_events_judge_what_is_checked_out_against_the_target(forge: Forge, pinctl: Pinctl) -> None:
    here = forge.checkout("refs/heads/pr", refs=ALL)
    here.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    forge.github("workflow_dispatch", {}, GITHUB_SHA=forge.head)

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert found.data["source"] == "the tip of remotes/origin/main"


@pytest.mark.parametrize("name", ["pull_request", "pull_request_target"])
@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"pull_request": null}'])
def test_an_event_that_says_nothing_is_an_error_or_unknown_and_never_a_pass(
    forge: Forge, pinctl: Pinctl, text: str, name: str
) -> None:
    target = name == "pull_request_target"
    here = forge.checkout("refs/heads/main" if target else "refs/pull/1/merge", refs=ALL)
    forge.github(name, {}, GITHUB_SHA=forge.main if target else forge.merge, GITHUB_BASE_REF="main")
    (forge.rig.top / "event.json").write_text(text)

    result = pinctl("check", "--format", "json", cwd=here.directory)

    assert result.status in {1, 2, 3}
    assert result.status != 1 or '"rule": "PIN002"' in result.stdout


@pytest.mark.parametrize("named", [("--base", "HEAD^1"), ("--head", "HEAD^2")])
def test_what_the_user_names_goes_before_what_the_forge_says(
    forge: Forge, pinctl: Pinctl, named: tuple[str, str]
) -> None:
    here = forge.checkout("refs/pull/1/merge", refs=ALL)
    forge.github("pull_request", forge.pull(), GITHUB_SHA="5" * 40)

    assert checked(pinctl, here, *named).answer() == BROKEN


@pytest.mark.parametrize("tip", [True, False])
def test_a_merge_request_of_gitlab(forge: Forge, pinctl: Pinctl, *, tip: bool) -> None:
    """With merged results there is a commit of the two, else the head alone."""
    here = forge.checkout("refs/pull/1/merge" if tip else "refs/pull/1/head", refs=ALL)
    forge.gitlab(
        "merge_request_event",
        CI_COMMIT_SHA=forge.merge if tip else forge.head,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
        CI_MERGE_REQUEST_TARGET_BRANCH_SHA=forge.main if tip else "",
        CI_MERGE_REQUEST_DIFF_BASE_SHA=forge.fork,
    )

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert found.data["base"] == forge.main
    assert found.data["source"] == "GitLab's merge request"


def test_a_merge_request_of_gitlab_whose_target_was_not_fetched_is_judged_against_its_tip_all_the_same(
    forge: Forge, pinctl: Pinctl
) -> None:
    """The target moved the pin meanwhile, further than the merge request does: against the fork point all is well."""
    for number in (1, 2):
        forge.lib.commit(message=f"More {number}", files={f"more{number}": "x\n"})
    on = {"deps/lib": forge.lib.oid("main~1")}
    head = forge.there.commit("refs/merge-requests/2/head", "Bump lib a little", gitlinks=on, parents=[forge.fork])
    forge.there.commit("main", "Bump lib", gitlinks={"deps/lib": forge.lib.oid()})
    here = forge.checkout("refs/merge-requests/2/head")
    forge.gitlab(
        "merge_request_event",
        CI_COMMIT_SHA=head,
        CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main",
        CI_MERGE_REQUEST_DIFF_BASE_SHA=forge.fork,
    )

    found = checked(pinctl, here)

    assert found.answer() == BROKEN
    assert found.data["base"] == forge.there.oid()
