# Models side by side on a table of your own: random splits in the place of instances, a job for each.


rule own_split:
    input:
        config["data"],
    output:
        "results/own/splits/{split}.csv",
    log:
        "results/logs/own_split/{split}.log",
    params:
        options=own.options(config, plan.models),
        sources=sources("own_split.py"),
    shell:
        'python3 "$SCRIPTS/own_split.py" {input:q} {wildcards.split} {output:q} --options {params.options:q}'
        " > {log:q} 2>&1"


rule own_report:
    input:
        data=config["data"],
        splits=expand("results/own/splits/{split}.csv", split=range(config["splits"])),
    output:
        page="results/own/report.html",
        scores="results/own/scores.csv",
        differences="results/own/differences.csv",
        boxes="results/own/boxes.png",
    log:
        "results/logs/own_report.log",
    params:
        options=own.options(config, plan.models),
        sources=sources("own_report.py"),
    shell:
        'python3 "$SCRIPTS/own_report.py" {input.data:q} {output.page:q} {input.splits:q} --options {params.options:q}'
        " > {log:q} 2>&1"
