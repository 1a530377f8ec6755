"""Rules for the whole suite, and what tests marked r or ada need; fixtures live beside the tests that use them."""

import os
import shutil
import signal
from importlib.util import find_spec
from pathlib import Path

import pytest

R_TESTS = Path(__file__).parent / "r"
WORKFLOW_TESTS = Path(__file__).parent / "workflow"
STARTS_SNAKEMAKE = {"study", "start_study", "finished"}
R_IS_REQUIRED = os.environ.get("FUSEDLR_REQUIRE_R") == "1"
ADA_IS_REQUIRED = os.environ.get("FUSEDLR_REQUIRE_ADA") == "1"
NO_ADA = "R's package 'ada' is not installed: run make setup"


def pytest_configure():
    """Let Ctrl-C reach the tests where the caller ignores it: a shell starts `nohup make test &` that way."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Count what starts R or Snakemake as slow; leave out what starts a cluster unless asked for by its marker."""
    for item in items:
        if concerns_r(item) or WORKFLOW_TESTS in item.path.parents and STARTS_SNAKEMAKE & set(item.fixturenames):
            item.add_marker(pytest.mark.slow)
    if "slurm" in config.option.markexpr:
        return
    chosen = [item for item in items if item.get_closest_marker("slurm") is None]
    if len(chosen) < len(items):
        config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
        items[:] = chosen


def concerns_r(node):
    return R_TESTS in node.path.parents or is_marked(node)


def is_marked(node):
    return any(node.get_closest_marker(name) for name in ("r", "ada"))


def is_excused(report):
    """Whether only ada was missing, where set-up did without it."""
    return not ADA_IS_REQUIRED and NO_ADA in report.longrepr[-1]


def fail_if_skipped(report, node):
    """Turn a skip for want of R into a failure where set-up found R's packages, for want of ada where it found ada."""
    if not (R_IS_REQUIRED and report.skipped and concerns_r(node)) or hasattr(report, "wasxfail"):
        return
    if not is_excused(report):
        report.outcome = "failed"
        report.longrepr = f"{node.nodeid} was skipped, but R is required (FUSEDLR_REQUIRE_R=1): {report.longrepr[-1]}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    fail_if_skipped(outcome.get_result(), item)


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector):
    outcome = yield
    fail_if_skipped(outcome.get_result(), collector)


def missing_part():
    """What is missing for a live R, in words, or None."""
    if find_spec("rpy2") is None:
        return "rpy2 is not installed: run make setup"
    if shutil.which("R") is None:
        return "R is not installed: run make setup"
    from fusedlr.r import session

    for package in ("rpart", "glmnet"):
        if not session.has_package(package):
            return f"R's package {package!r} is not installed: run make setup"
    return None


@pytest.fixture(scope="session")
def _missing_part():
    return missing_part()


@pytest.fixture(scope="session")
def _missing_ada(_missing_part):
    if _missing_part:
        return _missing_part
    from fusedlr.r.session import has_package

    return None if has_package("ada") else NO_ADA


@pytest.fixture(autouse=True)
def _needs_r(request):
    if is_marked(request.node):  # no other test is to start R
        missing = request.getfixturevalue("_missing_ada" if request.node.get_closest_marker("ada") else "_missing_part")
        if missing:
            pytest.skip(missing)
