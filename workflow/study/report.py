"""The report of the study: one page that carries its figures, filled in from the result files."""

import base64
import html
import json
import re
from collections.abc import Callable, Collection
from pathlib import Path
from string import Template

import pandas as pd

from study.cases import N_FEATURES, PAPER
from study.claims import CLAIMS
from study.cluster import QUEUE, START, recorded
from study.contents import FIGURES, TABLES
from study.files import read_table
from study.judging import RESAMPLES, STABLE
from study.models import FUSION, L1, L2, MODELS, foreign, linear, points
from study.readings import EQUALS, READINGS
from study.simulate import ROWS

__all__ = ["embedded", "for_print", "render"]

TITLE = "Fused elastic-net logistic regression: the simulation study, recomputed"
#: Verdicts in the words of the page, and their colours.
VERDICTS = {"reproduced": "reproduced", "partly": "partly", "not reproduced": "not", "open": "open",
            "undecided": "open"}
#: Where the code of each part stands, by its heading.
CODE = {"models": "workflow/study/models.py", "readings": "workflow/study/readings.py",
        "cases and groups": "workflow/study/cases.py",
        "claims": "workflow/study/claims/__init__.py", "verdicts": "workflow/study/judging.py",
        "tests": "workflow/study/paired.py", "solver": "fusedlr/core/__init__.py", "workflow": "workflow/Snakefile"}


def embedded(stem: Path) -> str:
    """A figure as text inside the page."""
    content = base64.b64encode(stem.with_suffix(".png").read_bytes()).decode()
    return f"data:image/png;base64,{content}"


def render(template: str, results: Path, image: Callable[[Path], str] = embedded, home: str = "..",
           drawn: Collection[str] = tuple(FIGURES)) -> str:
    """Text of the page: the template with its ``$names`` filled in from a folder of results.

    ``image`` turns the path of a figure, without suffix, into the source of its image. ``home`` is the project's
    folder, as seen from the page. Of the claims' figures only those that are ``drawn`` are shown.
    """
    tables = {name: read_table(results / f"{name}.csv") for name in TABLES}
    provenance = json.loads((results / "provenance.json").read_text())
    figures = {name: _figure(name, image(results / "figures" / name)) if name in drawn else ""
               for name in FIGURES}
    values = {"title": TITLE, "heading": f"<h1>{TITLE}</h1>", **_settings(tables["scores"], provenance["config"]),
              **_parts(tables, provenance), "claims": _claims(tables["claims"], tables["verdicts"], figures),
              "contents": _contents(template), "files": _files(home),
              **{f"figure_{name}": figure for name, figure in figures.items()}}
    return Template(template).substitute(values)


def for_print(template: str, results: Path, drawn: Collection[str] = tuple(FIGURES)) -> str:
    """Text of the page for pandoc and LaTeX, which set the title themselves and want figures as vectors."""
    text = render(template.replace("$heading", "").replace("$contents", ""), results,
                  lambda stem: str(stem.resolve().with_suffix(".pdf")), drawn=drawn)
    return re.sub(r'<p class="beside">.*?</p>', "", text)


def _settings(scores, config):
    """Text that follows from the config and from what was run."""
    reading = config["noise"]
    said = {"sd": "standard deviation 0.4 (correlation about 0.93)",
            "variance": "variance 0.4 (correlation about 0.85)"}
    return {
        "counts": _counts(scores), "notes": _notes(scores, config), "tol": f"{config['tol']:g}", "features": N_FEATURES,
        "noise": said[reading], "sizes": _either(sorted(scores["size"].unique())),
        "validation": ROWS["validation"], "test": ROWS["test"], "grid": f"{len(L1)} x {len(L2)} x {len(FUSION)}",
        "boosted": _boosted(scores), "one_class": _one_class(scores), "resamples": RESAMPLES, "stable": f"{STABLE:g}",
    }


def _parts(tables, provenance):
    """Tables and sentences made from the result files."""
    scores, agreement = tables["scores"], tables["agreement"]
    return {
        "summary": _summary(tables["verdicts"]), "verdict_table": _verdict_table(tables["claims"], tables["verdicts"]),
        "status": _status(scores), "separated": _separated(scores), "comparisons": len(tables["comparisons"]),
        "sensitivity": _sensitivity(tables["sensitivity"]), "agreement_sentence": _agreement_sentence(agreement),
        "agreement": _agreement(agreement), "time": _time(scores), "newton": _newton(tables["newton_step"]),
        "cluster_sentence": _cluster_sentence(scores, tables["cluster_hours"]),
        "cluster_hours": _cluster_hours(tables["cluster_hours"]),
        "provenance": _provenance(provenance),
    }


