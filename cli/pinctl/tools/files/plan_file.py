"""Reads landing_plans/NAME.toml."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, ByteSize, Field, TypeAdapter, ValidationError

from pinctl.errors import BadInputError, Mistake
from pinctl.model.contract import CASES, COMPLETION_FIELDS, FIELDS
from pinctl.model.control import Controls
from pinctl.model.mode import Mode
from pinctl.model.oid import ABBREVIATED
from pinctl.model.pins import Pins
from pinctl.model.plan import Change, Constraint, Contract, LandingPlan, Probe
from pinctl.tools.files.constraint_mistakes import constraint_mistakes
from pinctl.tools.files.declaration import Shape, Text, Version, listed, mistake_at, nearest, shaped, unknown_names
from pinctl.tools.files.plan_measure import MeasureTable, measure_mistakes, measuring_of
from pinctl.tools.toml.source import KeyPath, TomlSource, read_toml

DIRECTORY = "landing_plans"

_LEAST_MEMORY = 64 * 2**20


class _Change(Shape):
    id: Text
    component: Text
    pull: Annotated[int, Field(gt=0)] | None = None
    branch: Text | None = None
    commit: Text | None = None
    after: tuple[Text, ...] = ()
    pins: tuple[Text, ...] = ()


def _bytes(value: Any) -> int:
    """Reads a size with its unit; no Python starts in less than the smallest."""
    try:
        size = TypeAdapter(ByteSize).validate_python(value) if isinstance(value, str) else 0
    except ValidationError:
        size = 0
    if size < _LEAST_MEMORY:
        msg = 'must be a size with its unit, such as "2GiB", of at least 64MiB'
        raise ValueError(msg)
    return size


class _Probe(Shape):
    probe: Text
    requirements: tuple[Text, ...] = ()
    dependencies: bool = True
    reads: tuple[Text, ...] = COMPLETION_FIELDS
    relays: tuple[Text, ...] = ()
    seconds: Annotated[float, Field(gt=0)] = 120.0
    memory: Annotated[int, BeforeValidator(_bytes)] = 2 * 2**30


class _Client(_Probe):
    optional: tuple[Text, ...] = ()
    strict: bool = False
    head: bool = True


def _probe_table(value: Any) -> Any:
    """Lets a probe that needs nothing but its path be written as that path."""
    return {"probe": value} if isinstance(value, str) else value


class _Contract(Shape):
    server: Annotated[_Probe, BeforeValidator(_probe_table)]
    cases: tuple[Text, ...] = Field(min_length=1)
    clients: dict[str, Annotated[_Client, BeforeValidator(_probe_table)]] = Field(min_length=1)
    controls: Literal["none", "named", "all"] = "named"
    measure: MeasureTable = MeasureTable()
    mode: Text | None = None


class _Constraint(Shape):
    feature: Text = Field(alias="for")
    together: tuple[Text, ...] = Field(min_length=1)
    cases: tuple[Text, ...] = ()
    fields: tuple[Text, ...] = ()


class _Lock(Shape):
    third_party: Literal["keep", "move"] = "keep"


class _File(Shape):
    version: Version
    title: Text
    lock: _Lock = _Lock()
    changes: tuple[_Change, ...] = Field(min_length=1)
    contract: _Contract | None = None
    constraints: tuple[_Constraint, ...] = ()


def plan_names(pins: Pins) -> tuple[str, ...]:
    """Lists the names of the landing plans beside a pins.toml."""
    if pins.directory is None:
        return ()
    return tuple(sorted(path.stem for path in (pins.directory / DIRECTORY).glob("*.toml")))


def read_plans(pins: Pins) -> tuple[LandingPlan, ...]:
    """Reads all landing plans beside a pins.toml.

    Raises:
        BadFileError: one of them holds mistakes.
    """
    return tuple(read_plan(name, pins) for name in plan_names(pins))


def read_plan(
    name: str, pins: Pins, *, data: bytes | None = None, is_file: Callable[[Path], bool] = Path.is_file
) -> LandingPlan:
    """Reads a landing plan.

    Args:
        name: the plan's name: the file's, without its suffix.
        pins: what it speaks about.
        data: the file's bytes, where they come from elsewhere.
        is_file: tells whether a probe is there, where that is elsewhere too.

    Raises:
        BadInputError: there is no pins.toml, or no plan of that name.
        BadFileError: it holds mistakes.
    """
    if pins.path is None or pins.directory is None:
        raise BadInputError(
            f"the plan {name!r} needs a pins.toml, and there is none here or above",
            hint="Write a pins.toml beside landing_plans/, or name one with --pins FILE.",
        )
    names = plan_names(pins) if data is None else (name,)
    if name not in names:
        known = nearest(name, names) or f"; {pins.directory / DIRECTORY} holds none"
        raise BadInputError(f"there is no landing plan {name!r}{known}", hint="List the plans: pinctl plan")
    path = pins.directory / DIRECTORY / f"{name}.toml"
    source = read_toml(path, data)
    file = shaped(source, _File, _mistakes(source, pins, is_file))
    return LandingPlan(
        name=name,
        path=path,
        title=file.title,
        changes=tuple(Change(**change.model_dump()) for change in file.changes),
        contract=_contract(source, file.contract) if file.contract else None,
        third_party=file.lock.third_party == "move",
        constraints=tuple(Constraint(**item.model_dump()) for item in file.constraints),
    )


def _contract(source: TomlSource, shape: _Contract) -> Contract:
    return Contract(
        server=_probe(source.path, shape.server),
        clients={name: _probe(source.path, probe) for name, probe in shape.clients.items()},
        cases=shape.cases,
        controls=Controls(shape.controls),
        mode=Mode(shape.mode) if shape.mode is not None else None,
        measuring=measuring_of(source, shape.measure),
    )


def _probe(path: Path, shape: _Probe) -> Probe:
    return Probe(
        path=path.parent / shape.probe,
        requirements=shape.requirements,
        dependencies=shape.dependencies,
        reads=tuple(field for field in shape.reads if field not in shape.relays),
        relays=shape.relays,
        optional=shape.optional if isinstance(shape, _Client) else (),
        strict=isinstance(shape, _Client) and shape.strict,
        head=not isinstance(shape, _Client) or shape.head,
        seconds=shape.seconds,
        memory=shape.memory,
    )


def _mistakes(source: TomlSource, pins: Pins, is_file: Callable[[Path], bool]) -> Iterator[Mistake]:
    """Finds what the shape of the file cannot say; looks at the raw values, whose shape may be wrong as well."""
    changes = [
        (index, change)
        for index, change in enumerate(listed(source.at(("changes",))))
        if isinstance(change, dict) and isinstance(change.get("id"), str)
    ]
    yield from _change_mistakes(source, pins, changes)
    yield from _cycle(source, changes)
    yield from constraint_mistakes(source, tuple(change["id"] for _, change in changes))
    contract = source.at(("contract",))
    if isinstance(contract, dict):
        yield from _contract_mistakes(source, pins, contract, is_file)
        yield from measure_mistakes(source, contract)


def _change_mistakes(source: TomlSource, pins: Pins, changes: list[tuple[int, dict[str, Any]]]) -> Iterator[Mistake]:
    own = pins.superproject.name
    ids = tuple(change["id"] for _, change in changes)
    for index, change in changes:
        at: KeyPath = ("changes", index)
        if ids.index(change["id"]) != next(place for place, (number, _) in enumerate(changes) if number == index):
            yield mistake_at(source, (*at, "id"), f"{change['id']!r} is the id of another change already")
        component = change.get("component")
        known = (own, *pins.components)
        if isinstance(component, str) and component not in known:
            yield mistake_at(source, (*at, "component"), f"{component!r} is no component{nearest(component, known)}")
        if not any(key in change for key in ("pull", "branch", "commit")):
            yield mistake_at(source, at, "must have a pull, a branch or a commit")
        commit = change.get("commit")
        if isinstance(commit, str) and not ABBREVIATED.fullmatch(commit):
            yield mistake_at(source, (*at, "commit"), f"{commit!r} is no commit id of 7 or more hex digits")
        others = tuple(other for other in ids if other != change["id"])
        yield from unknown_names(source, (*at, "after"), change.get("after"), others, what="change of this plan")
        moving = change.get("pins")
        yield from unknown_names(source, (*at, "pins"), moving, tuple(pins.components), what="component of pins.toml")
        of_components = {other["component"] for _, other in changes if isinstance(other.get("component"), str)}
        for number, name in enumerate(listed(moving)):
            if isinstance(name, str) and name in pins.components and name not in of_components:
                words = f"no change of this plan is in {name!r}, so nothing says where its pin should move"
                yield mistake_at(source, (*at, "pins", number), words)
        if moving and component != own:
            yield mistake_at(source, (*at, "pins"), f"only a change in {own} itself can move pins")


def _contract_mistakes(
    source: TomlSource, pins: Pins, contract: dict[str, Any], is_file: Callable[[Path], bool]
) -> Iterator[Mistake]:
    yield from unknown_names(source, ("contract", "cases"), contract.get("cases"), CASES, what="case")
    mode = contract.get("mode")
    modes = tuple(known.value for known in Mode)
    if isinstance(mode, str) and mode not in modes:
        yield mistake_at(source, ("contract", "mode"), f"{mode!r} is no mode{nearest(mode, modes)}")
    clients = contract.get("clients")
    tables: dict[KeyPath, Any] = {("contract", "server"): contract.get("server")}
    for name, table in clients.items() if isinstance(clients, dict) else ():
        tables[("contract", "clients", name)] = table
        if name not in (pins.superproject.name, *pins.components):
            words = f"is no component of pins.toml{nearest(name, (pins.superproject.name, *pins.components))}"
            yield mistake_at(source, ("contract", "clients", name), words)
    for at, value in tables.items():
        table = _probe_table(value)
        if not isinstance(table, dict):
            continue
        probe = table.get("probe")
        if isinstance(probe, str) and not is_file(source.path.parent / probe):
            key: KeyPath = (*at, "probe") if isinstance(value, dict) else at
            yield mistake_at(source, key, f"there is no file {source.path.parent / probe}")
        for key_name in ("reads", "relays", "optional"):
            yield from unknown_names(source, (*at, key_name), table.get(key_name), FIELDS, what="field of the contract")
        used = {*listed(table.get("reads", list(COMPLETION_FIELDS))), *listed(table.get("relays"))}
        for index, field in enumerate(listed(table.get("optional"))):
            if field in FIELDS and field not in used:
                words = f"the client neither reads nor relays {field!r}, so it cannot do without it"
                yield mistake_at(source, (*at, "optional", index), words)
        if table.get("strict") is True and contract.get("controls") == Controls.NONE:
            yield mistake_at(source, (*at, "strict"), 'needs controls, and the contract says controls = "none"')


def _cycle(source: TomlSource, changes: list[tuple[int, dict[str, Any]]]) -> Iterator[Mistake]:
    """Finds one cycle of `after` edges, if there is any."""
    after = {
        change["id"]: [name for name in listed(change.get("after")) if isinstance(name, str)] for _, change in changes
    }
    index_of = {change["id"]: index for index, change in changes}
    finished: set[str] = set()

    def walk(name: str, trail: tuple[str, ...]) -> tuple[str, ...] | None:
        if name in trail:
            return (*trail[trail.index(name) :], name)
        if name in finished or name not in after:
            return None
        for other in after[name]:
            cycle = walk(other, (*trail, name))
            if cycle:
                return cycle
        finished.add(name)
        return None

    for name in after:
        cycle = walk(name, ())
        if cycle:
            words = f"the changes wait for each other: {' after '.join(cycle)}"
            yield mistake_at(source, ("changes", index_of[cycle[0]], "after"), words)
            return
