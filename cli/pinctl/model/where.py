"""Says where the user stands, and where things are kept."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """Where the user says that things are.

    Attributes:
        directory: the current directory.
        pins: the pins.toml to use instead of searching for one.
        superproject: the superproject's checkout, where pins.toml is kept elsewhere.
    """

    directory: Path
    pins: Path | None = None
    superproject: Path | None = None
