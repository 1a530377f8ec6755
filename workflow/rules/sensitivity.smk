# The same steps under readings that the paper leaves open, on a few instances; none in a preview.


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
        "results/sensitivity/{reading}/data/{case}/{instance}.npz",
    output:
        fits="results/sensitivity/{reading}/grid/{case}/{instance}.npz",
        choices="results/sensitivity/{reading}/grid/{case}/{instance}.csv",
        seconds="results/sensitivity/{reading}/grid/{case}/{instance}.seconds.csv",
    log:
        "results/logs/grid_otherwise/{reading}/{case}/{instance}.log",


use rule evaluate as evaluate_otherwise with:
    input:
        data=plan.few_files("results/sensitivity/{{reading}}/data/{{case}}/{instance}.npz"),
        fits=plan.few_files("results/sensitivity/{{reading}}/grid/{{case}}/{instance}.npz"),
        beside=plan.few_files(
            "results/sensitivity/{{reading}}/grid/{{case}}/{instance}{suffix}", suffix=[".csv", ".seconds.csv"]
        ),
        margins=[],
        margins_beside=[],
    output:
        scores="results/sensitivity/{reading}/scores/{case}.csv",
        readings="results/sensitivity/{reading}/readings/{case}.csv",
    log:
        "results/logs/evaluate_otherwise/{reading}/{case}.log",
    params:
        models=plan.models,
        foreign=[],
        sources=sources("evaluate.py"),


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
        claims="results/claims.csv",
        verdicts="results/verdicts.csv",
        noise=expand("results/sensitivity/noise/scores/{case}.csv", case=plan.copied_cases),
        copying=expand("results/sensitivity/copying/scores/{case}.csv", case=plan.copied_cases),
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
        'python3 "$SCRIPTS/sensitivity.py" {input.scores:q} {input.readings:q} {input.claims:q} {input.verdicts:q}'
        " {output:q} --noise {input.noise:q} --copying {input.copying:q} --separable {input.separable:q}"
        " --boosted {input.boosted:q} --data {input.data:q} > {log:q} 2>&1"
