rule simulate:
    output:
        "results/data/{case}/{instance}.npz",
    log:
        "results/logs/simulate/{case}/{instance}.log",
    params:
        seed=config["seed"],
        noise=config["noise"],
        sources=sources("simulate.py"),
    shell:
        'python3 "$SCRIPTS/simulate.py" {wildcards.case} {wildcards.instance} {output}'
        " --seed {params.seed} --noise {params.noise} > {log} 2>&1"
