"""The compatibility matrix as values, and the algebra of its verdicts."""

from dataclasses import dataclass
from enum import StrEnum

from pinctl.errors import ExitStatus
from pinctl.model.control import ControlResult, Outcome


class Verdict(StrEnum):
    """What came of sending a server's payload to a client, from best to worst."""

    OK = "ok"
    UNKNOWN = "unknown"
    """Could not find out: never ok."""
    MISSING = "missing"
    """No error, and a field the client needs is absent."""
    REJECTS = "rejects"
    """A loud error."""
    CORRUPTS = "corrupts"
    """No error and a wrong value: the one that costs a training run."""

    @property
    def severity(self) -> int:
        """Orders verdicts: the higher, the worse."""
        return _SEVERITY[self]

    @property
    def exit_status(self) -> ExitStatus:
        """Yes, no, or could not find out."""
        match self:
            case Verdict.OK:
                return ExitStatus.YES
            case Verdict.UNKNOWN:
                return ExitStatus.UNKNOWN
            case _:
                return ExitStatus.NO


_SEVERITY = {verdict: severity for severity, verdict in enumerate(Verdict)}


def worst(verdicts: tuple[Verdict, ...]) -> Verdict:
    """Returns the worst verdict; of none at all, unknown."""
    return max(verdicts, key=lambda verdict: verdict.severity, default=Verdict.UNKNOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldResult:
    """What came of one field of one case.

    Attributes:
        reason: why the verdict is not ok; empty when it is.
        evidence: what was expected and what came, shortened.
        waits_for: the feature that the field is for, where not all that it needs is there; such a field does not count.
    """

    field: str
    verdict: Verdict
    reason: str = ""
    evidence: str = ""
    waits_for: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseResult:
    """What came of one case: the worst of its fields that count."""

    case: str
    fields: tuple[FieldResult, ...]

    @property
    def counts(self) -> bool:
        """Whether the case counts: not where every field of it waits for something."""
        return not self.fields or any(not field.waits_for for field in self.fields)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the fields that count; of all where none does."""
        return worst(tuple(field.verdict for field in self._counting))

    @property
    def _counting(self) -> tuple[FieldResult, ...]:
        return tuple(field for field in self.fields if not (self.counts and field.waits_for))

    @property
    def reason(self) -> str:
        """The reason of the worst field, with the field's name."""
        field = _worst_of(self._counting)
        if field is None:
            return "the client needs no field of this case"
        return f"{field.field}: {field.reason}" if field.verdict is not Verdict.OK else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One server variant against one client variant.

    Attributes:
        server: the server variant's label.
        client: the client variant's label.
        component: the component that the client is a variant of.
        cases: the results, in the plan's order.
        setup: why no case could be run, for instance an environment that could not be made.
        controls: what the client made of negative controls.
        strict: whether these decide as well, since the plan asks for a strict client.
    """

    server: str
    client: str
    component: str
    cases: tuple[CaseResult, ...] = ()
    setup: str | None = None
    controls: tuple[ControlResult, ...] = ()
    strict: bool = False

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the cases that count, and of controls that decide; unknown where no case was run."""
        if self.setup is not None:
            return Verdict.UNKNOWN
        cases = worst(tuple(case.verdict for case in self.cases if case.counts))
        return worst((cases, self._strictness)) if self.strict else cases

    @property
    def _strictness(self) -> Verdict:
        """What the controls come to; unknown where there is none that could be refused."""
        return worst(tuple(_CONTROL_VERDICTS[control.outcome] for control in self.controls if control.refusable))

    @property
    def is_asked(self) -> bool:
        """Whether anything is asked of the cell: not where all that was run waits for something."""
        return self.setup is not None or not self.cases or any(case.counts for case in self.cases)

    @property
    def reason(self) -> str:
        """Why the verdict is not ok: the first case that shows it, and how many do."""
        if self.setup is not None:
            return self.setup
        verdict = self.verdict
        if verdict is Verdict.OK:
            return ""
        guilty = tuple(case for case in self.cases if case.counts and case.verdict is verdict)
        if guilty:
            return f"{guilty[0].case}: {guilty[0].reason}"
        if not self.cases:
            return "no case was run"
        if not self.is_asked:
            return f"waits for {self.cases[0].fields[0].waits_for}"
        control = self.guilty_control
        return control.complaint if control is not None else "strictness is asked for, and there was no control to send"

    @property
    def guilty_control(self) -> ControlResult | None:
        """The first control that shows the verdict, where no case does."""
        verdict = self.verdict
        if not self.strict or any(case.counts and case.verdict is verdict for case in self.cases):
            return None
        guilty = (control for control in self.controls if control.complaint)
        return next((control for control in guilty if _CONTROL_VERDICTS[control.outcome] is verdict), None)

    @property
    def evidence(self) -> str:
        """What was expected and what came, where the reason comes from; empty where nothing more is to be said."""
        verdict = self.verdict
        if self.setup is not None or verdict is Verdict.OK:
            return ""
        guilty = (case for case in self.cases if case.counts and case.verdict is verdict)
        fields = (field for case in guilty for field in case.fields if field.verdict is verdict)
        control = self.guilty_control
        return next((field.evidence for field in fields if field.evidence), control.evidence if control else "")


_CONTROL_VERDICTS = {
    Outcome.REFUSED: Verdict.OK,
    Outcome.TAKEN: Verdict.CORRUPTS,
    Outcome.DROPPED: Verdict.MISSING,
    Outcome.UNKNOWN: Verdict.UNKNOWN,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The cells of a plan.

    Attributes:
        plan: the plan's name.
        required: the (server, client) labels that must be ok; None means every cell.
    """

    plan: str
    servers: tuple[str, ...]
    clients: tuple[str, ...]
    cells: tuple[Cell, ...]
    required: frozenset[tuple[str, str]] | None = None

    def cell(self, server: str, client: str) -> Cell | None:
        """Returns the cell of two labels; None where there is none."""
        for cell in self.cells:
            if cell.server == server and cell.client == client:
                return cell
        return None

    def is_required(self, cell: Cell) -> bool:
        """Tells whether the answer depends on this cell: not where nothing is asked of it."""
        return cell.is_asked and (self.required is None or (cell.server, cell.client) in self.required)

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of the required cells; unknown where one of them is absent, or where there is none."""
        cells = tuple(cell for cell in self.cells if self.is_required(cell))
        verdicts = [cell.verdict for cell in cells]
        run = {(cell.server, cell.client) for cell in self.cells}
        if self.required is not None and not self.required <= run:
            verdicts.append(Verdict.UNKNOWN)
        return worst(tuple(verdicts))


def _worst_of(fields: tuple[FieldResult, ...]) -> FieldResult | None:
    return max(fields, key=lambda field: field.verdict.severity, default=None)
