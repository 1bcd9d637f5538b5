# Everything is installed into .venv; Python 3.11 or newer is all that must be there before.

PYTHON ?= python3
# Where Python may not keep what it compiled, every process that the tests start compiles the whole library anew.
unexport PYTHONDONTWRITEBYTECODE
BIN := .venv/bin
# What is imported is compiled then: that is a small part of what is installed.
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# Independent judges in tests, installed beside the rest and without what they require: pyCANON pins exact versions
# of pandas and NumPy; of CycloneDX only the schema is read.
ORACLES := cyclonedx-python-lib fastjsonschema pycanon
JUDGES := $(INSTALL) --no-deps --upgrade --target .venv/oracles
FAILED := { echo "could not install what pyproject.toml asks for: the first time, and after it changes, this needs the network" >&2; exit 1; }

# LOCKED=1 installs exactly what lock/ names, and checks the hash of every file; else the newest that is allowed.
LOCKED ?=
LOCK := $(if $(LOCKED),lock/development.txt lock/oracles.txt)

# A stamp's name says what was installed: this text of both pyproject.toml (and of the lock), for this folder.
# While the stamp is there, nothing is installed and no network is needed.
KEY := $(shell { pwd; echo $(ORACLES); cat pyproject.toml papers/pyproject.toml $(LOCK); } | cksum | cut -d ' ' -f 1)
RUNTIME := .venv/runtime-$(KEY)
DEVELOPMENT := .venv/development-$(KEY)

# The tests that are soon done: the nouns, choosing, the project file, two rooms of models. No page's examples, no
# miners, no census table.
QUICK := tests/choose tests/project tests/models/test_anonymity.py tests/models/test_diversity.py \
  tests/test_c*.py tests/test_de*.py tests/test_[e-s]*.py tests/test_table.py

# For the lowest versions: beside the quick tests, a few of every room that rests on a package that they do not reach.
REACHED := tests/sanitizers/test_noise.py tests/cli/test_commands.py tests/explore/test_library.py \
  tests/miners/test_runner.py tests/miners/test_tree.py tests/report/test_page.py tests/report/test_svg.py \
  tests/searches/evolution/test_search.py tests/verification/test_signature.py tests/workbench/test_command.py \
  tests/workbench/routes/test_data.py tests/workbench/state/test_editing.py

THOROUGH :=
# LOAD=2 runs the tests beside two processes that keep the processors busy.
LOAD := 0

.PHONY: help bench demo test thorough quick floors evidence coverage mutants fuzz lint format wheel audit sbom lock clean python system spark aim audit-dp
.NOTPARALLEL:

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' Makefile

demo: python $(RUNTIME) ## explore, compare and report on the embedded example
	$(BIN)/sfumato demo

# The types are checked by one processor while the tests have the others. Both end with this target.
test: python $(DEVELOPMENT) system ## lint, and run the tests
	@trap 'kill $$linted $$tested; wait' INT TERM; \
	make --no-print-directory lint & linted=$$!; \
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --load $(LOAD) $(THOROUGH) & tested=$$!; \
	wait $$tested; failed=$$?; wait $$linted && exit $$failed

# What takes long and is looked at in a shorter way by another test: before a version, and by night.
thorough: THOROUGH := --thorough
thorough: test ## lint, and run the tests, those that take long included

quick: lint ## lint, then run the tests that are soon done
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile $(QUICK)

floors: python ## run some tests of every room with the lowest versions that pyproject.toml allows; needs the network
	$(BIN)/python tools/floors.py $(QUICK) $(REACHED)

# What is published with the newest versions is verified to the byte with the lowest, and so are the golden folders of
# all formats. The environment is kept as long as pyproject.toml stays as it is.
FRESH := build/fresh-folders
evidence: python $(DEVELOPMENT) ## verify published folders with the lowest versions that pyproject.toml allows; needs the network once
	@rm -rf $(FRESH) && mkdir -p build
	$(BIN)/python -m tools.golden $(FRESH)
	SFUMATO_FRESH_FOLDERS=$(FRESH) $(BIN)/python tools/floors.py --keep .venv/floors tests/verification/test_golden.py -k is_verified

# pyspark is large (480 MB), needs Java, and lies beside the rest: no other test needs it.
SPARK := .venv/spark
spark: python $(DEVELOPMENT) ## run the tests of the engine spark, on this machine and on a cluster of two workers
	@sh tools/system_packages.sh default-jre-headless && command -v java > /dev/null
	@[ -d $(SPARK) ] || { echo "installing pyspark into $(SPARK) (once)"; \
	  $(INSTALL) --target $(SPARK) 'pyspark>=4.0' || { rm -rf $(SPARK); $(FAILED); }; }
	PYTHONPATH=$(CURDIR)/$(SPARK) $(BIN)/python -m pytest tests/spark

