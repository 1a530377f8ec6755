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
        sources=sources("figure.py"),
    shell:
        'python3 "$SCRIPTS/figure.py" {wildcards.figure} {input} {output.pdf} > {log} 2>&1'


rule newton_step:
    output:
        "results/newton_step.csv",
    log:
        "results/logs/newton_step.log",
    params:
        sources=sources("newton_step.py"),
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
        sources=sources("claims.py"),
    shell:
        'python3 "$SCRIPTS/claims.py" {input.scores} {input.timing} {output.claims} {output.comparisons} > {log} 2>&1'


rule scale:
    input:
        "results/scores.csv",
    output:
        "results/scale.csv",
    log:
        "results/logs/scale.log",
    params:
        group=slurm_group(),
        sources=sources("scale.py"),
    shell:
        'python3 "$SCRIPTS/scale.py" {input} {output} --group {params.group} > {log} 2>&1'


rule agreement:
    input:
        expand("results/data/{case}/1.npz", case=CASES),
    output:
        "results/agreement.csv",
    log:
        "results/logs/agreement.log",
    params:
        sources=sources("agreement.py"),
    shell:
        'python3 "$SCRIPTS/agreement.py" {output} {input} > {log} 2>&1'


rule provenance:
    input:
        scores="results/scores.csv",
        boosted=f"results/adaboost/{CASES[0]}/1.npz" if "adaboost" in MODELS else [],
    output:
        "results/provenance.json",
    log:
        "results/logs/provenance.log",
    params:
        config=json.dumps(config, sort_keys=True),
        sources=sources("provenance.py"),
    shell:
        'python3 "$SCRIPTS/provenance.py" {input.scores} {output} --config {params.config:q} --boosted {input.boosted} > {log} 2>&1'


rule report:
    input:
        template=HOME / "paper/report.html",
        printed=HOME / "paper/print.tex",
        tables=expand("results/{table}.csv", table=TABLES),
        provenance="results/provenance.json",
        figures=expand("results/figures/{figure}.{suffix}", figure=FIGURES, suffix=["pdf", "png"]),
    output:
        "results/report.html",
    log:
        "results/logs/report.log",
    params:
        sources=sources("report.py"),
    shell:
        'python3 "$SCRIPTS/report.py" {input.template} results {output} > {log} 2>&1'


rule compare:
    input:
        ours="results/scores.csv",
        published=HOME / "paper/published/scores.csv",
    output:
        "results/compared_with_published.txt",
    log:
        "results/logs/compare.log",
    params:
        sources=sources("compare.py"),
    shell:
        'python3 "$SCRIPTS/compare.py" {input.ours} {input.published} {output} > {log} 2>&1'
