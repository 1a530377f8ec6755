rule simulate:
    output:
        "results/data/{case}/{instance}.npz",
    log:
        "results/logs/simulate/{case}/{instance}.log",
    params:
        seed=config["seed"],
        noise=config["noise"],
        copying="before",
        sources=sources("simulate.py"),
    shell:
        'python3 "$SCRIPTS/simulate.py" {wildcards.case} {wildcards.instance} {output:q}'
        " --seed {params.seed} --noise {params.noise} --copying {params.copying} > {log:q} 2>&1"
