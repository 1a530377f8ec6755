"""Models side by side on a table of the user's own: what is read from it, and the report."""

import base64
import html
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

__all__ = ["jobs", "options", "page", "read_own"]

#: Settings of the config that say how a table is compared.
SETTINGS = ("data", "outcomes", "features", "unit", "splits", "rows", "seed")


def options(config: Mapping[str, Any], models: Sequence[str]) -> str:
    """What a job must know beside the table, as JSON."""
    return json.dumps({**{name: config.get(name) for name in SETTINGS}, "models": list(models)}, sort_keys=True)


def jobs(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """The result file of every job, by kind."""
    return {"splits": [f"results/own/splits/{split}.csv" for split in range(config["splits"])],
            "report": ["results/own/report.html"]}


def read_own(path: str | Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of ``fusedlr.compare`` from a csv file: Y, X and groups.

    Features are the columns ``features``, or all that are neither outcomes nor the ``unit``; words become indicators.
    Rows that lack a feature are left out.
    """
    table = pd.read_csv(path)
    unit = [asked["unit"]] if asked["unit"] else []
    features = asked["features"] or [name for name in table.columns if name not in [*asked["outcomes"], *unit]]
    absent = [name for name in [*asked["outcomes"], *features, *unit] if name not in table.columns]
    if absent:
        raise ValueError(f"{path} has no column {', '.join(absent)}; its columns are {', '.join(table.columns)}")
    table = table.dropna(subset=features).reset_index(drop=True) if features else table
    if table.empty or not features:
        raise ValueError(f"{path} has no row with all features" if features else f"{path} has no features")
    return {"Y": table[asked["outcomes"]], "X": pd.get_dummies(table[features], drop_first=True, dtype=float),
            "groups": table[unit[0]] if unit else None}


def page(scores: pd.DataFrame, differences: pd.DataFrame, boxes: bytes, data: Mapping[str, Any],
         asked: Mapping[str, Any]) -> str:
    """The report as one page of html."""
    means = scores.groupby(["size", "model"], sort=False)[["error", "logloss", "seconds"]].mean().reset_index()
    rows, features = data["X"].shape
    tables = "".join(f"<h2>{title}</h2>\n{table.round(4).to_html(index=False, border=0)}\n" for title, table in (
        ("Means over splits", means), ("Error minus that of the first model", differences)))
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Models side by side</title>
<style>body {{ max-width: 50rem; margin: 2rem auto; font: 16px/1.5 Georgia, serif; }} img {{ max-width: 100%; }}
td, th {{ padding: 0.2rem 0.8rem; }} td {{ text-align: right; }}</style></head><body>
<h1>Models side by side: {html.escape(Path(asked["data"]).name)}</h1>
<p>{rows:,} rows, {features} features, outcomes {html.escape(", ".join(asked["outcomes"]))} in this order;
{asked["splits"]} random splits, a quarter of the {html.escape(asked["unit"] or "row")}s held out in each. Penalties are
chosen by cross-validation on the training rows; the elastic net is tuned for each outcome alone. Intervals are 95 %,
with the correction of Nadeau and Bengio for splits that share rows.</p>
<img alt="Held-out error by training rows and model" src="data:image/png;base64,{base64.b64encode(boxes).decode()}">
{tables}</body></html>
"""
