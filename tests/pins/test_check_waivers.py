"""Waivers: by pins.toml and by trailer, with a reason that is shown; and the finding about one that waives nothing."""

from pathlib import Path

import pytest

from support import Pinctl
from support.rig import Repo, Rig, checked

BASE = ("--base", "main")


def _moved(rig: Rig, before: str, after: str, *, waive: str = "", message: str = "Move lib", skip: str = "") -> Repo:
    """Makes a pull request, checked out, that moves the pin of lib, with waivers in pins.toml and its message."""
    lib = rig.components.get("lib") or rig.component("lib")
    table = f"\n[components.lib.waive]\n{waive}" if waive else ""
    pins_toml = rig.pins_toml("lib", more={"lib": f"{skip}{table}"})
    repo = rig.superproject({"lib": lib.oid(before)}, files={"pins.toml": pins_toml})
    repo.commit("pr", message, gitlinks={"deps/lib": lib.oid(after)}, parents=[repo.oid()])
    repo.switch("pr")
    return repo


def test_pins_toml_waives_a_rule_for_one_component(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _moved(rig, "main", "main~1", waive='PIN002 = "2.0 loses tokens"')

    result = pinctl("check", *BASE, cwd=repo.directory)

    assert (result.status, result.stderr) == (0, "")
    assert result.stdout == (
        "PIN002 deps/lib: waived (2.0 loses tokens): "
        f"the pin moved back by 1, from {lib.oid()[:7]} to {lib.oid('main~1')[:7]}\n"
        f"ok: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 1 of 1 pins that moved\n"
    )
    found = checked(pinctl, repo, *BASE)
    assert (found.only["waived"], found.data["status"]) == ("2.0 loses tokens", "ok")


def test_it_waives_no_other_rule_and_no_other_component(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~1")])
    pins_toml = rig.pins_toml("lib", "other", more={"lib": '[components.lib.waive]\nPIN003 = "known"'})
    pins = {"lib": lib.oid(), "other": other.oid()}
    repo = rig.superproject(pins, files={"pins.toml": pins_toml})
    moved = {"deps/lib": side, "deps/other": other.oid("main~1")}
    repo.commit("pr", "Move both", gitlinks=moved, parents=[repo.oid()])

    found = checked(pinctl, repo, *BASE, "--head", "pr")

    expected = [("PIN001", "deps/lib"), ("(PIN003)", "deps/lib"), ("PIN002", "deps/other")]
    assert found.answer() == (1, expected)


@pytest.mark.parametrize(("before", "after", "code"), [("main", "main~1", "PIN002"), ("main~1", "side", "PIN003")])
def test_a_trailer_waives_the_rules_about_moving_back(
    tmp_path: Path, pinctl: Pinctl, before: str, after: str, code: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    side = lib.commit("side", "Side", files={"side": "x\n"}, parents=[lib.oid("main~2")])
    lib.commit(message="Merge", parents=[lib.oid(), side], files={"side": "x\n"})
    repo = _moved(rig, before, after, message="Back\n\nPin-Rollback: lib tokens are lost\n")

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (0, [(f"({code})", "deps/lib")])
    assert found.only["waived"] == "tokens are lost"


def test_a_trailer_waives_nothing_else(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    work = lib.commit("work", "Work", files={"work": "x\n"}, parents=[lib.oid("main~1")])
    repo = _moved(rig, "main", work, message="Back\n\nPin-Rollback: lib tokens are lost\n")

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("PIN001", "deps/lib"), ("(PIN003)", "deps/lib")])


def test_a_trailer_in_any_commit_of_the_range_counts(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main~1")
    repo.commit("pr", "Say why\n\nPin-Rollback: lib tokens are lost\nReviewed-by: Somebody\n")
    repo.commit("pr", "Something else", files={"code.py": "x\n"})

    assert checked(pinctl, repo, *BASE).answer() == (0, [("(PIN002)", "deps/lib")])


def test_a_trailer_of_an_earlier_change_does_not_count(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main~1", message="Back\n\nPin-Rollback: lib tokens are lost\n")
    lib = Rig(top=tmp_path)
    repo.git("update-ref", "refs/heads/main", "pr")
    oid = Repo(directory=lib.top / "remotes/lib.git").oid("main~2")
    repo.commit("pr", "Further back", gitlinks={"deps/lib": oid})

    assert checked(pinctl, repo, *BASE).answer() == (1, [("PIN002", "deps/lib")])


def test_a_trailer_with_carriage_returns_counts(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main~1", message="Back\r\n\r\nPin-Rollback: lib tokens are lost\r\n")

    found = checked(pinctl, repo, *BASE)

    assert (found.status, found.only["waived"]) == (0, "tokens are lost")


def test_a_waiver_that_waives_nothing_is_a_finding(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main~1", "main", waive='PIN002 = "2.0 loses tokens"')

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("WVR001", "pins.toml")])
    assert found.messages == ["the waiver of PIN002 for lib (2.0 loses tokens) waives nothing"]


def test_a_trailer_that_waives_nothing_is_a_finding(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main~1", "main", message="On\n\nPin-Rollback: lib tokens are lost\n")

    found = checked(pinctl, repo, *BASE)

    assert found.answer() == (1, [("WVR001", f"the trailer of {repo.oid('pr')[:7]}")])
    assert found.messages == ["the waiver of PIN002, PIN003, PIN004 for lib (tokens are lost) waives nothing"]


def test_a_waiver_for_a_pin_that_was_not_judged_is_none(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main", waive='PIN002 = "2.0 loses tokens"')

    assert checked(pinctl, repo, *BASE).answer() == (0, [])


@pytest.mark.parametrize("waiver", ['PIN001 = "a fork"', 'PIN002 = "2.0 loses tokens"'])
def test_a_waiver_waives_nothing_that_could_not_be_judged_and_is_not_blamed_for_it(
    tmp_path: Path, pinctl: Pinctl, waiver: str
) -> None:
    rig = Rig(top=tmp_path)
    lib = rig.component("lib")
    repo = _moved(rig, "main", "main~1", waive=waiver)
    lib.directory.rename(tmp_path / "gone.git")

    assert checked(pinctl, repo, *BASE).answer() == (3, [("?PIN001", "deps/lib")])


def test_a_waiver_of_a_skipped_component_is_not_blamed(tmp_path: Path, pinctl: Pinctl) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main~1", waive='PIN002 = "old"', skip='skip = "private"\n')

    assert checked(pinctl, repo, *BASE).answer() == (0, [])


def test_a_waiver_that_the_change_itself_brings_counts_and_is_shown(tmp_path: Path, pinctl: Pinctl) -> None:
    """Who reviews the change sees it in the diff and in the answer."""
    rig = Rig(top=tmp_path)
    repo = _moved(rig, "main", "main~1")
    pins_toml = rig.pins_toml("lib", more={"lib": '[components.lib.waive]\nPIN002 = "new"'})
    repo.commit("pr", "Waive it", files={"pins.toml": pins_toml})

    assert checked(pinctl, repo, *BASE).answer() == (0, [("(PIN002)", "deps/lib")])
    repo.switch("main")
    assert checked(pinctl, repo, *BASE, "--head", "pr").answer() == (0, [("(PIN002)", "deps/lib")])


@pytest.mark.parametrize(
    ("waive", "words"),
    [
        ('PIN02 = "x"', "components.lib.waive.PIN02: is no rule; did you mean "),
        ("PIN002 = true", "components.lib.waive.PIN002: "),
        ('PIN002 = ""', "components.lib.waive.PIN002: "),
        ('PIN002 = "  "', "components.lib.waive.PIN002: "),
    ],
)
def test_a_waiver_without_a_rule_or_a_reason_is_a_mistake_of_the_file(
    tmp_path: Path, pinctl: Pinctl, waive: str, words: str
) -> None:
    repo = _moved(Rig(top=tmp_path), "main", "main~1", waive=waive)

    result = pinctl("check", *BASE, cwd=repo.directory)

    assert (result.status, result.stdout) == (2, "")
    assert f"pins.toml:12: {words}" in result.stderr


def test_every_rule_says_how_it_is_waived_and_that_works_for_those_that_can(tmp_path: Path, pinctl: Pinctl) -> None:
    """The lock is the superproject's own: no component's table can waive it."""
    result = pinctl("rule", "LCK001", cwd=tmp_path)

    assert "[components.NAME.waive]" not in result.stdout


def test_an_explanation_comes_once_for_each_rule(tmp_path: Path, pinctl: Pinctl) -> None:
    rig = Rig(top=tmp_path)
    lib, other = rig.component("lib"), rig.component("other")
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid()})
    moved = {"deps/lib": lib.oid("main~1"), "deps/other": other.oid("main~1")}
    repo.commit("pr", "Move both back", gitlinks=moved, parents=[repo.oid()])

    result = pinctl("check", *BASE, "--head", "pr", "--explain", cwd=repo.directory)
    plain = pinctl("check", *BASE, "--head", "pr", cwd=repo.directory)
    rule = pinctl("rule", "PIN002", cwd=repo.directory)

    *findings, last = plain.stdout.splitlines()
    assert result.status == plain.status == 1
    assert result.stdout.splitlines() == [*findings, "", *rule.stdout.splitlines(), "", last]
    data = checked(pinctl, repo, *BASE, "--head", "pr", "--explain").data
    assert [item["code"] for item in data["rules"]] == ["PIN002"]
