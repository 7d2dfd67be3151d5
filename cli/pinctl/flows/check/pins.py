"""Judges pins: is each on its branch, where did it come from, and does everything that names it agree."""

import shlex
from collections.abc import Iterator

from pinctl.errors import CouldNotFindOutError
from pinctl.flows.check.records import pin_command, record_findings
from pinctl.flows.check.scope import MovedPin, Scope
from pinctl.flows.superproject.floors import manifests_at
from pinctl.flows.superproject.sites import pinned_sites
from pinctl.flows.superproject.standing import find_reverted
from pinctl.model.finding import Finding, Level
from pinctl.model.oid import Oid
from pinctl.model.standing import Standing, StandingKind
from pinctl.tools.git.history import ahead_behind, brought_by, contains
from pinctl.tools.git.refs import shown_url
from pinctl.tools.git.submodules import FILE, Submodule


def pin_findings(scope: Scope) -> Iterator[Finding]:
    """Judges every pin that moved, one after the other: what is wrong with one does not hide the next."""
    fixes: dict[str, str] = {}
    for finding in _moved_findings(scope):
        if finding.component is not None and finding.fix is not None:
            fixes.setdefault(finding.component, finding.fix)
        yield finding
    yield from _url_findings(scope)
    yield from record_findings(scope, fixes)
    yield from _site_findings(scope)
    yield from _unknown_findings(scope)


def _moved_findings(scope: Scope) -> Iterator[Finding]:
    described = {submodule.path for submodule in scope.submodules}
    for pin in scope.moved:
        if pin.component.skip is not None:
            continue
        if pin.entry is None and pin.path not in described:
            message = "this gitlink is in no section of .gitmodules: it has no url"
            yield _finding("PIN012", pin, message, fix=f"git rm --cached -- {shlex.quote(pin.path)}")
            if pin.component.url is None:
                continue
        try:
            yield from _judge_pin(scope, pin)
        except CouldNotFindOutError as error:
            yield _finding("PIN001", pin, f"could not find out: {error.message}", fix=None, unknown=True)


def _judge_pin(scope: Scope, pin: MovedPin) -> Iterator[Finding]:
    stack, component = scope.stack, pin.component
    mirror = stack.mirror(component)
    kind = mirror.kind_of(pin.after)
    if kind is None:
        message = f"{pin.after.short} cannot be fetched from {shown_url(mirror.url)}: it has no such object"
        yield _finding("PIN006", pin, f"could not find out: {message}", fix=None, unknown=True)
        return
    if kind != "commit":
        wanted = mirror.repository.resolve(pin.after)
        fix = pin_command(scope, pin, wanted) if wanted else None
        yield _finding("PIN006", pin, f"{pin.after.short} is a {kind} object, not a commit", fix=fix)
        return
    standing = stack.standing(component, pin.after)
    match standing.kind:
        case StandingKind.ON_BRANCH:
            yield from _holds_reverted(scope, pin, standing)
            yield from _stricter(scope, pin, standing)
        case StandingKind.REVERTED if standing.twin is None:
            message = f"{pin.after.short} is {standing.describe()}"
            yield _finding("PIN005", pin, message, fix=pin_command(scope, pin, stack.tip(component)))
        case _:
            yield _not_on_branch(scope, pin, standing)
    if pin.before_unknown is not None:
        yield _finding("PIN003", pin, f"could not find out: {pin.before_unknown}", fix=None, unknown=True)
    elif pin.before is not None and pin.before != pin.after:
        yield from _move_findings(scope, pin, pin.before)


def _holds_reverted(scope: Scope, pin: MovedPin, standing: Standing) -> Iterator[Finding]:
    stack = scope.stack
    tip = stack.tip(pin.component)
    found = find_reverted(stack.mirror(pin.component).repository, pin.after, tip=tip)
    if found is not None:
        change, revert = found
        message = f"{pin.after.short} holds {change.short}, which {revert.short} reverted on {standing.branch}"
        yield _finding("PIN005", pin, message, fix=pin_command(scope, pin, tip))


def _stricter(scope: Scope, pin: MovedPin, standing: Standing) -> Iterator[Finding]:
    """Judges by what is asked for beyond being on the branch."""
    stack, component = scope.stack, pin.component
    tip = stack.tip(component)
    if scope.asked.first_parent:
        merge = brought_by(stack.mirror(component).repository, commit=pin.after, tip=tip)
        if merge != pin.after:
            message = f"{pin.after.short} came to {standing.branch} by the merge {merge.short}: pin that instead"
            yield _finding("PIN010", pin, message, fix=pin_command(scope, pin, merge))
    if scope.asked.require_tip and pin.after != tip:
        message = f"{pin.after.short} is {standing.describe()}"
        yield _finding("PIN011", pin, message, fix=pin_command(scope, pin, tip))


def _not_on_branch(scope: Scope, pin: MovedPin, standing: Standing) -> Finding:
    wanted, message = scope.stack.tip(pin.component), f"{pin.after.short} is {standing.describe()}"
    twin, reverted = standing.twin, standing.reverted_by
    if twin is not None and reverted is not None:
        message = (
            f"{pin.after.short} is not on {standing.branch}; its content was there as {twin.commit.short} "
            f"({twin.evidence}), and was reverted by {reverted.short}"
        )
    elif twin is not None:
        wanted, message = twin.commit, f"{message} ({twin.evidence}): pin that instead"
    return _finding("PIN001", pin, message, fix=pin_command(scope, pin, wanted))


