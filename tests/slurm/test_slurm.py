"""The study's rules through a real Slurm on this machine: same scores as a local run, killed jobs done again.

Left out of the normal run, as it installs packages and starts daemons; ``make test-slurm`` as root runs it.
"""

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from math import ceil
from pathlib import Path

import pandas as pd
import pytest

pytestmark = pytest.mark.slurm

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROFILE = ROOT / f"workflow/profiles/slurm{version('snakemake').split('.')[0]}"
# Options to look after a second what became of a job, not after a minute.
SOON = {"slurm7": [], "slurm9": ["--slurm-init-seconds-before-status-checks", "1"]}


def cluster(command, *folder):
    subprocess.run([HERE / "cluster", command, *folder], check=True, timeout=600)


def pids_of(folder):
    return [int((folder / name).read_text()) for name in ("slurmd.pid", "slurmctld.pid", "munge/pid")]


def processes():
    """Processes of Slurm and munge on this machine, whoever started them; not those that have ended."""
    found = set()
    for status in Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):
            name, state = re.match(r"Name:\s*(\S*).*?State:\s*(\S)", status.read_text(), re.DOTALL).groups()
            if name.startswith(("slurm", "munged")) and state not in "ZX":
                found.add(int(status.parent.name))
    return found


def workers(folder):
    """Processes that are at work in a folder, as those of a job are."""
    found = set()
    for link in Path("/proc").glob("[0-9]*/cwd"):
        with contextlib.suppress(OSError):
            if link.readlink() == folder:
                found.add(int(link.parent.name))
    return found


@pytest.fixture(scope="module")
def others():
    """Processes of Slurm and munge that were there before."""
    return processes()


@pytest.fixture(scope="module")
def slurm(others):
    """Folder of a running cluster, which SLURM_CONF points to; stopped at the end, whatever happened."""
    possible = subprocess.run([HERE / "cluster", "check"], capture_output=True, text=True)
    if possible.returncode:
        pytest.skip(possible.stderr.strip())
    # munged wants no folder above its socket to be open to a group; pytest's own are not open to munged at all.
    folder = Path(subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip())
    before = signal.signal(signal.SIGTERM, lambda *_: pytest.exit("terminated"))
    try:
        cluster("install")
        cluster("up", folder)
        yield folder
    finally:
        cluster("down", folder)
        shutil.rmtree(folder)
        signal.signal(signal.SIGTERM, before)


def snakemake(folder, *options, **environment):
    """Start Snakemake for the scores of the small study in a folder of its own.

    With CI=true Snakemake 7 looks every second what became of its jobs, and every ten seconds otherwise; for
    Snakemake 9 see ``SOON``.
    """
    folder.mkdir()
    command = [sys.executable, "-m", "snakemake", "results/scores.csv", "--snakefile", ROOT / "Snakefile",
               "--directory", folder, "--configfile", HERE / "study.yaml", "--nocolor", *options]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "CI": "true", **environment}
    with open(folder / "snakemake.log", "w", encoding="utf-8") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def finish(process, folder):
    assert process.wait(timeout=900) == 0, (folder / "snakemake.log").read_text()


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """Folder of the study without a cluster."""
    folder = tmp_path_factory.mktemp("study") / "local"
    finish(snakemake(folder, "--cores", "2"), folder)
    return folder


def running_jobs(environment):
    """Slurm's numbers of the jobs that are being executed."""
    command = ["squeue", "--noheader", "--states=RUNNING", "--format=%i"]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()


def kill_one(process, folder, environment):
    """Cancel a job once a rule is at work, and tell its number."""
    while process.poll() is None:
        at_work = any(folder.glob("results/logs/simulate/*/*.log"))
        for number in running_jobs(environment)[:at_work]:
            subprocess.run(["scancel", number], env=environment, check=True)
            return number
        time.sleep(0.1)
    raise AssertionError("no job was ever seen at work")


