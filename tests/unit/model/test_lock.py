"""Two locks compared by their packages: what moved of ours, what moved of others, what did not move."""

from hypothesis import given, settings
from hypothesis import strategies as st

from pinctl.model.lock import LockChange, LockDiff, LockedPackage, compare_packages

SETTINGS = settings(deadline=None, derandomize=True, database=None, max_examples=200)
INDEX = "registry https://index.example/simple"


def theirs(name: str, version: str | None, source: str = INDEX, **digests: str) -> LockedPackage:
    return LockedPackage(name=name, version=version, source=source, first_party=False, digests=digests)


def ours(name: str, version: str | None, source: str | None = None) -> LockedPackage:
    return LockedPackage(name=name, version=version, source=source or f"editable deps/{name}", first_party=True)


PACKAGES = st.builds(
    LockedPackage,
    name=st.sampled_from(["a", "b", "c"]),
    version=st.sampled_from(["1", "2", None]),
    source=st.sampled_from([INDEX, "git x", "editable x"]),
    first_party=st.booleans(),
    digests=st.dictionaries(st.sampled_from(["f", "g"]), st.sampled_from(["0", "1"])),
)
LOCKS = st.lists(PACKAGES, max_size=5)


def test_a_move_of_ours_is_told_from_a_move_of_others() -> None:
    before = [ours("lib", "0.1.0"), theirs("numpy", "1.26"), theirs("orjson", "3.10")]
    after = [ours("lib", "0.2.0"), theirs("numpy", "2.0"), theirs("orjson", "3.10")]
    assert compare_packages(before, after) == LockDiff(
        first_party=(LockChange(name="lib", before=("0.1.0",), after=("0.2.0",)),),
        third_party=(LockChange(name="numpy", before=("1.26",), after=("2.0",)),),
    )


def test_a_package_that_comes_or_goes_is_a_change() -> None:
    diff = compare_packages([theirs("a", "1")], [theirs("b", "1")])
    assert [change.words for change in diff.third_party] == ["a 1 -> none", "b none -> 1"]


def test_a_package_locked_in_several_versions_is_one_change() -> None:
    diff = compare_packages([theirs("a", "1")], [theirs("a", "2"), theirs("a", "1")])
    assert [change.words for change in diff.third_party] == ["a 1 -> 1, 2"]


def test_a_package_that_becomes_ours_or_stops_to_be_counts_as_ours() -> None:
    diff = compare_packages([theirs("lib", "0.1.6")], [ours("lib", None)])
    assert ([change.words for change in diff.first_party], diff.third_party) == (["lib 0.1.6 -> editable deps/lib"], ())


def test_another_index_with_the_same_version_is_a_change_that_can_be_read() -> None:
    diff = compare_packages([theirs("a", "1")], [theirs("a", "1", "registry https://mirror.example")])
    assert [change.words for change in diff.third_party] == [f"a 1 ({INDEX}) -> 1 (registry https://mirror.example)"]


def test_a_file_with_other_contents_under_its_old_name_is_a_change() -> None:
    before, after = (
        theirs("a", "1", wheel="sha256:0", sdist="sha256:1"),
        theirs("a", "1", wheel="sha256:2", sdist="sha256:1"),
    )
    diff = compare_packages([before], [after])
    assert [change.words for change in diff.third_party] == [f"a 1 ({INDEX}) -> other contents of wheel"]


def test_one_more_file_of_the_same_version_is_no_change() -> None:
    assert compare_packages([theirs("a", "1", x="0")], [theirs("a", "1", x="0", y="1")]) == LockDiff()


@SETTINGS
@given(LOCKS)
def test_a_lock_does_not_differ_from_itself_in_whatever_order(lock: list[LockedPackage]) -> None:
    once = {package.name: package for package in lock}.values()
    assert compare_packages(once, reversed(list(once))) == LockDiff()


@SETTINGS
@given(LOCKS, LOCKS)
def test_every_name_with_other_versions_is_in_exactly_one_of_the_two_lists(
    before: list[LockedPackage], after: list[LockedPackage]
) -> None:
    diff = compare_packages(before, after)
    names = [change.name for change in (*diff.first_party, *diff.third_party)]
    assert len(names) == len(set(names))
    for name in "abc":
        was = {package.version for package in before if package.name == name}
        now = {package.version for package in after if package.name == name}
        assert was == now or name in names


@SETTINGS
@given(LOCKS, LOCKS)
def test_the_way_back_changes_the_same_packages(before: list[LockedPackage], after: list[LockedPackage]) -> None:
    there, back = compare_packages(before, after), compare_packages(after, before)
    assert [change.name for change in there.third_party] == [change.name for change in back.third_party]
    assert [change.name for change in there.first_party] == [change.name for change in back.first_party]
