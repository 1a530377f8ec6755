"""Sensitivity of the results to readings that the paper leaves open."""

from typing import TypeAlias

import pandas as pd

from study.claims.claim_06_low_l2 import VERY_LOW_L2, tie_breaks
from study.models import READINGS, as_read
from study.paired import FUSED, wide
from study.separable import FLOOR

__all__ = ["summarise"]

Table: TypeAlias = pd.DataFrame | None


def summarise(scores: pd.DataFrame, readings: Table = None, claims: Table = None, verdicts: Table = None,
              noise: Table = None, copying: Table = None, separable: Table = None,
              boosted: Table = None) -> pd.DataFrame:
    """One row for each open reading: what was varied, and what came out either way.

    ``claims`` and ``verdicts`` are those as read here and under other readings. The rest are runs on a few instances:
    scores with the other ``noise`` and with ``copying`` after drawing; test errors of ``separable`` data under other
    constants, and of AdaBoost that may split small bags (``boosted``).
    """
    rows = [_tie_break_row(scores)] if FUSED[0] in set(scores["model"]) else []
    if verdicts is not None and not verdicts["by_rule"].str.startswith("not judged").all():
        rows += [_reading_row(scores, readings, claims, verdicts, name) for name in READINGS]
        rows.append(_distances_row(scores, claims, verdicts))
    if noise is not None:
        rows.append(_drawn_row("0.4 is the standard deviation of the noise, or its variance", scores, noise))
    if copying is not None:
        rows.append(_drawn_row("correlated cases draw [k/2, m/2] and copy, or draw [k, m] and copy the first half",
                               scores, copying))
    if separable is not None:
        rows += _separable_rows(scores, separable)
    if boosted is not None:
        rows.append(_boosted_row(scores, boosted))
    return pd.DataFrame(rows, columns=["reading", "claims", "instances", "ours", "otherwise"])


def _tie_break_row(scores):
    shares = tie_breaks(scores)
    ours, *others = shares.items()
    return _row("tie-break of the choice", "6", scores,
                f"{ours[1]:.0%} of l2 at most {VERY_LOW_L2:g} (ties: {ours[0]})",
                "; ".join(f"{share:.0%} (ties: {name})" for name, share in others))


def _reading_row(scores, readings, claims, verdicts, name):
    """Gains of (i) over the other tuned models, and which verdicts change."""
    read = as_read(scores, readings, name)
    texts = [_gains(table) for table in (scores, read)]
    return _row(READINGS[name].label, _numbers(verdicts, name), readings, texts[0],
                f"{texts[1]}. {_changes(claims, verdicts, name)}")


def _gains(scores):
    """Mean gains of (i) over the elastic net and over (ii) by case, the first also with the fewest rows."""
    over, few = _gain_over(scores, "elastic_net"), scores["size"].min()
    gains = {"(iii)": over.groupby("case").mean(), f"(iii) with {few} rows": over.xs(few, level="size"),
             "(ii)": _gain_over(scores, "fused_l1").groupby("case").mean()}
    return "; ".join(f"gain of (i) over {label}: " + ", ".join(f"{case} {value:+.4f}" for case, value in gain.items())
                     for label, gain in gains.items())


def _distances_row(scores, claims, verdicts):
    name = "distances_by_task"
    ours, otherwise = (table.set_index("claim")["numbers"].get(7, "")
                       for table in (claims, verdicts[verdicts["reading"] == name]))
    return _row("distances over all four tasks together, or of each task and then averaged", _numbers(verdicts, name),
                scores, ours, f"{otherwise}. {_changes(claims, verdicts, name)}")


def _numbers(verdicts, name):
    return ", ".join(str(number) for number in verdicts.loc[verdicts["reading"] == name, "claim"])


def _changes(claims, verdicts, name):
    """Verdicts of the rules that come out otherwise, in words."""
    ours = claims.set_index("claim")["by_rule"]
    read = verdicts[verdicts["reading"] == name].set_index("claim")["by_rule"]
    changed = [f"claim {number} {ours[number]} -> {verdict}" for number, verdict in read.items()
               if verdict != ours[number]]
    return "Verdicts that change: " + ("; ".join(changed) or "none")


def _drawn_row(reading, scores, drawn):
    """The same instances drawn otherwise."""
    key = ["case", "instance", "size", "model"]
    kinds = [_gain_over(table, "elastic_net") for table in (drawn[key].merge(scores, on=key), drawn)]
    same = ((kinds[0] > 0) == (kinds[1] > 0)).mean()
    texts = [", ".join(f"{case} {value:+.4f}" for case, value in kind.groupby("case").mean().items()) for kind in kinds]
    return _row(reading, "1-3, 7", drawn, f"mean gain of (i) over (iii): {texts[0]}",
                f"{texts[1]}; same sign in {same:.0%} of the cells (case, size)")


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
