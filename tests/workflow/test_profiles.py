"""The profiles say what Snakemake understands, so that a slip of the pen shows before a cluster is at hand."""

import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
PROFILES = ROOT / "workflow/profiles"

# Options by their documentation: Snakemake 7.21 (snakemake --help), Snakemake 9 (executing/cli) and the page of
# snakemake-executor-plugin-slurm 2 in the catalogue of plugins. Those that a profile could sensibly set.
BOTH = {
    "cores", "default-resources", "group-components", "groups", "jobs", "keep-going", "latency-wait", "local-cores",
    "max-status-checks-per-second", "max-threads", "nolock", "printshellcmds", "quiet", "rerun-incomplete",
    "rerun-triggers",
    "resources", "restart-times", "retries", "scheduler", "set-resource-scopes", "set-resources", "set-threads",
    "show-failed-logs",
}
SEVEN = BOTH | {"cluster", "cluster-cancel", "cluster-cancel-nargs", "cluster-status", "cluster-sync", "jobname",
                "jobscript", "max-jobs-per-second"}
NINE = BOTH | {"executor", "max-jobs-per-timespan", "precommand", "seconds-between-status-checks", "shared-fs-usage"}
NINE |= {
    f"slurm-{name}" for name in (
        "array-jobs", "array-limit", "delete-logfiles-older-than", "efficiency-report", "efficiency-report-path",
        "efficiency-threshold", "exclude-failed-nodes", "init-seconds-before-status-checks", "jobname-prefix",
        "keep-successful-logs", "logdir", "no-account", "partition-config", "pass-command-as-script", "qos", "requeue",
        "reservation", "status-attempts", "status-command")}
RESOURCES = {"mem_mb", "runtime", "slurm_account", "slurm_partition"}
KNOWN = {"default": SEVEN & NINE, "slurm7": SEVEN, "slurm9": NINE}


def profile(name):
    return yaml.safe_load((PROFILES / name / "config.yaml").read_text(encoding="utf-8"))


def pairs(entries):
    """Entries such as ``grid=instance`` as a dict."""
    return dict(entry.split("=") for entry in entries)


def rules():
    """Names of the study's rules."""
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "workflow/rules").glob("*.smk")]
    return set(re.findall(r"^(?:use rule \w+ as|rule) (\w+)", "\n".join(texts), re.MULTILINE))


def installed(package):
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def test_every_profile_is_known_here():
    assert {path.parent.name for path in PROFILES.glob("*/config.yaml")} == set(KNOWN)


@pytest.mark.parametrize("name", KNOWN)
def test_keys_are_options_of_the_version_that_the_profile_is_for(name):
    assert set(profile(name)) - KNOWN[name] == set()


@pytest.mark.parametrize("name", ["slurm7", "slurm9"])
def test_groups_and_resources_name_rules_and_resources_that_exist(name):
    settings = profile(name)
    assert set(pairs(settings["groups"])) <= rules()
    assert set(pairs(settings["group-components"])) == set(pairs(settings["groups"]).values())
    targets = [target.split(":") for target in pairs(settings["set-resources"])]
    assert {rule for rule, _ in targets} <= rules()
    assert {resource for _, resource in targets} | set(pairs(settings["default-resources"])) <= RESOURCES


def test_rules_that_stay_on_the_first_machine_exist():
    """Snakemake only mentions a name that it does not know, and sends the rule that was meant to the cluster."""
    text = (ROOT / "workflow/Snakefile").read_text(encoding="utf-8")
    names = set(re.findall(r"\w+", re.search(r"^localrules:\n((?:    \w+,\n)+)", text, re.MULTILINE)[1]))
    assert "collect" in names
    assert names - rules() == {"all"}


def test_both_slurm_profiles_ask_for_the_same():
    """All but the cores of a group and the way to speak to Slurm."""
    seven, nine = profile("slurm7"), profile("slurm9")
    same = (set(seven) & set(nine)) - {"cores"}
    assert {key: seven[key] for key in same} == {key: nine[key] for key in same}
    assert seven["restart-times"] == nine["retries"]
    assert nine["executor"] == "slurm"


@pytest.mark.parametrize(("scontrol", "sacct", "answer"), [
    ("JobId=7 JobState=COMPLETED Reason=None", "", "success"),
    ("JobId=7 JobState=PENDING Reason=Priority", "", "running"),
    ("JobId=7 JobState=CANCELLED Reason=None", "", "failed"),
    ("JobId=7 JobState=OUT_OF_MEMORY Reason=OutOfMemory", "", "failed"),
    ("slurm_load_jobs error: Unable to contact slurm controller", "", "running"),
    ("slurm_load_jobs error: Invalid job id specified", "COMPLETED", "success"),
    ("slurm_load_jobs error: Invalid job id specified", "CANCELLED by 0", "failed"),
    ("slurm_load_jobs error: Invalid job id specified", "", "failed"),
])
def test_the_status_script_tells_what_became_of_a_job(scontrol, sacct, answer, tmp_path):
    """Asked with stand-ins for Slurm's commands; a controller that is out of reach is asked again."""
    for command, says in (("scontrol", scontrol), ("sacct", sacct)):
        (tmp_path / command).write_text(f"#!/bin/sh\necho '{says}'\n")
        (tmp_path / command).chmod(0o755)
    script = PROFILES / "slurm7" / profile("slurm7")["cluster-status"]
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    told = subprocess.run([script, "7"], env=environment, capture_output=True, text=True)
    assert told.stdout == f"{answer}\n"


@pytest.mark.slow
def test_the_installed_snakemake_takes_its_slurm_profile(tmp_path):
    """A dry run reads all of a profile and refuses what it does not know."""
    name = f"slurm{installed('snakemake').split('.')[0]}"
    if name not in KNOWN or (name == "slurm9" and not installed("snakemake-executor-plugin-slurm")):
        pytest.skip(f"no profile for Snakemake {installed('snakemake')} and the plugins that are installed")
    command = [sys.executable, "-m", "snakemake", "results/scores.csv", "--snakefile", ROOT / "Snakefile",
               "--directory", tmp_path, "--profile", PROFILES / name, "--dry-run",
               "--config", "instances=2", "cases=[d]", "sizes=[25]"]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    assert done.returncode == 0, done.stdout
    # Snakemake 7 says "group job instance", Snakemake 9 "Group job instance".
    assert "group job instance" in done.stdout.lower()
