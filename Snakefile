# Rebuilds the paper's simulation study: data, fits, scores, figures, claims, report.
#
#   snakemake --cores 2                        the paper: 8 cases, 20 instances
#   snakemake --cores 2 --config instances=2   a preview; a larger number later adds only what is missing
#
# The snakemake of .venv takes workflow/profiles/default unless another --profile is given: the other jobs go on when
# one fails, and a run that was killed goes on where it was. Settings: workflow/config/config.yaml. Results: results/.
from snakemake.utils import min_version

min_version("7.21")


configfile: f"{workflow.basedir}/workflow/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/scores.smk"


for model in study_models.foreign():

    include: f"workflow/rules/{model}.smk"


include: "workflow/rules/sensitivity.smk"
include: "workflow/rules/paper.smk"


localrules:
    all,
    collect,
    figure,
    claims,
    scale,
    sensitivity,
    provenance,
    report,
    compare,


rule all:
    input:
        "results/report.html",
        comparable("results/compared_with_published.txt"),


onstart:
    say_what_is_left_out()
    progress.start()


onsuccess:
    progress.finish()
    show("results/compared_with_published.txt")


onerror:
    progress.finish()