def _figure(name, source):
    """A figure with its caption and links to its files; a click shows it at full size."""
    claim = next((f"Claim {claim.number}: " for claim in CLAIMS if claim.figure_name == name), "")
    caption = html.escape(claim + FIGURES[name].caption)
    beside = ", ".join(f'<a href="figures/{name}.{suffix}">{word}</a>' for suffix, word in (
        ("png", "full size"), ("pdf", "pdf"), ("csv", "numbers")))
    return (f'<figure id="{name}"><div class="scroll"><img src="{source}" alt="{caption}" '
            f"onclick=\"this.classList.toggle('full')\"></div>\n<figcaption>{caption}</figcaption>"
            f'<p class="beside"><small>{beside}</small></p></figure>')


def _contents(template):
    """List of the page's parts, from its headings."""
    entries = re.findall(r'<h2 id="(\w+)">(.*?)</h2>', template)
    return "<nav><ol>" + "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in entries) + "</ol></nav>"


def _counts(scores):
    cases, sizes, models = (scores[name].nunique() for name in ("case", "size", "model"))
    instances = scores.groupby("case")["instance"].nunique().max()
    return (f"{_count(cases, 'case')}, {_count(instances, 'instance')} of each, {_count(sizes, 'training size')} and "
            f"{_count(models, 'model')}, {len(scores):,} scores in all")


def _count(number, what):
    return f"{number} {what}{'' if number == 1 else 's'}"


def _either(values):
    *most, last = [str(value) for value in values]
    return f"{', '.join(most)} or {last}" if most else last


def _notes(scores, config):
    notes = []
    asked = config.get("models", list(MODELS))
    for model in (model for model in MODELS.values() if model.role and model.name not in set(scores["model"])):
        why = "R with rpart, or rpy2, was not installed" if model.name in asked else "left out by the config"
        notes.append(f"Not run: {model.label} ({why}).")
    if scores.groupby("case")["instance"].nunique().min() < 10 or not set(PAPER) <= set(scores["case"]):
        notes.append("This is a preview: too few instances or cases to judge the claims. The paper has 8 cases of 20 "
                     "instances.")
    if config["noise"] != "sd":
        notes.append("The noise on copied features has variance 0.4 in this run, not standard deviation 0.4.")
    return "\n".join(f'<p class="note">{note}</p>' for note in notes)


def _boosted(scores):
    """The engine of AdaBoost, in words."""
    if "rpart" not in set(scores.get("by", [])):
        return "R's package <code>ada</code>"
    return ("a function of this project on R's <code>rpart</code>, as R's package <code>ada</code> was not installed "
            "(where it is, both give bitwise identical margins)")


def _summary(verdicts):
    """Claims by verdict, in a sentence for each of the two main readings."""
    sentences = []
    for name in EQUALS:
        rows = verdicts[verdicts["reading"] == name]
        kinds = rows["verdict"].str.split(":").str[0]
        parts = [f"{kind} ({', '.join(str(number) for number in rows['claim'][kinds == kind])})"
                 for kind in (*VERDICTS, "not judged") if (kinds == kind).any()]
        sentences.append(f"{_reading(name)}: " + "; ".join(parts) + ".")
    return f"The paper's {len(CLAIMS)} claims by number. " + " ".join(
        sentence[0].upper() + sentence[1:] for sentence in sentences)


def _verdict_table(claims, verdicts):
    """The verdicts at a glance under both main readings, each linked to its own section."""
    rows = []
    for claim in claims.to_dict("records"):
        found = verdicts[verdicts["claim"] == claim["claim"]].set_index("reading")
        rows.append([f'<a href="#claim-{claim["claim"]}">{claim["claim"]}</a>', html.escape(claim["paper"]),
                     *(_at_a_glance(found.loc[name]) for name in EQUALS), _elsewhere(found)])
    names = [_reading(name).capitalize() for name in EQUALS]
    return _rows(["", "The paper says", *names, "Read otherwise"], rows, [4, 32, 24, 24, 16])


def _at_a_glance(row):
    brief = _text(row["brief"])
    return _verdict(row) + (f", {_share(row)}" if _share(row) else "") + (f". {brief}" if brief else "")


