"""(a) The study's 924 points on one instance."""

import pandas as pd

from study.models import FUSION, L1, L2

from .measure import Part, cpu_seconds, interleaved, spread
from .problems import SIZES, study_model, without_warnings

__all__ = ["run"]

TOL = 1e-6


def run(quick):
    """CPU seconds of the whole grid by training size."""
    lists = (L1[::5], L2[::3], FUSION[::5]) if quick else (L1, L2, FUSION)
    rows = [_row(size, lists, 1 if quick else 5) for size in (SIZES[:2] if quick else SIZES)]
    return Part("a_grid", "(a) the study's grid: 100 features, 4 tasks, one instance of case d", pd.DataFrame(rows), [
        f"CPU seconds of FusedLogit(Y, X).fit_grid(...) until every relative duality gap is at most {TOL:g}, median "
        "(least to",
        "largest) of the repeats. The points without l1 and l2 are fitted too; where they have no finite minimiser "
        "they are",
        "counted as separated and have no gap."])


def _row(size, lists, repeats):
    model, grids = study_model(size), []
    rounds = interleaved({"s": lambda: cpu_seconds(
        lambda: grids.append(without_warnings(model.fit_grid, *lists, tol=TOL)))}, repeats)
    table = grids[-1].table
    settled = table[table["status"] == "optimal"]
    return {"rows": size, "points": len(table), **spread("s", rounds["s"]),
            "ms per point": 1e3 * float(rounds["s"].median()) / len(table), "largest gap": settled["gap"].max(),
            "separated": int((table["status"] == "separated").sum()),
            "not converged": int((table["status"] == "not_converged").sum())}
