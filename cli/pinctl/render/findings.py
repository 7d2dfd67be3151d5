"""Shows the findings of a check."""

from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.finding import Finding, Findings


def findings_text(verdict: Findings) -> RenderableType:
    """Returns each finding with its place and its fix, then what was judged."""
    lines: list[Text] = []
    for finding in verdict.items:
        style = "magenta" if finding.unknown else "red"
        place = finding.path if finding.line is None else f"{finding.path}:{finding.line}"
        lines.append(Text.assemble((finding.rule, style), f" {place}: {finding.message}"))
        if finding.fix:
            lines.append(Text(f"    fix: {finding.fix}", style="dim"))
    base = f"{verdict.base[:7]}.." if verdict.base else ""
    lines.append(Text(f"{verdict.status}: {base}{verdict.head[:7]}, judged {', '.join(verdict.judged)}"))
    return Group(*lines)


def findings_json(verdict: Findings) -> dict[str, Any]:
    """Returns the findings with the same values."""
    return {
        "status": verdict.status,
        "base": verdict.base,
        "head": verdict.head,
        "judged": list(verdict.judged),
        "findings": [_finding_json(finding) for finding in verdict.items],
    }


def _finding_json(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "component": finding.component,
        "path": finding.path,
        "line": finding.line,
        "message": finding.message,
        "fix": finding.fix,
        "unknown": finding.unknown,
    }
