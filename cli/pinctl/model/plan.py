"""Says what a landing plan intends: changes, their order, the pins that move, and the contract to keep."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pinctl.model.control import Controls
from pinctl.model.measure import Measuring
from pinctl.model.mode import Mode


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One unit of work in one repository: a pull request, or a branch.

    Attributes:
        id: its name within the plan.
        component: the component's name, or the superproject's own.
        pull: the forge's number of its pull request.
        branch: the branch that holds it while it has not landed.
        commit: the commit it landed as, where the plan says so; maybe abbreviated.
        after: the ids of changes that must have landed before it.
        pins: the components whose pins move in the commit that lands it.
    """

    id: str
    component: str
    pull: int | None = None
    branch: str | None = None
    commit: str | None = None
    after: tuple[str, ...] = ()
    pins: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """`renderers#174`, or the component with what else names the change."""
        if self.pull is not None:
            return f"{self.component}#{self.pull}"
        return f"{self.component} {self.branch or self.commit or self.id}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A program that asks one side of the contract, in that side's own environment.

    Attributes:
        path: the probe file.
        requirements: what its environment needs beside the code under test (PEP 508).
        dependencies: whether the code's own dependencies are installed.
        reads: the fields that a client decodes.
        relays: the fields that a client hands on unchanged.
        optional: those of them that the client can do without.
        strict: whether a client must refuse every negative control whose form gives it away.
        head: whether a client at the head of its branch must get along as well, before its pin moves there.
        seconds: the time limit of one run over all cases.
        memory: how many bytes of memory each of its processes may use.
    """

    path: Path
    requirements: tuple[str, ...] = ()
    dependencies: bool = True
    reads: tuple[str, ...] = ()
    relays: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    strict: bool = False
    head: bool = True
    seconds: float = 120.0
    memory: int = 2 * 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Contract:
    """The fields that cross between server and clients, with the cases that prove them.

    Attributes:
        cases: names of cases with known true values.
        clients: by component.
        controls: which negative controls are sent to the clients beside the cases.
        mode: how far back a landing must be compatible, beside what its order needs; None for no further.
        measuring: what `matrix --measure` measures, and the budgets.
    """

    server: Probe
    clients: Mapping[str, Probe]
    cases: tuple[str, ...]
    controls: Controls = Controls.NAMED
    measuring: Measuring = field(default_factory=Measuring)
    mode: Mode | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Constraint:
    """Changes that a feature needs all of, in whatever order they land.

    Attributes:
        feature: what needs them, in words.
        together: the ids of the changes.
        cases: the cases that need all of them; empty where every case does.
        fields: the fields of these cases that do; empty where every field does.
    """

    feature: str
    together: tuple[str, ...]
    cases: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()

    def covers(self, *, case: str, field: str) -> bool:
        """Tells whether a field of a case waits until all of the changes have landed."""
        return (not self.cases or case in self.cases) and (not self.fields or field in self.fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class LandingPlan:
    """Changes with their order, the pins that move with them, and the contract they must keep.

    Attributes:
        third_party: whether versions of other people's packages may move in the lock.
        constraints: what needs several changes, in any order.
    """

    name: str
    path: Path
    title: str
    changes: tuple[Change, ...]
    contract: Contract | None
    third_party: bool = False
    constraints: tuple[Constraint, ...] = ()

    def change(self, change_id: str) -> Change:
        """Returns the change of that id.

        Raises:
            KeyError: the plan has none.
        """
        for change in self.changes:
            if change.id == change_id:
                return change
        raise KeyError(change_id)

    def of_superproject(self, name: str) -> tuple[Change, ...]:
        """Returns the changes in the superproject itself, in the plan's order."""
        return tuple(change for change in self.changes if change.component == name)

    def in_order(self) -> tuple[Change, ...]:
        """Returns the changes sorted by their `after` edges, in the plan's order where they are free."""
        placed: list[Change] = []
        waiting = list(self.changes)
        while waiting:
            done = {change.id for change in placed}
            change = next(change for change in waiting if set(change.after) <= done)
            placed.append(change)
            waiting.remove(change)
        return tuple(placed)

    def moving(self) -> tuple[str, ...]:
        """Returns the components whose pins move, in the order in which the plan first names them."""
        return tuple(dict.fromkeys(pin for change in self.changes for pin in change.pins))
