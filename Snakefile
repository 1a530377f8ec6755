# Rebuilds the paper's simulation study: data, fits, scores, figures, claims, report.
#
#   snakemake --cores 2                        the paper: 8 cases, 20 instances, and the experiment on groups
#   snakemake --cores 2 --config instances=2   a preview; a larger number later adds only what is missing
#   snakemake groups --cores 2                 the experiment on larger groups of correlated features alone
#
# The snakemake of .venv takes workflow/profiles/default unless another --profile is given: the other jobs go on when
# one fails, and a run that was killed goes on where it was. Settings: workflow/config/config.yaml. Results: results/.
import packaging.version  # min_version of Snakemake 7.32 takes for granted that somebody imported it

from snakemake.utils import min_version

min_version("7.21")


configfile: f"{workflow.basedir}/workflow/config/config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/simulate.smk"
include: "workflow/rules/scores.smk"


for model in foreign():

    include: f"workflow/rules/{model}.smk"


include: "workflow/rules/sensitivity.smk"
include: "workflow/rules/paper.smk"


localrules:
    all,
    collect,
    collect_readings,
    collect_groups,
    groups,
    figure,
    claims,
    cluster_hours,
    sensitivity,
    provenance,
    report,
    compare,


# Every table is asked for by name, so that one that was deleted is made again though the report is there.
rule all:
    input:
        "results/report.html",
        expand("results/{table}.csv", table=TABLES),
        comparable("results/compared_with_published.txt"),


onstart:
    checked(startup.hold_lock, ".")
    if plan.absent:
        progress.say("study: AdaBoost is left out, because R with rpart, or rpy2, is not installed")
    progress.start()


onsuccess:
    progress.finish("results/compared_with_published.txt")


onerror:
    progress.finish()
