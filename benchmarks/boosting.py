"""(f) R's ada as its manual calls it, against our call that gives the same margins."""

import numpy as np
import pandas as pd

from fusedlr.r import session
from fusedlr.r.ada import boost
from study.simulate import simulate

from .measure import Part, cpu_seconds, interleaved, ratio, spread
from .problems import SIZES

__all__ = ["run"]

# As in tests/r/plain_ada.R: seeds for the fit and for the prediction, features as a data frame.
_PLAIN = """
function(x, y, new, iterations, seeds) {
    set.seed(seeds[1L])
    fit <- ada::ada(as.data.frame(x), as.vector(y), loss = "exponential", type = "discrete", iter = iterations)
    set.seed(seeds[2L])
    as.numeric(predict(fit, as.data.frame(new), type = "F"))
}
"""


def run(quick):
    """CPU seconds of both by training size."""
    sizes, iterations, repeats = (SIZES[:1], 5, 1) if quick else (SIZES, 200, 3)
    data = simulate("d", 1, 1)
    boost(data["X_train"][:50], data["Y_train"][:50, 0], data["X_test"][:1], seed=1, iterations=1, by="ada")  # start R
    rows = [_row(data, size, iterations, repeats) for size in sizes]
    version = session.versions("ada")["ada"]
    return Part("f_ada", f"(f) AdaBoost by R's ada {version}: one task, 100 features, {iterations} trees, 1,400 new "
                         "rows",
                pd.DataFrame(rows), [
        "CPU seconds of fitting and predicting: the plain call ada(as.data.frame(X), y, iter = 200) and "
        "fusedlr.r.ada.boost,",
        "both in one R session. Same: whether all margins are equal to the last bit."])


def _row(data, size, iterations, repeats):
    X, y, new = data["X_train"][:size], data["Y_train"][:size, 0], data["X_test"]
    kept = {}

    def ours():
        kept["ours"] = boost(X, y, new, seed=size, iterations=iterations, by="ada")

    def plain():
        kept["plain"] = session.call(_PLAIN, packages=["rpart", "ada"], x=X, y=y.astype(float), new=new,
                                     iterations=iterations,
                                     seeds=np.array(kept["ours"].settings["seeds"][0], dtype=np.int32))

    rounds = interleaved({"ours s": lambda: cpu_seconds(ours), "plain s": lambda: cpu_seconds(plain)}, repeats)
    same = bool(np.array_equal(kept["ours"].margins[:, 0], kept["plain"]))
    return {"rows": size, **spread("plain s", rounds["plain s"]), **spread("ours s", rounds["ours s"]),
            **ratio(rounds, "plain s", "ours s"), "same": same}
