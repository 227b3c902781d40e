# The two commands of a newcomer are `make run` and `make test`; everything else is for those who stay.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
DIR    ?= $(CURDIR)
PORT   ?= 9100
JOBS   ?= 2

.PHONY: run test test-servers test-ui check format docs wheel-smoke gates crash daemon-kills soak bench pictures bench-daemon bench-index quality clean help

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

# A file of tests stays in one process: its fixtures are shared. `make test JOBS=0` runs them one after the other.
test: $(VENV)/.dev  ## run the tests with what the package index offers
	$(BIN)/python -m pytest -q -m "not servers and not ui" -n $(JOBS) --dist loadfile $(ARGS)

test-servers: $(VENV)/.dev  ## run the tests that need language servers from npm and Go
	PATH="$(CURDIR)/.cache/servers/node_modules/.bin:$(CURDIR)/.cache/servers/bin:$$PATH" tests/support/install_servers
	PATH="$(CURDIR)/.cache/servers/node_modules/.bin:$(CURDIR)/.cache/servers/bin:$$PATH" \
	    $(BIN)/python -m pytest -q -m servers $(ARGS)

test-ui: $(VENV)/.dev  ## try the page in a headless Chromium, installed from Debian's packages if need be
	tests/support/install_browser
	$(BIN)/python -m pytest -q -m ui $(ARGS)

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

bench: $(VENV)/.dev  ## measure beside ripgrep, ctags, csearch and zoekt on this repository or TREE=…, into bench/RESULTS.md
	$(BIN)/python bench/compare.py "$(or $(TREE),$(CURDIR))" $(ARGS)

pictures: $(VENV)/.dev  ## make the README's terminal pictures again by running the real commands
	$(BIN)/python docs/make_pictures.py

daemon-kills: $(VENV)/.dev  ## kill the daemon or its fronts 200 times under load
	DAEMON_KILLS=200 $(BIN)/python -m pytest -q tests/daemon/test_loss.py -k random $(ARGS)

bench-daemon: $(VENV)/.dev  ## measure what the daemon saves against serving in process (TREE=…)
	$(BIN)/python bench/daemon_bench.py $(TREE)

soak: $(VENV)/.dev  ## 64 HTTP clients for 10 minutes with edits and killed servers underneath (ARGS='--minutes 1')
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python bench/soak.py $(ARGS)

bench-index: $(VENV)/.dev  ## measure indexing against parsing alone (TREE=…)
	$(BIN)/python bench/index_bench.py "$(TREE)" $(ARGS)

quality: $(VENV)/.dev  ## score the retrieval sets in BENCH=… against their repositories in BENCH_MIRROR=…
	BENCH="$(BENCH)" BENCH_MIRROR="$(BENCH_MIRROR)" $(BIN)/python bench/quality.py .cache/quality

clean:           ## remove everything that was made here
	rm -rf $(VENV) .cache dist build .pytest_cache .ruff_cache .hypothesis .import_linter_cache
