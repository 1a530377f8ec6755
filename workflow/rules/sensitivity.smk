# The same steps under readings that the paper leaves open, on some instances; none in a preview.


use rule simulate as simulate_otherwise with:
    output:
        "results/sensitivity/{reading}/data/{case}/{instance}.npz",
    log:
        "results/logs/simulate_otherwise/{reading}/{case}/{instance}.log",
    params:
        seed=config["seed"],
        noise=lambda wildcards: plan.other_noise if wildcards.reading == "noise" else config["noise"],
        copying=lambda wildcards: "after" if wildcards.reading == "copying" else "before",
        sources=sources("simulate.py"),


use rule grid as grid_otherwise with:
    input:
        read_data,
    output:
        fits="results/sensitivity/{reading}/grid/{case}/{instance}.npz",
        seconds="results/sensitivity/{reading}/grid/{case}/{instance}.seconds.csv",
    log:
        "results/logs/grid_otherwise/{reading}/{case}/{instance}.log",
    params:
        seed=config["seed"],
        sizes=lambda wildcards: plan.sizes_of(wildcards.case),
        tol=config["tol"],
        reading=read_fits,
        sources=sources("grid.py"),


use rule evaluate as evaluate_otherwise with:
    input:
        data=read_files("data"),
        fits=read_files("grid"),
        beside=read_files("grid", ".seconds.csv"),
        margins=[],
        margins_beside=[],
    output:
        scores="results/sensitivity/{reading}/scores/{case}.csv",
        readings="results/sensitivity/{reading}/readings/{case}.csv",
    log:
        "results/logs/evaluate_otherwise/{reading}/{case}.log",
    params:
        models=plan.linear,
        foreign=[],
        sizes=plan.sizes,
        seed=config["seed"],
        reading=read_fits,
        sources=sources("evaluate.py"),


# Scores of all readings with data or fits of their own, empty in a preview.
rule collect_otherwise:
    input:
        [f"results/sensitivity/{reading}/scores/{case}.csv" for reading, case in plan.read_cases],
    output:
        "results/otherwise.csv",
    log:
        "results/logs/collect_otherwise.log",
    params:
        sources=sources("collect_otherwise.py"),
    shell:
        'python3 "$SCRIPTS/collect_otherwise.py" {output:q} {input:q} > {log:q} 2>&1'


# Bags of 13 of 25 rows are not split by rpart's default of 20; 6 lets them.
use rule adaboost as adaboost_small_bags with:
    output:
        margins="results/sensitivity/adaboost/{case}/{instance}.npz",
        seconds="results/sensitivity/adaboost/{case}/{instance}.seconds.csv",
    log:
        "results/logs/adaboost_small_bags/{case}/{instance}.log",
    params:
        seed=config["seed"],
        sizes=[25],
        minsplit=6,
        sources=sources("adaboost.py"),


rule separable:
    input:
        plan.few_files("results/data/{case}/{instance}.npz", case=plan.cases),
    output:
        "results/sensitivity/separable.csv",
    log:
        "results/logs/separable.log",
    params:
        sizes=plan.sizes,
        tol=config["tol"],
        sources=sources("separable.py"),
    shell:
        'python3 "$SCRIPTS/separable.py" {output:q} {input:q} --sizes {params.sizes} --tol {params.tol} > {log:q} 2>&1'


rule sensitivity:
    input:
        scores="results/scores.csv",
        readings="results/readings.csv",
        otherwise="results/otherwise.csv",
        verdicts="results/verdicts.csv",
        separable=["results/sensitivity/separable.csv"] if plan.few and "unpenalized" in plan.models else [],
        boosted=plan.few_files("results/sensitivity/adaboost/{case}/{instance}.npz", case=plan.small_bag_cases),
        data=plan.few_files("results/data/{case}/{instance}.npz", case=plan.small_bag_cases),
    output:
        "results/sensitivity.csv",
    log:
        "results/logs/sensitivity.log",
    params:
        sources=sources("sensitivity.py"),
    shell:
        'python3 "$SCRIPTS/sensitivity.py" {input.scores:q} {input.readings:q} {input.otherwise:q} {input.verdicts:q}'
        " {output:q} --separable {input.separable:q} --boosted {input.boosted:q} --data {input.data:q} > {log:q} 2>&1"


# Readings that need runs of their own, alone: with fewer instances than 10 as well.
rule readings:
    input:
        "results/otherwise.csv",
        "results/verdicts.csv",
