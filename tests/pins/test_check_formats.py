"""Findings for other programs: GitHub's annotations and job summary, SARIF 2.1.0, JUnit, Markdown."""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree as ET

import pytest

from pinctl import __version__
from pinctl.model.rules import RULES
from support import Pinctl
from support.rig import Repo, Rig, apart

RANGE = ("check", "--base", "main", "--head", "pr")


def _manifest(floor: str) -> str:
    build = '\n[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    return f'[project]\nname = "super"\nversion = "1"\ndependencies = [\n    "lib>={floor}",\n]\n{build}'


def _world(rig: Rig) -> Repo:
    """Makes a pull request with a finding of each kind: broken, waived, unknown, a warning; with and without a line."""
    lib, other, third = (rig.component(name) for name in ("lib", "other", "third"))
    lib.commit(message="Version", files={"pyproject.toml": '[project]\nname = "lib"\nversion = "0.1"\n'})
    more = {
        "lib": f'distribution = "lib"\ncommit = "{lib.oid()}"',
        "other": '[components.other.waive]\nPIN002 = "a | b"',
    }
    files = {"pins.toml": rig.pins_toml("lib", "other", more=more), "pyproject.toml": _manifest("0.1")}
    repo = rig.superproject({"lib": lib.oid(), "other": other.oid(), "third": third.oid()}, files=files)
    moved = {"deps/lib": lib.oid("main~1"), "deps/other": other.oid("main~1"), "deps/third": "5" * 40}
    changed = {"pyproject.toml": _manifest("0.2.dev1")}
    repo.commit("pr", "Move all", gitlinks=moved, files=changed, parents=[repo.oid()])
    return repo


def _clean(rig: Rig) -> Repo:
    lib = rig.component("lib")
    repo = rig.superproject({"lib": lib.oid("main~1")})
    repo.commit("pr", "Bump lib", gitlinks={"deps/lib": lib.oid()}, parents=[repo.oid()])
    return repo


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(top=tmp_path)


def _findings(pinctl: Pinctl, repo: Repo) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(pinctl(*RANGE, "--format", "json", cwd=repo.directory).stdout)["findings"]
    return found


def test_the_world_has_a_finding_of_each_kind(rig: Rig, pinctl: Pinctl) -> None:
    findings = _findings(pinctl, _world(rig))

    assert [(item["rule"], item["unknown"], item["waived"], item["level"]) for item in findings] == [
        ("PIN002", False, None, "error"),
        ("PIN002", False, "a | b", "error"),
        ("PIN006", True, None, "error"),
        ("PIN009", False, None, "error"),
        ("FLR004", False, None, "warning"),
    ]


def test_github_shows_each_on_a_line_of_a_file(rig: Rig, pinctl: Pinctl) -> None:
    repo = _world(rig)
    lib, other = (rig.components[name] for name in ("lib", "other"))

    result = pinctl(*RANGE, "--format", "github", cwd=repo.directory)

    back = f"the pin moved back by 1, from {lib.oid()[:7]} to {lib.oid('main~1')[:7]}"
    other_back = f"the pin moved back by 1, from {other.oid()[:7]} to {other.oid('main~1')[:7]}"
    pins = repo.git("cat-file", "blob", "pr:pins.toml").splitlines()
    record = next(number for number, line in enumerate(pins, 1) if line.startswith("commit"))
    third = repo.git("cat-file", "blob", "pr:.gitmodules").splitlines().index('[submodule "third"]') + 3
    assert (result.status, result.stderr) == (1, "")
    assert result.stdout.splitlines() == [
        f"::error file=pins.toml,line={record},title=PIN002 the pin moved back::{back}",
        (
            f"::notice file=pins.toml,line={pins.index('[components.other]') + 1},title=PIN002 the pin moved back::"
            f"{other_back} (waived: a | b)"
        ),
        (
            f"::warning file=.gitmodules,line={third},"
            "title=PIN006 the gitlink does not name a commit that can be fetched::"
            f"could not find out: 5555555 cannot be fetched from {rig.components['third'].directory}: "
            "it has no such object"
        ),
        (
            f"::error file=pins.toml,line={record},title=PIN009 pins.toml disagrees with the gitlink::"
            f"pins.toml records {lib.oid()[:12]}, and the gitlink deps/lib is {lib.oid('main~1')[:7]}"
        ),
        (
            "::warning file=pyproject.toml,line=5,title=FLR004 a published package has a development floor::"
            "lib>=0.2.dev1 is a pre-release, and pyproject.toml is of a package that gets published"
        ),
        f"broken: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 3 of 3 pins that moved",
    ]


