"""Break the package on purpose, one place at a time, and see whether the tests notice: ``make mutate``.

Each mutation is a text in a file, what takes its place, and the tests that ought to fail. Files are
changed in a copy. A mutation whose text is no longer there is an error: write it anew for what stands there now.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
SHARE = 0.95


class Mutation(NamedTuple):
    name: str
    file: str
    old: str
    new: str
    tests: tuple


def same(words):
    """Tests of invariances that have these words in their names."""
    return "tests/test_invariance.py", "-k", words


SAME = same("rows-fit or rows-cv or rows-bootstrap or rows-calibration or rows-select")
FILES = ("tests/test_hostile_files.py",)
WRONG = ("tests/test_arguments.py", "tests/test_bad_input.py")

MUTATIONS = [Mutation(*row) for row in (
    # Survivors of an earlier attack.
    ("save drops weights", "described.py", "weights=data.weights, offset=data.offset)",
     "weights=(data.weights > 0) * 1.0, offset=data.offset)", same("save and load")),
    ("rows drop weights", "objective.py", "self.weights[rows], self.offset[rows])",
     "(self.weights[rows] > 0) * 1.0, self.offset[rows])", same("with_rows or rows-cv")),
    ("the one-class warning ignores weights", "inputs/labels.py", "((data.signs < 0) & (data.weights > 0)).any(axis=0)",
     "(data.signs < 0).any(axis=0)", same("weight_0")),
    ("positives ignore weights", "fitted.py", "(data.weights * (data.signs > 0)).sum(axis=0)",
     "((data.weights > 0) * (data.signs > 0)).sum(axis=0)", SAME),
    ("cross-validation scores ignore weights", "tuning.py", "held.X, held.offset, held.weights)",
     "held.X, held.offset, (held.weights > 0) * 1.0)", SAME),
    ("bootstrap ignores weights", "inference/bootstrap.py", "_draw(problem.data.row_weights, ",
     "_draw((problem.data.row_weights > 0) * 1.0, ", SAME),
    ("folds ignore penalty factors", "problem.py", "return replace(self, data=self.data.rows(rows))",
     "return replace(self, data=self.data.rows(rows), factors=np.append(0.0, np.ones(self.data.n_features)))",
     same("every_fold")),
    ("select drops the offset", "grid.py", "self.params[where], Y, X, shift, counts",
     "self.params[where], Y, X, 0 * shift, counts",
     same("offset and select")),
    ("bootstrap's standard error with divisor n", "inference/bootstrap.py", "std(axis=0, ddof=1)",
     "std(axis=0, ddof=0)", SAME),
    ("the largest of a summary by mean", "summary/fit.py", "np.abs(results.solution.params[1:]).max(axis=1)",
     "np.abs(results.solution.params[1:]).mean(axis=1)", same("largest_of_a_summary")),
    # Weights, offsets and factors.
    ("select ignores weights", "grid.py", "Y, X, shift, counts))", "Y, X, shift, (counts > 0) * 1.0))", SAME),
    ("load drops the offset", "described.py",
     'arrays["weights"], arrays["offset"])', 'arrays["weights"], 0 * arrays["offset"])', same("save and load")),
    ("the null model ignores the offset", "likelihood.py", "middle) if offset.any() else middle",
     "middle) if False else middle",
     same("offset_moves and fit")),
    ("the null model ignores weights", "likelihood.py", "share = weights @ (signs > 0) / weights.sum()",
     "share = np.mean((signs > 0)[weights > 0])", same("without_an_offset")),
    ("the log-likelihood ignores weights", "likelihood.py", "-(data.weights * pointwise_loss(",
     "-((data.weights > 0) * pointwise_loss(",
     SAME),
    ("the scale ignores weights", "model.py", "self.scale = scales(X, weights) if",
     "self.scale = scales(X, (weights > 0) * 1.0) if", same("rows-fit")),
    ("the scale a hundredth larger", "building.py", "return np.where(found > 0, found, 1.0)",
     "return np.where(found > 0, 1.01 * found, 1.0)",
     same("standardizing and fit")),
    ("factors act on fusion too", "objective.py", "return cls(l1 * factors, l2 * factors, fusion)",
     "return cls(l1 * factors, l2 * factors, fusion * factors)", same("factor_of_one or penalty-fit")),
    ("factors do not act on l2", "objective.py", "return cls(l1 * factors, l2 * factors, fusion)",
     "return cls(l1 * factors, l2 * (factors > 0), fusion)", same("factor_of_one or penalty-fit")),
    ("calibration of the fit ignores weights", "plots/shares.py", "model.data.weights",
     "(model.data.weights > 0) * 1.0", SAME),
    ("calibration drops the offset", "plots/shares.py", "offset=offset)", "offset=0.0)",
     same("offset and calibration")),
    ("the criteria count rows without weights", "fitted.py", "float(self.model.data.row_weights.sum())",
     "float((self.model.data.row_weights > 0).sum())", SAME),
    ("the table of criteria counts rows without weights", "tuning.py", 'problem.data.row_weights.sum())',
     '(problem.data.row_weights > 0).sum())', SAME),
    ("clusters ignore weights", "pattern.py", "times = data.row_weights", "times = (data.row_weights > 0) * 1.0",
     same("clusters")),
    ("AUC ignores weights", "scoring.py", "Y[:, k] == 1, counts[:, k]) for point",
     "Y[:, k] == 1, (counts[:, k] > 0) * 1.0) for point",
     SAME),
    # Choices.
    ("two standard errors for one", "scoring.py",
     '+ table["se"].to_numpy()[best]', '+ 2 * table["se"].to_numpy()[best]', ("tests/test_tuning.py",)),
    ("ties go to the smaller penalties", "scoring.py", "return int(max(left, key=lambda i: tuple(keys[i])))",
     "return int(min(left, key=lambda i: tuple(keys[i])))", ("tests/test_tuning.py",)),
    ("standard errors of folds with divisor n", "tuning.py", "max(len(weights) - 1, 1)", "max(len(weights), 1)",
     ("tests/test_tuning.py",)),
    ("intervals twice as wide a miss", "inference/bootstrap.py", "[alpha / 2, 1 - alpha / 2]", "[alpha, 1 - alpha]",
     ("tests/test_inference.py",)),
    ("AIC counts df once", "criteria.py", "-2 * llf + 2 * df", "-2 * llf + df", ("tests/test_results.py",
     "tests/test_defaults.py")),
    ("a grid on the solver's scale", "grid.py", "self.params[:, 1:] /= model.scale[:, None]", "pass",
     same("standardizing and grid")),
    # Arguments.
    ("negative numbers are taken", "checks.py", "if not np.isfinite(value) or value < 0:",
     "if not np.isfinite(value):", WRONG),
    ("a tolerance of infinity is taken", "checks.py", "if not 0 < value < 1:", "if not 0 < value:", WRONG),
    ("truth is a number", "checks.py",
     "if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):\n        raise TypeError("
      "f\"{name} must be a number",
     "if not isinstance(value, Real):\n        raise TypeError(f\"{name} must be a number", WRONG),
    ("masks are ignored", "checks.py", "    if not hidden.any():\n", "    if True:\n", WRONG),
    ("rows in another order are taken", "inputs/names.py", "or index.equals(other):", "or len(index) == len(other):",
     WRONG),
    ("dollars are formulas", "plots/axes.py", 'replace("$", r"\\$")', 'replace("$", "$")', WRONG),
    ("any axes will do", "plots/axes.py", "if ax is not None and not isinstance(ax, Axes):", "if False:", WRONG),
    # Files.
    ("numbers of a file may be nan", "storage.py", "if not np.isfinite(values).all():", "if False:", FILES),
    ("numbers of a file may be negative", "storage.py", "if values.size and values.min() < array.least:", "if False:",
     FILES),
    ("a file may hold more", "storage.py", "    unknown = sorted(set(members) - set(layout.arrays))",
     "    unknown = []", FILES),
    ("sizes of a file may differ", "fields.py", "    if known + int(more or 0) != length:", "    if False:", FILES),
    ("a page may have holes", "fields.py", "or set(value) != set(rules):", "or not set(value) <= set(rules):", FILES),
    ("a file loses its permissions", "storage.py", "return stat.S_IMODE(mode)", "return None", FILES),
    ("a part of a file may come twice", "storage.py", "if len(listed) < len(archive.infolist()):", "if False:", FILES),
)]


def outcome(mutation, folder):
    """"caught", "survived", or what kept the mutation from being tried."""
    path = folder / "fusedlr" / mutation.file
    whole = path.read_text(encoding="utf-8")
    if whole.count(mutation.old) < 1:
        return "text not found"
    path.write_text(whole.replace(mutation.old, mutation.new), encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "not slow",
     *mutation.tests]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    finally:
        path.write_text(whole, encoding="utf-8")
    return {0: "survived",
     1: "caught"}.get(done.returncode, f"pytest ended with {done.returncode}: {done.stdout[-300:]}")


def main(words):
    """Try all mutations, or those with one of the words in their names."""
    chosen = [mutation for mutation in MUTATIONS if not words or any(word in mutation.name for word in words)]
    os.environ.update(MPLBACKEND="Agg", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for part in ("fusedlr", "tests"):
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", folder)
        found = []
        for mutation in chosen:
            found.append(outcome(mutation, folder))
            print(f"{found[-1]:9} {mutation.name}", flush=True)
    caught = found.count("caught")
    print(f"{caught} of {len(found)} caught")
    return 0 if caught >= SHARE * len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
