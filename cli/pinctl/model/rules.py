"""The rules: what each checks, why, how to fix what it finds, and how to waive it."""

from pinctl.model.pin_rules import PIN_RULES
from pinctl.model.rule import Rule

_ALL = (
    *PIN_RULES,
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
            "Every cell that the states of a plan's declared order need, or its contract's mode, must be ok in the "
            "certificate of the landing. "
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
            "Every cell that the states of a plan's declared order need, or its contract's mode, must be in the "
            "certificate, run with the client that is pinned."
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
