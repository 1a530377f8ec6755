rule figure:
    input:
        lambda wildcards: expand("results/{table}.csv", table=FIGURES[wildcards.figure].tables),
    output:
        pdf="results/figures/{figure}.pdf",
        png=report("results/figures/{figure}.png", category="Figures"),
        table="results/figures/{figure}.csv",
    log:
        "results/logs/figure/{figure}.log",
    params:
        sources=sources("figure.py"),
    shell:
        'python3 "$SCRIPTS/figure.py" {wildcards.figure} {output.pdf:q} {input:q} > {log:q} 2>&1'


# Timing has the machine to itself; a preview, whose claims are not judged, times nothing.
rule newton_step:
    output:
        "results/newton_step.csv",
    log:
        "results/logs/newton_step.log",
    params:
        features=plan.timed,
        sources=sources("newton_step.py"),
    threads: ALL_CORES
    shell:
        'OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 "$SCRIPTS/newton_step.py" {output:q}'
        " --features {params.features} > {log:q} 2>&1"


rule admm:
    input:
        [f"results/data/{case}/1.npz" for case in plan.cases if plan.timed],
    output:
        "results/admm.csv",
    log:
        "results/logs/admm.log",
    params:
        sources=sources("admm.py"),
    threads: ALL_CORES
    shell:
        'OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python3 "$SCRIPTS/admm.py" {output:q} {input:q} > {log:q} 2>&1'


rule claims:
    input:
        scores="results/scores.csv",
        readings="results/readings.csv",
        otherwise="results/otherwise.csv",
        timing="results/newton_step.csv",
        admm="results/admm.csv",
        groups="results/groups.csv",
    output:
        claims=report("results/claims.csv", category="Claims"),
        verdicts=report("results/verdicts.csv", category="Claims"),
        comparisons="results/comparisons.csv",
    log:
        "results/logs/claims.log",
    params:
        sources=sources("claims.py"),
    shell:
        'python3 "$SCRIPTS/claims.py" {input.scores:q} {input.readings:q} {input.otherwise:q} {input.timing:q}'
        " {input.admm:q} {input.groups:q} {output.claims:q} {output.verdicts:q} {output.comparisons:q} > {log:q} 2>&1"


rule cluster_hours:
    input:
        "results/scores.csv",
    output:
        "results/cluster_hours.csv",
    log:
        "results/logs/cluster_hours.log",
    params:
        group=slurm_group(),
        sources=sources("cluster_hours.py"),
    shell:
        'python3 "$SCRIPTS/cluster_hours.py" {input:q} {output:q} --group {params.group} > {log:q} 2>&1'


rule agreement:
    input:
        expand("results/data/{case}/1.npz", case=plan.cases),
    output:
        "results/agreement.csv",
    log:
        "results/logs/agreement.log",
    params:
        sources=sources("agreement.py"),
    shell:
        'python3 "$SCRIPTS/agreement.py" {output:q} {input:q} > {log:q} 2>&1'


rule provenance:
    input:
        scores="results/scores.csv",
        boosted=f"results/adaboost/{plan.cases[0]}/1.npz" if "adaboost" in plan.models else [],
    output:
        "results/provenance.json",
    log:
        "results/logs/provenance.log",
    params:
        config=json.dumps(config, sort_keys=True),
        models=plan.models,
        sources=sources("provenance.py"),
    shell:
        'python3 "$SCRIPTS/provenance.py" {input.scores:q} {output:q} --config {params.config:q}'
        " --models {params.models} --boosted {input.boosted:q} > {log:q} 2>&1"


rule report:
    input:
        tables=expand("results/{table}.csv", table=TABLES),
        provenance="results/provenance.json",
        figures=expand("results/figures/{figure}.{suffix}", figure=plan.figures, suffix=["pdf", "png"]),
    output:
        "results/report.html",
    log:
        "results/logs/report.log",
    params:
        words=contents("paper/report.html", "paper/print.tex", "paper/print.lua"),
        figures=plan.figures,
        sources=sources("report.py"),
    shell:
        'python3 "$SCRIPTS/report.py" "$PAPER/report.html" results {output:q} --figures {params.figures} > {log:q} 2>&1'


rule compare:
    input:
        "results/scores.csv",
    output:
        "results/compared_with_published.txt",
    log:
        "results/logs/compare.log",
    params:
        published=contents(*comparable("paper/published/scores.csv")),
        sources=sources("compare.py"),
    shell:
        'python3 "$SCRIPTS/compare.py" {input:q} "$PAPER/published/scores.csv" {output:q} > {log:q} 2>&1'


rule groups:
    input:
        "results/groups.csv",
        "results/figures/claim12.png",
