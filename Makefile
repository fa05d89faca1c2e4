# make demo   set up .venv if need be, then audit an example policy
# make test   set up .venv if need be, then check style, types and tests
# make lint   style and types only
# make tests  the tests only
# make clean  remove everything that make created
# make requirements  renew requirements-ci.txt from constraints.txt
#
# The only needs are Python 3.11 or newer, pip and make. Another interpreter: make PYTHON=python3.12 ...

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PACKAGES := api cli mechanisms models verifier
EXTRAS := dev,docs,fast,notebooks,peers,plots
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# The hashes in requirements-ci.txt are those of the files for these machines; others install the
# versions in constraints.txt. HASHES=required: fail instead.
HASHED := import platform, sys; sys.exit( \
  (sys.version_info[:2], sys.platform, platform.machine()) != ((3, 11), "linux", "x86_64") \
  or platform.libc_ver()[0] != "glibc")
EDITABLE := --no-build-isolation --config-settings editable_mode=strict --editable

FILES := $(VENV)/package-files
INSTALLED := $(VENV)/installed

.PHONY: demo test tests lint install requirements clean FORCE
.DELETE_ON_ERROR:
.NOTPARALLEL:

demo: install
	@$(BIN)/blowproof audit examples/census.toml

test: lint tests

tests: install
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations 30

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --strict -p blowproof
	$(BIN)/mypy --cache-dir .mypy_cache/tests tests

install: $(INSTALLED)

# All dependencies when the lists of them changed; when only files of ours came or went, the links
# of the strict editable install are renewed, which takes seconds.
$(INSTALLED): pyproject.toml constraints.txt requirements-ci.txt $(FILES)
	@$(if $(filter-out $(FILES),$?), \
	  echo "Installing blowproof and what it needs into $(VENV) (a few minutes the first time) ..." && \
	  if $(BIN)/python -c '$(HASHED)'; then \
	    $(PIP) install --require-hashes --requirement requirements-ci.txt && \
	    $(PIP) install --no-deps --no-index $(EDITABLE) .; \
	  elif [ '$(HASHES)' = required ]; then \
	    echo "requirements-ci.txt has no hashes for this Python or machine." >&2; exit 1; \
	  else \
	    $(PIP) install --constraint constraints.txt setuptools && \
	    $(PIP) install --constraint constraints.txt $(EDITABLE) '.[$(EXTRAS)]'; \
	  fi, \
	  echo "Package files came or went: renewing the links of the editable install ..." && \
	  $(PIP) install --no-deps $(EDITABLE) .)
	@find -L build -type l -delete # links to files that are gone
	@$(if $(filter-out $(FILES),$?),$(BIN)/python -m blowproof.cli.beginning.warm,true)
	@touch $@

requirements: install
	@$(BIN)/python .ci/requirements.py > requirements-ci.new || { rm requirements-ci.new; exit 1; }
	@mv requirements-ci.new requirements-ci.txt

# The names of the files in the packages; rewritten only when one is added or removed.
$(FILES): FORCE | $(BIN)/python
	@find $(PACKAGES) -name __pycache__ -prune -o -type f \
	  \( -name '*.py' -o -name py.typed -o -name '*.json' -o -name '*.md' -o -name '*.css' \
	  -o -name '*.html' -o -name '*.js' -o -name '*.toml' -o -name '*.txt' \) -print \
	  | LC_ALL=C sort > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "blowproof needs Python 3.11 or newer, and '$(PYTHON)' is not that." \
	    "Name another one: make PYTHON=python3.11 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo "'$(PYTHON)' cannot create virtual environments: its modules venv and ensurepip are" \
	    "missing. On Debian and Ubuntu the package python3-venv holds them." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

clean:
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find $(PACKAGES) tests -name __pycache__ -type d -prune -exec rm -rf {} +
