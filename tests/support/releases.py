"""Publishes releases of a made-up client, and runs the matrix of a plan over them: no superproject is needed."""

import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support import Pinctl, Result

PINS = """\
version = 1

[superproject]
name = "super"
url = "https://forge.example/super.git"
branch = "main"

[components.client]
url = "https://forge.example/client.git"
branch = "main"
distribution = "{distribution}"
pin = {{ gitlink = "deps/client" }}
"""

PLAN = """\
version = 1
title = "Change what crosses."

[[changes]]
id = "server"
component = "super"
branch = "server"

[contract]
cases = {cases}
{contract}

[contract.server]
probe = "server.py"

[contract.clients.client]
probe = "client.py"
{client}
"""


@dataclass(kw_only=True)
class Releases:
    """A directory with a plan in it, and an index of the client's releases.

    Attributes:
        distribution: the client's; one of its own for each test, as environments are kept by it.
    """

    directory: Path
    pinctl: Pinctl
    distribution: str

    def publish(self, version: str, code: str) -> None:
        """Publishes a release whose module `wire_client` holds code."""
        stem = f"{self.distribution}-{version}"
        members = {
            "wire_client.py": code,
            f"{stem}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {self.distribution}\nVersion: {version}\n",
            f"{stem}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
            f"{stem}.dist-info/RECORD": "",
        }
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, text in members.items():
                archive.writestr(name, text)
        (self.directory / "index" / f"{stem}-py3-none-any.whl").write_bytes(packed.getvalue())

    def plan(self, probe: str, *, cases: Sequence[str], client: str = "", contract: str = "") -> None:
        """Writes the plan and its client probe.

        Args:
            probe: the code of the probe.
            cases: the plan's.
            client: more keys of the client's table.
            contract: more keys of the contract's.
        """
        plans = self.directory / "landing_plans"
        plans.mkdir(exist_ok=True)
        (self.directory / "pins.toml").write_text(PINS.format(distribution=self.distribution))
        (plans / "plan.toml").write_text(PLAN.format(cases=json.dumps(list(cases)), client=client, contract=contract))
        (plans / "client.py").write_text(probe)
        (plans / "server.py").write_text("def encode(case):\n    raise NotImplementedError\n")

    def run(self, *forms: str, versions: Sequence[str] = ("1",), text: bool = False) -> Result:
        """Runs the matrix of wire forms against releases."""
        servers = [word for form in forms for word in ("--server", f"wire:{form}")]
        clients = [word for version in versions for word in ("--client", f"{self.distribution}=={version}")]
        output = () if text else ("--format", "json")
        return self.pinctl("matrix", "plan", *servers, *clients, *output, cwd=self.directory)

    def matrix(self, *forms: str, versions: Sequence[str] = ("1",)) -> dict[tuple[str, str], dict[str, Any]]:
        """Returns the cells of wire forms against releases, by form and version."""
        result = self.run(*forms, versions=versions)
        assert result.stderr == ""
        cells = json.loads(result.stdout)["cells"]
        return {(cell["server"].removeprefix("wire:"), cell["client"].partition("==")[2]): cell for cell in cells}

    def verdicts(self, *forms: str, versions: Sequence[str] = ("1",)) -> dict[tuple[str, str], str]:
        """Returns the verdicts of wire forms against releases, by form and version."""
        return {labels: cell["verdict"] for labels, cell in self.matrix(*forms, versions=versions).items()}
