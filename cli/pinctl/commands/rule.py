"""`pinctl rule`."""

from enum import StrEnum
from typing import Annotated

import typer

from pinctl.commands.invocation import invocation
from pinctl.errors import BadInputError
from pinctl.render.output import Format


class RuleFormat(StrEnum):
    """How rules are printed."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def rule(
    context: typer.Context,
    code: Annotated[str | None, typer.Argument(help="The rule's code; none lists them all.", metavar="CODE")] = None,
    output_format: Annotated[RuleFormat, typer.Option("--format", help="How to print.")] = RuleFormat.TEXT,
) -> None:
    """Explain a rule: what it checks, why, how to fix what it finds, and how to waive it."""
    from pinctl.model.rules import RULES
    from pinctl.render.findings import rule_json, rules_markdown, rules_text
    from pinctl.tools.files.declaration import nearest

    output = invocation(context).output
    if code is not None and code.upper() not in RULES:
        raise BadInputError(f"there is no rule {code!r}{nearest(code.upper(), RULES)}", hint="List them: pinctl rule")
    chosen = tuple(RULES.values()) if code is None else (RULES[code.upper()],)
    if output_format is RuleFormat.MARKDOWN:
        output.plain(rules_markdown(chosen))
        return
    data = {"rules": [rule_json(item) for item in chosen]}
    output.answer(rules_text(chosen, whole=code is not None), data, Format(output_format.value))
