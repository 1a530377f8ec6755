"""What a run of the study makes: the tables behind the report and its figures, each named once."""

__all__ = ["FIGURES", "TABLES"]

#: Tables that the report reads and that are published, each as NAME.csv.
TABLES = ("scores", "claims", "comparisons", "sensitivity", "agreement", "newton_step", "scale")

#: Figures by name: what a run must hold for them to have anything to show.
FIGURES = {
    "errors": "scores",
    "distances": "linear models in the correlated cases e to h",
    "differences": "the fused elastic net and another model",
    "penalties": "the fused elastic net",
}
