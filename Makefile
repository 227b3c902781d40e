# The two commands of a newcomer are `make run` and `make test`; everything else is for those who stay.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DIR    ?= $(CURDIR)
PORT   ?= 9100

.PHONY: run test test-servers check format docs wheel-smoke gates crash bench-index quality clean help

help:            ## list the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip

# Each stamp is newer than what it was made from, so an unchanged tree installs nothing.
$(VENV)/.run: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[servers]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,servers]'
	@touch $@ $(VENV)/.run

run: $(VENV)/.run   ## index a directory (DIR=…) and serve it over HTTP on PORT
	@$(BIN)/sightline serve-mcp --transport http --port $(PORT) --workspace "$(DIR)"

test: $(VENV)/.dev  ## run the tests with what the package index offers
	$(BIN)/python -m pytest -q -m "not servers" $(ARGS)

test-servers: $(VENV)/.dev  ## run the tests that need language servers from npm and Go
	PATH="$(CURDIR)/.cache/servers/node_modules/.bin:$(CURDIR)/.cache/servers/bin:$$PATH" tests/support/install_servers
	PATH="$(CURDIR)/.cache/servers/node_modules/.bin:$(CURDIR)/.cache/servers/bin:$$PATH" \
	    $(BIN)/python -m pytest -q -m servers $(ARGS)

check: $(VENV)/.dev  ## static checks
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/pyright

format: $(VENV)/.dev  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.dev  ## write docs/reference.md from the code
	$(BIN)/python docs/build_reference.py

wheel-smoke: $(VENV)/.dev  ## install the built wheel elsewhere and serve from a hostile directory
	$(BIN)/python tests/e2e/wheel_smoke.py

gates: $(VENV)/.run  ## try third-party MCP clients against this server (needs node and npm)
	$(BIN)/python tests/gates/run.py $(ARGS)

crash: $(VENV)/.dev  ## kill the indexer 1,000 times and damage 200 indexes
	CRASH_KILLS=800 DAMAGES=200 $(BIN)/python -m pytest -q tests/crash tests/unit/indexer/test_index_health.py $(ARGS)

bench-index: $(VENV)/.dev  ## measure indexing against parsing alone (TREE=…)
	$(BIN)/python bench/index_bench.py "$(TREE)" $(ARGS)

quality: $(VENV)/.dev  ## score the retrieval sets in BENCH=… against their repositories in BENCH_MIRROR=…
	BENCH="$(BENCH)" BENCH_MIRROR="$(BENCH_MIRROR)" $(BIN)/python bench/quality.py .cache/quality

clean:           ## remove everything that was made here
	rm -rf $(VENV) .cache dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
