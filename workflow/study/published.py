"""Recomputed scores beside the published ones, and what a run must hold to be published."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd

from study.cases import GROUPS, PAPER
from study.claims import CLAIMS
from study.contents import FIGURES, TABLES
from study.evidence import SIZES
from study.files import lacking, read_scores, read_table
from study.judging import NOT_JUDGED
from study.models import MODELS
from study.readings import EQUALS, READINGS, by_reading

__all__ = ["compare_scores", "publish", "published_evidence", "shortcomings", "verdict_lines", "write_checksums",
           "write_verdicts"]

KEY = ["case", "instance", "size", "model"]
#: What must come back exactly for a row to count as identical: errors are counts, and penalties points of the grid.
EXACT = ["test_error", "validation_error", "l1", "l2", "fusion", "status"]
#: What depends on the last bits of a fit, and is reported by its largest difference.
CLOSE = ["bayes_risk", "distance_zero", "distance_nonzero"]
#: The paper's number of instances of each case.
INSTANCES = 20
#: Between these marks of a README stands the table of verdicts.
MARKS = ("<!-- verdicts -->", "<!-- end of verdicts -->")


def compare_scores(ours: pd.DataFrame, published: pd.DataFrame) -> str:
    """How recomputed scores agree with the published ones: a sentence, then a line for each row that differs.

    Rows are identical if test error, validation error, chosen penalties and status are equal to the last digit; gaps
    and seconds vary from machine to machine and are left out.
    """
    both = ours.merge(published, on=KEY, suffixes=("", "_published"))
    if both.empty:
        return f"none of the {len(ours)} rows is among the published ones\n"
    differs = np.column_stack([_unequal(both[name], both[f"{name}_published"]) for name in EXACT])
    lines = [_sentence(both, differs.any(axis=1), len(ours))]
    for row, flags in zip(both.to_dict("records"), differs):
        if flags.any():
            changes = ", ".join(f"{name} {row[name]} (published {row[f'{name}_published']})"
                                for name, flag in zip(EXACT, flags) if flag)
            lines.append(" ".join(str(row[name]) for name in KEY) + f": {changes}")
    return "\n".join(lines) + "\n"


def shortcomings(results: Path) -> list[str]:
    """What a folder of results lacks to be published, in words; an empty list where nothing is missing."""
    absent = [str(path) for path in _files(results) if not path.is_file()]
    if absent:
        return [f"{path} is missing" for path in absent]
    scores = read_scores(results / "scores.csv")
    groups = read_scores(results / "groups.csv", may_be_empty=True)
    paper = [model.name for model in MODELS.values() if model.role]
    wanted = {"case": PAPER, "size": SIZES, "model": paper, "instance": range(1, INSTANCES + 1)}
    found = [f"scores.csv has no {column} {value}" for column, value in lacking(scores, wanted)]
    found += [f"groups.csv has no case {case}" for _, case in lacking(groups, {"case": GROUPS})]
    claims, verdicts = (read_table(results / f"{name}.csv") for name in ("claims", "verdicts"))
    found += [f"claim {row['claim']} is {row['verdict']}" for row in verdicts.to_dict("records")
              if str(row["verdict"]).startswith(NOT_JUDGED)]
    found += [f"claims.csv has {len(claims)} of {len(CLAIMS)} claims"] if len(claims) != len(CLAIMS) else []
    found += [f"verdicts.csv has no reading {name}" for _, name in lacking(verdicts, {"reading": READINGS})]
    commit = json.loads((results / "provenance.json").read_text())["commit"]
    return found + ([f"it was made by {commit}, which no commit holds"] if "dirty" in commit or commit == "unknown"
                    else [])


def publish(results: str | Path, target: str | Path) -> None:
    """Replace the published results by those of a complete run, with their checksums.

    The new folder is complete before the old one is removed. Raises ValueError for an incomplete run.
    """
    results, target = Path(results), Path(target)
    found = shortcomings(results)
    if found:
        raise ValueError("not published: " + "; ".join(found[:10]))
    fresh = target.with_name(f".{target.name}.new")
    shutil.rmtree(fresh, ignore_errors=True)
    for path in [*_files(results), *filter(Path.is_file, [results / "report.pdf"])]:
        place = fresh / path.relative_to(results)
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, place)
    write_checksums(fresh)
    shutil.rmtree(target, ignore_errors=True)
    fresh.rename(target)


def _files(results):
    """All files of a complete run except the pdf of the report, which needs LaTeX."""
    return [*(results / f"{name}.csv" for name in TABLES), results / "provenance.json", results / "report.html",
            *(results / "figures" / f"{name}.{suffix}" for name in FIGURES for suffix in ("pdf", "png", "csv"))]


def write_checksums(folder: str | Path) -> None:
    """Write README.md of a published folder: what it is, how to check it, and a checksum of every other file."""
    folder = Path(folder)
    made = json.loads((folder / "provenance.json").read_text())
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*")
                   if path.is_file() and path != folder / "README.md")
    sums = "\n".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}" for name in names)
    text = (f"# The full run\n\nMade in one go by commit `{made['commit']}` of fusedlr {made['fusedlr']}, seed "
            f"{made['config']['seed']}; versions, settings and machine are in `provenance.json`, and `../README.md` "
            f"says what each file holds.\n\nTo check it: save the lines below as `sums` and run `sha256sum --check "
            f"sums` in this folder; `make study` recomputes two instances of each case and compares them row by row; "
            f"`snakemake --cores N` recomputes everything.\n\n```\n{sums}\n```\n")
    (folder / "README.md").write_text(text, encoding="utf-8")


def published_evidence(folder: Path) -> tuple:
    """Arguments of :func:`study.judging.judge_readings` from published tables; None for those an older run lacks."""
    names = ("scores", "readings", "newton_step", "groups", "admm", "otherwise")
    tables = [read_table(folder / f"{name}.csv") if (folder / f"{name}.csv").exists() else None for name in names]
    return (*tables[:-1], None if tables[-1] is None else by_reading(tables[-1]))


def verdict_lines(verdicts: pd.DataFrame) -> str:
    """The verdicts of both main readings side by side, as a table in Markdown."""
    names = [READINGS[name].name for name in EQUALS]
    lines = [f"| | The paper says | {' | '.join(name.capitalize() for name in names)} |", "|---|---|---|---|"]
    for claim in CLAIMS:
        rows = verdicts[verdicts["claim"] == claim.number].set_index("reading")
        lines.append(f"| {claim.number} | {claim.paper} | {' | '.join(_cell(rows.loc[name]) for name in EQUALS)} |")
    return "\n".join(lines) + "\n"


def write_verdicts(readme: str | Path, verdicts: pd.DataFrame, judged_by: str) -> None:
    """Put the table of verdicts between the marks of a README, after a sentence on who judged."""
    before, rest = Path(readme).read_text(encoding="utf-8").split(MARKS[0])
    text = f"{judged_by}\n\n{verdict_lines(verdicts)}"
    Path(readme).write_text(f"{before}{MARKS[0]}\n{text}{MARKS[1]}{rest.split(MARKS[1])[1]}", encoding="utf-8")


def _cell(row):
    if str(row["verdict"]).startswith(NOT_JUDGED):
        return row["verdict"]
    share = "" if pd.isna(row["stability"]) else f" ({100 * row['stability']:.1f} &plusmn; " \
                                                f"{100 * row['standard_error']:.1f} %)"
    said = row["verdict"] if row["verdict"] == row["by_rule"] else f"{row['verdict']}, by its rule {row['by_rule']}"
    return f"**{said}**{share}: {row['brief']}"


def _sentence(both, differs, n_ours):
    largest = ", ".join(f"{name} {np.nanmax(np.abs(both[name] - both[f'{name}_published']).to_numpy(), initial=0):.1e}"
                        for name in ("test_error", *CLOSE))
    unpublished = f" ({n_ours - len(both)} more are not published)" if n_ours > len(both) else ""
    return (f"{(~differs).sum()} of {len(both)} rows are identical to the published ones{unpublished}; "
            f"largest differences: {largest}")


def _unequal(ours, published):
    return (ours != published) & ~(ours.isna() & published.isna())
