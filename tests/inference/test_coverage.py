"""What intervals and tests hold after selection: the numbers of docs/choices.md, on data of known effects."""

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

from fusedlr import FusedLogit
from tests.dependent import drawn, effects

Z = norm.isf(0.025)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")]


def record(found, way, params, errors, t):
    """Whether intervals cover the effects of changing and of constant features, where there are intervals."""
    true, seen = effects(t), ~np.isnan(errors[1:])
    covered = np.abs(params[1:] - true) <= Z * errors[1:]
    changing = np.ptp(true, axis=1) > 0
    for kind, rows in (("changing", changing), ("constant", ~changing & true.any(axis=1))):
        found[way, kind] += covered[rows][seen[rows]].tolist()


def record_changes(found, way, refitted, t):
    """Whether intervals cover true changes, and how often p < .05 for false ones, of differences that are estimated."""
    params, steps = refitted.params.to_numpy()[1:], np.diff(effects(t))
    unit = np.vstack([np.eye(len(refitted.fit.values)), np.zeros(len(refitted.fit.values))])
    contrasts = np.diff(unit[refitted.pattern[1:]], axis=1)
    errors = np.sqrt(np.einsum("jkp,pq,jkq->jk", contrasts, refitted.fit.cov, contrasts))
    shown, change = errors > 0, np.diff(params)
    found[way, "true change"] += (np.abs(change - steps) <= Z * errors)[shown & (steps != 0)].tolist()
    found[way, "false change, p < .05"] += (np.abs(change) > Z * errors)[shown & (steps == 0)].tolist()


def record_bootstrap(found, way, samples, t):
    true, changing = effects(t), np.ptp(effects(t), axis=1) > 0
    lower, upper = np.quantile(samples[:, 1:], [0.025, 0.975], axis=0)
    covered = (lower <= true) & (true <= upper)
    found[way, "changing"] += covered[changing].ravel().tolist()
    found[way, "constant"] += covered[~changing & true.any(axis=1)].ravel().tolist()
    lower, upper = np.quantile(np.diff(samples[:, 1:]), [0.025, 0.975], axis=0)
    steps = np.diff(true)
    found[way, "true change"] += ((lower <= steps) & (steps <= upper))[steps != 0].tolist()


def measured(n, t, draws):
    """Shares by way and question, of fits chosen by cross-validation."""
    found = defaultdict(list)
    for seed in range(draws):
        cv = FusedLogit(*drawn(seed, n, t)).fit_cv(l2=[0.0], rng=seed, n_jobs=1, progress=False)
        for rule, place in (("min", cv.best), ("1se", cv.one_se)):
            fit = cv.grid.results(place)
            for way, refitted in (("tied", fit.refit()), ("untied", fit.refit(ties=False))):
                record(found, (way, rule), refitted.params.to_numpy(), refitted.bse.to_numpy(), t)
                record_changes(found, (way, rule), refitted, t)
            resamples = fit.bootstrap(60, rng=seed, n_jobs=1, progress=False)
            record_bootstrap(found, ("bootstrap", rule), resamples.samples, t)
            tests = fit.change_test()["pvalue"].to_numpy()
            same = np.ptp(effects(t), axis=1) == 0
            for kind, rows in (("change_test, true", ~same), ("change_test, false", same)):
                found[("untied", rule), kind] += (tests[rows & ~np.isnan(tests)] < 0.05).tolist()
    return {key: float(np.mean(values)) for key, values in found.items()}


CHOICES = Path(__file__).parents[2] / "docs/choices.md"
WAYS = [("tied", "min"), ("tied", "1se"), ("bootstrap", "min"), ("bootstrap", "1se"), ("untied", "min"),
        ("untied", "1se")]
LINES = ["changing effects", "constant effects", "true change", "false change, p < .05", "`change_test`, true change",
         "`change_test`, none"]
KINDS = ["changing", "constant", "true change", "false change, p < .05", "change_test, true", "change_test, false"]


