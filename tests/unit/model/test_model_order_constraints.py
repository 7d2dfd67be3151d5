"""Constraints without an order: either order is safe, and the feature is asked for only where all of it is there."""

from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Matrix, Verdict
from pinctl.model.need import Need, State, needs_of, spared, spared_matrix
from pinctl.model.order import OrderProof, claimed_needs, prove_order, steps_of
from pinctl.model.plan import Change, Constraint, Contract, LandingPlan, Probe

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=150)

SUPER = "prime-rl"
FEATURE = Constraint(feature="router replay", together=("router", "replay", "packed"), cases=("prefill-decode",))
SERVERS = ("replay", "packed")


def plan_of(*changes: Change, constraints: tuple[Constraint, ...] = (FEATURE,)) -> LandingPlan:
    contract = Contract(
        server=Probe(path=Path("server.py")),
        clients={"router": Probe(path=Path("router.py"))},
        cases=("greedy", "prefill-decode"),
    )
    return LandingPlan(
        name="plan", path=Path("plan.toml"), title="A plan", changes=changes, contract=contract, constraints=constraints
    )


def own(change_id: str, *after: str, pins: tuple[str, ...] = ()) -> Change:
    return Change(id=change_id, component=SUPER, branch=change_id, after=after, pins=pins)


ROUTER = Change(id="router", component="router", pull=61)
REPLAY = plan_of(ROUTER, own("replay", "router", pins=("router",)), own("packed"))


def cell_of(need: Need, *, greedy: Verdict = Verdict.OK, feature: Verdict | None = None) -> Cell:
    """The feature works with both of the server's changes and the new router, unless something else is said."""
    works = need.new and need.landed >= frozenset(SERVERS)
    split = feature or (Verdict.OK if works else Verdict.CORRUPTS)
    results = {"greedy": greedy, "prefill-decode": split}
    cases = tuple(
        CaseResult(case=name, fields=(FieldResult(field="routed_experts", verdict=verdict),))
        for name, verdict in results.items()
    )
    server = "+".join(sorted(need.landed)) or "before"
    return Cell(server=server, client=f"router {need.new}", component="router", cases=cases)


def prove(plan: LandingPlan) -> OrderProof:
    return prove_order(plan, superproject=SUPER, cell_of=cell_of)


def test_either_order_is_safe_where_the_feature_is_asked_for_only_with_all_of_it() -> None:
    proof = prove(REPLAY)
    (found,) = proof.any_order
    # The router cannot change places with replay, which moves its pin: packed can be anywhere.
    assert (found.orders, found.safe_orders, found.counter_example) == (3, 3, None)
    assert found.fixed == (("router", "replay"),)
    assert (found.feature, found.broken, found.verdict) == (Verdict.OK, None, Verdict.OK)
    assert (proof.declared_safe, proof.verdict) == (True, Verdict.OK)


def test_without_the_constraint_the_same_plan_is_unsafe_from_the_start() -> None:
    proof = prove(plan_of(*REPLAY.changes, constraints=()))
    assert (proof.declared_safe, proof.safe_orders, proof.verdict) == (False, 0, Verdict.REJECTS)


def test_a_pin_that_could_not_move_in_time_does_not_bring_the_feature() -> None:
    proof = prove(REPLAY)
    # Of the six orders, those three are unsafe in which replay lands before the router whose pin it moves.
    assert (proof.orders, proof.safe_orders) == (6, 3)
    assert proof.counter_example is not None
    assert len(proof.counter_example.steps) == 3
    assert not proof.counter_example.need.new


def test_a_feature_that_does_not_work_in_the_end_is_no() -> None:
    plan = plan_of(own("replay"), own("packed"), constraints=(Constraint(
        feature="router replay", together=SERVERS, cases=("prefill-decode",)),))  # fmt: skip
    proof = prove(plan)
    (found,) = proof.any_order
    # Nothing moves the router's pin: the old one stays, and corrupts what it joins.
    assert (found.orders, found.safe_orders, found.feature) == (2, 0, Verdict.CORRUPTS)
    assert found.broken is not None
    assert found.broken.client == "router False"
    assert (proof.declared_safe, proof.verdict) == (False, Verdict.REJECTS)


def test_a_feature_of_which_nothing_was_asked_is_unknown() -> None:
    nothing = Constraint(feature="teacher", together=("replay", "packed"), cases=("long",))
    proof = prove(plan_of(*REPLAY.changes, constraints=(FEATURE, nothing)))
    assert [item.verdict for item in proof.any_order] == [Verdict.OK, Verdict.UNKNOWN]
    assert (proof.declared_safe, proof.verdict) == (True, Verdict.UNKNOWN)


