rule grid:
    input:
        "results/data/{case}/{instance}.npz",
    output:
        fits="results/grid/{case}/{instance}.npz",
        choices="results/grid/{case}/{instance}.csv",
        seconds="results/grid/{case}/{instance}.seconds.csv",
    log:
        "results/logs/grid/{case}/{instance}.log",
    params:
        sizes=SIZES,
        tol=config["tol"],
        sources=sources("grid.py", "study/models.py", "tuning.py", *SOLVER),
    shell:
        'python3 "$SCRIPTS/grid.py" {input} {output.fits} {output.choices} {output.seconds}'
        " --sizes {params.sizes} --tol {params.tol} > {log} 2>&1"


rule evaluate:
    input:
        data=instances_of("results/data/{{case}}/{instance}.npz"),
        fits=instances_of("results/grid/{{case}}/{instance}.npz"),
        beside=instances_of("results/grid/{{case}}/{instance}{suffix}", suffix=[".csv", ".seconds.csv"]),
        boosted=instances_of("results/adaboost/{{case}}/{instance}.npz") if "adaboost" in MODELS else [],
        boosted_beside=instances_of("results/adaboost/{{case}}/{instance}.seconds.csv") if "adaboost" in MODELS else [],
    output:
        "results/scores/{case}.csv",
    log:
        "results/logs/evaluate/{case}.log",
    params:
        models=MODELS,
        sources=sources("evaluate.py", "study/scores.py"),
    shell:
        'python3 "$SCRIPTS/evaluate.py" {wildcards.case} {output} --data {input.data} --fits {input.fits}'
        " --boosted {input.boosted} --models {params.models} > {log} 2>&1"


rule collect:
    input:
        expand("results/scores/{case}.csv", case=CASES),
    output:
        "results/scores.csv",
    log:
        "results/logs/collect.log",
    shell:
        'python3 "$SCRIPTS/collect.py" {output} {input} > {log} 2>&1'
