"""What a plan's payloads cost, as values, and whether the plan's budgets hold."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from pinctl.errors import ExitStatus
from pinctl.model.matrix import Verdict

BEFORE = "before"
"""The server without the plan's changes."""
AFTER = "after"
"""The server with all of them."""
REFERENCE = "reference"
"""The client that reads reference wire forms: pinctl's own decoders."""


class Measure(StrEnum):
    """What is measured."""

    BYTES = "bytes"
    """The size of the response's body."""
    ENCODE = "encode"
    """The time in which the server writes it."""
    DECODE = "decode"
    """The time in which a client reads it."""
    OBJECTS = "objects"
    """The objects that it adds to each full garbage collection while it is held: parsed, or as a client keeps it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """A bound that a plan sets on one measure of a server, as a ratio to the same measure of another one.

    Attributes:
        of: `before`, `after`, or `wire:FORM`.
        against: what it is compared with, likewise.
        client: the component that reads both; None for the reference decoders, and where no client matters.
        at_most: the largest ratio that is within the budget.
        place: where the plan says so, for messages: file, line and key path.
    """

    measure: Measure
    of: str
    against: str
    client: str | None = None
    at_most: float
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measuring:
    """What a plan wants measured.

    Attributes:
        case: the name of the case that is sent.
        without: fields of the case that are left out.
    """

    case: str = "long"
    without: tuple[str, ...] = ()
    budgets: tuple[Budget, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """What some runs of one call took.

    Attributes:
        best: the shortest time, in seconds; None where nothing could be measured.
        median: in seconds.
        objects: how many objects the garbage collector tracks more while the result is held.
        failure: why nothing could be measured.
    """

    best: float | None = None
    median: float | None = None
    objects: int | None = None
    failure: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a server's response costs: the server itself, or one client that reads it.

    Attributes:
        server: the label of the variant that writes it.
        client: the label of the variant that reads it, or `REFERENCE`; None where these are the server's own figures.
        size: of the body, in bytes; None for a client.
        best: the shortest time of writing or of reading it, in seconds; None where there are no figures.
        median: of the same times.
        objects: that the garbage collector tracks more while the body is held: parsed, or as the client keeps it.
        lacks: the fields of the case that the server's form cannot carry.
        verdict: ok where there are figures; a client that does not get the true values is not measured.
        reason: why there are none.
    """

    server: str
    client: str | None = None
    size: int | None = None
    best: float | None = None
    median: float | None = None
    objects: int | None = None
    lacks: tuple[str, ...] = ()
    verdict: Verdict = Verdict.OK
    reason: str = ""

    @property
    def title(self) -> str:
        """Whose figures these are."""
        return _title(self.server, self.client)

    def value(self, measure: Measure) -> float | None:
        """Returns one figure; None where there is none."""
        match measure:
            case Measure.BYTES:
                return self.size
            case Measure.ENCODE | Measure.DECODE:
                return self.best
            case Measure.OBJECTS:
                return self.objects


