# Development commands: `make help` lists them.
PYTHON ?= python3
DIR ?=
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test bench check lint types layers fmt lock clean

help: ## lists these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.ready ## makes .venv with pinctl and its development tools

.venv/.ready: requirements/dev.txt requirements/uv.txt pyproject.toml
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/uv.txt
	$(BIN)/uv pip sync --quiet --compile-bytecode --python $(BIN)/python --require-hashes requirements/dev.txt \
	  || $(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
	@touch $@

demo: setup ## lands packed-generate in an embedded stack; DIR=... keeps it there
	@set -eu; directory="$(DIR)"; \
	if [ -z "$$directory" ]; then directory=$$(mktemp -d); trap 'rm -rf "$$directory"' EXIT; fi; \
	show() { printf '\n$$ %s\n' "$$*"; "$$@"; }; \
	PATH="$(CURDIR)/$(BIN):$$PATH"; \
	show pinctl demo "$$directory"; \
	show cd "$$directory/prime-rl"; \
	show pinctl status; \
	show pinctl land packed-generate; \
	show pinctl matrix packed-generate; \
	show pinctl order packed-generate; \
	show git --no-pager show --stat landing/packed-generate

test: setup ## runs the tests
	$(BIN)/pytest -n auto --dist worksteal

bench: setup ## measures what pinctl costs, as ratios within one run
	$(BIN)/python tests/bench/bench.py

check: setup lint types layers test ## what CI runs: lint, types, layers, tests

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

layers: setup
	$(BIN)/lint-imports

fmt: setup ## formats the code and mends what lint can mend
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: setup ## re-resolves the pinned development environment
	$(BIN)/uv lock --quiet --upgrade
	$(BIN)/uv export --quiet --frozen --no-emit-project --all-groups --no-header --no-annotate -o requirements/dev.txt
	$(BIN)/uv export --quiet --frozen --no-emit-project --no-header --no-annotate --only-group bootstrap -o requirements/uv.txt

clean: ## removes what these commands made
	rm -rf .venv demo dist build
