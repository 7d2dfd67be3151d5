"""The rules: what each checks, why, how to fix what it finds, and how to waive it."""

from dataclasses import dataclass

_ROLLBACK = (
    "A deliberate rollback is waived by a trailer in one of the range's commits: `Pin-Rollback: COMPONENT reason`."
)
_TABLE = '`[components.NAME.waive]` in pins.toml, {code} = "reason".'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One thing that must hold for a commit of the superproject.

    Attributes:
        code: stable for ever.
        title: what is wrong where it finds something, in a few words.
        what: what it checks.
        why: what goes wrong without it, with a real incident where there is one.
        fix: how to fix what it finds.
        trailer: whether a `Pin-Rollback` trailer waives it too.
        waivable: whether a component's table in pins.toml can waive it.
    """

    code: str
    title: str
    what: str
    why: str
    fix: str
    trailer: bool = False
    waivable: bool = True

    @property
    def waive(self) -> str:
        """How to waive it."""
        if not self.waivable:
            return "It cannot be waived."
        table = _TABLE.format(code=self.code)
        return f"{table} {_ROLLBACK}" if self.trailer else table


_ALL = (
    Rule(
        code="PIN001",
        title="the pin is not on the component's branch",
        what=(
            "Every pin that moved must be on the component's branch: on its history, not just similar to it. Where "
            "the branch has a twin of the pin, a commit with the same content, the finding names it. A pull "
            "request's head is never taken for merged, though its forge keeps it for ever."
        ),
        why=(
            "A squash merge leaves the branch's own commits behind. prime-rl's main sat on such orphans three "
            "times: deps/verifiers at 04651be (#2609) for 66 hours, at 78c1b3c (#2784) for 271, at 6bcedc7 (#3307) "
            "for 23. They can be collected as garbage, and later commits of the branch do not contain them."
        ),
        fix="Pin the twin, or the branch's tip; or merge the component's change first.",
    ),
    Rule(
        code="PIN002",
        title="the pin moved back",
        what="A pin that moved must contain the pin before it. This one is an ancestor of it.",
        why=(
            "An unrelated change takes a pin back when somebody commits a stale checkout with `git add -A`. "
            "Versions do not show it: in prime-rl#3307 the pin went back to a merged branch's head while the "
            "version derived from tags went up from 54 to 57 commits past v0.3.0."
        ),
        fix="Set the pin to what it was on the target.",
        trailer=True,
    ),
    Rule(
        code="PIN003",
        title="the pin moved to a commit that lacks some of the one before",
        what="A pin that moved must contain the pin before it. This one has gone another way.",
        why=(
            "What only the old pin had is lost in the superproject without a word in the diff, which shows two "
            "ids. Four of the 58 moves of deps/verifiers in prime-rl were not fast-forward."
        ),
        fix="Pin a commit of the component's branch that contains both.",
        trailer=True,
    ),
    Rule(
        code="PIN004",
        title="the pin lost a change that a landing plan requires",
        what="A pin that contained a companion of a landing plan must keep it.",
        why=(
            "The newest release can be older than the pin: verifiers v0.4.0 lacks #2778, which the pin 12 commits "
            "later has. Moving to the tag would have taken the decoder away from under the packed server."
        ),
        fix="Pin a commit that contains the change, or revert the landing as a whole.",
        trailer=True,
    ),
    Rule(
        code="PIN005",
        title="the pin holds a change that was reverted",
        what=(
            "A pin must not stop between a change and the commit that reverted it on the component's branch. A "
            "revert of the revert makes it good again."
        ),
        why=(
            "It was reverted because it was wrong, and the pin still has it. To ancestry it looks fine: the commit "
            "is on the branch."
        ),
        fix="Move the pin to the revert or past it.",
    ),
    Rule(
        code="PIN006",
        title="the gitlink does not name a commit that can be fetched",
        what=(
            "A gitlink must name a commit. A tag object is none, and an id that no remote has is no use to anybody "
            "else; the latter cannot be told from a remote that is not in sync, so it counts as unknown."
        ),
        why=(
            "`git add` of a submodule whose commit was not pushed works fine on one machine only. `git "
            "update-index --cacheinfo` takes any 40 hex digits."
        ),
        fix="Push the commit, or pin one that is on the component's branch.",
    ),
    Rule(
        code="PIN007",
        title="a submodule's URL changed, or is unsafe",
        what=(
            "URLs in .gitmodules must be those of pins.toml, where it has them, and must not change without the "
            "component being renamed. Names, paths and URLs that reach outside the checkout or run commands are "
            "refused before git sees them."
        ),
        why=(
            "Whoever controls a submodule's URL controls what is built. Hostile .gitmodules files have run "
            "commands in git itself and in tools around it (CVE-2018-17456, CVE-2024-32002)."
        ),
        fix="Set the URL back, or change pins.toml in the same commit.",
    ),
    Rule(
        code="PIN008",
        title="a landing plan's change is there without its pins",
        what=(
            "In every commit of the range, and on the tip it would land on, a plan's change in the superproject "
            "and the pins that move with it must be there together."
        ),
        why=(
            "The server of prime-rl#3900 sends packed arrays; a client pinned before renderers#174 refuses them, "
            "at run time. A merge queue or a squash can bring the change without the pins that the branch had."
        ),
        fix="Land the plan: pinctl land NAME.",
    ),
    Rule(
        code="PIN009",
        title="pins.toml disagrees with the gitlink",
        what="The record in pins.toml must name the commit that the gitlink names.",
        why=(
            "Two manifests of one pin drift as soon as one of them is edited by hand, and a deploy that reads the "
            "other one builds something else than was tested."
        ),
        fix="Write the gitlink's commit into pins.toml.",
    ),
    Rule(
        code="PIN010",
        title="the pin is not one of the branch's own commits",
        what=(
            "Only with `--first-parent`: the pin must be on the first-parent history of the branch, not a commit "
            "that a merge brought along."
        ),
        why=(
            "A commit in the middle of a merged branch was reviewed as part of the whole and was never built as such."
        ),
        fix="Pin the merge.",
    ),
    Rule(
        code="PIN011",
        title="the pin is not the branch's tip",
        what="Only with `--require-tip`: the pin must be the tip of the component's branch.",
        why=(
            "Some teams want every pull request to take what is newest. As a general rule it blocks every pull "
            "request whenever a component moves, so it is off."
        ),
        fix="Pin the tip.",
    ),
    Rule(
        code="PIN012",
        title="a gitlink is in no section of .gitmodules",
        what="Every gitlink must have a section with its path and a URL in .gitmodules.",
        why=(
            "One gitlink without a section breaks `git submodule` for all others, and nobody else can fetch it. It "
            "comes from `git add` of a directory that holds a repository."
        ),
        fix="Add the section with git submodule add, or remove the gitlink with git rm --cached.",
    ),
    Rule(
        code="FLR001",
        title="a floor is above the version at pin",
        what=(
            "The floor of a component in any manifest must not be above the version that the component has at its pin."
        ),
        why=(
            "uv ignores the floor of a path source that the same manifest declares, so the lock is made without a "
            "word, and whoever installs the package from an index gets another version than the one that was "
            "tested."
        ),
        fix=(
            "Lower the floor, or move the pin. A floor that pinctl moves stays the kind of bound that it is: `~=0.4` "
            "becomes `~=0.5`, and where 0.5.3 is needed `>=0.5.3,==0.*`, which admits 0.6 as before."
        ),
    ),
    Rule(
        code="FLR002",
        title="manifests disagree about a floor",
        what="All floors of a component, in all manifests of the superproject, must be the same.",
        why=(
            "Of 16 floor moves that prime-rl made together with a pin, 9 changed the root manifest only. The lower "
            "floor is the one that counts for whoever installs that package alone."
        ),
        fix="Raise the lower ones.",
    ),
    Rule(
        code="FLR003",
        title="a floor admits a release that lacks a change which a landed plan requires",
        what=(
            "Every release that a floor admits must hold the companions of the landing plans whose change is there. "
            "Tags say which do. With `--run-releases` the oldest release that each floor admits is installed from the "
            "package index and run, by the plan's client probe, against the server as it would stand on the target; "
            "what it does counts then, and not the tags. It is a warning while no release is any better: then only "
            "the pin protects."
        ),
        why=(
            "renderers 0.1.12 and verifiers 0.4.0, which prime-rl's floors admit, cannot read what the server sends "
            "since prime-rl#3900. Whoever installs by the floors instead of the pins gets a client that refuses every "
            "response."
        ),
        fix="Raise the floor to the oldest release that holds the change.",
    ),
    Rule(
        code="FLR004",
        title="a published package has a development floor",
        what="A package that gets published should have no floor that is a pre-release. It is a warning.",
        why=(
            "uv takes pre-releases only where the requirement itself names one, so users of the published package "
            "are taken back to an older one of its releases without a word."
        ),
        fix="Release the component, and set the floor to the release.",
    ),
    Rule(
        code="FLR005",
        title="a requirement excludes the version at pin",
        what=(
            "Every requirement on a component, in all manifests of the superproject, must admit the version that the "
            "component has at its pin: also by its upper bound, `==`, `~=` and `!=`. Pre-releases and local versions "
            "count as packaging counts them: `<0.4` excludes 0.4.1.dev12, `==0.4.1` takes 0.4.1+g1a2b3c4."
        ),
        why=(
            "uv ignores such a bound of a path source that the same manifest declares, just as it ignores a floor: it "
            "locks, and `uv lock --check` is content. Whoever installs the package from an index gets a release that "
            "nobody has tested it with, or none."
        ),
        fix="Let the requirement admit the pin, where whoever set the bound agrees; or move the pin.",
    ),
    Rule(
        code="LCK001",
        title="the lock is out of date",
        what="uv.lock must be what uv makes of the manifests with the components at their pins.",
        why=(
            "A frozen install hides it until the next person locks, and gets changes that nobody asked for in an "
            "unrelated pull request."
        ),
        fix="Run uv lock with the submodules at their pins, and commit the lock.",
        waivable=False,
    ),
    Rule(
        code="LCK002",
        title="third-party versions moved without leave",
        what=(
            "Where a range moves a pin, the lock may move the superproject's own packages and components, and nothing "
            "of other people. They have leave where a landing plan whose change is in the range has `[lock] "
            'third_party = "move"`, or where a commit of the range has the trailer `Lock-Move: PACKAGE reason`, which '
            "a bump with --third-party writes. What the range's own manifests ask for needs none: packages that a "
            "changed requirement or source names, what these depend on, and what depends on them; all of them, where "
            "the Pythons or uv's settings changed. Where no pin moved, the rest is a warning."
        ),
        why=(
            "prime-rl#4056 promises that the lock changes only first-party packages, and nothing held it to that. A "
            "routine bump whose lock was made from scratch takes in every release that came out since, and the "
            "difference is too long for anybody to read."
        ),
        fix=(
            "Make the lock anew from that of the target, from which uv keeps all versions that it can. Where a new pin "
            "requires the move, give it leave."
        ),
    ),
    Rule(
        code="MTX001",
        title="a certificate says that a needed cell is not ok",
        what=(
            "Every cell that the states of a plan's declared order need must be ok in the certificate of the landing. "
            "Nothing is run again: the certificate says what came of each cell, and what it was run on."
        ),
        why=(
            "The clients before renderers#174 and verifiers#2778 refuse every response of the server of prime-rl#3900. "
            "A certificate that shows such a cell was edited by hand, or is of another plan than this one."
        ),
        fix="Land the clients first, then run pinctl land NAME.",
        waivable=False,
    ),
    Rule(
        code="MTX002",
        title="a certificate does not say what came of a needed cell",
        what=(
            "Every cell that the states of a plan's declared order need must be in the certificate, run with the "
            "client that is pinned."
        ),
        why=(
            "A cell that was not run, or whose environment could not be made, says nothing about the landing: could "
            "not find out is not yes."
        ),
        fix="Run pinctl land NAME, where the cell can be run.",
        waivable=False,
    ),
    Rule(
        code="MTX003",
        title="a plan's change comes without a certificate that holds for it",
        what=(
            "What brings a plan's own change must bring the certificate that pinctl land made: of this plan, these "
            "probes and cases, these pins and this very tree, as it would stand on the target."
        ),
        why=(
            "A proof holds for what it was run on. A landing that somebody amended, a target that moved on under it, "
            "or a change that was merged by hand has not been run by anybody."
        ),
        fix="Run pinctl land NAME again, on the target as it is now.",
        waivable=False,
    ),
    Rule(
        code="WVR001",
        title="a waiver waives nothing",
        what="A waiver for a pin that was judged must have something to waive.",
        why="A waiver that stays behind after its reason is gone hides the next real finding.",
        fix="Remove the waiver.",
        waivable=False,
    ),
)

RULES = {rule.code: rule for rule in _ALL}
"""All rules by their codes."""

ROLLBACK_TRAILER = "Pin-Rollback"
"""The trailer that waives the rules about moving back."""

LOCK_TRAILER = "Lock-Move"
"""The trailer that gives a package of other people leave to move in the lock."""