@pytest.mark.parametrize("make", [_world, _clean])
def test_sarif_has_what_the_standard_requires(rig: Rig, pinctl: Pinctl, make: Any) -> None:
    """The required properties of SARIF 2.1.0 (OASIS), sections 3.13 to 3.52, and what code scanning wants of them."""
    repo = make(rig)
    findings = _findings(pinctl, repo)

    result = pinctl(*RANGE, "--format", "sarif", cwd=repo.directory)

    log = json.loads(result.stdout)
    assert (result.status, result.stderr) == (1 if findings else 0, "")
    assert log.keys() == {"$schema", "version", "runs"}
    assert (log["$schema"], log["version"]) == ("https://json.schemastore.org/sarif-2.1.0.json", "2.1.0")
    (run,) = log["runs"]
    assert run.keys() == {"tool", "results"}
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("pinctl", __version__)
    rules = [rule["id"] for rule in driver["rules"]]
    assert rules == sorted({finding["rule"] for finding in findings})
    for rule in driver["rules"]:
        for key in ("shortDescription", "fullDescription", "help"):
            assert isinstance(rule[key]["text"], str)
    assert len(run["results"]) == len(findings)
    for item, finding in zip(run["results"], findings, strict=True):
        assert rules[item["ruleIndex"]] == item["ruleId"] == finding["rule"]
        assert item["level"] == ("warning" if finding["unknown"] or finding["level"] == "warning" else "error")
        assert item["message"]["text"].startswith(finding["message"])
        (location,) = item["locations"]
        place = location["physicalLocation"]
        assert re.fullmatch(r"[A-Za-z0-9._~%/-]+", place["artifactLocation"]["uri"])
        assert (repo.directory / unquote(place["artifactLocation"]["uri"])).is_file()
        assert place["region"]["startLine"] >= 1
        if finding["waived"] is None:
            assert "suppressions" not in item
        else:
            assert item["suppressions"] == [{"kind": "external", "justification": finding["waived"]}]


@pytest.mark.parametrize("make", [_world, _clean])
def test_junit_counts_what_it_holds(rig: Rig, pinctl: Pinctl, make: Any) -> None:
    repo = make(rig)
    findings = _findings(pinctl, repo)

    result = pinctl(*RANGE, "--format", "junit", cwd=repo.directory)

    suite = ET.fromstring(result.stdout)  # noqa: S314 - it is our own
    cases = list(suite)
    assert suite.tag == "testsuite"
    assert {case.tag for case in cases} == {"testcase"}
    assert all(len(case) <= 1 for case in cases), "a reader takes the first result of a test for all of it"
    kinds = [case[0].tag for case in cases if len(case)]
    expected = {"tests": len(cases), **{f"{kind}s": kinds.count(kind) for kind in ("failure", "error")}}
    assert {key: int(suite.get(key, "-1")) for key in expected} == expected
    assert int(suite.get("skipped", "-1")) == kinds.count("skipped")
    told = [finding for finding in findings if finding["level"] == "error"]
    assert kinds.count("failure") == sum(not (item["unknown"] or item["waived"]) for item in told)
    assert kinds.count("error") == sum(item["unknown"] for item in told)
    assert {code for case in cases for code in RULES if (case.get("name") or "").startswith(code)} == set(RULES)
    names = [case.get("name") for case in cases]
    assert len(set(names)) == len(names)