def test_one_order_that_is_unsafe_breaks_the_claim_of_any() -> None:
    def breaks_packed_first(need: Need) -> Cell:
        return cell_of(need, greedy=Verdict.REJECTS if need.landed == {"packed"} else Verdict.OK)

    proof = prove_order(REPLAY, superproject=SUPER, cell_of=breaks_packed_first)
    (found,) = proof.any_order
    assert (proof.changes, proof.declared_safe) == (("router", "replay", "packed"), True)
    assert (found.orders, found.safe_orders) == (3, 1)
    assert found.counter_example is not None
    assert (found.counter_example.steps, found.counter_example.need.role) == (("packed",), "pinned")
    assert proof.verdict is Verdict.REJECTS


def test_a_state_waits_until_all_of_the_changes_have_landed() -> None:
    (some,) = needs_of(REPLAY, frozenset(SERVERS), superproject=SUPER)
    assert some.waits == (FEATURE,)
    everything = needs_of(REPLAY, frozenset({*SERVERS, "router"}), superproject=SUPER)
    assert [need.waits for need in everything] == [()]


def test_changes_of_one_commit_are_one_step_and_only_that_is_safe() -> None:
    plan = plan_of(own("reader"), own("writer", "reader"), constraints=())

    def both_or_none(need: Need) -> Cell:
        return cell_of(need, feature=Verdict.REJECTS if len(need.landed) == 1 else Verdict.OK)

    proof = prove_order(plan, superproject=SUPER, cell_of=both_or_none)
    assert proof.steps == (("reader", "writer"),)
    assert (proof.declared_safe, proof.verdict, proof.safe_orders) == (True, Verdict.OK, 0)
    assert proof.atomic_steps == (("reader", "writer"),)
    assert proof.one_by_one is not None
    assert proof.one_by_one.steps == ("reader",)


@pytest.mark.parametrize(
    ("alone", "together"), [(Verdict.OK, Verdict.OK), (Verdict.UNKNOWN, Verdict.OK), (Verdict.REJECTS, Verdict.REJECTS)]
)
def test_only_an_atomic_step_is_said_only_where_that_is_known_and_safe(alone: Verdict, together: Verdict) -> None:
    plan = plan_of(own("reader"), own("writer", "reader"), constraints=())

    def cell(need: Need) -> Cell:
        return cell_of(need, feature={0: Verdict.OK, 1: alone, 2: together}[len(need.landed)])

    assert prove_order(plan, superproject=SUPER, cell_of=cell).atomic_steps == ()


def test_steps_keep_companions_apart() -> None:
    plan = plan_of(own("a"), own("b", "a"), ROUTER, own("c", "router"), constraints=())
    assert steps_of(plan, superproject=SUPER) == (("a", "b"), ("router",), ("c",))


def test_what_is_claimed_is_the_order_in_steps_and_every_free_one() -> None:
    claimed, alone = claimed_needs(REPLAY, superproject=SUPER)
    assert {need.landed for need in claimed} == {
        frozenset(),
        frozenset(SERVERS),
        *(frozenset({name}) for name in SERVERS),
    }
    assert {need.landed for need in alone} == {frozenset(), frozenset({"replay"}), frozenset(SERVERS)}
    without, _ = claimed_needs(plan_of(*REPLAY.changes, constraints=()), superproject=SUPER)
    assert {need.landed for need in without} == {frozenset(), frozenset(SERVERS)}


@pytest.mark.parametrize(
    ("constraint", "covered"),
    [
        (Constraint(feature="f", together=SERVERS, cases=("a",)), {("a", "x"), ("a", "y")}),
        (Constraint(feature="f", together=SERVERS, fields=("x",)), {("a", "x"), ("b", "x")}),
        (Constraint(feature="f", together=SERVERS, cases=("a",), fields=("x",)), {("a", "x")}),
    ],
)
def test_a_constraint_covers_cases_and_the_fields_of_them(
    constraint: Constraint, covered: set[tuple[str, str]]
) -> None:
    cell = Cell(
        server="s",
        client="c",
        component="router",
        cases=tuple(
            CaseResult(case=case, fields=tuple(FieldResult(field=field, verdict=Verdict.REJECTS) for field in "xy"))
            for case in "ab"
        ),
    )
    found = {
        (case.case, field.field)
        for case in spared(cell, (constraint,)).cases
        for field in case.fields
        if field.waits_for == "f"
    }
    assert found == covered


