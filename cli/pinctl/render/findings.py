"""Shows the findings of a check, and explains rules."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.finding import Finding, Findings, Level
from pinctl.model.rule import Rule
from pinctl.model.rules import RULES
from pinctl.render.reports import printable, summary


def findings_text(findings: Findings, *, explain: bool = False) -> RenderableType:
    """Returns each finding with its place and its fix, then what was judged."""
    lines: list[Text] = []
    for finding in findings.items:
        lines += finding_lines(finding)
    if explain:
        for code in dict.fromkeys(finding.rule for finding in findings.items):
            lines += [Text(), *_rule_lines(RULES[code])]
        lines.append(Text())
    lines.append(Text(summary(findings)))
    return Group(*lines)


def finding_lines(finding: Finding) -> list[Text]:
    """Returns a finding with its place, and the fix where there is one."""
    place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
    if finding.waived is not None:
        words = f"{finding.rule} {place}: waived ({finding.waived}): {finding.message}"
        return [Text(printable(words), style="dim")]
    warning = finding.level is Level.WARNING
    style = "yellow" if warning else "magenta" if finding.unknown else "red"
    words = f" {place}: warning: {finding.message}" if warning else f" {place}: {finding.message}"
    lines = [Text.assemble((finding.rule, style), printable(words))]
    if finding.fix:
        lines.append(Text(printable(f"    fix: {finding.fix}"), style="dim"))
    return lines


def findings_json(findings: Findings, *, explain: bool = False) -> dict[str, Any]:
    """Returns the findings with the same values."""
    found = {
        "status": findings.status,
        "base": findings.base,
        "head": findings.head,
        "source": findings.source,
        "judged": list(findings.judged),
        "defaults": list(findings.defaults),
        "findings": [_finding_json(finding) for finding in findings.items],
    }
    if explain:
        found["rules"] = [rule_json(RULES[code]) for code in dict.fromkeys(item.rule for item in findings.items)]
    return found


def rules_text(rules: tuple[Rule, ...], *, whole: bool) -> RenderableType:
    """Returns rules, each in a line or whole."""
    if not whole:
        return Group(*(Text.assemble((rule.code, "bold"), f"  {rule.title}") for rule in rules))
    return Group(*(line for rule in rules for line in _rule_lines(rule)))


def rule_json(rule: Rule) -> dict[str, Any]:
    """Returns a rule with the same values."""
    return {
        "code": rule.code,
        "title": rule.title,
        "what": rule.what,
        "why": rule.why,
        "fix": rule.fix,
        "waive": rule.waive,
    }


def rules_markdown(rules: tuple[Rule, ...]) -> str:
    """Returns the page of rules of the documentation."""
    lines = ["# Rules", "", "What `pinctl check` judges. This page is written by `pinctl rule --format markdown`.", ""]
    lines += ["| rule | finds |", "|---|---|"]
    lines += [f"| [{rule.code}](#{rule.code.lower()}) | {rule.title} |" for rule in rules]
    for rule in rules:
        lines += ["", f"## {rule.code}", "", f"**{rule.title[0].upper()}{rule.title[1:]}.** {rule.what}", ""]
        lines += [f"*Why.* {rule.why}", "", f"*Fix.* {rule.fix}", "", f"*Waive.* {rule.waive}"]
    return "\n".join(lines) + "\n"


def _rule_lines(rule: Rule) -> list[Text]:
    return [
        Text.assemble((rule.code, "bold"), f"  {rule.title}"),
        Text(f"  what:  {rule.what}"),
        Text(f"  why:   {rule.why}"),
        Text(f"  fix:   {rule.fix}"),
        Text(f"  waive: {rule.waive}"),
    ]


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "component": finding.component,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
        "level": finding.level,
        "unknown": finding.unknown,
        "waived": finding.waived,
    }
