# What the rules share: the plan of the run, fingerprints of their code, and the environment of jobs.
import json
import sys

from snakemake.exceptions import WorkflowError

# The packages of this project, not those that are installed or stand in the working directory.
sys.path[:0] = [str(HOME), str(HOME / "workflow")]

from study import startup


def checked(check, *arguments):
    """What a function of the study returns; the sentence of its ValueError ends the run."""
    try:
        return check(*arguments)
    except ValueError as error:
        raise WorkflowError(str(error)) from None


checked(startup.check_python, HOME)

from study import own
from study.cases import CASES, GROUPS
from study.cluster import slurm_group
from study.contents import FIGURES, TABLES
from study.fingerprint import digest, fingerprint
from study.models import foreign
from study.plan import Plan
from study.progress import Progress
from study.readings import READINGS, SHARED
from study.settings import check_config

checked(check_config, config)
can_boost = "adaboost" not in config["models"] or startup.can_boost(HOME)
plan = Plan(config, absent=[] if can_boost else ["adaboost"])
ALL_CORES = workflow.cores or 1
progress = Progress(own.jobs(config) if config.get("data") else plan.jobs(), cores=ALL_CORES)


def sources(script):
    """Fingerprint of a rule's script and of all that it imports, as a parameter of the rule.

    Snakemake does not see edits inside an imported package; this makes them rerun what depends on them.
    """
    return fingerprint(HOME / "workflow/scripts" / script, HOME / "fusedlr", HOME / "workflow/study")


def contents(*paths):
    """Fingerprint of files of the project, as a parameter of a rule that reads them.

    As inputs they would carry the project's own path, in which Snakemake takes braces for wildcards.
    """
    return digest(*(HOME / path for path in paths))


def comparable(path):
    """A comparison of the study with the published scores, where there are any."""
    return [path] if (HOME / "paper/published/scores.csv").exists() and not config.get("data") else []


def read_data(wildcards):
    """Data of an instance under a reading: its own, or those of the main run."""
    own = f"sensitivity/{wildcards.reading}/" if READINGS[wildcards.reading].runs == "data" else ""
    return f"results/{own}data/{wildcards.case}/{wildcards.instance}.npz"


def read_fits(wildcards):
    """How the grid is fitted under a reading of the model."""
    return wildcards.reading if READINGS[wildcards.reading].runs == "fits" else SHARED


def read_files(kind, suffix=".npz"):
    """Files of all instances of a case under a reading."""

    def files(wildcards):
        has_own = kind == "grid" or READINGS[wildcards.reading].runs == "data"
        own = f"sensitivity/{wildcards.reading}/" if has_own else ""
        stem = f"results/{own}{kind}/{wildcards.case}"
        return [f"{stem}/{instance}{suffix}" for instance in plan.of_readings]

    return files


def wanted():
    """What a run makes, its report first: the study, or the models side by side on a table of the user's own."""
    if config.get("data"):
        return ["results/own/report.html"]
    tables = [f"results/{table}.csv" for table in TABLES]
    return ["results/report.html", *tables, *comparable("results/compared_with_published.txt")]


shell.prefix(startup.shell_prefix(HOME))


wildcard_constraints:
    case="|".join([*CASES, *GROUPS]),
    reading="|".join(name for name, reading in READINGS.items() if reading.runs),
    instance="[1-9][0-9]*",
    figure="[a-z0-9_]+",
    split="[0-9]+",