@pytest.fixture(scope="module")
def through_slurm(slurm, tmp_path_factory):
    """Folder of the study through Slurm, and the number of the job that was killed on the way."""
    folder = tmp_path_factory.mktemp("study") / "slurm"
    setting = {"SLURM_CONF": str(slurm / "slurm.conf")}
    options = ["--profile", PROFILE, "--latency-wait", "10", "--group-components", "instance=2", *SOON[PROFILE.name]]
    process = snakemake(folder, *options, **setting)
    try:
        killed = kill_one(process, folder, {**os.environ, **setting})
        finish(process, folder)
    finally:
        if process.poll() is None:
            process.kill()
    return folder, killed


def finished_jobs(slurm):
    """State of every job that Slurm has finished, by number."""
    return dict(re.findall(r"JobId=(\d+) .*?JobState=(\w+)", (slurm / "log/jobs").read_text()))


def test_daemons_listen_on_loopback_addresses_only(slurm):
    listening = subprocess.run(["ss", "--no-header", "-tulnp"], check=True, capture_output=True, text=True).stdout
    ours = [line.split()[4] for line in listening.splitlines() if any(f"pid={pid}," in line for pid in pids_of(slurm))]
    assert len(ours) == 2
    assert all(address.startswith("127.") for address in ours), ours


def test_scores_equal_those_of_a_local_run_byte_for_byte(local, through_slurm):
    """All but the column of CPU seconds, which no two runs share."""
    folders = (local, through_slurm[0])
    tables = [pd.read_csv(folder / "results/scores.csv", dtype=str, keep_default_na=False) for folder in folders]
    ours, theirs = (table.drop(columns="seconds").to_csv(index=False) for table in tables)
    assert ours == theirs
    assert len(tables[0]) >= 3 * 4


def test_a_killed_job_is_done_again(slurm, through_slurm):
    folder, killed = through_slurm
    states = finished_jobs(slurm)
    assert states.pop(killed) == "CANCELLED"
    assert set(states.values()) == {"COMPLETED"}
    assert "Trying to restart" in (folder / "snakemake.log").read_text()


def test_instances_share_slurm_jobs(slurm, through_slurm):
    """Three instances in pairs make two Slurm jobs, their case to evaluate a third, the killed one again a fourth."""
    assert len(finished_jobs(slurm)) == 4


def asked_by_group(instances, fits, cores):
    """Minutes and cores: 2 for each simulate, then 5 for each fit of an instance, ``cores`` of them at a time."""
    return 2 * ceil(instances / cores) + 5 * ceil(instances * fits / cores), min(instances * fits, cores)


def test_a_group_asks_for_the_cores_of_the_profile_and_the_minutes_of_its_rules(slurm, through_slurm):
    """Groups of one and of two instances, and 30 minutes for evaluate. AdaBoost is left out where R is not there."""
    cores = {"slurm7": 2, "slurm9": 1}[PROFILE.name]
    fits = 1 + (through_slurm[0] / "results/adaboost").exists()
    asked = re.findall(r"TimeLimit=(\d+) .*?ProcCnt=(\d+)", (slurm / "log/jobs").read_text())
    expected = {asked_by_group(1, fits, cores), asked_by_group(2, fits, cores), (30, 1)}
    assert {(int(minutes), int(count)) for minutes, count in asked} == expected


def test_nothing_waits_or_runs_at_the_end(slurm, through_slurm):
    environment = {**os.environ, "SLURM_CONF": str(slurm / "slurm.conf")}
    queue = subprocess.run(["squeue", "--noheader"], env=environment, check=True, capture_output=True, text=True)
    assert queue.stdout == ""


def test_nothing_is_left_after_the_cluster_was_stopped(others, slurm, through_slurm):
    """The last test: the fixture finds nothing left to stop, and the job that was killed works on nowhere."""
    assert processes() - others >= set(pids_of(slurm))
    cluster("down", slurm)
    assert processes() - others == set()
    assert workers(through_slurm[0]) == set()
