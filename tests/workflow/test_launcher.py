"""The snakemake that set-up puts into .venv takes the project's profile, unless another one is asked for."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
WRITE_LAUNCHER = 'VENV=.venv; eval "$(sed -n "/^snakemake_launcher()/,/^}/p" workflow/bootstrap)"; snakemake_launcher'
ONE_FAILS = """
rule all:
    input:
        "failed",
        "done",

rule fails:
    output:
        "failed",
    priority: 1
    shell:
        "false"

rule works:
    output:
        "done",
    shell:
        "touch {output}"
"""


@pytest.fixture
def project(tmp_path):
    """A project whose first job fails, with the launcher that set-up writes; its name has a space."""
    folder = tmp_path / "a project"
    (folder / ".venv/bin").mkdir(parents=True)
    shutil.copytree(ROOT / "workflow/profiles", folder / "workflow/profiles")
    shutil.copy(ROOT / "workflow/bootstrap", folder / "workflow")
    (folder / "Snakefile").write_text(ONE_FAILS)
    python = folder / ".venv/bin/python"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} "$@"\n')
    python.chmod(0o755)
    subprocess.run(["bash", "-c", WRITE_LAUNCHER], cwd=folder, check=True)
    return folder


def run(project, folder, **settings):
    inherited = {name: value for name, value in os.environ.items() if name != "SNAKEMAKE_PROFILE"}
    command = [project / ".venv/bin/snakemake", "--cores", "1", "--snakefile", project / "Snakefile", "--directory",
               folder]
    return subprocess.run(command, cwd=folder, env={**inherited, **settings}, capture_output=True,
                          timeout=60).returncode


def test_other_jobs_go_on_when_one_fails(project):
    assert run(project, project) != 0
    assert (project / "done").exists()


def test_the_profile_is_found_from_any_folder(project, tmp_path):
    assert run(project, tmp_path) != 0
    assert (tmp_path / "done").exists()


def test_a_profile_of_the_user_goes_first(project):
    assert run(project, project, SNAKEMAKE_PROFILE="") != 0
    assert not (project / "done").exists()
