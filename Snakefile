# `snakemake --cores N` in this folder runs the workflow of workflow/, where Snakemake's catalogue looks for it.
include: "workflow/Snakefile"


localrules:
    study,


# An included file has no say in what is made by default.
rule study:
    input:
        rules.all.input,
