"""Provenance of a run: versions, seeds, settings and the kind of machine."""

import json
import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from fusedlr.version import __version__
from study.cluster import recorded
from study.models import FUSION, L1, L2, foreign
from study.separable import FLOOR

__all__ = ["cpu_minutes", "provenance"]

PACKAGES = ("numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn", "snakemake")


def provenance(config: dict, scores: pd.DataFrame | None = None, boosted: str | None = None) -> dict[str, Any]:
    """Versions, settings and machine of a run, ready for JSON; ``boosted`` are an AdaBoost result's ``settings``."""
    found: dict[str, Any] = {
        "fusedlr": __version__,
        "commit": _commit(),
        "config": config,
        "grid": {"l1": L1, "l2": L2, "fusion": FUSION},
        "constant of the separable rule": FLOOR,
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in PACKAGES},
        "machine": {"system": platform.system(), "architecture": platform.machine(), "cores": os.cpu_count(),
                    "processor": _processor()},
        "random numbers": "numpy SeedSequence(seed, spawn_key=(case letter, instance, purpose)), PCG64",
    }
    if scores is not None:
        found["cpu minutes"] = {name: round(minutes, 1) for name, minutes in cpu_minutes(scores).items()}
    if boosted is not None:
        first = json.loads(boosted)[0]
        found["adaboost"] = {key: first[key] for key in ("by", "source", "arguments", "control", "versions", "rng")}
    return found


def cpu_minutes(scores: pd.DataFrame) -> dict[str, float]:
    """CPU time by part; the linear models of a training set share one grid, which is counted once."""
    minutes = recorded(scores).groupby("rule")["seconds"].sum() / 60
    return {rule: minutes[rule] for rule in ("grid", *foreign()) if rule in minutes}


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _commit():
    """Commit of the sources, where they are a git checkout."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _processor():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
