"""Which pairs of versions each mode needs: the words of schema registries, with the client as the reader."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.mode import Mode, required_pairs

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=100)

VERSIONS = st.lists(st.integers(0, 20), unique=True, max_size=6).map(lambda found: tuple(sorted(found)))
PLAIN = {
    Mode.BACKWARD_TRANSITIVE: Mode.BACKWARD,
    Mode.FORWARD_TRANSITIVE: Mode.FORWARD,
    Mode.FULL_TRANSITIVE: Mode.FULL,
}


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (Mode.BACKWARD, {("s3", "c3"), ("s2", "c3")}),
        (Mode.FORWARD, {("s3", "c3"), ("s3", "c2")}),
        (Mode.FULL, {("s3", "c3"), ("s2", "c3"), ("s3", "c2")}),
        (Mode.BACKWARD_TRANSITIVE, {("s3", "c3"), ("s2", "c3"), ("s1", "c3")}),
        (Mode.FORWARD_TRANSITIVE, {("s3", "c3"), ("s3", "c2"), ("s3", "c1")}),
        (Mode.FULL_TRANSITIVE, {("s3", "c3"), ("s2", "c3"), ("s1", "c3"), ("s3", "c2"), ("s3", "c1")}),
    ],
)
def test_the_pairs_of_three_versions_of_each_side(mode: Mode, expected: set[tuple[str, str]]) -> None:
    assert required_pairs(mode, servers=("s1", "s2", "s3"), clients=("c1", "c2", "c3")) == expected


@SETTINGS
@given(servers=VERSIONS, clients=VERSIONS)
def test_full_is_backward_and_forward(servers: tuple[int, ...], clients: tuple[int, ...]) -> None:
    def pairs(mode: Mode) -> frozenset[tuple[int, int]]:
        return required_pairs(mode, servers=servers, clients=clients)

    assert pairs(Mode.FULL) == pairs(Mode.BACKWARD) | pairs(Mode.FORWARD)
    assert pairs(Mode.FULL_TRANSITIVE) == pairs(Mode.BACKWARD_TRANSITIVE) | pairs(Mode.FORWARD_TRANSITIVE)


@SETTINGS
@given(servers=VERSIONS, clients=VERSIONS, mode=st.sampled_from(sorted(PLAIN)))
def test_a_transitive_mode_needs_all_that_the_plain_one_does(
    servers: tuple[int, ...], clients: tuple[int, ...], mode: Mode
) -> None:
    transitive = required_pairs(mode, servers=servers, clients=clients)
    plain = required_pairs(PLAIN[mode], servers=servers, clients=clients)
    assert transitive >= plain
    # With one earlier version of each side there is nothing more to look back on.
    if len(servers) <= 2 and len(clients) <= 2:
        assert transitive == plain


@SETTINGS
@given(servers=VERSIONS, clients=VERSIONS, mode=st.sampled_from(Mode))
def test_every_mode_needs_the_new_of_both_and_never_two_earlier_ones(
    servers: tuple[int, ...], clients: tuple[int, ...], mode: Mode
) -> None:
    pairs = required_pairs(mode, servers=servers, clients=clients)
    if not servers or not clients:
        assert pairs == frozenset()
        return
    assert (servers[-1], clients[-1]) in pairs
    assert all(server == servers[-1] or client == clients[-1] for server, client in pairs)


@SETTINGS
@given(servers=VERSIONS.filter(len), clients=VERSIONS.filter(len), mode=st.sampled_from(sorted(PLAIN)))
def test_a_further_old_version_only_adds_to_a_transitive_mode(
    servers: tuple[int, ...], clients: tuple[int, ...], mode: Mode
) -> None:
    pairs = required_pairs(mode, servers=servers, clients=clients)
    assert required_pairs(mode, servers=(-1, *servers), clients=(-1, *clients)) >= pairs


def test_the_swap_of_sides_swaps_backward_and_forward() -> None:
    one, other = ("a", "b", "c"), (1, 2, 3)
    backward = required_pairs(Mode.BACKWARD_TRANSITIVE, servers=one, clients=other)
    forward = required_pairs(Mode.FORWARD_TRANSITIVE, servers=other, clients=one)
    assert backward == {(server, client) for client, server in forward}
