rule adaboost:
    input:
        "results/data/{case}/{instance}.npz",
    output:
        margins="results/adaboost/{case}/{instance}.npz",
        seconds="results/adaboost/{case}/{instance}.seconds.csv",
    log:
        "results/logs/adaboost/{case}/{instance}.log",
    params:
        seed=config["seed"],
        sizes=plan.sizes,
        minsplit=20,
        sources=sources("adaboost.py"),
    shell:
        'python3 "$SCRIPTS/adaboost.py" {wildcards.case} {wildcards.instance} {input:q} {output.margins:q}'
        " {output.seconds:q} --seed {params.seed} --sizes {params.sizes} --minsplit {params.minsplit} > {log:q} 2>&1"
