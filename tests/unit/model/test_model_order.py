"""The order proof on plans whose answer is known: how many orders are safe, and the shortest one that is not."""

from collections.abc import Mapping
from math import factorial
from pathlib import Path

import pytest

from pinctl.model.matrix import CaseResult, Cell, FieldResult, Verdict
from pinctl.model.need import CellOf, Need, State, needs_of
from pinctl.model.order import Apart, OrderProof, prove_order
from pinctl.model.plan import Change, Contract, LandingPlan, Probe
from pinctl.model.walk import CounterExample

SUPER = "prime-rl"


def plan_of(*changes: Change, clients: tuple[str, ...] = ("renderers", "verifiers")) -> LandingPlan:
    contract = Contract(
        server=Probe(path=Path("server.py")),
        clients={name: Probe(path=Path(f"{name}.py")) for name in clients},
        cases=("greedy",),
    )
    return LandingPlan(name="plan", path=Path("plan.toml"), title="A plan", changes=changes, contract=contract)


def change(change_id: str, component: str, *after: str, pins: tuple[str, ...] = ()) -> Change:
    return Change(id=change_id, component=component, branch=change_id, after=after, pins=pins)


def cell_for(need: Need, verdict: Verdict) -> Cell:
    field = FieldResult(field="logprobs", verdict=verdict)
    return Cell(
        server="+".join(sorted(need.landed)) or "before",
        client=f"{need.component} {'new' if need.new else 'old'}",
        component=need.component,
        cases=(CaseResult(case="greedy", fields=(field,)),),
    )


def broken_where(verdicts: Mapping[tuple[State, str, bool], Verdict]) -> CellOf:
    """Finds cells that are ok but for those given, by the landed changes of the server, component and age."""

    def cell_of(need: Need) -> Cell:
        return cell_for(need, verdicts.get((need.landed, need.component, need.new), Verdict.OK))

    return cell_of


SERVER = frozenset({"server"})
BEFORE: State = frozenset()
PACKED = plan_of(
    change("renderers", "renderers"),
    change("verifiers", "verifiers", "renderers"),
    change("server", SUPER, "verifiers", pins=("renderers", "verifiers")),
)
OLD_CLIENTS_BREAK = {(SERVER, "renderers", False): Verdict.MISSING, (SERVER, "verifiers", False): Verdict.CORRUPTS}


def prove(plan: LandingPlan, verdicts: Mapping[tuple[State, str, bool], Verdict]) -> OrderProof:
    return prove_order(plan, superproject=SUPER, cell_of=broken_where(verdicts))


def test_packed_generate_has_two_safe_orders_of_six() -> None:
    old = Need(landed=SERVER, component="renderers", new=False, role="pinned")
    assert prove(PACKED, OLD_CLIENTS_BREAK) == OrderProof(
        changes=("renderers", "verifiers", "server"),
        steps=(("renderers",), ("verifiers",), ("server",)),
        states=8,
        unsafe_states=3,
        unknown_states=0,
        orders=6,
        safe_orders=2,
        declared_safe=True,
        counter_example=CounterExample(steps=("server",), need=old, cell=cell_for(old, Verdict.MISSING)),
        apart=(Apart(change="server", without_pins=cell_for(old, Verdict.MISSING), pins_first=None),),
    )


def test_a_declared_order_that_is_safe_is_ok_though_others_are_not() -> None:
    assert prove(PACKED, OLD_CLIENTS_BREAK).verdict is Verdict.OK


def test_where_everything_fits_every_order_is_safe() -> None:
    proof = prove(PACKED, {})
    assert proof == OrderProof(
        changes=("renderers", "verifiers", "server"),
        steps=(("renderers",), ("verifiers",), ("server",)),
        states=8,
        unsafe_states=0,
        unknown_states=0,
        orders=6,
        safe_orders=6,
        declared_safe=True,
        counter_example=None,
        apart=(Apart(change="server", without_pins=None, pins_first=None),),
    )
    assert not proof.apart[0].atomic_only


