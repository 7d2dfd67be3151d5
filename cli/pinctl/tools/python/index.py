"""Lists the releases of a distribution that the user's package index has, by asking uv for one after the other."""

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from pinctl.errors import BadInputError
from pinctl.tools.python import uv

LIMIT = 64
"""Releases of one range beyond which it is a mistake: each has an environment of its own."""


def releases_in_range(distribution: str, specifiers: str) -> tuple[Version, ...]:
    """Lists the releases in a range, newest first.

    Pre-releases count as packaging's `SpecifierSet.filter` counts them: where a specifier names one, or where nothing
    else is in the range. Releases that were yanked, or that this Python cannot install, are none.

    Args:
        distribution: its name.
        specifiers: the range (PEP 440), such as `>=0.1.8,<0.1.12`.

    Returns:
        At least one version.

    Raises:
        BadInputError: there is none, or there are more than `LIMIT`.
        CouldNotFindOutError: the index does not answer.
    """
    wanted = SpecifierSet(specifiers)
    found, explanation = _listed(distribution, wanted, prereleases=bool(wanted.prereleases))
    if not found and not wanted.prereleases:
        found, explanation = _listed(distribution, wanted, prereleases=True)
    if not found:
        last = explanation.splitlines()[-1].strip().removeprefix("cause: ")
        raise BadInputError(f"no release of {distribution} is in the range {specifiers}: {last}")
    return found


def _listed(distribution: str, wanted: SpecifierSet, *, prereleases: bool) -> tuple[tuple[Version, ...], str]:
    """Returns the releases, and what uv said when there were no more."""
    found: list[Version] = []
    passed: list[Version] = []
    while True:
        # Leaving out what is known, and not lowering a bound: `<2.0` would leave out 2.0rc1 as well.
        range_left = SpecifierSet(",".join([str(wanted), *(f"!={version}" for version in (*found, *passed))]))
        newest = uv.newest_release(f"{distribution}{range_left}", prereleases=prereleases)
        if isinstance(newest, uv.Refused):
            return tuple(found), newest.explanation
        # uv and packaging differ on pre-releases at the edge of a range.
        (found if wanted.contains(newest, prereleases=True) else passed).append(newest)
        if len(found) > LIMIT:
            raise BadInputError(
                f"more than {LIMIT} releases of {distribution} are in the range {wanted}", hint="Make it narrower."
            )