def test_a_cell_of_which_nothing_is_asked_is_neither_ok_nor_required() -> None:
    everything = Constraint(feature="f", together=SERVERS, cases=("greedy", "prefill-decode"))
    need = Need(landed=frozenset(), component="router", new=False, role="pinned")
    cell = cell_of(need)
    matrix = Matrix(
        plan="plan", servers=(cell.server,), clients=(cell.client,), cells=(cell,),
        required=frozenset({(cell.server, cell.client)}),
    )  # fmt: skip
    idle = spared_matrix(matrix, {(cell.server, cell.client): (everything,)})
    assert (idle.cells[0].verdict, idle.cells[0].is_asked) == (Verdict.UNKNOWN, False)
    assert not idle.is_required(idle.cells[0])
    assert idle.verdict is Verdict.UNKNOWN
    assert idle.cells[0].reason == "waits for f"
    half = spared_matrix(matrix, {(cell.server, cell.client): (FEATURE,)})
    assert (half.verdict, half.required) == (Verdict.OK, matrix.required)
    assert spared_matrix(matrix, {}) == matrix


@st.composite
def plans(draw: st.DrawFn) -> LandingPlan:
    ids = [f"change-{index}" for index in range(draw(st.integers(2, 5)))]
    changes = [
        Change(
            id=name,
            component=draw(st.sampled_from((SUPER, "router"))),
            branch=name,
            after=tuple(draw(st.lists(st.sampled_from(ids[:index]), unique=True, max_size=1))) if index else (),
        )
        for index, name in enumerate(ids)
    ]
    changes = [
        change if change.component != SUPER or not draw(st.booleans())
        else Change(id=change.id, component=SUPER, branch=change.id, after=change.after, pins=("router",))
        for change in changes
    ]  # fmt: skip
    together = tuple(draw(st.lists(st.sampled_from(ids), unique=True, min_size=2)))
    constraint = Constraint(feature="f", together=together, cases=("prefill-decode",))
    return plan_of(*draw(st.permutations(changes)), constraints=(constraint,))


@SETTINGS
@given(plan=plans(), data=st.data())
def test_a_constraint_is_that_of_trying_every_order_of_its_changes(plan: LandingPlan, data: st.DataObject) -> None:
    (constraint,) = plan.constraints
    verdicts = st.sampled_from([Verdict.OK] * 5 + [Verdict.CORRUPTS, Verdict.UNKNOWN])
    answers: dict[tuple[State, bool], tuple[Verdict, Verdict]] = {}

    def cell(need: Need) -> Cell:
        key = (need.landed, need.new)
        if key not in answers:
            answers[key] = (data.draw(verdicts), data.draw(verdicts))
        return cell_of(need, greedy=answers[key][0], feature=answers[key][1])

    def is_safe(order: tuple[Change, ...]) -> bool:
        landed: set[str] = set()
        pin_is_new = False
        for change in (None, *order):
            if change is not None:
                landed.add(change.id)
            at_head = {item.id for item in plan.changes if item.component == "router"}
            is_whole = bool(at_head) and at_head <= landed
            pin_is_new = pin_is_new or (change is not None and bool(change.pins) and is_whole)
            server = frozenset(item.id for item in plan.changes if item.component == SUPER and item.id in landed)
            for new in {pin_is_new, is_whole}:
                need = Need(landed=server, component="router", new=new, role="any")
                greedy, feature = (case.verdict for case in cell(need).cases)
                if greedy is not Verdict.OK or (feature is not Verdict.OK and landed >= set(constraint.together)):
                    return False
        return True

    (found,) = prove_order(plan, superproject=SUPER, cell_of=cell).any_order
    declared = plan.in_order()
    places = [index for index, change in enumerate(declared) if change.id in constraint.together]
    orders = []
    for members in permutations([declared[place] for place in places]):
        order = list(declared)
        for place, member in zip(places, members, strict=True):
            order[place] = member
        at = {change.id: index for index, change in enumerate(order)}
        if all(at[name] < at[change.id] for change in order for name in change.after):
            orders.append(tuple(order))
    safe = [order for order in orders if is_safe(order)]
    assert (found.orders, found.safe_orders) == (len(orders), len(safe))
    assert (found.counter_example is None) == (len(safe) == len(orders))
