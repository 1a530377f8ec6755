rule figure:
    input:
        "results/scores.csv",
    output:
        pdf="results/figures/{figure}.pdf",
        png="results/figures/{figure}.png",
        table="results/figures/{figure}.csv",
    log:
        "results/logs/figure/{figure}.log",
    params:
        sources=sources("figure.py", "study/figures.py", "study/claims.py"),
    shell:
        'python3 "$SCRIPTS/figure.py" {wildcards.figure} {input} {output.pdf} > {log} 2>&1'


rule newton_step:
    output:
        "results/newton_step.csv",
    log:
        "results/logs/newton_step.log",
    params:
        sources=sources("newton_step.py", "study/timing.py", "admm.py"),
    shell:
        'python3 "$SCRIPTS/newton_step.py" {output} > {log} 2>&1'


rule claims:
    input:
        scores="results/scores.csv",
        timing="results/newton_step.csv",
    output:
        claims="results/claims.csv",
        comparisons="results/comparisons.csv",
    log:
        "results/logs/claims.log",
    params:
        sources=sources("claims.py", "study/claims.py"),
    shell:
        'python3 "$SCRIPTS/claims.py" {input.scores} {input.timing} {output.claims} {output.comparisons} > {log} 2>&1'


rule agreement:
    input:
        expand("results/data/{case}/1.npz", case=CASES),
    output:
        "results/agreement.csv",
    log:
        "results/logs/agreement.log",
    params:
        tol=config["tol"],
        sources=sources("agreement.py", "study/agreement.py", "r/session.py", "r/glmnet.py", *SOLVER),
    shell:
        'python3 "$SCRIPTS/agreement.py" {output} {input} --tol {params.tol} > {log} 2>&1'
