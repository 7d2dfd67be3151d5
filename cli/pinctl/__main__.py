"""Runs pinctl as `python -m pinctl`."""

from pinctl.app import main

main()