def _move_findings(scope: Scope, pin: MovedPin, before: Oid) -> Iterator[Finding]:
    stack = scope.stack
    repository = stack.mirror(pin.component).repository
    if stack.mirror(pin.component).obtain(before) is None:
        if pin.guessed:
            # It is another component's: that one was removed, and this one is new.
            return
        message = f"could not find out: the pin before, {before.short}, cannot be fetched"
        yield _finding("PIN003", pin, message, fix=None, unknown=True)
    elif contains(repository, commit=pin.after, ancestor=before):
        return
    elif contains(repository, commit=before, ancestor=pin.after):
        ahead, _ = ahead_behind(repository, commit=before, tip=pin.after)
        message = f"the pin moved back by {ahead}, from {before.short} to {pin.after.short}"
        yield _finding("PIN002", pin, message, fix=pin_command(scope, pin, before))
    else:
        yield from _sideways(scope, pin, before)


def _sideways(scope: Scope, pin: MovedPin, before: Oid) -> Iterator[Finding]:
    stack = scope.stack
    repository = stack.mirror(pin.component).repository
    former = stack.standing(pin.component, before)
    twin = former.twin.commit if former.twin else None
    if twin is not None and contains(repository, commit=pin.after, ancestor=twin):
        # The way back to the branch loses nothing: it is named as the move that it is, and must not be stopped.
        message = (
            f"the pin moved from {before.short}, which is not on {former.branch}, to {pin.after.short}, "
            f"which has its content as {twin.short}"
        )
        yield _finding("PIN003", pin, message, fix=None, level=Level.WARNING)
        return
    _, behind = ahead_behind(repository, commit=pin.after, tip=before)
    message = f"the pin moved from {before.short} to {pin.after.short}, which lacks {behind} of its commits"
    tip = stack.tip(pin.component)
    has_both = contains(repository, commit=tip, ancestor=before)
    yield _finding("PIN003", pin, message, fix=pin_command(scope, pin, tip if has_both else before))


def _url_findings(scope: Scope) -> Iterator[Finding]:
    if FILE not in scope.touched and not scope.sole:
        return
    former = {submodule.path: submodule.url for submodule in scope.submodules_before}
    renamed = {pin.path for pin in scope.moved if pin.renamed_from is not None}
    for submodule in scope.submodules:
        component = scope.stack.pins.at_gitlink(submodule.path)
        declared = component.url if component else None
        name = component.name if component else submodule.name
        before = former.get(submodule.path, submodule.url)
        if declared is not None and not _same_url(declared, submodule.url):
            message = f"{submodule.path} is at {shown_url(submodule.url)}, pins.toml says {shown_url(declared)}"
            fix = _url_command(submodule, shlex.quote(declared)) if shown_url(declared) == declared else None
            yield _url_finding(name, submodule, message, fix=fix)
        elif declared is None and before != submodule.url and submodule.path not in renamed:
            message = f"the URL of {submodule.path} changed from {shown_url(before)} to {shown_url(submodule.url)}"
            yield _url_finding(name, submodule, message, fix=_former_url_command(scope, submodule, before))


def _former_url_command(scope: Scope, submodule: Submodule, url: str) -> str:
    """Returns the command that sets a URL back, without the credentials that may be in it."""
    if shown_url(url) == url:
        return _url_command(submodule, shlex.quote(url))
    name = next(former.name for former in scope.submodules_before if former.path == submodule.path)
    key = shlex.quote(f"submodule.{name}.url")
    return _url_command(submodule, f'"$(git config --blob {scope.range.base}:{FILE} {key})"')


def _url_command(submodule: Submodule, url: str) -> str:
    return f"git config -f {FILE} {shlex.quote(f'submodule.{submodule.name}.url')} {url}"


def _url_finding(component: str, submodule: Submodule, message: str, *, fix: str | None) -> Finding:
    return Finding(rule="PIN007", component=component, path=FILE, line=submodule.line, message=message, fix=fix)


def _same_url(one: str, other: str) -> bool:
    def plain(url: str) -> str:
        return url.rstrip("/").removesuffix(".git")

    return plain(one) == plain(other)


def _unknown_findings(scope: Scope) -> Iterator[Finding]:
    """Names the pins in manifests whose commits could not be found out."""
    for pin in scope.unknown:
        yield Finding(
            rule="PIN006",
            component=pin.component.name,
            path=pin.site.place,
            line=pin.site.line,
            message=f"could not find out: {pin.site.unknown}",
            unknown=True,
        )


def _site_findings(scope: Scope) -> Iterator[Finding]:
    """Compares the places where one component is pinned, where one of them moved."""
    moved = {pin.component.name for pin in scope.moved} | {pin.component.name for pin in scope.unknown}
    manifests = manifests_at(scope.stack, scope.result) if moved else ()
    for component in scope.stack.pins.components.values():
        if component.name not in moved or not component.also or component.skip is not None:
            continue
        first, *others = pinned_sites(scope.stack, component, scope.gitlinks, manifests) or (None,)
        for site in others:
            if first is not None and site.commit != first.commit and not (site.unknown or first.unknown):
                message = f"{site.place} pins {site.text}, and {first.place} pins {first.text}"
                yield Finding(rule="PIN009", component=component.name, path=site.place, line=site.line, message=message)


def _finding(
    rule: str, pin: MovedPin, message: str, *, fix: str | None, unknown: bool = False, level: Level = Level.ERROR
) -> Finding:
    renamed = f" (renamed from {pin.renamed_from})" if pin.renamed_from else ""
    return Finding(
        rule=rule,
        component=pin.component.name,
        path=pin.path,
        line=pin.entry.line if pin.entry else None,
        message=f"{message}{renamed}",
        fix=fix,
        unknown=unknown,
        level=level,
    )