def told():
    """Numbers of the table in the docs, by way and question: those of both settings, with a slash between."""
    lines = {line.split("|")[1].strip(): line for line in CHOICES.read_text(encoding="utf-8").splitlines()
             if line.startswith("|")}
    cells = {kind: [cell.strip() for cell in lines[name].split("|")[2:-1]] for name, kind in zip(LINES, KINDS)}
    return {(way, kind): [float(number) for number in row[k].split("/")]
            for kind, row in cells.items() for k, way in enumerate(WAYS) if row[k]}


@pytest.mark.parametrize("setting, n, t", [(0, 150, 4), (1, 300, 6)])
def test_the_docs_tell_the_coverage_that_is_measured(setting, n, t):
    """To 5 points, by way and rule."""
    found = measured(n, t, 60)
    assert set(told()) == set(found)
    for key, numbers in told().items():
        assert found[key] == pytest.approx(numbers[setting], abs=0.05), key
    for rule in ("min", "1se"):
        assert min(found[("untied", rule), kind] for kind in ("changing", "constant", "true change")) >= 0.9
        assert found[("bootstrap", rule), "true change"] < 0.75


def test_bounds_of_stability_hold_and_changes_are_found():
    """At cross-validated penalties, raised as far as the bound needs; the docs tell what is found."""
    found = defaultdict(list)
    true = {"features": effects(6).any(axis=1), "changes": (np.diff(effects(6)) != 0).any(axis=1)}
    for seed in range(25):
        cv = FusedLogit(*drawn(seed, 300, 6)).fit_cv(l2=[0.0], rng=seed, n_jobs=1, progress=False)
        for what, right in true.items():
            halves = cv.stability(40, rng=seed, what=what, n_jobs=1, progress=False)
            stable = halves.stable()
            rows = [halves.model.exog_names.index(name) - 1 for name in stable["feature"]]
            found[what, "false"].append(np.sum(~right[rows]))
            found[what, "true"].append(len(np.unique(np.array(rows, dtype=int)[right[rows]])) / right.sum())
    means = {key: np.mean(values) for key, values in found.items()}
    assert means["changes", "false"] <= 1 and means["features", "false"] <= 1, means
    assert means["features", "true"] >= 0.6 and means["changes", "true"] >= 0.4, means


@pytest.mark.parametrize("n, t, draws", [(150, 4, 240), (300, 6, 160)])
def test_the_change_test_keeps_its_level_without_selection(n, t, draws):
    """Of nine features with equal effects; a share of rejections of 2,160 and 1,440 has a standard error below .006."""
    same = np.ptp(effects(t), axis=1) == 0
    tests = [FusedLogit(*drawn(10_000 + seed, n, t)).fit(0.0, 0.0, 0.0).change_test()[same] for seed in range(draws)]
    assert 0.04 <= np.mean([table["pvalue"] < 0.05 for table in tests]) <= 0.065


def sampled(rng, n=600, pool=12000):
    """Rows drawn with chances that vary, with the feature too, and weights that make up for it."""
    x = rng.normal(size=pool)
    y = rng.random(pool) < 1 / (1 + np.exp(-(-1.0 + 0.7 * x)))
    chance = np.exp(0.7 * rng.normal(size=pool) + 0.3 * x)
    rows = rng.choice(pool, n, replace=False, p=chance / chance.sum())
    weights = 1 / chance[rows]
    return x[rows, None], y[rows].astype(float), weights * n / weights.sum()


def test_probability_weights_need_a_group_for_each_row():
    """Of 300 samples of 600 rows: intervals of a slope, weights as numbers of rows or squared in the sandwich."""
    covered = {"rows": [], "groups": []}
    for seed in range(300):
        X, y, weights = sampled(np.random.default_rng(seed))
        for name, groups in (("rows", None), ("groups", np.arange(len(y)))):
            refitted = FusedLogit(y, X, weights=weights, groups=groups).fit(0.0, 0.0).refit("cluster")
            covered[name].append(abs(refitted.params.iloc[1, 0] - 0.7) <= Z * refitted.bse.iloc[1, 0])
    assert "covered 87 % without it and 95 % with it" in CHOICES.read_text(encoding="utf-8")
    assert np.mean(covered["rows"]) == pytest.approx(0.87, abs=0.03)
    assert np.mean(covered["groups"]) == pytest.approx(0.95, abs=0.025)