def _verdict(row):
    """A verdict in its colour; an open or undecided one with what its rule said."""
    kind = VERDICTS.get(row["verdict"])
    said = f'<span class="{kind}">{row["verdict"]}</span>' if kind else html.escape(row["verdict"])
    return said + (f" (by its rule {row['by_rule']})" if kind == "open" else "")


def _elsewhere(found):
    """Verdicts under further readings that neither main reading has, in words."""
    main = set(found.loc[list(EQUALS), "verdict"])
    others = found.drop(index=list(EQUALS))
    different = [f"{_reading(name)}: {_verdict(row)}" for name, row in others.iterrows() if row["verdict"] not in main]
    return "; ".join(different) if different else "no other verdict" if len(others) else ""


def _reading(name):
    return READINGS[name].name


def _share(row):
    """The stability of a verdict and its standard error, in percent."""
    if pd.isna(row["stability"]):
        return ""
    return f"{100 * row['stability']:.1f} &plusmn; {100 * row['standard_error']:.1f} %"


def _claims(claims, verdicts, figures):
    return "\n".join(_claim(row, verdicts[verdicts["claim"] == row["claim"]], figures)
                     for row in claims.to_dict("records"))


def _claim(claim, found, figures):
    """The section of one claim: sentence, rule, what was found under each reading, and its own figure."""
    rows = found.set_index("reading")
    items = [("Rule", html.escape(claim["rule"]) + (f" <em>Written {claim['written']}.</em>"
                                                    if claim["written"] != "before the run" else ""))]
    for name in EQUALS:
        same = name != EQUALS[0] and rows.loc[name, "numbers"] == rows.loc[EQUALS[0], "numbers"]
        said = "The same numbers" if same else _text(rows.loc[name, "numbers"])
        test = "" if same or not _text(rows.loc[name, "test"]) else f" <em>Test: {_text(rows.loc[name, 'test'])}.</em>"
        items.append((_reading(name).capitalize(), _in_full(rows.loc[name]) + (f" {said}.{test}" if said else "")))
    items += [(_reading(name).capitalize(), f"{_in_full(row)} {_text(row['brief'])}")
              for name, row in rows.drop(index=list(EQUALS)).iterrows()]
    listed = "".join(f"<dt>{name}</dt><dd>{value}</dd>" for name, value in items)
    number, figure = claim["claim"], figures[f"claim{claim['claim']}"]
    return f'<h3 id="claim-{number}">{number}. {html.escape(claim["paper"])}</h3>\n<dl>{listed}</dl>\n{figure}'


def _in_full(row):
    return _verdict(row) + (f", in {_share(row)} of the resamples." if _share(row) else ".")


def _text(value):
    return "" if pd.isna(value) else html.escape(str(value))


def _files(home):
    tables = ", ".join(f'<a href="{name}.csv">{name}.csv</a>' for name in TABLES)
    code = "; ".join(f'{part}: <a href="{html.escape(home)}/{path}"><code>{path}</code></a>'
                     for part, path in CODE.items())
    return (f'<p>Beside this page: {tables}, <a href="provenance.json">provenance.json</a>; each figure as pdf and '
            f"png and the numbers behind it in <code>figures/</code>.</p>\n"
            f"<p>Code: {code}; {len(CLAIMS)} claims in all.</p>")


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


def _separated(scores):
    """How many unpenalized fits have no optimum, in a sentence."""
    fits = scores.loc[scores["model"] == "unpenalized", "status"]
    return f"So are {(fits == 'separated').sum()} of the {len(fits)} fits of (iv)." if len(fits) else ""


def _sensitivity(sensitivity):
    if sensitivity.empty:
        return "<p>Nothing was tried in this run.</p>"
    rows = [[_text(value) for value in row] for row in sensitivity[
        ["reading", "claims", "instances", "ours", "otherwise"]].itertuples(index=False)]
    return _rows(["Reading", "Claims", "Instances", "As used here", "Otherwise"], rows, [20, 9, 9, 30, 32])


def _agreement_sentence(agreement):
    if agreement.empty:
        return "R's glmnet was not installed, so this was not checked."
    penalties = len(agreement[["l1", "l2"]].drop_duplicates())
    fits = f"{penalties} penalties, {_count(agreement['size'].nunique(), 'training size')}"
    return (f"Over {len(agreement)} fits ({fits}, one instance of each case) the largest "
            f"difference of a coefficient is {agreement['max_coef_difference'].max():.1e}, and our objective exceeds "
            f"glmnet's by at most {max(agreement['objective_difference'].max(), 0):.1e}.")


