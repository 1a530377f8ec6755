"""Runs of the real Snakefile on a tiny config, each in a folder of its own."""

import os
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


def environment(project=ROOT):
    """Surroundings in which the package of a project is found before any that is installed."""
    return {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(project)}


@pytest.fixture(scope="session")
def study():
    """Function that runs Snakemake in a folder and returns the finished process, its output as text."""
    def run(folder, *arguments, **settings):
        surroundings = environment(settings.get("project", ROOT))
        return subprocess.run(command(folder, *arguments, **settings), env=surroundings, text=True,
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
