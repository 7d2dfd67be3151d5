"""Makes the certificate of a proven landing, and finds the one that a commit holds."""

import hashlib
import platform
import posixpath
from pathlib import Path, PurePosixPath

from pinctl import __version__
from pinctl.errors import BadFileError
from pinctl.flows.matrix.modes import Versions
from pinctl.flows.matrix.variants import Axes
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.certificate import Certificate, CertifiedCell, CertifiedNeed, Inputs
from pinctl.model.landing import Staged
from pinctl.model.matrix import Matrix
from pinctl.model.oid import Oid
from pinctl.model.order import OrderProof, declared_needs
from pinctl.model.plan import Contract, LandingPlan, Probe
from pinctl.model.variant import Code
from pinctl.tools.answers import digest_of, digest_of_file
from pinctl.tools.certificate_file import DIRECTORY, certificate_bytes, read_certificate
from pinctl.tools.git.compose import FILE_MODE, Edit, edit_tree, write_blob
from pinctl.tools.plan_file import DIRECTORY as PLANS
from pinctl.tools.uv import uv_version


def certificate_path(stack: Stack, plan: str) -> str | None:
    """Returns where a plan's certificate stands in the superproject; None where its plans are kept elsewhere."""
    path = pins_path_in(stack)
    return str(PurePosixPath(path).parent / PLANS / DIRECTORY / f"{plan}.json") if path is not None else None


def certify(
    stack: Stack,
    plan: LandingPlan,
    contract: Contract,
    staged: Staged,
    *,
    axes: Axes,
    wanted: Versions,
    matrix: Matrix,
    order: OrderProof,
) -> Certificate:
    """Makes the certificate of a landing that was proven.

    Args:
        stack: the opened stack.
        plan: the landing plan.
        contract: its contract.
        staged: the commit that the proof is about.
        axes: the variants of the landing itself.
        wanted: all that were run, those that the contract's mode adds among them.
        matrix: what came of them.
        order: the proof over the states.
    """
    needs = declared_needs(plan, superproject=stack.name)
    pins = staged.bump.pins
    labels = [axes.labels_of(need) or (None, None) for need in needs]
    variants = (*wanted.servers, *wanted.clients)
    return Certificate(
        plan=plan.name,
        parent=staged.bump.tip,
        inputs=Inputs(
            plan=digest_of_file(plan.path),
            probes={name: digest_of_file(plan.path.parent / name) for name in _probes(plan.path.parent, contract)},
            cases=_cases(contract),
            pins={
                component.name: pins[component.name]
                for component, _ in stack.gitlink_components()
                if component.name in pins
            },
            tree=_without(stack, staged.tree, plan.name),
        ),
        variants={
            variant.label: variant.commit if isinstance(variant, Code) else variant.label for variant in variants
        },
        cells=tuple(
            CertifiedCell(
                server=cell.server,
                client=cell.client,
                verdict=cell.verdict,
                reason=cell.reason,
                cases={case.case: case.verdict for case in cell.cases},
                asked=cell.is_asked,
            )
            for cell in matrix.cells
        ),
        needs=tuple(
            CertifiedNeed(
                landed=tuple(sorted(need.landed)),
                component=need.component,
                new=need.new,
                role=need.role,
                server=server,
                client=client,
            )
            for need, (server, client) in zip(needs, labels, strict=True)
        ),
        changes=order.changes,
        orders=order.orders,
        safe_orders=order.safe_orders,
        made_with={
            "pinctl": __version__,
            "python": f"{platform.python_implementation()} {platform.python_version()}",
            "uv": uv_version(),
        },
        versions=wanted.compared,
    )


def certificate_in(stack: Stack, commit: str, plan: str) -> Certificate | None:
    """Returns the certificate of a plan that a commit holds; None where it holds none.

    Raises:
        BadFileError: the file is no certificate.
    """
    path = certificate_path(stack, plan)
    data = stack.repository.read(commit, path) if path is not None else None
    return read_certificate(Path(path), data) if path is not None and data is not None else None


def is_as_certified(stack: Stack, commit: Oid, plan: str) -> bool:
    """Tells whether a landing is as pinctl made it: without a certificate nothing says otherwise."""
    try:
        certificate = certificate_in(stack, commit, plan)
    except BadFileError:
        return False
    return certificate is None or certificate.inputs.tree == _without(stack, stack.repository.tree_of(commit), plan)


def inputs_in(stack: Stack, commit: Oid, plan: LandingPlan, contract: Contract, components: tuple[str, ...]) -> Inputs:
    """Returns what a proof would be run on in a commit.

    Args:
        stack: the opened stack.
        commit: the commit.
        plan: the landing plan.
        contract: its contract.
        components: whose pins count.
    """
    repository = stack.repository
    top = str(PurePosixPath(pins_path_in(stack) or "").parent / PLANS)

    def hashed(name: str) -> str:
        data = repository.read(commit, posixpath.normpath(f"{top}/{name}"))
        return hashlib.sha256(data).hexdigest() if data is not None else "not there"

    gitlinks = repository.gitlinks(commit)
    paths = {component.name: path for component, path in stack.gitlink_components()}
    return Inputs(
        plan=hashed(plan.path.name),
        probes={name: hashed(name) for name in _probes(plan.path.parent, contract)},
        cases=_cases(contract),
        pins={name: gitlinks[paths[name]] for name in components if paths.get(name) in gitlinks},
        tree=_without(stack, repository.tree_of(commit), plan.name),
    )


def with_certificate(stack: Stack, tree: Oid, certificate: Certificate) -> Oid:
    """Returns a tree that holds a certificate, where the superproject keeps its plans itself."""
    path = certificate_path(stack, certificate.plan)
    if path is None:
        return tree
    blob = write_blob(stack.repository, certificate_bytes(certificate))
    return edit_tree(stack.repository, tree, [Edit(path=path, mode=FILE_MODE, oid=blob)])


def _probes(directory: Path, contract: Contract) -> list[str]:
    probes: tuple[Probe, ...] = (contract.server, *contract.clients.values())
    return sorted({probe.path.relative_to(directory).as_posix() for probe in probes})


def _cases(contract: Contract) -> dict[str, str]:
    # Imported here: the cases bring numpy.
    from pinctl.wire.cases import CASES  # noqa: PLC0415

    return {name: digest_of(CASES[name].truth()) for name in contract.cases}


def _without(stack: Stack, tree: Oid, plan: str) -> Oid:
    """Returns a tree without a plan's certificate."""
    path = certificate_path(stack, plan)
    if path is None or stack.repository.blob_at(tree, path) is None:
        return tree
    return edit_tree(stack.repository, tree, [Edit(path=path, mode=FILE_MODE, oid=None)])
