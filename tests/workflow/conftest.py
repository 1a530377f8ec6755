"""Runs of the real Snakefile on a tiny config, each in a folder of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINEAR = "fused_elastic_net,fused_l1,elastic_net,unpenalized"
TINY = ["cases=[d,h]", "instances=1", "sizes=[25]"]


def command(folder, *arguments, config=(), models=LINEAR, cores=1, project=ROOT):
    return [sys.executable, "-m", "snakemake", "--snakefile", str(project / "Snakefile"), "--directory", str(folder),
            "--profile", str(project / "workflow/profiles/default"), "--cores", str(cores), *arguments,
            "--config", *TINY, f"models=[{models}]", *config]


def environment(*folders):
    """Surroundings in which warnings of the workflow's scripts are errors; folders go before installed packages."""
    path = os.pathsep.join(map(str, [Path(__file__).with_name("strict"), *folders]))
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": path}


@pytest.fixture(scope="session")
def study():
    """Function that runs Snakemake in a folder and returns the finished process, its output as text."""
    def run(folder, *arguments, path=(), **settings):
        return subprocess.run(command(folder, *arguments, **settings), env=environment(*path), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=1800)
    return run


@pytest.fixture(scope="session")
def start_study():
    """Function that starts Snakemake in a process group of its own, to be interrupted."""
    def start(folder, *arguments, **settings):
        return subprocess.Popen(command(folder, *arguments, **settings), env=environment(), start_new_session=True,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return start


@pytest.fixture(scope="session")
def finished(study, tmp_path_factory):
    """A folder in which the scores of the tiny config were made on one core. Copy it before changing it."""
    folder = tmp_path_factory.mktemp("finished")
    done = study(folder, "results/scores.csv")
    assert done.returncode == 0, done.stdout
    return folder


@pytest.fixture
def project(tmp_path):
    """A copy of all that the workflow needs, compiled solver included, in a folder whose name a shell could read."""
    folder = tmp_path / "a {project} $(touch hit) 'of' two; touch hit"
    for part in ("config", "fusedlr", "workflow", "paper"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Snakefile", folder)
    return folder
