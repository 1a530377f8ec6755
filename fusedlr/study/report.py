"""The report of the study: one page that carries its figures, filled in from the result files."""

import base64
import html
import json
from pathlib import Path
from string import Template

import pandas as pd

from fusedlr.study.contents import FIGURES, TABLES
from fusedlr.study.models import MODELS, foreign, linear, points
from fusedlr.study.scale import QUEUE, START, recorded

__all__ = ["embedded", "for_print", "render"]

TITLE = "Fused elastic-net logistic regression: the simulation study, recomputed"
VERDICT_CLASSES = {"reproduced": "reproduced", "partly": "partly", "not reproduced": "not"}
CLAIM_WIDTHS = {"": 4, "The paper says": 19, "Rule": 23, "Found": 26, "Test": 16, "Verdict": 12}
SENSITIVITY_WIDTHS = {"Reading": 22, "Claims": 8, "Instances": 9, "As used here": 30, "Otherwise": 31}


def render(template, results, image=None):
    """Text of the page.

    Parameters
    ----------
    template : str
        Page with ``$names``.
    results : Path
        Folder with ``TABLES`` as csv, provenance.json and figures.
    image : function, optional
        From the stem of a figure's path to the source of its image; the page carries its
        figures if not given.
    """
    image = image or embedded
    tables = {name: pd.read_csv(results / f"{name}.csv") for name in TABLES}
    scores, provenance = tables["scores"], json.loads((results / "provenance.json").read_text())
    values = {
        "heading": f"<h1>{TITLE}</h1>", "counts": _counts(scores), "notes": _notes(scores, provenance["config"]), "summary": _summary(tables["claims"]),
        "tol": f"{provenance['config']['tol']:g}", "status": _status(scores), "claims": _claims(tables["claims"]),
        "comparisons": len(tables["comparisons"]), "sensitivity": _sensitivity(tables["sensitivity"]),
        "agreement_sentence": _agreement_sentence(tables["agreement"]), "agreement": _agreement(tables["agreement"]),
        "time": _time(scores), "newton": _newton(tables["newton_step"]), "one_class": _one_class(scores),
        "scale_sentence": _scale_sentence(scores, tables["scale"]), "scale": _scale(tables["scale"]), "provenance": _provenance(provenance),
        **{f"figure_{name}": _image(image(results / "figures" / name), name) for name in FIGURES},
    }
    return Template(template).substitute(values)


def embedded(stem):
    """A figure as text inside the page."""
    content = base64.b64encode(stem.with_suffix(".png").read_bytes()).decode()
    return f"data:image/png;base64,{content}"


def for_print(template, results):
    """Text of the page for pandoc and LaTeX, which set the title themselves and want figures as vectors."""
    return render(template.replace("$heading", ""), results, lambda stem: Path(stem).resolve().with_suffix(".pdf"))


def _image(source, name):
    return f'<img src="{source}" alt="{name} by case and training rows">'


def _counts(scores):
    cases, sizes, models = (scores[name].nunique() for name in ("case", "size", "model"))
    instances = scores.groupby("case")["instance"].nunique().max()
    return (f"{_count(cases, 'case')}, {_count(instances, 'instance')} of each, {_count(sizes, 'training size')} and "
            f"{_count(models, 'model')}, {len(scores):,} scores in all")


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _notes(scores, config):
    notes = []
    absent = [model.label for model in MODELS.values() if model.role and model.name not in set(scores["model"])]
    if absent:
        notes.append(f"Not run: {', '.join(absent)}. AdaBoost needs R with its package ada.")
    if scores.groupby("case")["instance"].nunique().min() < 10 or scores["case"].nunique() < 8:
        notes.append("This is a preview: too few instances or cases to judge the claims. The paper has 8 cases of 20 instances.")
    if config["noise"] != "sd":
        notes.append("The noise on copied features has variance 0.4 in this run, not standard deviation 0.4.")
    return "\n".join(f'<p class="note">{note}</p>' for note in notes)


def _summary(claims):
    kinds = claims["verdict"].str.split(":").str[0]
    parts = [f"{kind} ({', '.join(str(number) for number in claims['claim'][kinds == kind])})"
             for kind in ("reproduced", "partly", "not reproduced", "not judged") if (kinds == kind).any()]
    return "Of the paper's eight claims, by number: " + "; ".join(parts) + "."


def _status(scores):
    """How the fits of each linear model ended, in a table."""
    rows = []
    for model in (model for model in linear() if model in set(scores["model"])):
        fits = scores[scores["model"] == model]
        optimal = fits[fits["status"] == "optimal"]
        rows.append({"Model": MODELS[model].label, "Fits": len(fits), "Optimal": len(optimal),
                     "Largest gap of these": f"{optimal['gap'].max():.1e}" if len(optimal) else "-",
                     "Separated": (fits["status"] == "separated").sum(),
                     "Not converged": (fits["status"] == "not_converged").sum()})
    return _table(pd.DataFrame(rows), numbers=("Fits", "Optimal", "Largest gap of these", "Separated", "Not converged"))


def _claims(claims):
    rows = claims[["claim", "paper", "rule", "numbers", "test", "verdict"]].fillna("")
    rows.columns = list(CLAIM_WIDTHS)
    return _table(rows, widths=CLAIM_WIDTHS)


