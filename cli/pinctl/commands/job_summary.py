"""Appends what a command found to the job summary, where GitHub Actions gives one."""

import os
from pathlib import Path

from pinctl.render.output import Output


def append_to_job_summary(output: Output, markdown: str) -> None:
    """Appends markdown; says so where it cannot be written."""
    path = os.environ.get("GITHUB_STEP_SUMMARY")
    if not path:
        return
    try:
        with Path(path).open("a", encoding="utf-8") as summary:
            summary.write(markdown)
    except OSError as error:
        output.say(f"the job summary {path} cannot be written: {error.strerror}")
