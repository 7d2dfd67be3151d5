"""Writes findings for other programs: GitHub's annotations and job summary, SARIF, JUnit."""

import json
import re
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree as ET

from pinctl import __version__
from pinctl.model.finding import Finding, Findings, Level
from pinctl.model.rules import RULES

# A terminal or a log would obey some of these, and no XML may hold them; the last range is bytes that are no text.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\udc80-\udcff]")
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def as_github(findings: Findings) -> str:
    """Returns workflow commands, which GitHub shows on the lines of the diff.

    The format is that of GitHub's "Workflow commands for GitHub Actions".
    """
    lines = []
    for finding in findings.items:
        level = "notice" if finding.waived is not None else _level(finding)
        path, line = finding.anchor or (finding.path, 1)
        properties = [f"file={_property(path)}", f"line={line}"]
        properties.append(f"title={_property(f'{finding.rule} {RULES[finding.rule].title}')}")
        lines.append(f"::{level} {','.join(properties)}::{_data(_message(finding))}")
    lines.append(summary(findings))
    return printable("\n".join(lines)) + "\n"


def as_markdown(findings: Findings) -> str:
    """Returns a table for a pull request or a job summary."""
    lines = [f"### pinctl check: {findings.status}", "", summary(findings), ""]
    if findings.items:
        lines += ["| rule | where | what | fix |", "|---|---|---|---|"]
    for finding in findings.items:
        place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        code = f"~~{finding.rule}~~" if finding.waived is not None else finding.rule
        fix = f"`{_cell(finding.fix)}`" if finding.fix else ""
        lines.append(f"| {code} | `{_cell(place)}` | {_cell(_message(finding))} | {fix} |")
    return printable("\n".join(lines).rstrip()) + "\n"


def as_sarif(findings: Findings) -> str:
    """Returns a SARIF 2.1.0 log (OASIS), for code scanning."""
    codes = sorted({finding.rule for finding in findings.items})
    rules = [
        {
            "id": code,
            "shortDescription": {"text": RULES[code].title},
            "fullDescription": {"text": RULES[code].what},
            "help": {"text": f"{RULES[code].why}\n\nFix: {RULES[code].fix}\n\nWaive: {RULES[code].waive}"},
        }
        for code in codes
    ]
    log = {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": {"name": "pinctl", "version": __version__, "rules": rules}},
                "results": [_sarif_result(finding, codes) for finding in findings.items],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def as_junit(findings: Findings) -> str:
    """Returns a JUnit report: a test for each finding, and for each rule without one, so that it is never empty."""
    counts = {"tests": 0, "failures": 0, "errors": 0, "skipped": 0}
    suite = ET.Element("testsuite", name="pinctl check")
    for code, rule in RULES.items():
        found = [finding for finding in findings.items if finding.rule == code]
        for finding in found:
            kind, count = _junit_kind(finding)
            place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
            name = f"{code} {place}: {_message(finding)}"
            case = ET.SubElement(suite, "testcase", classname="pinctl", name=printable(name))
            fix = printable(finding.fix) if finding.fix else None
            ET.SubElement(case, kind, message=printable(_message(finding))).text = fix
            counts[count] += 1
        if not found:
            ET.SubElement(suite, "testcase", classname="pinctl", name=f"{code} {rule.title}")
        counts["tests"] += max(len(found), 1)
    for name, number in counts.items():
        suite.set(name, str(number))
    ET.indent(suite)
    return ET.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def _junit_kind(finding: Finding) -> tuple[str, str]:
    """Returns the element for a finding, and the count that it adds to."""
    if finding.waived is not None or finding.level is Level.WARNING:
        return "skipped", "skipped"
    return ("error", "errors") if finding.unknown else ("failure", "failures")


def printable(text: str) -> str:
    """Returns a text with its control characters, and bytes that are no text, written out."""
    return _UNPRINTABLE.sub(lambda match: f"\\x{ord(match[0]) & 0xFF:02x}", text)


def summary(findings: Findings) -> str:
    """Returns one line: the status, the range with where it was taken from, and what was judged."""
    base = f"{findings.base[:7]}.." if findings.base else ""
    return f"{findings.status}: {base}{findings.head[:7]} ({findings.source}), judged {', '.join(findings.judged)}"


def _message(finding: Finding) -> str:
    waived = f" (waived: {finding.waived})" if finding.waived is not None else ""
    return f"{finding.message}{waived}"


def _sarif_result(finding: Finding, codes: list[str]) -> dict[str, Any]:
    path, line = finding.anchor or (finding.path, 1)
    location: dict[str, Any] = {
        "artifactLocation": {"uri": quote(path, errors="surrogateescape"), "uriBaseId": "%SRCROOT%"}
    }
    location["region"] = {"startLine": line}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": codes.index(finding.rule),
        "level": _level(finding),
        "message": {"text": finding.message + (f"\nFix: {finding.fix}" if finding.fix else "")},
        "locations": [{"physicalLocation": location}],
    }
    if finding.waived is not None:
        result["suppressions"] = [{"kind": "external", "justification": finding.waived}]
    return result


def _level(finding: Finding) -> str:
    return "warning" if finding.unknown or finding.level is Level.WARNING else "error"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
