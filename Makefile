# The two commands that matter are `make test` and `make study`; each sets up all it needs first.

PYTHON := .venv/bin/python
CORES ?= all
INSTANCES ?= 2
N ?= 10000
SUITE ?= trixie
# Tests run on all cores, those of a file one after the other; PARALLEL= runs them in one process.
PARALLEL ?= -n auto --dist loadfile

# One BLAS thread for each process: the study and the tests run several processes at a time.
export OPENBLAS_NUM_THREADS := 1

.DEFAULT_GOAL := help
.PHONY: help setup test test-slurm test-stack fuzz sanitize bench r-package check-r-package study lock docs clean distclean

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install all that is needed into .venv and .rlib; seconds when nothing is missing
	@workflow/bootstrap

# Where set-up found R's packages, a test against R that is skipped counts as failed.
test: setup ## run the whole test suite, R included (ARGS="-k grid" to choose)
	@FUSEDLR_REQUIRE_R=$$(test ! -e .rlib/complete || echo 1) \
	 FUSEDLR_REQUIRE_ADA=$$(! grep -qsx ada .rlib/complete || echo 1) $(PYTHON) -m pytest $(PARALLEL) $(ARGS)

test-slurm: setup ## run the study's rules on a one-machine Slurm cluster (needs root)
	@$(PYTHON) -m pytest -m slurm tests/slurm $(ARGS)

test-stack: ## set up and test the last commit on another Debian, SUITE=trixie, sid or experimental (needs root)
	@tests/stacks/run $(SUITE) make test ARGS="$(ARGS)"

fuzz: setup ## check N random problems against the optimality conditions (N=10000)
	@$(PYTHON) -m tests.core.fuzz $(N)

sanitize: N = 2000
sanitize: setup ## run the solver's tests, N=2000 random problems and 300 from R with the compiler's checks of memory and arithmetic
	@tests/core/sanitize $(N)
	@tests/r/sanitize

mutate: setup ## break the package on purpose in a copy, place by place, and count how often the tests notice (minutes)
	@$(PYTHON) tests/mutate.py $(ARGS)

bench: setup ## time the solvers and write benchmarks/results
	@$(PYTHON) -m benchmarks.run $(ARGS)

r-package: ## build the R package with the solver's core inside, dist/fusedlr_VERSION.tar.gz
	@R-package/make-tarball

check-r-package: ## R CMD check of the R package with gcc and with clang (ARGS=gcc for one of them; some ten minutes each)
	@R-package/check $(ARGS)

study: setup ## preview the study with INSTANCES=2 of its 20 instances on CORES=all cores
	@. .venv/bin/activate && snakemake --cores $(CORES) --profile workflow/profiles/default --quiet progress rules --config instances=$(INSTANCES) $(ARGS)
	@printf 'figure: %s\n' results/figures/*.png

# For Debian 12 on x86-64, on which the published study was run; hashes are of every file of a release.
lock: ## write workflow/requirements.lock anew: all Python packages with versions and hashes (needs uv and a package index)
	@printf '%s\n' 'setuptools>=70.1' 'Cython>=3' wheel | uv pip compile --quiet --generate-hashes --no-annotate --no-emit-index-url \
	 --custom-compile-command 'make lock' --python-version 3.11 --python-platform x86_64-manylinux_2_28 \
	 --extra study --extra cluster --extra r-old --extra sklearn --extra test --upgrade -o workflow/requirements.lock pyproject.toml -

# What the site needs stands under `docs` in pyproject.toml; it comes from a package index, as Debian 12's is too old.
docs: setup ## write the documentation site, docs/_build/html (needs a package index); warnings are errors
	@$(PYTHON) -c 'import myst_parser, numpydoc, pydata_sphinx_theme, sphinx' 2>/dev/null || \
	 $(PYTHON) -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]["docs"][2:], sep="\n")' | \
	 $(PYTHON) -m pip install --quiet --disable-pip-version-check --requirement /dev/stdin
	@$(PYTHON) -m sphinx -W --keep-going -q -d docs/_build/doctrees docs docs/_build/html
	@printf 'site: %s\n' docs/_build/html/index.html

clean: ## remove build products and caches; keep the environments and the results
	@rm -rf build dist docs/_build docs/api *.egg-info .pytest_cache .hypothesis .venv/built
	@rm -f fusedlr/core/_core.cpp fusedlr/core/*.so
	@find fusedlr tests workflow benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

distclean: clean ## remove the environments, the results and the logs as well
	@rm -rf .venv .rlib .snakemake results logs benchmarks/results