# JAX is large and OpenDP asks for one version of Polars exactly: an environment of its own.
AIM := .venv/aim
aim: python ## run the tests of the method aim, with OpenDP's extra mbi; minutes
	@[ -d $(AIM) ] || { echo "installing sfumato[aim] into $(AIM) (once)"; \
	  { $(BIN)/python -m venv $(AIM) && $(AIM)/bin/python -m pip install --quiet --disable-pip-version-check 'pip>=25.1' && \
	    $(AIM)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --editable '.[aim]' --group extras --group test; } || \
	    { rm -rf $(AIM); $(FAILED); }; }
	$(AIM)/bin/python -m pytest tests/sanitizers/test_aim.py tests/contracts tests/external/test_round_trip.py -k "aim and not claim"

# OPTIONS='--runs 10000 --counts 200000' takes about an hour.
audit-dp: python $(DEVELOPMENT) ## compare what differentially private methods claim with what two tables show; minutes
	$(BIN)/python -m tools.audit_dp $(OPTIONS)

# Peers are installed into environments of their own in build/bench-cache. OPTIONS='--arx arx.jar --largest 7'
OPTIONS :=
bench: python $(DEVELOPMENT) ## measure sfumato beside its peers, in one run, into build/bench/; minutes, needs the network once
	$(BIN)/python benchmarks/bench.py $(OPTIONS)

# Compiled kernels are left out of the count: Python runs none of their lines.
coverage: python $(DEVELOPMENT) system ## run all tests and report which lines and branches of the library they reach
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile --thorough --cov --cov-fail-under=95 --cov-report=term

# Goes on where it was stopped: what is known lies in build/. ROOMS='models verifying' for some of it.
ROOMS :=
mutants: python $(DEVELOPMENT) ## change the code in small ways, and list the changes that no test notices; hours
	$(BIN)/python -m tools.mutants $(ROOMS)

# What fails is kept in tests/fuzz/, where the tests replay it. Where atheris is installed (it is not by default: not
# every Python has a wheel of it), half of the time is guided by the branches that are reached.
MINUTES := 10
fuzz: python $(DEVELOPMENT) ## throw mutated files and texts at every reader, for MINUTES=10
	$(BIN)/python -m tools.fuzz --minutes $(MINUTES)

lint: python $(DEVELOPMENT) ## check style, format and types
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: python $(DEVELOPMENT) ## mend style and format in place
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

# What is packed is dated alike wherever and whenever it is built: the same files give the same bytes.
wheel: export SOURCE_DATE_EPOCH := 1580601600
wheel: python $(DEVELOPMENT) ## build the wheels of sfumato and of its papers into dist/; the same files give the same bytes
	$(BIN)/python -m pip wheel --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist . ./papers

audit: python $(DEVELOPMENT) ## check the licences and known vulnerabilities of what is installed; needs the network
	$(BIN)/python tools/supply.py licences
	$(BIN)/python tools/supply.py vulnerabilities

sbom: python $(DEVELOPMENT) ## write the bill of materials (CycloneDX) of what a user installs into dist/
	$(BIN)/python tools/supply.py sbom dist/sfumato.cdx.json

lock: python ## write the newest allowed version of everything, with hashes, into lock/; needs the network
	$(BIN)/python tools/lock.py

clean: ## remove .venv, caches and built files
	rm -rf .venv build dist test-artefacts .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Chromium for the browser tests, a server for those of databases, R for the example of published folders. They are
# installed as root and where CI is set; else their tests are skipped, and the command is printed.
system:
	@sh tools/system_packages.sh chromium postgresql r-base-core

# A .venv made by another Python than the one asked for is not used in its place.
python: $(BIN)/python
	@[ '$(origin PYTHON)' = file ] || [ "$$($(PYTHON) -V)" = "$$($(BIN)/python -V)" ] || \
	  { echo ".venv holds $$($(BIN)/python -V), not $(PYTHON): run 'make clean' first" >&2; exit 1; }

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "sfumato needs Python 3.11 or newer; name one with PYTHON=, as in: make demo PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -m venv --clear .venv || \
	  { rm -rf .venv; echo "could not make .venv; on Debian and Ubuntu install the package python3-venv" >&2; exit 1; }

$(RUNTIME):
	@echo "installing sfumato into .venv (once)"
	@rm -f .venv/runtime-* .venv/development-*
	@$(INSTALL) --editable . || $(FAILED)
	@touch $@

$(DEVELOPMENT):
	@echo "installing sfumato, its papers and test tools into .venv (once)"
	@rm -f .venv/runtime-* .venv/development-*
ifdef LOCKED
	@{ $(INSTALL) --require-hashes --requirement lock/development.txt && \
	  $(INSTALL) --no-deps --no-build-isolation --editable . --editable ./papers && \
	  $(JUDGES) --require-hashes --requirement lock/oracles.txt; } || $(FAILED)
else
	@{ $(INSTALL) 'pip>=25.1' && $(INSTALL) --editable . --editable ./papers --group dev && $(JUDGES) $(ORACLES); } || $(FAILED)
endif
	@$(BIN)/python -m pytest --collect-only > /dev/null 2>&1 || true  # compiles once what every worker imports
	@touch $(RUNTIME) $@