def test_a_step_whose_halves_both_break_is_safe_only_as_one() -> None:
    verdicts = {(SERVER, "renderers", False): Verdict.REJECTS, (BEFORE, "renderers", True): Verdict.CORRUPTS}
    (apart,) = prove(PACKED, verdicts).apart
    old = Need(landed=SERVER, component="renderers", new=False, role="pinned")
    new = Need(landed=BEFORE, component="renderers", new=True, role="pinned")
    assert apart == Apart(
        change="server", without_pins=cell_for(old, Verdict.REJECTS), pins_first=cell_for(new, Verdict.CORRUPTS)
    )
    assert apart.atomic_only


def test_a_declared_order_that_breaks_is_rejected_with_its_shortest_way_there() -> None:
    plan = plan_of(change("server", SUPER, pins=("verifiers",)), change("verifiers", "verifiers", "server"))
    proof = prove(plan, {(SERVER, "verifiers", False): Verdict.CORRUPTS})
    old = Need(landed=SERVER, component="verifiers", new=False, role="pinned")
    assert (proof.declared_safe, proof.verdict, proof.safe_orders, proof.orders) == (False, Verdict.REJECTS, 1, 2)
    assert proof.counter_example == CounterExample(steps=("server",), need=old, cell=cell_for(old, Verdict.CORRUPTS))
    assert proof.counter_example.verdict is Verdict.CORRUPTS


def test_where_only_unknown_cells_speak_against_the_order_it_is_unknown() -> None:
    unknown = dict.fromkeys(OLD_CLIENTS_BREAK, Verdict.UNKNOWN) | {(SERVER, "renderers", True): Verdict.UNKNOWN}
    proof = prove(PACKED, unknown)
    assert (proof.declared_safe, proof.unsafe_states, proof.unknown_states) == (False, 4, 4)
    assert proof.verdict is Verdict.UNKNOWN


def test_an_unknown_cell_on_the_declared_order_is_unknown_though_another_order_is_known_to_break() -> None:
    proof = prove(PACKED, OLD_CLIENTS_BREAK | {(BEFORE, "renderers", True): Verdict.UNKNOWN})
    assert not proof.declared_safe
    assert proof.verdict is Verdict.UNKNOWN


def test_a_need_without_a_cell_is_unknown_and_not_safe() -> None:
    proof = prove_order(PACKED, superproject=SUPER, cell_of=lambda _need: None)
    absent = Cell(
        server="server with none of the changes",
        client="renderers before its changes",
        component="renderers",
        setup="no such cell was run",
    )
    need = Need(landed=BEFORE, component="renderers", new=False, role="pinned")
    assert (proof.unsafe_states, proof.unknown_states, proof.safe_orders) == (8, 8, 0)
    assert proof.verdict is Verdict.UNKNOWN
    assert proof.counter_example == CounterExample(steps=(), need=need, cell=absent)


def test_a_known_break_goes_before_an_unknown_one_of_the_same_length() -> None:
    verdicts = {(BEFORE, "renderers", True): Verdict.UNKNOWN, (BEFORE, "verifiers", True): Verdict.REJECTS}
    new = Need(landed=BEFORE, component="verifiers", new=True, role="head")
    assert prove(PACKED, verdicts).counter_example == CounterExample(
        steps=("verifiers",), need=new, cell=cell_for(new, Verdict.REJECTS)
    )


def test_a_known_break_goes_before_an_unknown_one_in_the_same_state() -> None:
    verdicts = {(SERVER, "renderers", False): Verdict.UNKNOWN, (SERVER, "verifiers", False): Verdict.CORRUPTS}
    old = Need(landed=SERVER, component="verifiers", new=False, role="pinned")
    assert prove(PACKED, verdicts).counter_example == CounterExample(
        steps=("server",), need=old, cell=cell_for(old, Verdict.CORRUPTS)
    )


def test_what_breaks_before_anything_has_landed_breaks_every_order() -> None:
    proof = prove(PACKED, {(BEFORE, "renderers", False): Verdict.REJECTS})
    need = Need(landed=BEFORE, component="renderers", new=False, role="pinned")
    assert (proof.safe_orders, proof.declared_safe) == (0, False)
    assert proof.counter_example == CounterExample(steps=(), need=need, cell=cell_for(need, Verdict.REJECTS))


