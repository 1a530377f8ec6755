# Names and helpers that the rules share.
import fcntl
import hashlib
import json
import math
import os
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml
from snakemake.exceptions import WorkflowError

HOME = Path(workflow.basedir)
PACKAGES = [str(HOME), str(HOME / "workflow")]
sys.path[:0] = PACKAGES  # fusedlr and study of this project, not those installed or in the working directory


def python(source):
    """Whether Python source runs without an error in the surroundings of a job."""
    known = filter(None, [*PACKAGES, os.environ.get("PYTHONPATH")])
    surroundings = {**os.environ, "PYTHONPATH": os.pathsep.join(known)}
    asked = [sys.executable, "-c", source]
    return subprocess.run(asked, cwd=HOME, env=surroundings, capture_output=True).returncode == 0


def refuse_foreign_python():
    """Stop at once where jobs would not find the package of this project and what it needs."""
    if not python("import fusedlr.core, study.simulate"):
        raise WorkflowError(
            f"fusedlr of {HOME} is not built for {sys.executable}; run 'make study' once, "
            "then '. .venv/bin/activate' before 'snakemake --cores N'"
        )


def read_numbers(config):
    """Turn numbers that Snakemake hands on as words, as in --config sizes=[25,50], and 1e3 into whole numbers."""

    def whole(value):
        is_whole = str(value).isdigit() or isinstance(value, float) and value.is_integer()
        return int(value) if is_whole else value

    for name in ("seed", "instances", "sensitivity", "groups"):
        config[name] = whole(config.get(name))
    if isinstance(config.get("sizes"), list):
        config["sizes"] = [whole(size) for size in config["sizes"]]


def refuse_bad_config(config):
    """Stop before any job with one sentence on what is wrong in the config."""
    schema = yaml.safe_load((HOME / "workflow/schemas/config.schema.yaml").read_text())
    for setting, known in (("cases", study_cases.CASES), ("models", study_models.MODELS)):
        schema["properties"][setting]["items"]["enum"] = list(known)
    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(config))
    if wrong is not None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in wrong.absolute_path)
        raise WorkflowError(f"config{where}: {wrong.message}; see workflow/config/config.yaml")
    if not math.isfinite(config["tol"]):
        raise WorkflowError(f"config.tol: {config['tol']} is not a finite number; see workflow/config/config.yaml")


def sources(script):
    """Fingerprint of a rule's script and of all that it imports from the package.

    Snakemake does not see edits inside an imported package; as a parameter of the rule,
    this makes them rerun what depends on them and nothing else.
    """
    return fingerprint(HOME / "workflow/scripts" / script, HOME / "fusedlr", HOME / "workflow/study")


def can_boost():
    """Whether R can boost trees. Set-up leaves a mark where it can; without one R is asked, which takes a second."""
    asked = "import sys; from fusedlr.r.ada import available; sys.exit(available() is None)"
    return (HOME / ".rlib/complete").exists() or python(asked)


def instances_of(pattern, *cases, **values):
    """A file name for every instance of some cases, those of one case and value after each other."""
    numbers = {case: GROUP_INSTANCES if case in study_cases.GROUPS else INSTANCES for case in cases}
    return [name for case in cases for name in expand(pattern, case=case, **values, instance=numbers[case])]


def few_instances_of(pattern, **values):
    """A file name for the few instances of the sensitivity runs."""
    return expand(pattern, instance=FEW_INSTANCES, **values)


def sizes_of(case):
    """Training rows of a case."""
    return GROUP_SIZES if case in study_cases.GROUPS else SIZES


def foreign_of(case):
    """Models of a case that are no part of the grid."""
    return [] if case in study_cases.GROUPS else FOREIGN


def other_noise():
    """The reading of the noise that this run does not take."""
    return "variance" if config["noise"] == "sd" else "sd"


def slurm_group():
    """Instances in one Slurm job, as the profiles say."""
    profile = yaml.safe_load((HOME / "workflow/profiles/slurm7/config.yaml").read_text())
    return int(dict(entry.split("=") for entry in profile["group-components"])["instance"])


def contents(*paths):
    """Fingerprint of files of the project, as a parameter of a rule that reads them.

    As inputs they would carry the project's own path, in which Snakemake takes braces for wildcards.
    """
    return hashlib.sha256(b"".join((HOME / path).read_bytes() for path in paths)).hexdigest()[:12]


def comparable(path):
    """A comparison with the published scores, where there are any."""
    return [path] if (HOME / "paper/published/scores.csv").exists() else []


