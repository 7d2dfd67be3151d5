"""`pinctl bump`."""

from typing import Annotated

import typer

from pinctl.commands.invocation import EXCLUDE_OPTION, FormatOption, OntoOption, invocation, leave
from pinctl.errors import BadInputError
from pinctl.render.output import Format


def bump(
    context: typer.Context,
    components: Annotated[
        list[str],
        typer.Argument(
            help="Components, by name or path; each may name a revision.", metavar="COMPONENT[@REVISION]..."
        ),
    ],
    release: Annotated[
        bool, typer.Option("--release", help="Go to the newest release instead of the tip of the branch.")
    ] = False,
    onto: OntoOption = None,
    third_party: Annotated[
        bool, typer.Option("--third-party", help="Let versions of other people's packages move in the lock.")
    ] = False,
    rollback: Annotated[
        str | None, typer.Option("--rollback", help="Let pins move back, for this reason.", metavar="REASON")
    ] = None,
    exclude_conflicting: Annotated[bool, EXCLUDE_OPTION] = False,
    with_push: Annotated[bool, typer.Option("--push", help="Push the branch, atomically and under a lease.")] = False,
    with_plan: Annotated[bool, typer.Option("--plan", help="Show what it would do as a diff, and do nothing.")] = False,
    output_format: FormatOption = Format.TEXT,
) -> None:
    """Move pins without a plan: gitlinks, floors, lock and pins.toml in one commit, on landing/bump-COMPONENT.

    Refuses what a check would refuse.
    """
    from pinctl.flows.landing.bump import bump_pins, rehearse_bump
    from pinctl.flows.staging.bump import BumpOptions
    from pinctl.model.landing import Objections
    from pinctl.render.landing import landing_json, landing_text, print_objections, print_rehearsal

    if with_plan and with_push:
        raise BadInputError("--plan does nothing, so there is nothing to --push")
    run = invocation(context)
    how = BumpOptions(
        release=release, onto=onto, third_party=third_party, rollback=rollback, exclude_conflicting=exclude_conflicting
    )
    if with_plan:
        stack, staged = rehearse_bump(run.where, tuple(components), how=how)
        if isinstance(staged, Objections):
            leave(print_objections(run.output, staged, output_format))
        print_rehearsal(run.output, staged, stack.difference(staged), output_format)
        return
    landing = bump_pins(run.where, tuple(components), how=how, with_push=with_push, tell=run.output.progress)
    if isinstance(landing, Objections):
        leave(print_objections(run.output, landing, output_format))
    run.output.answer(landing_text(landing), landing_json(landing), output_format)
