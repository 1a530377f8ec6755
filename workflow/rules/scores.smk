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
        sources=sources("grid.py"),
    shell:
        'python3 "$SCRIPTS/grid.py" {input} {output.fits} {output.choices} {output.seconds}'
        " --sizes {params.sizes} --tol {params.tol} > {log} 2>&1"


rule evaluate:
    input:
        data=instances_of("results/data/{{case}}/{instance}.npz"),
        fits=instances_of("results/grid/{{case}}/{instance}.npz"),
        beside=instances_of("results/grid/{{case}}/{instance}{suffix}", suffix=[".csv", ".seconds.csv"]),
        margins=instances_of("results/{model}/{{case}}/{instance}.npz", model=FOREIGN),
        margins_beside=instances_of("results/{model}/{{case}}/{instance}.seconds.csv", model=FOREIGN),
    output:
        "results/scores/{case}.csv",
    log:
        "results/logs/evaluate/{case}.log",
    params:
        models=MODELS,
        foreign=FOREIGN,
        sources=sources("evaluate.py"),
    shell:
        'python3 "$SCRIPTS/evaluate.py" {wildcards.case} {output} --data {input.data} --fits {input.fits}'
        " --foreign {params.foreign} --margins {input.margins} --models {params.models} > {log} 2>&1"


rule collect:
    input:
        expand("results/scores/{case}.csv", case=CASES),
    output:
        "results/scores.csv",
    log:
        "results/logs/collect.log",
    params:
        sources=sources("collect.py"),
    shell:
        'python3 "$SCRIPTS/collect.py" {output} {input} > {log} 2>&1'
