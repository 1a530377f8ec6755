"""How far the results depend on readings that the paper leaves open."""

import pandas as pd

from fusedlr.newton import FLOOR, NewtonSolver
from fusedlr.study.claims import VERY_LOW_L2, tie_breaks
from fusedlr.study.fitting import build
from fusedlr.study.paired import FUSED
from fusedlr.study.scores import error_of_margins

__all__ = ["FLOORS", "separable_errors", "summarise"]

#: Constants of the separable rule: the solver's own, and a hundred times less and more.
FLOORS = (FLOOR / 100, FLOOR, FLOOR * 100)


def separable_errors(data, sizes, tol):
    """Test error of the unpenalized model by size and by the constant of the rule for separated data."""
    rows = []
    for size in sizes:
        model = build(data["Y_train"][:size], data["X_train"][:size])
        for floor in FLOORS:
            fit = NewtonSolver(model.problem).solve(model.penalty(0.0, 0.0, 0.0), tol=tol, floor=floor)
            margins = fit.params[0] + data["X_test"] @ fit.params[1:]
            rows.append({"size": size, "floor": floor, "status": fit.status,
                         "test_error": error_of_margins(margins, data["Y_test"])})
    return pd.DataFrame(rows)


def summarise(scores, noise=None, separable=None, boosted=None):
    """One row for each open reading: what was varied, and what came out either way.

    Parameters
    ----------
    scores : DataFrame
        ``scores.csv`` of the study.
    noise : DataFrame, optional
        Scores of some instances under the other reading of the noise.
    separable : DataFrame, optional
        Columns case, instance, size, floor, status, test_error.
    boosted : DataFrame, optional
        AdaBoost that may split small bags: case, instance, size, test_error.
    """
    rows = [_tie_break_row(scores)] if FUSED[0] in set(scores["model"]) else []
    if noise is not None:
        rows.append(_noise_row(scores, noise))
    if separable is not None:
        rows += _separable_rows(scores, separable)
    if boosted is not None:
        rows.append(_boosted_row(scores, boosted))
    return pd.DataFrame(rows, columns=["reading", "claims", "instances", "ours", "otherwise"])


def _tie_break_row(scores):
    shares = tie_breaks(scores)
    ours, *others = shares.items()
    return _row("tie-break of the choice", "6", scores, f"{ours[1]:.0%} of l2 at most {VERY_LOW_L2:g} (ties: {ours[0]})",
                "; ".join(f"{share:.0%} (ties: {name})" for name, share in others))


def _noise_row(scores, noise):
    key = ["case", "instance", "size", "model"]
    ours = noise[key].merge(scores, on=key)
    kinds = [_gain_of_fusion(table) for table in (ours, noise)]
    same = ((kinds[0] > 0) == (kinds[1] > 0)).mean()
    texts = [", ".join(f"{case} {value:+.4f}" for case, value in kind.groupby("case").mean().items()) for kind in kinds]
    return _row("0.4 is the standard deviation of the noise, or its variance", "1-3, 7", noise,
                f"mean gain of (i) over (iii): {texts[0]}",
                f"{texts[1]}; same sign in {same:.0%} of the cells (case, size)")


def _gain_of_fusion(scores):
    errors = scores.pivot(index=["case", "size", "instance"], columns="model", values="test_error")
    return (errors["elastic_net"] - errors[FUSED[0]]).groupby(["case", "size"]).mean()


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