def _agreement(agreement):
    if agreement.empty:
        return ""
    rows = agreement.groupby(["size", "l1", "l2"], as_index=False)[["max_coef_difference", "objective_difference",
                                                                    "gap"]].max()
    shown = pd.DataFrame({"Rows": rows["size"], "l1": rows["l1"].map("{:g}".format),
                          "l2": rows["l2"].map("{:g}".format),
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
            rows.append({"Mean CPU seconds": name, **{f"{size} rows": f"{value:.2f}"
                                                      for size, value in by_size.items()},
                         "All, minutes": f"{part['seconds'].sum() / 60:.1f}"})
    table = pd.DataFrame(rows)
    return _table(table, numbers=table.columns[1:])


def _newton(timing):
    if timing.empty:
        return "<p>Nothing was timed in this run.</p>"
    seconds = timing.groupby(["features", "space"])["seconds"].median().unstack()
    shown = pd.DataFrame({"Features d": seconds.index, "in d-space": seconds["features"].map("{:.4f}".format),
                          "in n-space": seconds["rows"].map("{:.4f}".format)})
    return _table(shown, numbers=shown.columns)


def _cluster_sentence(scores, hours):
    """What the hours on a cluster assume, and which jobs they were drawn from."""
    counts = recorded(scores)["rule"].value_counts()
    parts = {"grid": "grid", **{model: MODELS[model].label for model in foreign()}}
    drawn = " and ".join(f"{counts[rule]:,} jobs of {name}" for rule, name in parts.items() if rule in counts)
    absent = "".join(f" This run had none of {name}, so its time is not in the table." for rule, name in parts.items()
                     if rule not in counts)
    return (f"The CPU seconds of each job are drawn with replacement from the {drawn} of this run, and every job needs "
            f"{START:g} s more to start. A Slurm job holds {hours['group'].iloc[0]} instances and waits {QUEUE:g} s in "
            f"the queue while its node stands idle.{absent}")


def _cluster_hours(hours):
    shown = pd.DataFrame({"Nodes": hours["nodes"], "Cores": hours["cores"],
                          "Hours": hours["hours"].map("{:.3g}".format),
                          "CPU hours": hours["cpu_hours"].map("{:.3g}".format),
                          "Share busy": hours["busy"].map("{:.0%}".format)})
    return _table(shown, numbers=shown.columns)


def _provenance(provenance):
    return _rows(["What", "Value"], [[html.escape(key), html.escape(_plain(value))]
                                     for key, value in provenance.items()], [15, 85])


def _plain(value):
    """A value in words, without the brackets and quotes of JSON."""
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_plain(item)}" for key, item in value.items())
    return ", ".join(_plain(item) for item in value) if isinstance(value, list) else str(value)


def _one_class(scores):
    found = scores[scores["one_class_tasks"] > 0].drop_duplicates(["case", "instance", "size"])
    return f"It occurred in {len(found)} of {len(scores.drop_duplicates(['case', 'instance', 'size']))} training sets."


def _rows(head, rows, widths):
    """A table of words as html, from text that is html already; on a narrow screen its cells stand below each other."""
    columns = "".join(f'<col style="width:{width}%">' for width in widths)
    heads = "".join(f"<th>{name}</th>" for name in head)
    body = "".join("<tr>" + "".join(f'<td data-label="{name}">{value}</td>' for name, value in zip(head, row))
                   + "</tr>\n" for row in rows)
    return (f'<table class="words"><colgroup>{columns}</colgroup>\n<thead><tr>{heads}</tr></thead>\n'
            f"<tbody>{body}</tbody></table>")


def _table(frame, numbers=()):
    """A table of numbers as html, words escaped; it scrolls by itself where it is too wide."""
    head = "".join(_cell("th", name, name in numbers) for name in frame.columns)
    body = "".join("<tr>" + "".join(_cell("td", value, name in numbers) for name, value in zip(frame.columns, row))
                   + "</tr>\n" for row in frame.itertuples(index=False))
    return f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _cell(tag, value, is_number):
    text = html.escape(str(value))
    # pandoc knows nothing of classes, but this style.
    return f'<{tag} class="number" style="text-align: right">{text}</{tag}>' if is_number else f"<{tag}>{text}</{tag}>"