def test_markdown_is_a_table_and_goes_to_the_job_summary(
    rig: Rig, tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _world(rig)
    summary = tmp_path / "summary.md"
    summary.write_text("what stood there\n")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))

    result = pinctl(*RANGE, "--format", "markdown", cwd=repo.directory)

    lines = result.stdout.splitlines()
    assert lines[:2] == ["### pinctl check: broken", ""]
    assert lines[3:6] == ["", "| rule | where | what | fix |", "|---|---|---|---|"]
    assert [len(re.split(r"(?<!\\)\|", line)) for line in lines[4:]] == [6] * 7
    assert lines[7].startswith("| ~~PIN002~~ | `deps/other` | ")
    assert "(waived: a \\| b)" in lines[7]
    assert summary.read_text() == "what stood there\n" + result.stdout


@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_without_findings_each_format_says_what_was_judged(
    rig: Rig, tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch, output_format: str
) -> None:
    repo = _clean(rig)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))

    result = pinctl(*RANGE, "--format", output_format, cwd=repo.directory)

    last = f"ok: {repo.oid()[:7]}..{repo.oid('pr')[:7]} (the command line), judged 1 of 1 pins that moved\n"
    assert (result.status, result.stderr) == (0, "")
    assert (tmp_path / "summary.md").read_text() == f"### pinctl check: ok\n\n{last}"
    match output_format:
        case "text" | "github":
            assert result.stdout == last
        case "markdown":
            assert result.stdout == f"### pinctl check: ok\n\n{last}"
        case "json":
            assert json.loads(result.stdout) == {
                "status": "ok",
                "base": repo.oid(),
                "head": repo.oid("pr"),
                "source": "the command line",
                "judged": ["1 of 1 pins that moved"],
                "defaults": ["lib by main, that its remote's HEAD names"],
                "findings": [],
            }
        case _:
            assert result.stdout


def test_a_job_summary_that_cannot_be_written_changes_no_answer(
    rig: Rig, tmp_path: Path, pinctl: Pinctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = _world(rig)
    expected = pinctl(*RANGE, cwd=repo.directory)
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "gone" / "summary.md"))

    result = pinctl(*RANGE, cwd=repo.directory)

    assert (result.status, result.stdout) == (expected.status, expected.stdout)


@pytest.mark.parametrize(
    "path",
    [
        b'deps/a|b <c>&"d"',
        "deps/bücher".encode(),
        b"deps/\x1b[31mred",
        b"deps/\xff\xfe",
        b"deps/]]>-->",
        b"deps/a%0Ab,c::error::d",
        b"deps/a`b",
    ],
)
@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_any_path_can_be_printed_in_any_format(rig: Rig, pinctl: Pinctl, path: bytes, output_format: str) -> None:
    repo = rig.superproject({})
    octal = "".join(chr(byte) if 32 < byte < 127 and byte not in b'"\\' else f"\\{byte:03o}" for byte in path)
    repo.commit("pr", "Add all", gitlinks={f'"{octal}"': "5" * 40}, parents=[repo.oid()])

    result = pinctl(*RANGE, "--format", output_format, cwd=repo.directory)

    assert (result.status, result.stderr) == (1, "")
    assert "PIN012" in result.stdout
    assert "\x1b" not in result.stdout, "a terminal or a log would obey it"
    match output_format:
        case "json" | "sarif":
            assert json.loads(result.stdout)
        case "junit":
            assert ET.fromstring(result.stdout).get("failures") == "1"  # noqa: S314 - it is our own
        case "github":
            assert [line[:7] for line in result.stdout.splitlines()] == ["::error", "broken:"]
        case _:
            pass


@pytest.mark.parametrize("output_format", ["text", "json", "github", "sarif", "junit", "markdown"])
def test_a_path_that_is_no_text_can_be_printed_where_output_must_be_text(rig: Rig, output_format: str) -> None:
    repo = rig.superproject({})
    repo.commit("pr", "Add all", gitlinks={'"deps/\\377"': "5" * 40}, parents=[repo.oid()])

    result = apart(repo.directory, *RANGE, "--format", output_format, env={"PYTHONIOENCODING": "utf-8:strict"})

    assert (result.status, result.stderr) == (1, "")
