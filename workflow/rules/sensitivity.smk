# The same steps under readings that the paper leaves open, on a few instances; none in a preview.


use rule simulate as simulate_other_noise with:
    output:
        "results/sensitivity/data/{case}/{instance}.npz",
    log:
        "results/logs/simulate_other_noise/{case}/{instance}.log",
    params:
        seed=config["seed"],
        noise="variance" if config["noise"] == "sd" else "sd",
        sources=sources("simulate.py"),


use rule grid as grid_other_noise with:
    input:
        "results/sensitivity/data/{case}/{instance}.npz",
    output:
        fits="results/sensitivity/grid/{case}/{instance}.npz",
        choices="results/sensitivity/grid/{case}/{instance}.csv",
        seconds="results/sensitivity/grid/{case}/{instance}.seconds.csv",
    log:
        "results/logs/grid_other_noise/{case}/{instance}.log",


use rule evaluate as evaluate_other_noise with:
    input:
        data=few_instances_of("results/sensitivity/data/{{case}}/{instance}.npz"),
        fits=few_instances_of("results/sensitivity/grid/{{case}}/{instance}.npz"),
        beside=few_instances_of("results/sensitivity/grid/{{case}}/{instance}{suffix}", suffix=[".csv", ".seconds.csv"]),
        margins=[],
        margins_beside=[],
    output:
        "results/sensitivity/scores/{case}.csv",
    log:
        "results/logs/evaluate_other_noise/{case}.log",
    params:
        models=MODELS,
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
        few_instances_of("results/data/{case}/{instance}.npz", case=CASES),
    output:
        "results/sensitivity/separable.csv",
    log:
        "results/logs/separable.log",
    params:
        sizes=SIZES,
        tol=config["tol"],
        sources=sources("separable.py"),
    shell:
        'python3 "$SCRIPTS/separable.py" {output} {input} --sizes {params.sizes} --tol {params.tol} > {log} 2>&1'


rule sensitivity:
    input:
        scores="results/scores.csv",
        noise=expand("results/sensitivity/scores/{case}.csv", case=OTHER_NOISE_CASES),
        separable=["results/sensitivity/separable.csv"] if FEW_INSTANCES and "unpenalized" in MODELS else [],
        boosted=few_instances_of("results/sensitivity/adaboost/{case}/{instance}.npz", case=SMALL_BAG_CASES),
        data=few_instances_of("results/data/{case}/{instance}.npz", case=SMALL_BAG_CASES),
    output:
        "results/sensitivity.csv",
    log:
        "results/logs/sensitivity.log",
    params:
        sources=sources("sensitivity.py"),
    shell:
        'python3 "$SCRIPTS/sensitivity.py" {input.scores} {output} --noise {input.noise} --separable {input.separable}'
        " --boosted {input.boosted} --data {input.data} > {log} 2>&1"
