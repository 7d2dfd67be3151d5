"""Finds the certificate that a commit holds, and tells what it is of."""

import hashlib
import posixpath
from pathlib import Path, PurePosixPath

from pinctl.errors import BadFileError
from pinctl.flows.superproject.stack import Stack
from pinctl.flows.superproject.workspace import pins_path_in
from pinctl.model.certificate import Certificate, Inputs
from pinctl.model.oid import Oid
from pinctl.model.plan import Contract, LandingPlan, Probe
from pinctl.tools.answers import digest_of
from pinctl.tools.files.certificate_file import DIRECTORY, certificate_bytes, read_certificate
from pinctl.tools.files.plan_file import DIRECTORY as PLANS
from pinctl.tools.git.compose import FILE_MODE, Edit, edit_tree, write_blob


def certificate_path(stack: Stack, plan: str) -> str | None:
    """Returns where a plan's certificate stands in the superproject; None where its plans are kept elsewhere."""
    path = pins_path_in(stack)
    return str(PurePosixPath(path).parent / PLANS / DIRECTORY / f"{plan}.json") if path is not None else None


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
    return certificate is None or certificate.inputs.tree == without_certificate(
        stack, stack.repository.tree_of(commit), plan
    )


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
        probes={name: hashed(name) for name in probes_of(plan.path.parent, contract)},
        cases=cases_of(contract),
        pins={name: gitlinks[paths[name]] for name in components if paths.get(name) in gitlinks},
        tree=without_certificate(stack, repository.tree_of(commit), plan.name),
    )


def with_certificate(stack: Stack, tree: Oid, certificate: Certificate) -> Oid:
    """Returns a tree that holds a certificate, where the superproject keeps its plans itself."""
    path = certificate_path(stack, certificate.plan)
    if path is None:
        return tree
    blob = write_blob(stack.repository, certificate_bytes(certificate))
    return edit_tree(stack.repository, tree, [Edit(path=path, mode=FILE_MODE, oid=blob)])


def probes_of(directory: Path, contract: Contract) -> list[str]:
    """Lists the probes of a contract, each by its path from the directory of the plans."""
    probes: tuple[Probe, ...] = (contract.server, *contract.clients.values())
    return sorted({probe.path.relative_to(directory).as_posix() for probe in probes})


def cases_of(contract: Contract) -> dict[str, str]:
    """Returns the digests of what is true in each case of a contract, by case."""
    # Imported here: the cases bring numpy.
    from pinctl.wire.cases import CASES  # noqa: PLC0415

    return {name: digest_of(CASES[name].truth()) for name in contract.cases}


def without_certificate(stack: Stack, tree: Oid, plan: str) -> Oid:
    """Returns a tree without a plan's certificate."""
    path = certificate_path(stack, plan)
    if path is None or stack.repository.blob_at(tree, path) is None:
        return tree
    return edit_tree(stack.repository, tree, [Edit(path=path, mode=FILE_MODE, oid=None)])
