"""What a run of the study makes: the tables behind the report, and its figures."""

from study.claims import CLAIMS
from study.figures import overview

__all__ = ["FIGURES", "TABLES"]

#: Tables that the report reads and that are published, each as NAME.csv.
TABLES = ("scores", "readings", "otherwise", "groups", "claims", "verdicts", "comparisons", "sensitivity", "agreement",
          "newton_step", "admm", "cluster_hours")

#: Every figure by its name: those of the whole study, then one for each claim.
FIGURES = {**overview.FIGURES, **{claim.figure_name: claim.figure for claim in CLAIMS}}
