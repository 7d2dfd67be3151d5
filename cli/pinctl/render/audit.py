"""Shows what the rules say of a history."""

from collections import Counter
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text

from pinctl.model.audit import Audit
from pinctl.render.findings import finding_lines, findings_json
from pinctl.render.reports import printable


def audit_text(audit: Audit) -> RenderableType:
    """Returns each commit that has findings with them, then how many there are of which rule."""
    lines: list[Text] = []
    for item in audit.judged:
        if not item.findings.items:
            continue
        lines.append(Text.assemble((item.findings.head[:7], "bold"), f" {printable(item.subject)}"))
        lines += [Text.assemble("  ", line) for finding in item.findings.items for line in finding_lines(finding)]
    rules = Counter(finding.rule for item in audit.judged for finding in item.findings.counting if not finding.unknown)
    if rules:
        lines.append(Text(", ".join(f"{count} x {rule}" for rule, count in sorted(rules.items()))))
    lines.append(Text(_summary(audit)))
    return Group(*lines)


def audit_json(audit: Audit) -> dict[str, Any]:
    """Returns every commit that was judged, those without a finding as well."""
    return {
        "status": audit.status,
        "range": audit.range,
        "commits": audit.commits,
        "judged": [{"subject": item.subject, **findings_json(item.findings)} for item in audit.judged],
    }


def _summary(audit: Audit) -> str:
    broken, unknown = len(audit.of_status("broken")), len(audit.of_status("unknown"))
    return (
        f"{audit.status}: {audit.range}, "
        f"{len(audit.judged)} of {audit.commits} commits touch pins, floors, the lock or a planned change; "
        f"{broken} break a rule, {unknown} could not be judged"
    )
