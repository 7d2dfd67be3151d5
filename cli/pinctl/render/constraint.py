"""Shows what a plan asks to be there together."""

from typing import Any

from pinctl.model.plan import Constraint


def constraint_json(constraint: Constraint) -> dict[str, Any]:
    """Returns a constraint with the names that its plan gives it."""
    return {
        "for": constraint.feature,
        "together": list(constraint.together),
        "cases": list(constraint.cases),
        "fields": list(constraint.fields),
    }


def constraint_words(constraint: Constraint) -> str:
    """Returns what a constraint asks for: `router replay needs server and router: case prefill-decode`."""
    *others, last = constraint.together
    cases = f"case {', '.join(constraint.cases)}" if constraint.cases else "every case"
    fields = f", field {', '.join(constraint.fields)}" if constraint.fields else ""
    return f"{constraint.feature} needs {', '.join(others)} and {last}: {cases}{fields}"
