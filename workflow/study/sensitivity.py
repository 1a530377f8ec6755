"""Sensitivity of the results to readings that the paper leaves open."""

from collections.abc import Mapping
from typing import TypeAlias

import pandas as pd

from study.claims.claim_06_low_l2 import VERY_LOW_L2, tie_breaks
from study.judging import NOT_JUDGED, replaced
from study.models import STAND_INS, as_read
from study.paired import FUSED, wide
from study.readings import READINGS, SHARED
from study.separable import FLOOR

__all__ = ["COLUMNS", "summarise"]

Table: TypeAlias = pd.DataFrame | None
COLUMNS = ["reading", "claims", "instances", "ours", "otherwise"]


def summarise(scores: pd.DataFrame, readings: Table = None, verdicts: Table = None,
              drawn: Mapping[str, pd.DataFrame] | None = None, separable: Table = None,
              boosted: Table = None) -> pd.DataFrame:
    """One row for each open reading: what was varied, and what came out either way.

    ``readings`` and ``drawn`` hold the scores under other readings, of the same fits and of runs of their own, and
    ``verdicts`` those of each. ``separable`` has test errors of separated data under other constants, ``boosted`` those
    of AdaBoost that may split small bags.
    """
    rows = [_tie_break_row(scores)] if FUSED[0] in set(scores["model"]) else []
    if verdicts is not None and readings is not None:
        read = {name: as_read(scores, readings, name) for name in STAND_INS}
        read["distances_by_task"] = scores
        read |= {name: replaced(scores, table) for name, table in (drawn or {}).items()}
        rows += [_reading_row(scores, read[name], verdicts, name) for name in READINGS if name in read
                 and (not verdicts["by_rule"].str.startswith(NOT_JUDGED).all() or READINGS[name].runs)]
    if separable is not None:
        rows += _separable_rows(scores, separable)
    if boosted is not None:
        rows.append(_boosted_row(scores, boosted))
    return pd.DataFrame(rows, columns=COLUMNS)


def _tie_break_row(scores):
    shares = tie_breaks(scores)
    ours, *others = shares.items()
    return _row("tie-break of the choice", "6", scores,
                f"{ours[1]:.0%} of l2 at most {VERY_LOW_L2:g} (ties: {ours[0]})",
                "; ".join(f"{share:.0%} (ties: {name})" for name, share in others))


def _reading_row(scores, read, verdicts, name):
    """Gains of (i) over the other tuned models on the same instances, and which verdicts change."""
    same = scores[scores["instance"].isin(set(read["instance"]))]
    claims = ", ".join(str(number) for number in verdicts.loc[verdicts["reading"] == name, "claim"])
    return _row(READINGS[name].label, claims, read, _gains(same), f"{_gains(read)}. {_changes(verdicts, name)}")


def _gains(scores):
    """Mean gains of (i) over the elastic net and over (ii) by case, the first also with the fewest rows."""
    over, few = _gain_over(scores, "elastic_net"), scores["size"].min()
    gains = {"(iii)": over.groupby("case").mean(), f"(iii) with {few} rows": over.xs(few, level="size"),
             "(ii)": _gain_over(scores, "fused_l1").groupby("case").mean()}
    return "; ".join(f"gain of (i) over {label}: " + ", ".join(f"{case} {value:+.4f}" for case, value in gain.items())
                     for label, gain in gains.items())


def _changes(verdicts, name):
    """Verdicts of the rules that come out otherwise, in words."""
    ours, read = (verdicts[verdicts["reading"] == reading].set_index("claim")["by_rule"] for reading in (SHARED, name))
    changed = [f"claim {number} {ours[number]} -> {verdict}" for number, verdict in read.items()
               if verdict != ours[number]]
    return "Verdicts that change: " + ("; ".join(changed) or "none")


def _gain_over(scores, other):
    """Mean gain of the fused elastic net over another model, by case and size."""
    errors = wide(scores, "test_error")
    return (errors[other] - errors[FUSED[0]]).groupby(["case", "size"]).mean()


def _separable_rows(scores, separable):
    errors = separable.groupby("floor")["test_error"].mean()
    fused = scores[scores["model"] == FUSED[0]].merge(separable[["case", "instance", "size"]].drop_duplicates())
    ours = f"mean test error of (iv) {errors[FLOOR]:.4f} (constant {FLOOR:g}); of (i) {fused['test_error'].mean():.4f}"
    return [_row("the rule for separated data", "1-4", separable, ours,
                 f"{error:.4f} (constant {floor:g})") for floor, error in errors.items() if floor != FLOOR]


def _boosted_row(scores, boosted):
    key = ["case", "instance", "size"]
    ours = scores[scores["model"] == "adaboost"].merge(boosted[key], on=key)
    fused = scores[scores["model"] == FUSED[0]].merge(boosted[key], on=key)
    rows = ", ".join(str(size) for size in sorted(boosted["size"].unique()))
    return _row(f"AdaBoost with {rows} rows, whose bags rpart by default does not split", "1, 2", boosted,
                f"mean test error of (v) {ours['test_error'].mean():.4f}; of (i) {fused['test_error'].mean():.4f}",
                f"(v) {boosted['test_error'].mean():.4f} where bags of 6 rows may be split")


def _row(reading, claims, table, ours, otherwise):
    return {"reading": reading, "claims": claims, "instances": len(table[["case", "instance"]].drop_duplicates()),
            "ours": ours, "otherwise": otherwise}
