# Candor. `make` lists the targets; each does all it needs first.
SHELL := /bin/bash
.SHELLFLAGS := -o pipefail -ec
.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test walk release bench bundle lock lint format messages types clean services \
	test-node test-python test-redis test-postgres test-browser

PYTHON ?= $(or $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done),python3)
BIN := .venv/bin
LOGS := var/test
PYTEST := $(BIN)/python -m pytest --durations 12 --durations-min 5
MEASURED := $(subst -m pytest,-m slipcover -m pytest,$(PYTEST))
# What writes, locks, counts or reads by a database's own means is tested on both. Pages and files come out alike, and
# are tested once: on SQLite, but for the walk's sample, which opens them all on PostgreSQL.
STORED := $(patsubst %,tests/journeys/test_%.py,kills given erased release_kills budget load replica side_by_side \
	several_machines)
ROOMS := $(addprefix tests/surveys/,aggregation design intake invited issuer ledger operations releases \
	$(patsubst %,test_%.py,clock logs streams turns) $(patsubst %,limits/test_%.py,amendments ledger panels shares site) \
	drafting/test_conflicts.py people/test_members.py people/test_owners.py results/test_cache.py)
ON_POSTGRES := $(STORED) tests/journeys/test_main_job.py tests/walk/test_array.py $(ROOMS) \
	--ignore tests/surveys/invited/test_no_clock.py
# Over two processes, a file at a time, in their order (tests/conftest.py): those that take longest first.
SPREAD := -n 2 --dist loadfile --no-loadscope-reorder
WITH := $(BIN)/python -m tests.services

heading = @printf '\n== %s\n' '$(1)'
# Run the tests of one kind and keep what they print, for the summary.
tests = mkdir -p $(LOGS); $(2) 2>&1 | tee $(LOGS)/$(1).log

help: ## List the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/make \1|\2/' | column -t -s '|'

run: .venv/installed ## Run the site with its demo studies (CANDOR_DEMO=0: empty) on 127.0.0.1:8000; Ctrl-C ends it
	@CANDOR_DEMO="$${CANDOR_DEMO:-1}" exec $(BIN)/python manage.py up

test: forget services lint types test-node test-python test-redis test-postgres test-browser ## Run everything, installing what it needs
	@$(BIN)/python -m tests.summary $(LOGS)

