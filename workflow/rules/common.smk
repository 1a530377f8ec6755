# Names and helpers that the rules share.
import json
import shlex
import subprocess
import sys
from pathlib import Path

import jsonschema
import yaml
from snakemake.exceptions import WorkflowError

HOME = Path(workflow.basedir)


def refuse_foreign_python():
    """Stop at once where jobs would not find the package, which they look for as this does."""
    tried = subprocess.run([sys.executable, "-c", "import fusedlr.study"], cwd=HOME / "workflow/scripts", capture_output=True)
    if tried.returncode:
        raise WorkflowError(
            f"fusedlr is not installed for {sys.executable}; run 'make study' once, "
            "then '. .venv/bin/activate' before 'snakemake --cores N'"
        )


def read_numbers(config):
    """Turn sizes given as --config sizes=[25,50], which Snakemake hands on as words, into numbers."""
    if isinstance(config.get("sizes"), list):
        config["sizes"] = [int(size) if str(size).isdigit() else size for size in config["sizes"]]


def refuse_bad_config(config):
    """Stop before any job with one sentence on what is wrong in the config."""
    schema = yaml.safe_load((HOME / "workflow/schemas/config.schema.yaml").read_text())
    for setting, known in (("cases", study_cases.CASES), ("models", study_models.MODELS)):
        schema["properties"][setting]["items"]["enum"] = list(known)
    wrong = jsonschema.exceptions.best_match(jsonschema.Draft202012Validator(schema).iter_errors(config))
    if wrong is not None:
        where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in wrong.absolute_path)
        raise WorkflowError(f"config{where}: {wrong.message}; see workflow/config/config.yaml")


def sources(script):
    """Fingerprint of a rule's script and of all that it imports from the package.

    Snakemake does not see edits inside an imported package; as a parameter of the rule,
    this makes them rerun what depends on them and nothing else.
    """
    return fingerprint(HOME / "workflow/scripts" / script, HOME / "fusedlr")


def has_ada():
    """Whether R's ada can be loaded; the usual place is looked at first, as starting R takes a second."""
    if (HOME / ".rlib/ada/DESCRIPTION").exists():
        return True
    asked = "import sys; from fusedlr.r.session import has_package; sys.exit(not has_package('ada'))"
    return subprocess.run([sys.executable, "-c", asked], capture_output=True).returncode == 0


def instances_of(pattern, **values):
    """A file name for every instance."""
    return expand(pattern, instance=INSTANCES, **values)


def few_instances_of(pattern, **values):
    """A file name for the few instances of the sensitivity runs."""
    return expand(pattern, instance=FEW_INSTANCES, **values)


def comparable(path):
    """A comparison with the published scores, where there are any."""
    return [path] if (HOME / "paper/published/scores.csv").exists() else []


def say_what_is_left_out():
    """Say so where a model of the config cannot be run."""
    if MODELS != config["models"]:
        sys.stderr.write("study: AdaBoost is left out, because R's package ada is not installed\n")


def show(path):
    """Print the first line of a result, if it was made."""
    if Path(path).exists():
        sys.stderr.write(f"study: {Path(path).read_text().splitlines()[0]}\n")


refuse_foreign_python()
from fusedlr.study import models as study_models
from fusedlr.study import simulate as study_cases
from fusedlr.study.contents import FIGURES, TABLES
from fusedlr.study.fingerprint import fingerprint
from fusedlr.study.progress import Progress

read_numbers(config)
refuse_bad_config(config)

CASES = config["cases"]
INSTANCES = range(1, config["instances"] + 1)
SIZES = config["sizes"]
MODELS = [model for model in config["models"] if model != "adaboost" or has_ada()]
# Models that are no part of the grid; each has a file of rules of its own name.
FOREIGN = [model for model in study_models.foreign() if model in MODELS]

# Sensitivity runs belong to a study whose claims are judged, not to a preview.
FEW_INSTANCES = range(1, min(config["sensitivity"], config["instances"]) + 1) if config["instances"] >= 10 else []
OTHER_NOISE_CASES = [
    case
    for case in CASES
    if study_cases.CASES[case].correlated and FEW_INSTANCES and {"fused_elastic_net", "elastic_net"} <= set(MODELS)
]
SMALL_BAG_CASES = [case for case in CASES if 25 in SIZES and {"adaboost", "fused_elastic_net"} <= set(MODELS)]

progress = Progress({
    "simulate": instances_of("results/data/{case}/{instance}.npz", case=CASES),
    "grid": instances_of("results/grid/{case}/{instance}.npz", case=CASES),
    **{model: instances_of("results/{model}/{case}/{instance}.npz", model=model, case=CASES) for model in FOREIGN},
})

# Jobs run the Python that runs Snakemake. Neither name may be a parameter or part of a shell
# command: Snakemake would rerun finished jobs when the project or its Python moves.
shell.prefix(
    f"export PATH={shlex.quote(str(Path(sys.executable).parent))}:$PATH SCRIPTS={shlex.quote(str(HOME / 'workflow/scripts'))}; "
)


def slurm_group():
    """Instances in one Slurm job, as the profiles say."""
    profile = yaml.safe_load((HOME / "workflow/profiles/slurm7/config.yaml").read_text())
    return int(dict(entry.split("=") for entry in profile["group-components"])["instance"])


wildcard_constraints:
    case="|".join(study_cases.CASES),
    instance="[1-9][0-9]*",
    figure="[a-z]+",
