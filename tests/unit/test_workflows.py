"""The workflow of the documentation: it asks pinctl for nothing that it does not have."""

import re
from pathlib import Path

from support import Pinctl

WORKFLOW = Path(__file__).parents[2] / "docs/workflows/matrix.yml"


def test_every_option_of_the_example_is_there(pinctl: Pinctl) -> None:
    lines = [line for line in WORKFLOW.read_text().splitlines() if "pinctl matrix" in line]
    used = {option for line in lines for option in re.findall(r"--[a-z-]+", line)}
    assert used == {"--format", "--shards", "--durations", "--shard", "--merge"}
    shown = pinctl("matrix", "--help").stdout
    assert all(re.search(rf"{option}\b", shown) for option in used)
