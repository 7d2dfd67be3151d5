"""A certificate: what a landing was proven on, what came of it, and whether it still holds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pinctl.model.matrix import Verdict
from pinctl.model.mode import Mode, required_pairs
from pinctl.model.need import Need


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything that a proof was run on. A certificate holds for nothing else.

    Attributes:
        plan: the SHA-256 of the plan's file.
        probes: the SHA-256 of each probe's file, by its path in the plan.
        cases: the SHA-256 of each case's true values, by its name.
        pins: the commit that each component is pinned at, by its name.
        tree: the tree of the superproject, without the certificate itself.
    """

    plan: str
    probes: Mapping[str, str]
    cases: Mapping[str, str]
    pins: Mapping[str, str]
    tree: str

    def changes_to(self, now: "Inputs") -> tuple[str, ...]:
        """Names what differs now from what was proven, each in a few words; nothing where all is the same."""
        found = ["the plan has changed"] if now.plan != self.plan else []
        for what, then, current in (("probe", self.probes, now.probes), ("case", self.cases, now.cases)):
            changed = sorted(name for name in {*then, *current} if then.get(name) != current.get(name))
            found += [f"the {what} {name} has changed" for name in changed]
        found += [
            f"{name} is pinned at {(now.pins.get(name) or 'nothing')[:7]}, not at {commit[:7]}"
            for name, commit in sorted(self.pins.items())
            if now.pins.get(name) != commit
        ]
        if not found and now.tree != self.tree:
            found.append("files of the superproject have changed")
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedCell:
    """What came of one cell.

    Attributes:
        cases: the verdict of each case.
        asked: whether anything of it counts: not where all that it was run on waits for what has not landed.
    """

    server: str
    client: str
    verdict: Verdict
    reason: str
    cases: Mapping[str, Verdict]
    asked: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifiedNeed:
    """Which cell answers what the declared order needs.

    Attributes:
        landed: the superproject's own changes in that state, sorted.
        server: the label of the cell's server variant; None where there was no such cell.
        client: the label of its client variant.
    """

    landed: tuple[str, ...]
    component: str
    new: bool
    role: str
    server: str | None
    client: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The matrix and the order proof of one landing.

    Attributes:
        plan: the plan's name.
        parent: the commit that the landing is on.
        variants: what each label stands for: a commit, or the requirement of a release.
        needs: of every state that the declared order passes through.
        changes: the declared order.
        orders: how many orders there are at all.
        safe_orders: how many of them pass through safe states only.
        made_with: the versions of the programs that it was made with.
        versions: where the contract has a mode, the labels of what it compares: by component, oldest first.
    """

    plan: str
    parent: str
    inputs: Inputs
    variants: Mapping[str, str]
    cells: tuple[CertifiedCell, ...]
    needs: tuple[CertifiedNeed, ...]
    changes: tuple[str, ...]
    orders: int
    safe_orders: int
    made_with: Mapping[str, str]
    versions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def required(self, mode: Mode | None, *, server: str) -> frozenset[tuple[str, str]]:
        """Returns the labels of the cells that had to be ok: those of the declared order, and those of a mode.

        Args:
            mode: the contract's, if it has one.
            server: the name of the superproject.
        """
        pairs = {
            (item.server, item.client) for item in self.needs if item.server is not None and item.client is not None
        }
        if mode is not None:
            servers = self.versions.get(server, ())
            for name in self.versions.keys() - {server}:
                pairs |= required_pairs(mode, servers=servers, clients=self.versions[name])
        return frozenset(pairs)

    def verdict_of(self, need: Need) -> tuple[Verdict, str]:
        """Returns what the certificate says of a need, with the cell's labels and its reason where it is not ok.

        A need without a cell is unknown, as is one whose pinned client is not at the commit that is pinned.
        """
        key = (tuple(sorted(need.landed)), need.component, need.new, need.role)
        for item in self.needs:
            if (item.landed, item.component, item.new, item.role) == key:
                return self._verdict(item)
        return Verdict.UNKNOWN, f"no cell was run for {need.component} {'with' if need.new else 'before'} its changes"

    def verdicts_of_mode(self, mode: Mode, *, server: str, client: str) -> Iterator[tuple[Verdict, str]]:
        """Yields what the certificate says of each cell that a mode needs of one client, in the words of `verdict_of`.

        Which releases there were is the certificate's to say. That the new client is the pinned one, and that there is
        an earlier version wherever the mode looks back, is not.

        Args:
            mode: the contract's.
            server: the name of the superproject.
            client: the name of the client's component.
        """
        servers, clients = self.versions.get(server, ()), self.versions.get(client, ())
        if len(servers) < 1 + mode.is_backward or len(clients) < 1 + mode.is_forward:
            name = server if len(servers) < 1 + mode.is_backward else client
            yield Verdict.UNKNOWN, f"the mode {mode} needs more versions of {name} than the certificate is of"
            return
        pinned = self.inputs.pins.get(client)
        if pinned is not None and self.variants.get(clients[-1]) != pinned:
            yield Verdict.UNKNOWN, f"{clients[-1]} is not the client at {pinned[:7]}, which is pinned"
        for pair in sorted(required_pairs(mode, servers=servers, clients=clients)):
            yield self._verdict_of_cell(*pair)

    def _verdict(self, need: CertifiedNeed) -> tuple[Verdict, str]:
        pinned = self.inputs.pins.get(need.component)
        if need.role == "pinned" and need.new and pinned is not None and self.variants.get(need.client or "") != pinned:
            labels = f"{need.server} x {need.client}"
            return Verdict.UNKNOWN, f"{labels}: the client is not the one at {pinned[:7]}, which is pinned"
        return self._verdict_of_cell(need.server, need.client)

    def _verdict_of_cell(self, server: str | None, client: str | None) -> tuple[Verdict, str]:
        labels = f"{server} x {client}"
        for cell in self.cells:
            if (cell.server, cell.client) == (server, client):
                if not cell.asked:
                    return Verdict.OK, f"{labels}: nothing is asked of it"
                return cell.verdict, f"{labels}: {cell.reason or cell.verdict}"
        return Verdict.UNKNOWN, f"{labels}: no such cell was run"