class BudgetVerdict(StrEnum):
    """Whether a budget holds."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"
    """Could not be measured: never kept."""
    NOT_JUDGED = "not judged"
    """The user asked about other variants than those that it is about."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedBudget:
    """What came of one budget.

    Attributes:
        of: the label of the server that it bounds, or the plan's word for it where there is none.
        against: likewise.
        client: the label of the client with the largest ratio, or of the one that could not be measured.
        ratio: the largest one; None where there is none.
        reason: why it is unknown or not judged.
    """

    budget: Budget
    of: str
    against: str
    verdict: BudgetVerdict
    client: str | None = None
    ratio: float | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The figures of one run. Times depend on the machine: compare them with each other, and with nothing else.

    Attributes:
        plan: the plan's name.
        case: the case that was sent, with `tokens` completion tokens and `without` some of its fields.
        repeat: how often each call was timed.
        servers: the figures of each server.
        clients: the figures of each pair.
        names: the labels that the words of budgets stand for.
        judging: by component, the labels of the clients that budgets are judged by.
        named_servers: whether the user named the servers, and so asked about no others.
        named_clients: whether the user named the clients.
        budgets: the plan's.
    """

    plan: str
    case: str
    tokens: int
    without: tuple[str, ...]
    repeat: int
    servers: tuple[Figures, ...]
    clients: tuple[Figures, ...]
    names: Mapping[str, str]
    judging: Mapping[str, tuple[str, ...]]
    named_servers: bool
    named_clients: bool
    budgets: tuple[Budget, ...]

    def figures(self, server: str, client: str | None = None) -> Figures | None:
        """Returns the figures of a server, or of a pair; None where they were not asked for."""
        for figures in (*self.servers, *self.clients):
            if (figures.server, figures.client) == (server, client):
                return figures
        return None

    @property
    def judged(self) -> tuple[JudgedBudget, ...]:
        """What came of each budget."""
        return tuple(judge(budget, self) for budget in self.budgets)

    @property
    def exit_status(self) -> ExitStatus:
        """No if a budget is broken; else could not find out if a budget is unknown, or a variant could not be run."""
        verdicts = {judged.verdict for judged in self.judged}
        if BudgetVerdict.BROKEN in verdicts:
            return ExitStatus.NO
        unknown = any(figures.verdict is Verdict.UNKNOWN for figures in (*self.servers, *self.clients))
        return ExitStatus.UNKNOWN if unknown or BudgetVerdict.UNKNOWN in verdicts else ExitStatus.YES


def judge(budget: Budget, measured: Measured) -> JudgedBudget:
    """Judges one budget by the figures of a run.

    Where several clients of the component were measured, each must be within the budget.
    """
    of, against = (measured.names.get(word) for word in (budget.of, budget.against))
    clients = (None,) if budget.client is None else measured.judging.get(budget.client, ())
    judged = JudgedBudget(
        budget=budget, of=of or budget.of, against=against or budget.against, verdict=BudgetVerdict.UNKNOWN
    )
    if of is None or against is None:
        absent = budget.of if of is None else budget.against
        if measured.named_servers:
            return _not_judged(judged, absent)
        return replace(judged, reason=f"there is no server {absent} the plan's changes")
    if not clients:
        if measured.named_clients:
            return _not_judged(judged, budget.client)
        return replace(judged, reason=f"there is no client {budget.client}")
    ratios = []
    for client in clients:
        ratio = _ratio(budget, of, against, client, measured)
        if isinstance(ratio, str):
            return replace(judged, client=client, reason=ratio)
        ratios.append((ratio, client))
    largest, worst = max(ratios, key=lambda pair: pair[0])
    verdict = BudgetVerdict.KEPT if largest <= budget.at_most else BudgetVerdict.BROKEN
    return replace(judged, verdict=verdict, client=worst, ratio=largest)


def _not_judged(judged: JudgedBudget, absent: str | None) -> JudgedBudget:
    reason = f"{absent} is not among the variants that were named"
    return replace(judged, verdict=BudgetVerdict.NOT_JUDGED, reason=reason)


def _ratio(budget: Budget, of: str, against: str, client: str | None, measured: Measured) -> float | str:
    """Returns the ratio of two figures, or why there is none."""
    reader = REFERENCE if budget.measure is Measure.DECODE and client is None else client
    values = []
    for label in (of, against):
        figures = measured.figures(label, reader)
        value = None if figures is None else figures.value(budget.measure)
        if figures is None or value is None:
            words = "was not measured" if figures is None else f"{figures.verdict}: {figures.reason}"
            return f"{_title(label, reader)}: {words}"
        values.append(value)
    over, under = values
    if not under:
        return f"{_title(against, reader)}: 0 {budget.measure}, and nothing is a ratio of that"
    return over / under


def _title(server: str, client: str | None) -> str:
    return server if client is None else f"{server} x {client}"
