"""The rules about pins."""

from pinctl.model.rule import Rule

PIN_RULES = (
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
)