bench: .venv/installed-for-bench services node_modules/installed ## Print the performance tables and write bench.json
	@failed=; for module in $$(grep -l __main__ tests/bench/*.py); do name=$$(basename $$module .py); \
		$(BIN)/python -m tests.bench.$$name || failed="$$failed $$name"; done; \
	test -z "$$failed" || { echo "these benches failed:$$failed" >&2; exit 1; }

walk: .venv/installed-for-tests services ## Walk all studies of the covering array, and play the insider, on both databases
	@mkdir -p $(LOGS)
	$(call heading,Whole studies on SQLite)
	@CANDOR_WALK=all $(PYTEST) -n 2 tests/walk 2>&1 | tee $(LOGS)/walk-sqlite.log
	$(call heading,Whole studies on PostgreSQL)
	@CANDOR_WALK=all $(WITH) postgres -- $(PYTEST) -n 2 --reuse-db tests/walk 2>&1 | tee $(LOGS)/walk-postgres.log

# What documents say that was measured, measured again: their benches, as they name them.
CITED = $(shell grep -rhoE 'tests[./]bench[./][a-z_]+' README.md docs | sed 's/.*[./]//' | sort -u)
.PHONY: walk-benches
walk: walk-benches
walk-benches: .venv/installed-for-bench services node_modules/installed ## Run every bench that a document cites
	@failed=; for name in $(CITED); do $(BIN)/python -m tests.bench.$$name || failed="$$failed $$name"; done; \
	test -z "$$failed" || { echo "these benches failed:$$failed" >&2; exit 1; }

release: test walk ## Make the archive of a release and its sums in var/release, once all has passed
	@$(BIN)/python tools/check_translations.py
	@$(BIN)/python -m tools.release

bundle: node_modules/installed ## Make the form's script and style again from their modules
	@$(PYTHON) -m tools.bundle
	@cat surveys/intake/static/form/SHA256SUMS

lock: .venv/bin/python ## Pin all Python packages again, with the hashes of all their files, from the lists *.in
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==0.13.9
	@like=; for list in requirements requirements-spss requirements-dev requirements-bench; do \
		$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
			--no-emit-find-links --custom-compile-command 'make lock' $$like $$list.in -o $$list.txt; like="$$like -c $$list.txt"; done
	@$(BIN)/python tools/audit_packages.py

lint: .venv/installed-for-tests node_modules/installed ## Check style and format
	$(call heading,Style)
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check
	@npx prettier --check --log-level warn .
	@$(BIN)/python tools/check_templates.py
	@$(BIN)/python tools/measure.py > /dev/null
	@$(BIN)/python tools/check_words.py

messages: .venv/installed ## Gather the texts to translate, and compile what is translated (GNU gettext)
	@$(BIN)/python -m tools.gather_messages

format: .venv/installed-for-tests node_modules/installed ## Mend style and format
	@$(BIN)/ruff check --fix
	@$(BIN)/ruff format
	@npx prettier --write --log-level warn .

types: .venv/installed-for-tests node_modules/installed ## Check the types of Python and JavaScript
	$(call heading,Types)
	@$(BIN)/mypy --strict dpengine
	@$(BIN)/mypy surveys
	@npm run --silent types

test-node: node_modules/installed ## Run the tests of the browser's scripts
	$(call heading,Tests of the scripts in Node)
	@mkdir -p $(LOGS)
	@npm test --silent > $(LOGS)/node.log 2>&1 || { grep -A 20 '^not ok' $(LOGS)/node.log; tail $(LOGS)/node.log; exit 1; }
	@grep -E '^\W*(pass|fail|skipped) ' $(LOGS)/node.log

test-python: .venv/installed-for-tests node_modules/installed ## Run the tests of the Python code, on SQLite
	$(call heading,Tests in Python on SQLite)
	@$(call tests,sqlite,$(MEASURED) $(SPREAD) --ignore tests/journeys -m "not redis" \
		--deselect tests/walk/test_array.py::test_what_can_be_chosen_can_be_walked_to_its_end)
	@$(BIN)/python -m tests.covered $(LOGS)/covered.json

test-redis: .venv/installed-for-tests ## Run the tests that need a Redis server
	$(call heading,Tests with Redis)
	@$(call tests,redis,$(WITH) redis -- $(PYTEST) tests/surveys/operations -m redis)

# The cluster is thrown away with all that is in it: nothing is dropped one by one.
test-postgres: .venv/installed-for-tests node_modules/installed ## Run the tests and journeys of what is stored, on PostgreSQL
	$(call heading,Tests in Python on PostgreSQL)
	@$(call tests,postgres,$(WITH) postgres -- $(PYTEST) $(SPREAD) --reuse-db $(ON_POSTGRES) -m "not redis")

test-browser: .venv/installed-for-tests node_modules/installed ## Run the journeys through a real browser
	$(call heading,Journeys in Chromium)
	@$(call tests,chromium,$(WITH) chromium -- $(PYTEST) $(SPREAD) $(STORED) tests/journeys --ignore tests/journeys/test_main_job.py)

clean: ## Remove what was installed, built and cached here, but no data
	@rm -rf .venv node_modules build dpengine.egg-info $(LOGS) .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find dpengine surveys tests -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: forget
forget:
	@rm -rf $(LOGS)

# Debian packages, where we may install them. Otherwise the tests that need one say so and are left out.
NEEDED := $(shell command -v xgettext >/dev/null || echo gettext; \
	command -v chromium >/dev/null || echo chromium fonts-dejavu fonts-noto-core; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || echo postgresql; \
	command -v redis-server >/dev/null || echo redis-server; \
	PATH=$$PATH:/usr/sbin command -v nginx >/dev/null || echo nginx-light; \
	command -v systemd-analyze >/dev/null || echo systemd; \
	command -v docker-compose >/dev/null || echo docker-compose)
services:
ifneq ($(strip $(NEEDED)),)
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing $(strip $(NEEDED))"; export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
		apt-get -qq update && apt-get -qq install -y --no-install-recommends $(NEEDED) >/dev/null; fi
endif

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Candor needs Python 3.11 or newer, and found $$($(PYTHON) --version 2>&1). Set PYTHON=/path/to/it." >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python cannot make a virtual environment (Debian: apt-get install python3-venv)." >&2; exit 1; }

# The stamps are newer than the lists of packages that they were installed from. A list names all that is needed, so
# nothing is looked for beyond it, and each file must have one of the hashes that stand there.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r
.venv/installed: requirements.txt | .venv/bin/python
	@echo "installing what the site needs (once)"
	@$(INSTALL) requirements.txt --no-compile
	@touch $@

.venv/installed-for-tests: requirements-dev.txt | .venv/bin/python
	@echo "installing what the tests need (once)"
	@$(INSTALL) requirements-dev.txt
	@touch $@ .venv/installed

.venv/installed-for-bench: requirements-bench.txt | .venv/bin/python
	@echo "installing what the benches compare with (once)"
	@$(INSTALL) requirements-bench.txt
	@touch $@ .venv/installed-for-tests .venv/installed

node_modules/installed: package-lock.json
	@command -v npm >/dev/null || { echo "The tests of the scripts need Node.js 20 or newer, with npm." >&2; exit 1; }
	@npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@
