"""Holds the order proof against the plainest one there is: land the changes in every possible order and look."""

from collections.abc import Sequence
from itertools import combinations, groupby, permutations
from math import factorial
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict
from pinctl.model.need import Need, State
from pinctl.model.order import prove_order
from pinctl.model.plan import Change, Contract, LandingPlan, Probe

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)

SUPER = "prime-rl"
COMPONENTS = ("renderers", "verifiers", "envs")
Question = tuple[State, str, bool]
"""The superproject's own landed changes, a component, and whether its client is the new one."""
Answers = dict[Question, Verdict | None]


@st.composite
def plans(draw: st.DrawFn) -> LandingPlan:
    ids = [f"change-{index}" for index in range(draw(st.integers(1, 5)))]
    own = draw(st.lists(st.sampled_from(ids), unique=True, max_size=3))
    changes = []
    for index, change_id in enumerate(ids):
        is_own = change_id in own
        pins = draw(st.lists(st.sampled_from(COMPONENTS), unique=True)) if is_own else []
        changes.append(
            Change(
                id=change_id,
                component=SUPER if is_own else draw(st.sampled_from(COMPONENTS)),
                branch=change_id,
                after=tuple(draw(st.lists(st.sampled_from(ids[:index]), unique=True))) if index else (),
                pins=tuple(pins),
            )
        )
    # Only of components is there a client at the head of a branch.
    clients = draw(st.lists(st.sampled_from((*COMPONENTS, SUPER)), unique=True, min_size=1))
    heads = draw(st.lists(st.sampled_from(COMPONENTS), unique=True))
    contract = Contract(
        server=Probe(path=Path("server.py")),
        clients={name: Probe(path=Path(f"{name}.py"), head=name in heads) for name in clients},
        cases=("greedy",),
    )
    return LandingPlan(
        name="plan",
        path=Path("plan.toml"),
        title="A plan",
        changes=tuple(draw(st.permutations(changes))),
        contract=contract,
    )


@st.composite
def plans_with_answers(draw: st.DrawFn) -> tuple[LandingPlan, Answers]:
    plan = draw(plans())
    own = frozenset(change.id for change in plan.changes if change.component == SUPER)
    # Mostly ok, so that some orders are safe.
    verdicts = st.sampled_from([Verdict.OK] * 6 + [Verdict.MISSING, Verdict.CORRUPTS, Verdict.UNKNOWN, None])
    servers = [frozenset(some) for count in range(len(own) + 1) for some in combinations(sorted(own), count)]
    questions = [(landed, name, new) for landed in servers for name in (*COMPONENTS, SUPER) for new in (False, True)]
    return plan, {question: draw(verdicts) for question in questions}


def walk(plan: LandingPlan, steps: Sequence[tuple[Change, ...]], answers: Answers) -> tuple[int, set[Verdict]] | None:
    """Lands changes step by step; returns after how many something breaks and how, or None where nothing does."""
    assert plan.contract is not None
    landed: set[str] = set()
    pinned_new = dict.fromkeys(plan.contract.clients, False)
    for count in range(len(steps) + 1):
        latest = steps[count - 1] if count else ()
        landed |= {change.id for change in latest}
        own = frozenset(change.id for change in plan.changes if change.component == SUPER and change.id in landed)
        asked: set[Question] = set()
        for name, probe in plan.contract.clients.items():
            if name == SUPER:
                asked.add((own, name, False))
                continue
            changes = [change.id for change in plan.changes if change.component == name]
            at_head = bool(changes) and landed.issuperset(changes)
            if at_head and any(name in change.pins for change in latest):
                pinned_new[name] = True
            asked |= {(own, name, pinned_new[name]), *([(own, name, at_head)] if probe.head else [])}
        found = {answers[question] or Verdict.UNKNOWN for question in asked} - {Verdict.OK}
        if found:
            return count, found
    return None


def as_landed(plan: LandingPlan) -> list[tuple[Change, ...]]:
    """The declared order: the superproject's own changes that follow each other are one commit."""
    runs = [(own, tuple(run)) for own, run in groupby(plan.in_order(), key=lambda change: change.component == SUPER)]
    return [step for own, run in runs for step in ([run] if own else [(change,) for change in run])]


@SETTINGS
@given(plans_with_answers())
def test_the_proof_is_that_of_trying_every_order(drawn: tuple[LandingPlan, Answers]) -> None:
    plan, answers = drawn

    def cell_of(need: Need) -> Cell | None:
        verdict = answers[need.landed, need.component, need.new]
        if verdict is None:
            return None
        fields = (FieldResult(field="logprobs", verdict=verdict),)
        cases = (CaseResult(case="greedy", fields=fields),)
        return Cell(server="server", client="client", component=need.component, cases=cases)

    proof = prove_order(plan, superproject=SUPER, cell_of=cell_of)
    orders = list(permutations(plan.changes))
    walks = {order: walk(plan, [(change,) for change in order], answers) for order in orders}
    breaks = [
        (count, not found - {Verdict.UNKNOWN}, tuple(change.id for change in order[:count]))
        for order, ended in walks.items()
        if ended is not None
        for count, found in [ended]
    ]
    assert proof.states == 2 ** len(plan.changes)
    assert proof.orders == len(orders) == factorial(len(plan.changes))
    assert proof.safe_orders == len(orders) - len(breaks)
    assert proof.declared_safe == (walk(plan, as_landed(plan), answers) is None)
    assert (proof.one_by_one is None) == (walks[plan.in_order()] is None)
    assert proof.changes == tuple(change.id for change in plan.in_order())
    assert (proof.counter_example is None) == (not breaks)
    if proof.counter_example is not None:
        # The shortest; among those, one that is known to break goes before one that is not.
        length, is_unknown, _ = min(breaks)
        expected = {steps for count, unknown, steps in breaks if (count, unknown) == (length, is_unknown)}
        assert proof.counter_example.steps in expected
        assert (proof.counter_example.verdict is Verdict.UNKNOWN) == is_unknown


@SETTINGS
@given(plans(), st.data())
def test_the_declared_order_keeps_every_after_and_otherwise_the_plan(plan: LandingPlan, data: st.DataObject) -> None:
    ordered = plan.in_order()
    assert sorted(change.id for change in ordered) == sorted(change.id for change in plan.changes)
    place = {change.id: index for index, change in enumerate(ordered)}
    assert all(place[other] < place[change.id] for change in plan.changes for other in change.after)
    # At every step, the first change of the plan that may go is the one that goes.
    step = data.draw(st.integers(0, len(ordered) - 1))
    done = {change.id for change in ordered[:step]}
    free = [change for change in plan.changes if change.id not in done and done.issuperset(change.after)]
    assert ordered[step] is free[0]
