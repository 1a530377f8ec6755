"""What a run of the study makes: the tables behind the report and its figures, each named once."""

from dataclasses import dataclass

__all__ = ["FIGURES", "TABLES", "Figure"]

#: Tables that the report reads and that are published, each as NAME.csv.
TABLES = ("scores", "readings", "groups", "claims", "verdicts", "comparisons", "sensitivity", "agreement",
          "newton_step", "cluster_hours")


@dataclass(frozen=True)
class Figure:
    """A figure: the tables it is drawn from, what these must hold for it to show anything, and its words.

    Attributes
    ----------
    tables : tuple of str
        Of ``TABLES``; its function takes them in this order.
    needs : str
    caption : str
    claim : int
        The claim that it belongs to; 0 where it belongs to several.
    """

    tables: tuple
    needs: str
    caption: str
    claim: int = 0


_NEEDS_BOTH = "the fused elastic net and a single-task model"
_GAIN = ("A gain is the test error of the other model minus that of (i) on the same data; bars are 95 % t-intervals "
         "over instances.")

FIGURES = {
    "errors": Figure(("scores",), "scores", (
        "Test error (share of wrong labels over four tasks and the test rows) by training rows, on a logarithmic "
        "scale; a box holds the instances of a case. Yellow: median over instances of the Bayes risk, the mean of "
        "min(p, 1 - p) under the true coefficients.")),
    "differences": Figure(("scores",), "the fused elastic net and another model", (
        "Test error of each model minus that of the fused elastic net on the same data: mean over instances with 95 % "
        "t-interval, and median. Above zero, the fused elastic net is better. The scale is linear up to 0.02 and "
        "logarithmic beyond.")),
    "distances": Figure(("scores",), "linear models in the correlated cases e to h", (
        "Euclidean distance between fitted and true coefficients of the correlated cases, over the true zeros (across) "
        "and over the true non-zeros (up), each divided by their count; intercepts left out. Small points are "
        "instances, large ones their medians; the medians of (iv), which is far out, are written in the corner. Each "
        "panel has its own scales.")),
    "penalties": Figure(("scores",), "the fused elastic net", (
        "How often each value of the grid was chosen for the fused elastic net, by case and training rows. The paper's "
        "letters for l1, l2 and fusion are lambda1, lambda2 and nu.")),
    "claim1": Figure(("scores",), _NEEDS_BOTH, (
        "The least of the mean gains of both fused models over the single-task models: blue where both fused models "
        "lead. Framed: the cases that the paper names. A star: significant by itself (Holm)."), 1),
    "claim2": Figure(("scores",), _NEEDS_BOTH + " in the cases of high similarity", (
        "Gain of (i) over the best single-task model of each size. Shaded: where the paper says that it is most "
        "significant. " + _GAIN), 2),
    "claim3": Figure(("scores",), _NEEDS_BOTH + " in the cells that the claim names", (
        "Gain of (i) over the best single-task model in the cells where the paper says that fusing helps less or not "
        "at all. "
        + _GAIN), 3),
    "claim4": Figure(("scores",), _NEEDS_BOTH + " in cases g and h", (
        "Mean test error of the best single-task model and of (i), and the Bayes risk, on a logarithmic scale."), 4),
    "claim5": Figure(("scores", "readings"), "both fused models", (
        "Gain of (i) over (ii), mean over sizes; shaded: what the rule calls slight. Hollow: without the fits that use "
        "neither l1 nor l2. Bars are 95 % t-intervals over instances."), 5),
    "claim6": Figure(("scores",), "the fused elastic net", (
        "Share of the fused elastic nets of a case whose chosen l2 is at most the value below. The lines at 0.1 and "
        "one half are the rule's. Dashed: sparse cases."), 6),
    "claim7": Figure(("scores",), "the fused elastic net and the elastic net in the correlated cases", (
        "How much farther from the true zeros the elastic net is than (i). Framed: the cells that the paper names. A "
        "star: significant (Holm)."), 7),
    "claim8": Figure(("newton_step",), "timings", (
        "CPU seconds of one chi-update of the paper's ADMM on one task with 100 rows: median, and range of the "
        "repetitions."), 8),
    "claim9": Figure(("scores",), "the fused elastic net", (
        "Share of fused elastic nets whose tuned fusion is zero. Framed: the cells where, by the paper, it would "
        "be."), 9),
    "claim10": Figure(("scores",), _NEEDS_BOTH, (
        "Gain of (i) over the best single-task model, mean over all cases. " + _GAIN), 10),
    "claim11": Figure(("scores",), "both fused models", (
        "Gain of (i) over (ii) by case and training rows. A star: significant (Holm over these cells; the verdict "
        "looks at means over sizes)."), 11),
    "claim12": Figure(("groups",), "the experiment on groups, no part of a preview", (
        "Gain of (i) over (ii) by the number of correlated features in a group, whose coefficients always add up to "
        "the same. Hollow: without the fits that use neither l1 nor l2. Bars are 95 % t-intervals over "
        "instances."), 12),
}