def jobs_by_kind():
    """The result file of every job, by kind."""
    cases = [*CASES, *GROUP_CASES]

    def otherwise(kind):
        pattern = f"results/sensitivity/{{reading}}/{kind}/{{case}}/{{instance}}.npz"
        return few_instances_of(pattern, reading=["noise", "copying"], case=COPIED_CASES)

    return {
        "simulate": instances_of("results/data/{case}/{instance}.npz", *cases) + otherwise("data"),
        "grid": instances_of("results/grid/{case}/{instance}.npz", *cases) + otherwise("grid"),
        **{model: instances_of("results/{model}/{case}/{instance}.npz", *CASES, model=model) for model in FOREIGN},
        "small bags": few_instances_of("results/sensitivity/adaboost/{case}/{instance}.npz", case=SMALL_BAG_CASES),
        "scores": expand("results/scores/{case}.csv", case=cases),
        "tables": expand("results/{table}.csv", table=TABLES),
        "figures": expand("results/figures/{figure}.png", figure=FIGURES),
    }


def refuse_second_run():
    """Stop where another run is at work in this folder: their rows would mix. A killed run leaves nothing locked."""
    global lock  # held until this process ends, however it ends
    Path(".snakemake").mkdir(exist_ok=True)
    lock = open(".snakemake/fusedlr.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise WorkflowError(
            f"another run is at work in {os.getcwd()}; wait for it, or give this one a --directory of its own"
        )
    except OSError:
        pass  # a file system without locks


def say_what_is_left_out():
    """Say so where a model of the config cannot be run."""
    if MODELS != config["models"]:
        sys.stderr.write("study: AdaBoost is left out, because R with rpart, or rpy2, is not installed\n")


def show(path):
    """Print the first line of a result, if it was made."""
    if Path(path).exists():
        sys.stderr.write(f"study: {Path(path).read_text().splitlines()[0]}\n")


refuse_foreign_python()
from study import models as study_models
from study import cases as study_cases
from study.contents import FIGURES, TABLES
from study.fingerprint import fingerprint
from study.progress import Progress

read_numbers(config)
refuse_bad_config(config)

CASES = config["cases"]
INSTANCES = range(1, config["instances"] + 1)
SIZES = config["sizes"]
MODELS = [model for model in config["models"] if model != "adaboost" or can_boost()]
# Models that are no part of the grid; each has a file of rules of its own name.
FOREIGN = [model for model in study_models.foreign() if model in MODELS]

# Sensitivity runs and the experiment on groups belong to a study whose claims are judged, not to a preview.
JUDGED = config["instances"] >= 10
FEW_INSTANCES = range(1, min(config["sensitivity"], config["instances"]) + 1) if JUDGED else []
COPIED_CASES = [
    case
    for case in CASES
    if study_cases.CASES[case].correlated and FEW_INSTANCES and {"fused_elastic_net", "elastic_net"} <= set(MODELS)
]
SMALL_BAG_CASES = [case for case in CASES if 25 in SIZES and {"adaboost", "fused_elastic_net"} <= set(MODELS)]

GROUP_INSTANCES = range(1, config["groups"] + 1) if JUDGED else []
GROUP_CASES = list(study_cases.GROUPS) if GROUP_INSTANCES and {"fused_elastic_net", "fused_l1"} <= set(MODELS) else []
GROUP_SIZES = [50, 100, 200]

progress = Progress(jobs_by_kind(), cores=workflow.cores or 1)

# Jobs run the Python that runs Snakemake. None of these names may be a parameter or part of a shell
# command: Snakemake would rerun finished jobs when the project or its Python moves.
SURROUNDINGS = {
    "PATH": f"{shlex.quote(str(Path(sys.executable).parent))}:$PATH",
    "PYTHONPATH": f"{shlex.quote(os.pathsep.join(PACKAGES))}${{PYTHONPATH:+:$PYTHONPATH}}",
    "SCRIPTS": shlex.quote(str(HOME / "workflow/scripts")),
    "PAPER": shlex.quote(str(HOME / "paper")),
}
prefix = "export " + " ".join(f"{name}={value}" for name, value in SURROUNDINGS.items()) + "; "
shell.prefix(prefix.replace("{", "{{").replace("}", "}}"))


wildcard_constraints:
    case="|".join([*study_cases.CASES, *study_cases.GROUPS]),
    reading="noise|copying",
    instance="[1-9][0-9]*",
    figure="[a-z0-9_]+",