@pytest.mark.parametrize(
    ("landed", "expected"),
    [
        ((), [("renderers", False, "pinned"), ("verifiers", False, "pinned")]),
        (
            ("renderers",),
            [("renderers", False, "pinned"), ("renderers", True, "head"), ("verifiers", False, "pinned")],
        ),
        (("server",), [("renderers", False, "pinned"), ("verifiers", False, "pinned")]),
        (("renderers", "server"), [("renderers", True, "pinned"), ("verifiers", False, "pinned")]),
        (("renderers", "verifiers", "server"), [("renderers", True, "pinned"), ("verifiers", True, "pinned")]),
    ],
)
def test_a_state_needs_the_pinned_clients_and_those_at_the_heads(
    landed: tuple[str, ...], expected: list[tuple[str, bool, str]]
) -> None:
    state = frozenset(landed)
    assert needs_of(PACKED, state, superproject=SUPER) == tuple(
        Need(landed=state & SERVER, component=component, new=new, role=role) for component, new, role in expected
    )


def test_a_client_of_which_nothing_changes_stays_the_old_one() -> None:
    plan = plan_of(change("server", SUPER, pins=("renderers",)))
    assert needs_of(plan, SERVER, superproject=SUPER) == (
        Need(landed=SERVER, component="renderers", new=False, role="pinned"),
        Need(landed=SERVER, component="verifiers", new=False, role="pinned"),
    )


def test_the_superproject_s_own_client_is_that_of_the_server_s_commit() -> None:
    halves = plan_of(change("server", SUPER), change("reader", SUPER, "server"), clients=(SUPER,))
    both = frozenset({"server", "reader"})
    assert needs_of(halves, SERVER, superproject=SUPER) == (
        Need(landed=SERVER, component=SUPER, new=False, role="own"),
    )
    proof = prove(halves, {(SERVER, SUPER, False): Verdict.REJECTS, (both - SERVER, SUPER, False): Verdict.REJECTS})
    assert (proof.safe_orders, proof.declared_safe, proof.atomic_steps) == (0, True, (("server", "reader"),))
    assert prove(halves, {(both, SUPER, False): Verdict.MISSING}).declared_safe is False


def test_a_client_with_two_changes_is_new_only_with_both() -> None:
    plan = plan_of(change("one", "renderers"), change("two", "renderers"), clients=("renderers",))
    old = Need(landed=BEFORE, component="renderers", new=False, role="pinned")
    new = Need(landed=BEFORE, component="renderers", new=True, role="head")
    assert needs_of(plan, frozenset({"one"}), superproject=SUPER) == (old,)
    assert needs_of(plan, frozenset({"one", "two"}), superproject=SUPER) == (old, new)


def test_a_pin_that_its_change_could_not_move_yet_stays_old_for_what_lands_later() -> None:
    plan = plan_of(
        change("clients", "renderers"), change("first", SUPER, pins=("renderers",)), change("second", SUPER),
        clients=("renderers",),
    )  # fmt: skip
    proof = prove(plan, {(frozenset({"first", "second"}), "renderers", False): Verdict.CORRUPTS})
    # "first" moves the pin where "clients" has landed before it; landed after it, the pin is still the old one when
    # "second" comes. So these three are safe: clients first second, clients second first, second clients first.
    assert (proof.orders, proof.safe_orders) == (6, 3)


def test_sixteen_changes_are_counted_without_walking_every_order() -> None:
    companions = [change(f"change-{index:02}", ("renderers", "verifiers")[index % 2]) for index in range(15)]
    plan = plan_of(*companions, change("server", SUPER, pins=("renderers", "verifiers")))
    proof = prove(plan, OLD_CLIENTS_BREAK)
    # The server must come last: in any other place, one of the clients is still the old one.
    assert (proof.states, proof.orders, proof.safe_orders) == (2**16, factorial(16), factorial(15))
    assert proof.unsafe_states == 2**15 - 1
    assert proof.declared_safe
    assert proof.counter_example is not None
    assert proof.counter_example.steps == ("server",)
