rule grid:
    input:
        "results/data/{case}/{instance}.npz",
    output:
        fits="results/grid/{case}/{instance}.npz",
        seconds="results/grid/{case}/{instance}.seconds.csv",
    log:
        "results/logs/grid/{case}/{instance}.log",
    params:
        seed=config["seed"],
        sizes=lambda wildcards: plan.sizes_of(wildcards.case),
        tol=config["tol"],
        reading=SHARED,
        sources=sources("grid.py"),
    shell:
        'python3 "$SCRIPTS/grid.py" {wildcards.case} {wildcards.instance} {input:q} {output.fits:q} {output.seconds:q}'
        " --seed {params.seed} --sizes {params.sizes} --tol {params.tol} --reading {params.reading} > {log:q} 2>&1"


rule evaluate:
    input:
        data=lambda wildcards: plan.files("results/data/{case}/{instance}.npz", wildcards.case),
        fits=lambda wildcards: plan.files("results/grid/{case}/{instance}.npz", wildcards.case),
        beside=lambda wildcards: plan.files("results/grid/{case}/{instance}.seconds.csv", wildcards.case),
        margins=lambda wildcards: plan.files(
            "results/{model}/{case}/{instance}.npz", wildcards.case, model=plan.foreign_of(wildcards.case)
        ),
        margins_beside=lambda wildcards: plan.files(
            "results/{model}/{case}/{instance}.seconds.csv", wildcards.case, model=plan.foreign_of(wildcards.case)
        ),
    output:
        scores="results/scores/{case}.csv",
        readings="results/readings/{case}.csv",
    log:
        "results/logs/evaluate/{case}.log",
    params:
        models=plan.models,
        foreign=lambda wildcards: plan.foreign_of(wildcards.case),
        sizes=lambda wildcards: plan.sizes_of(wildcards.case),
        seed=config["seed"],
        reading=SHARED,
        sources=sources("evaluate.py"),
    shell:
        'python3 "$SCRIPTS/evaluate.py" {wildcards.case} {output.scores:q} {output.readings:q}'
        " --data {input.data:q} --fits {input.fits:q} --foreign {params.foreign} --margins {input.margins:q}"
        " --models {params.models} --sizes {params.sizes} --seed {params.seed} --reading {params.reading}"
        " > {log:q} 2>&1"


rule collect:
    input:
        expand("results/scores/{case}.csv", case=plan.cases),
    output:
        "results/scores.csv",
    log:
        "results/logs/collect.log",
    params:
        sources=sources("collect.py"),
    shell:
        'python3 "$SCRIPTS/collect.py" {output:q} {input:q} > {log:q} 2>&1'


use rule collect as collect_readings with:
    input:
        expand("results/readings/{case}.csv", case=plan.cases),
    output:
        "results/readings.csv",
    log:
        "results/logs/collect_readings.log",


# The experiment on larger groups of correlated features: models of both kinds in one table, empty in a preview.
use rule collect as collect_groups with:
    input:
        expand("results/{kind}/{case}.csv", kind=["scores", "readings"], case=plan.group_cases),
    output:
        "results/groups.csv",
    log:
        "results/logs/collect_groups.log",