def _sensitivity(sensitivity):
    rows = sensitivity[["reading", "claims", "instances", "ours", "otherwise"]]
    rows = rows.set_axis(list(SENSITIVITY_WIDTHS), axis=1)
    return _table(rows, widths=SENSITIVITY_WIDTHS)


def _agreement_sentence(agreement):
    if agreement.empty:
        return "R's glmnet was not installed, so this was not checked."
    return (f"Over {len(agreement)} fits (four penalties, two training sizes, one instance of each case) the largest "
            f"difference of a coefficient is {agreement['max_coef_difference'].max():.1e}, and our objective exceeds "
            f"glmnet's by at most {max(agreement['objective_difference'].max(), 0):.1e}.")


def _agreement(agreement):
    if agreement.empty:
        return ""
    rows = agreement.groupby(["size", "l1", "l2"], as_index=False)[["max_coef_difference", "objective_difference", "gap"]].max()
    shown = pd.DataFrame({"Rows": rows["size"], "l1": rows["l1"].map("{:g}".format), "l2": rows["l2"].map("{:g}".format),
                          "Largest difference of a coefficient": rows["max_coef_difference"].map("{:.1e}".format),
                          "Objective, ours minus glmnet's, at most": rows["objective_difference"].map("{:.1e}".format),
                          "Our gap, at most": rows["gap"].map("{:.1e}".format)})
    return _table(shown, numbers=shown.columns)


def _time(scores):
    """CPU time of each part by training rows; the linear models share one grid, which is counted once."""
    parts = {f"Grid of {len(points())} penalties, four tasks": scores[scores["model"].isin(linear())].drop_duplicates(
        ["case", "instance", "size"])}
    parts |= {f"{MODELS[model].label}, four tasks": scores[scores["model"] == model] for model in foreign()}
    rows = []
    for name, part in parts.items():
        if len(part):
            by_size = part.groupby("size")["seconds"].mean()
            rows.append({"Mean CPU seconds": name, **{f"{size} rows": f"{value:.2f}" for size, value in by_size.items()},
                         "All, minutes": f"{part['seconds'].sum() / 60:.1f}"})
    table = pd.DataFrame(rows)
    return _table(table, numbers=table.columns[1:])


def _newton(timing):
    seconds = timing.groupby(["features", "space"])["seconds"].median().unstack()
    shown = pd.DataFrame({"Features d": seconds.index, "in d-space": seconds["features"].map("{:.4f}".format),
                          "in n-space": seconds["rows"].map("{:.4f}".format)})
    return _table(shown, numbers=shown.columns)


def _scale_sentence(scores, scale):
    """What the scale on paper assumes, and which jobs it was drawn from."""
    counts = recorded(scores)["rule"].value_counts()
    parts = {"grid": "grid", **{model: MODELS[model].label for model in foreign()}}
    drawn = " and ".join(f"{counts[rule]:,} jobs of {name}" for rule, name in parts.items() if rule in counts)
    absent = "".join(f" This run had none of {name}, so its time is not in the table." for rule, name in parts.items()
                     if rule not in counts)
    return (f"The CPU seconds of each job are drawn with replacement from the {drawn} of this run, and every job needs "
            f"{START:g} s more to start. A Slurm job holds {scale['group'].iloc[0]} instances and waits {QUEUE:g} s in the queue while its "
            f"node stands idle.{absent}")


def _scale(scale):
    shown = pd.DataFrame({"Nodes": scale["nodes"], "Cores": scale["cores"], "Hours": scale["hours"].map("{:.3g}".format),
                          "CPU hours": scale["cpu_hours"].map("{:.3g}".format), "Share busy": scale["busy"].map("{:.0%}".format)})
    return _table(shown, numbers=shown.columns)


def _provenance(provenance):
    rows = pd.DataFrame([(key, _plain(value)) for key, value in provenance.items()], columns=["What", "Value"])
    return _table(rows, widths={"What": 15, "Value": 85})


def _plain(value):
    """A value in words, without the brackets and quotes of JSON."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    return ", ".join(_plain(item) for item in value) if isinstance(value, list) else str(value)


def _one_class(scores):
    found = scores[scores["one_class_tasks"] > 0].drop_duplicates(["case", "instance", "size"])
    return f"It occurred in {len(found)} of {len(scores.drop_duplicates(['case', 'instance', 'size']))} training sets."


def _table(frame, numbers=(), widths=None):
    """A table as html, words escaped, verdicts coloured."""
    columns = "".join(f'<col style="width:{width}%">' for width in (widths or {}).values())
    head = "".join(_cell("th", name, name in numbers) for name in frame.columns)
    body = "".join("<tr>" + "".join(_cell("td", value, name in numbers) for name, value in zip(frame.columns, row)) + "</tr>\n"
                   for row in frame.itertuples(index=False))
    return f"<table><colgroup>{columns}</colgroup>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"


def _cell(tag, value, is_number):
    text = html.escape(str(value))
    kind = VERDICT_CLASSES.get(str(value))
    text = f'<span class="{kind}">{text}</span>' if kind else text
    # pandoc knows nothing of classes, but this style.
    return f'<{tag} class="number" style="text-align: right">{text}</{tag}>' if is_number else f"<{tag}>{text}</{tag}>"
