"""Saved files that someone made by hand: refused with the name of the field and the file, or read as they are."""

import functools
import io
import json
import operator
import os
import re
import resource
import stat
import struct
import subprocess
import sys
import threading
import tracemalloc
import zipfile
from itertools import product

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, FusedLogitResults, Grid, load

RNG = np.random.default_rng(19)
X = RNG.normal(size=(30, 3))
Y = pd.DataFrame(X[:, [0]] + RNG.logistic(size=(30, 3)) > 0, columns=["low", "mid", "high"])
THIRD = np.arange(30) % 3
DATA = pd.DataFrame(X, columns=["a", "b", "c"]).assign(site=THIRD, kind=["x", "y", "x"] * 10, **Y)
DATA.loc[:9, "kind"] = "y"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "fit.npz"
    model = FusedLogit(Y, X, weights=np.arange(1.0, 31.0), offset=np.linspace(0, 1, 30))
    model.fit(1.0, 0.1, 1.0).save(path)
    return path


def parts(path):
    with np.load(path) as archive:
        arrays = dict(archive)
    return json.loads(arrays.pop("page").tobytes()), arrays


def put(path, page, arrays):
    text = np.frombuffer(json.dumps(page).encode(), dtype=np.uint8)
    np.savez_compressed(path, page=text, **arrays)
    return path


PROBLEM, SPEC = "model.problem.", "model.spec."
DESIGN, OFFSET, TIMES = (f"{PROBLEM}{name}.npy" for name in ("design.X", "design.offset", "groups.times"))
ARRAYS = {
    "offset of one row": ("design.offset", lambda a: a[:1]),
    "offset of one dimension": ("design.offset", lambda a: a[:, 0]),
    "offset not finite": ("design.offset", lambda a: a * np.nan),
    "offset of two tasks": ("design.offset", lambda a: np.hstack([a, a])),
    "offset of no task": ("design.offset", lambda a: a[:, :0]),
    "X of more columns": ("design.X", lambda a: np.hstack([a, a])),
    "X infinite": ("design.X", lambda a: a / 0.0),
    "X larger than a user's may be": ("design.X", lambda a: a * 1e101),
    "weights complex": ("labels.weight", lambda a: a * 1j),
    "weights one number": ("labels.weight", lambda a: a[0]),
    "weights negative": ("labels.weight", lambda a: -a),
    "weights of text": ("labels.weight", lambda a: a.astype(str)),
    "weights too few": ("labels.weight", lambda a: a[:-1]),
    "signs of floats": ("labels.sign", lambda a: a.astype(float)),
    "signs zero": ("labels.sign", lambda a: 0 * a),
    "starts too few": ("labels.start", lambda a: a[:-1]),
    "starts of floats": ("labels.start", lambda a: a.astype(float)),
    "starts after the first label": ("labels.start", lambda a: np.append(1, a[1:])),
    "starts that end before the last label": ("labels.start", lambda a: np.append(a[:-1], a[-1] - 1)),
    "starts that end behind the last label": ("labels.start", lambda a: np.append(a[:-1], a[-1] + 1)),
    "starts that end nowhere": ("labels.start", lambda a: np.append(a[:-1], 2**62)),
    "starts that fall": ("labels.start", lambda a: a[[0, 2, 1, 3]]),
    "starts that are negative": ("labels.start", lambda a: np.append(a[0], -a[1:])),
    "starts all zero": ("labels.start", lambda a: 0 * a),
    "rows that are not there": ("labels.row", lambda a: a + 1),
    "rows far from there": ("labels.row", lambda a: np.where(a == 29, 2**40, a)),
    "rows that are negative": ("labels.row", lambda a: a - 1),
    "rows that fall": ("labels.row", lambda a: a[::-1]),
    "rows that come twice": ("labels.row", lambda a: np.where(a == 1, 0, a)),
    "rows of floats": ("labels.row", lambda a: a.astype(float)),
    "groups that are not there": ("groups.code", lambda a: a + 1),
    "groups far from there": ("groups.code", lambda a: a + 2**40),
    "groups that are negative": ("groups.code", lambda a: a - 1),
    "groups too few": ("groups.code", lambda a: a[:-1]),
    "groups of floats": ("groups.code", lambda a: a.astype(float)),
    "group counts negative": ("groups.times", lambda a: -a),
    "group counts not finite": ("groups.times", lambda a: a * np.inf),
    "scale zero": ("scale", lambda a: 0 * a),
    "scale of dates": ("scale", lambda a: a.astype("M8[s]")),
    "factors negative": ("factors.l2", lambda a: a - 2),
    "factors too few": ("factors.fusion", lambda a: a[1:]),
    "factors on the intercept": ("factors.l1", lambda a: a + 1),
    "l2 on the intercept": ("factors.l2", lambda a: a + 1),
    "a record": ("design.offset", lambda a: np.zeros(30, dtype=[("a", float)])),
}
ARRAYS = {what: (PROBLEM + name, change) for what, (name, change) in ARRAYS.items()} | {
    "penalty factors negative": (SPEC + "penalty_factors", lambda a: a - 2),
    "row labels complex": (SPEC + "index", lambda a: a * 1j),
    "params of another shape": ("solution.params", lambda a: a[:, :2]),
    "params not finite": ("solution.params", lambda a: a + np.inf),
    "labels counted below zero": ("facts.labels", lambda a: -a),
    "log-likelihoods of other tasks": ("facts.llf_per_task", lambda a: a[:2]),
    "null log-likelihoods not finite": ("facts.llnull_per_task", lambda a: a * np.nan),
}


def named(field):
    """A part of a message that names a field, with as much as it may leave out in front."""
    return re.escape(".".join(field.split(".")[-2:]))


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name, change", ARRAYS.values(), ids=ARRAYS.keys())
def test_a_wrong_array_is_refused_by_name(saved, tmp_path, name, change):
    page, arrays = parts(saved)
    path = put(tmp_path / "odd.npz", page, {**arrays, name: change(arrays[name])})
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*{named(name)}"):
        load(path)


def test_row_labels_of_other_rows_are_refused(saved, tmp_path):
    page, arrays = parts(saved)
    arrays[SPEC + "index"] = arrays[SPEC + "index"][1:]
    with pytest.raises(ValueError, match=r"odd.npz.*must have size 29 along n, found 30"):
        load(put(tmp_path / "odd.npz", page, arrays))


def test_a_part_of_a_result_is_no_result(saved, tmp_path):
    page, arrays = parts(saved)
    arrays = {name.removeprefix("model."): array for name, array in arrays.items() if name.startswith("model.")}
    page = {name: page[name] for name in ("format", "fusedlr")} | {"kind": "fusedlr model"} | page["model"]
    with pytest.raises(ValueError, match="path must lead to a file written by the save method of a result.*odd.npz"):
        load(put(tmp_path / "odd.npz", page, arrays))


PATTERNS = {
    "a value that is not there": lambda a: np.where(a == 1, a.max() + 1, a),
    "a value far from there": lambda a: np.where(a == 1, 2**40, a),
    "a value that no place has": lambda a: np.where(a == 1, 0, a),
    "no zero": lambda a: a - 1,
    "all zero": lambda a: 0 * a - 1,
    "floats": lambda a: a.astype(float),
    "other tasks": lambda a: a[:, :2],
    "other features": lambda a: a[1:],
    "ties of others": lambda a: a[:, ::-1],
    "ties across features": lambda a: np.where(a == 5, 4, np.where(a == 4, 5, a)).T.reshape(a.shape),
}


@pytest.mark.parametrize("change", PATTERNS.values(), ids=PATTERNS.keys())
def test_a_wrong_pattern_is_refused_by_name(saved, tmp_path, change):
    load(saved).refit().save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    path = put(tmp_path / "odd.npz", page, {**arrays, "fit.pattern": change(arrays["fit.pattern"])})
    with pytest.raises(ValueError, match=r"odd.npz.*fit\.pattern must"):
        load(path)


NEEDED = ("design.X", "design.offset", "labels.start", "labels.row", "labels.sign", "labels.weight", "groups.code",
          "groups.times", "scale", "factors.l1", "factors.l2", "factors.fusion")


@pytest.mark.parametrize("name", [*(PROBLEM + name for name in NEEDED), SPEC + "penalty_factors", "solution.params",
                                  "facts.labels", "facts.yes", "facts.llf_per_task", "facts.llnull_per_task"])
def test_a_missing_array_is_refused_by_name(saved, tmp_path, name):
    page, arrays = parts(saved)
    del arrays[name]
    path = put(tmp_path / "odd.npz", page, arrays)
    with pytest.raises(ValueError, match=rf"odd.npz.*{named(name)} must be there"):
        load(path)


WRONG = [None, True, -1, 1e400, "text", [], [1], [[1]], {}, {"a": 1}, float("nan")]
FIELDS = ["model", "model.spec", "model.spec.outcome", "model.spec.outcome.kind", "model.spec.outcome.names",
          "model.spec.outcome.pairs", "model.spec.outcome.long", "model.spec.features", "model.spec.formula",
          "model.spec.constant", "model.spec.standardize", "model.spec.has_offset", "model.spec.n_dropped",
          "model.spec.drops",
          "model.problem",
          "model.problem.design", "model.problem.labels", "model.problem.tasks", "model.problem.tasks.n_tasks",
          "model.problem.tasks.names", "model.problem.tasks.edges", "model.problem.groups",
          "model.problem.groups.word", "model.problem.factors", "solution", "solution.objective", "solution.gap",
          "solution.status", "solution.iterations", "penalties", "penalties.l1", "method", "tol", "facts",
          "facts.nobs", "facts.rows", "facts.unlabelled", "facts.groups", "facts.units", "facts.observed",
          "facts.llf", "facts.llnull", "facts.about", "df_effective"]
# What may stand there too: numbers of any sign or size, words of the user's own.
FINE = {"model.spec.formula": [None], "model.spec.constant": [None], "model.spec.standardize": [True],
        "model.spec.drops": [True],
        "model.spec.has_offset": [True], "model.problem.tasks.names": [None], "model.problem.tasks.edges": [[]],
        "model.problem.groups.word": ["text"], "solution.objective": [-1], "solution.gap": [-1, WRONG[3], WRONG[-1]],
        "facts.llf": [-1, WRONG[3], WRONG[-1]], "facts.llnull": [-1, WRONG[3], WRONG[-1]], "facts.about": [[]]}
EMPTY = {"model.problem.design", "model.problem.labels", "model.problem.factors"}  # all that they hold are arrays


def at(page, field):
    """What holds a field, and the field's own name."""
    *above, last = field.split(".")
    return functools.reduce(operator.getitem, above, page), last


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_field_of_the_page_is_refused_by_name(saved, tmp_path, field):
    for value in WRONG:
        if any(value is fine for fine in FINE.get(field, [])) or (value == [] and [] in FINE.get(field, [])):
            continue
        if field in EMPTY and value == {}:
            continue
        page, arrays = parts(saved)
        inside, last = at(page, field)
        inside[last] = value
        path = put(tmp_path / "odd.npz", page, arrays)
        # A list of another length is noticed by the next field that has to agree with it.
        with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*({named(field)}|must have size)"):
            load(path)


@pytest.mark.parametrize("field", FIELDS)
def test_a_missing_field_of_the_page_is_refused_by_name(saved, tmp_path, field):
    page, arrays = parts(saved)
    inside, last = at(page, field)
    del inside[last]
    with pytest.raises(ValueError, match=f"odd.npz.*{named(field.rpartition('.')[0] or last)}.* must"):
        load(put(tmp_path / "odd.npz", page, arrays))


EDGES = {"to nowhere": [[0, 7, 1.0]], "negative": [[-1, 0, 1.0]], "of two": [[0, 1]], "of four": [[0, 1, 1.0, 1.0]],
         "of no weight": [[0, 1, 0.0]], "of a negative weight": [[0, 1, -1.0]], "to itself": [[1, 1, 1.0]],
         "twice": [[0, 1, 1.0], [1, 0, 1.0]], "of floats": [[0.0, 1.0, 1.0]]}


@pytest.mark.parametrize("edges", EDGES.values(), ids=EDGES.keys())
def test_wrong_edges_are_refused(saved, tmp_path, edges):
    page, arrays = parts(saved)
    page["model"]["problem"]["tasks"]["edges"] = edges
    with pytest.raises(ValueError, match=r"odd.npz.*tasks"):
        load(put(tmp_path / "odd.npz", page, arrays))


@pytest.mark.parametrize("graph", [{"n_tasks": 2, "names": None, "edges": []}, {"n_tasks": 4, "names": None},
                                   {"n_tasks": 10**6, "names": None}, {"names": ["high", "mid", "low"]}], ids=str)
def test_a_graph_of_other_tasks_is_refused(saved, tmp_path, graph):
    page, arrays = parts(saved)
    page["model"]["problem"]["tasks"].update(graph)
    with pytest.raises(ValueError, match=r"odd.npz.*problem\.tasks must be of the tasks \['low', 'mid', 'high'\]"):
        load(put(tmp_path / "odd.npz", page, arrays))


@pytest.mark.parametrize("kind", ["bootstrap", "stability"])
def test_wrong_repetitions_are_refused_by_name(saved, tmp_path, kind):
    getattr(load(saved), kind)(4, progress=False).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    for field, value in [("status", []), ("status", ["optimal"]), ("status", ["fine"] * 4), ("status", "optimal"),
                         ("seed", -1), ("seed", 0.5), ("seed", "0"), ("more", 1)]:
        path = put(tmp_path / "odd.npz", {**page, field: value}, arrays)
        with pytest.raises(ValueError, match=rf"odd.npz.*({field}.* must|samples must have size)"):
            load(path)
    for samples in (arrays["samples"][:3], arrays["samples"][:, :2], arrays["samples"] * np.nan, np.zeros(4)):
        with pytest.raises(ValueError, match="odd.npz.*samples must"):
            load(put(tmp_path / "odd.npz", page, {**arrays, "samples": samples}))
    for other, field in (("results", "(results|bound)"), ("stability" if kind == "bootstrap" else "bootstrap",
                                                          "(what|bound)")):
        with pytest.raises(ValueError, match=f"odd.npz.*{field} must be one of"):
            load(put(tmp_path / "odd.npz", {**page, "kind": f"fusedlr {other}"}, arrays))


@pytest.mark.parametrize("field, value", [("what", "tasks"), ("bound", "r-concave"), ("errors", -1.0), ("errors", "1"),
                                          ("multiple", -2.0), ("multiple", None)])
def test_wrong_settings_of_halves_are_refused_by_name(saved, tmp_path, field, value):
    load(saved).stability(4, progress=False).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    with pytest.raises(ValueError, match=f"odd.npz.*{field} must be"):
        load(put(tmp_path / "odd.npz", {**page, field: value}, arrays))


def places(page):
    """Where something stands in a page: at most two entries of each list."""
    entries = page.items() if isinstance(page, dict) else enumerate(page[:2]) if isinstance(page, list) else ()
    for key, value in entries:
        yield (key,)
        for below in places(value):
            yield (key, *below)


LISTS = {"l1": [1.0, 2.0], "l2": [0.1], "fusion": [1.0]}
BY_NAME = {"l1": {"x1": 1.0, "x2": 2.0, "x3": 0.0}, "fusion": [0.0, 1.0, 1.0, 1.0]}


def formula(text):
    return FusedLogit.from_formula(text, DATA).fit(0.5, 0.1, 1.0)


KINDS = {
    "results": lambda res: res,
    "refit": lambda res: res.refit(),
    "bootstrap": lambda res: res.bootstrap(2, n_jobs=1, progress=False),
    "stability": lambda res: res.stability(2, n_jobs=1, progress=False),
    "multisplit": lambda res: res.multisplit(2, n_jobs=1, progress=False),
    "cv": lambda res: res.model.fit_cv(folds=2, **LISTS, n_jobs=1, progress=False),
    "bic": lambda res: res.model.fit_cv(by="bic", **LISTS, n_jobs=1, progress=False),
    "grid": lambda res: res.model.fit_grid(**LISTS, progress=False),
    "ordered": lambda res: FusedLogit.from_ordered(np.arange(30) % 3, X, kind="cumulative").fit(1.0, 0.1, 1.0),
    "survival": lambda res: FusedLogit.from_survival(1.0 + np.arange(30) % 3, np.ones(30), X, [1.0, 2.0]).fit(1, 0, 1),
    "formula": lambda res: formula("low + mid ~ a + center(b) + C(site) + kind"),
    "untied factor": lambda res: formula("low + mid ~ a + C(site)").refit(ties=False),
    "long": lambda res: FusedLogit.from_long(Y["low"], X, THIRD, groups=np.arange(30) // 2).fit(1.0, 0.1, 1.0),
    "causes": lambda res: FusedLogit.from_survival(1.0 + np.arange(30) // 3 % 3, THIRD, X, [2.0, 3.0], causes=[1, 2],
                                                   entry=THIRD / 3, groups=np.arange(30)).fit(1.0, 0.1, 1.0),
    "ring of numbers": lambda res: FusedLogit(Y.set_axis([1, 2, 3], axis=1), X, tasks="ring").fit(**BY_NAME),
}
each_kind = pytest.mark.parametrize("kind", KINDS)


def use(result):
    """Whatever can be asked of a result from a file without an answer of its own to compare with."""
    assert str(result) and repr(result) and result.summary().as_text()
    if isinstance(result, Grid):
        return result.results(0)
    model, new = result.model, np.zeros((2, len(result.model.spec.features)))
    rest = {"task": model.endog_names[0]} if model.outcome.long else {}
    for which in ("prob", "linear", "label", *model.outcome.predictions):
        cause = model.outcome.causes[:1] if which == "incidence" else ()
        if which != "incidence" or cause:
            result.predict(new, which, offset=0.0, **rest, **({"cause": cause[0]} if cause else {}))
    if isinstance(result, FusedLogitResults):
        assert len(result.fused_groups) == result.df
        result.refit(), result.certify(), result.fittedvalues, result.resid_deviance
    return result


def refused(path):
    """Whether a file is refused by its path; one that is not can be used."""
    try:
        found = load(path)
    except ValueError as refusal:
        assert re.search("odd.npz', (in which .|which is something else)", str(refusal))
        return True
    use(found)
    if found.model.spec.formula is not None:
        use_formula(path)
    return False


def use_formula(path):
    """Whether the formula of a file is evaluated, or refused; other values in its sample may not suit the data."""
    try:
        load(path, formula=True).predict(DATA)
    except ValueError as refusal:
        assert re.search("odd.npz', in which .|exog (does not suit the formula|must lie)", str(refusal))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@each_kind
def test_a_page_with_a_hole_or_a_number_of_any_size_is_refused_or_can_be_used(saved, tmp_path, kind):
    KINDS[kind](load(saved)).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    count = 0
    for *above, last in places(page):
        for value in (None, 10**30, [1], -1, 0, True, "text"):
            odd = json.loads(json.dumps(page))
            inside = functools.reduce(operator.getitem, above, odd)
            if value is None:
                del inside[last]
            else:
                inside[last] = value
            count += refused(put(tmp_path / "odd.npz", odd, arrays))
    assert count > 150


CHANGES = {
    "cut": lambda a: a[:-1], "cut along its last axis": lambda a: a[..., :-1], "turned": lambda a: a.T,
    "not a number": lambda a: a * np.nan, "negative": lambda a: -a, "one more": lambda a: a + 1,
    "zero": lambda a: a * 0,
    "large": lambda a: a * (1e30 if a.dtype.kind == "f" else 10**15), "backwards": lambda a: a[::-1],
    "bytes": lambda a: a.astype("i1"), "half the bits": lambda a: a.astype(a.dtype.kind + "4"),
    "a quarter of the bits": lambda a: a.astype(a.dtype.kind + "2"), "no sign": lambda a: a.astype("u8"),
    "the other end first": lambda a: a.astype(a.dtype.newbyteorder(">")), "flags": lambda a: a.astype(bool),
    "text": lambda a: a.astype(str), "columns first": np.asfortranarray, "one number": lambda a: a.ravel()[0],
    "empty": lambda a: a[:0],
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@each_kind
def test_an_array_changed_in_any_way_is_refused_or_can_be_used(saved, tmp_path, kind):
    KINDS[kind](load(saved)).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    count = 0
    for name, change in product(arrays, CHANGES.values()):
        try:
            changed = change(arrays[name])
        except (OverflowError, TypeError, ValueError):  # there is no such change of this type
            continue
        count += refused(put(tmp_path / "odd.npz", page, {**arrays, name: changed}))
    assert count > 100


def test_a_page_overwrites_no_attribute(saved, tmp_path):
    page, arrays = parts(saved)
    for field in ("facts.of", "solution.history", "model.with_data", "model.spec._features"):
        odd = json.loads(json.dumps(page))
        inside, last = at(odd, field)
        inside[last] = 1
        with pytest.raises(ValueError, match=f"odd.npz.*{named(field.rpartition('.')[0])} must hold exactly"):
            load(put(tmp_path / "odd.npz", odd, arrays))
    with pytest.raises(ValueError, match="odd.npz.*__class__ must be one of"):
        load(put(tmp_path / "odd.npz", {**page, "__class__": 1}, arrays))


def test_names_that_come_twice_are_refused(saved, tmp_path):
    page, arrays = parts(saved)
    for field in ("model.spec.features", "model.spec.outcome.names", "model.problem.tasks.names"):
        odd = json.loads(json.dumps(page))
        inside, last = at(odd, field)
        inside[last][1] = inside[last][2]
        with pytest.raises(ValueError, match=f"odd.npz.*{named(field)} must hold.*none of them twice"):
            load(put(tmp_path / "odd.npz", odd, arrays))


def test_a_feature_does_not_take_the_name_of_the_intercept(saved, tmp_path):
    page, arrays = parts(saved)
    page["model"]["spec"]["features"][1] = "const"
    with pytest.raises(ValueError, match="odd.npz.*spec.features must not hold 'const'"):
        load(put(tmp_path / "odd.npz", page, arrays))


def test_a_changed_byte_is_refused_with_the_path_or_changes_nothing(saved, tmp_path):
    whole, path, rng = saved.read_bytes(), tmp_path / "odd.npz", np.random.default_rng(1)
    params = load(saved).params
    refused = 0
    for place, value in zip(rng.integers(len(whole), size=300), rng.integers(1, 256, size=300)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ value]) + whole[place + 1:])
        try:
            pd.testing.assert_frame_equal(load(path).params, params)
        except ValueError as refusal:
            refused += 1
            assert str(path) in str(refusal)
    assert refused > 200


def with_member(saved, path, name, content):
    """The saved file with one member replaced or added."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            if info.filename != name:
                new.writestr(info.filename, old.read(info))
        new.writestr(name, content)
    return path


def header(shape, dtype="<f8"):
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, {"descr": dtype, "fortran_order": False, "shape": shape})
    return text.getvalue()


@pytest.mark.parametrize("shape", [(10**12, 3), (30, 10**15), (2**62, 2**62), (30, 3), (-30, 3)], ids=str)
def test_a_shape_without_its_numbers_is_refused_before_memory_is_taken(saved, tmp_path, shape):
    path = with_member(saved, tmp_path / "odd.npz", OFFSET, header(shape))
    with pytest.raises(ValueError, match="odd.npz"):
        load(path)


def test_an_unknown_member_is_not_unpacked(saved, tmp_path):
    path = with_member(saved, tmp_path / "odd.npz", "extra.npy", header((10**8,), "|i1") + bytes(10**8))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match="odd.npz.*extra must be one of"):
        load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def zeros(shape):
    """A member of zeros that says so in its header, in pieces."""
    yield header(shape)
    left = 8 * int(np.prod(shape, dtype=object))
    while left:
        piece = bytes(min(left, 10**7))
        left -= len(piece)
        yield piece


def with_large_members(saved, path, members, method=zipfile.ZIP_DEFLATED):
    """The saved file with members that are written piece by piece."""
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w", method, compresslevel=1) as new:
        for info in old.infolist():
            if info.filename not in members:
                new.writestr(info.filename, old.read(info))
        for name, pieces in members.items():
            with new.open(name, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece)
    return path


def refusal_and_memory(path):
    """What ``load`` says, and how many bytes it asked for on the way at most."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="odd.npz") as refusal:
            load(path)
        return str(refusal.value), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
def test_known_arrays_that_unpack_to_gigabytes_are_refused_before_memory_is_taken(saved, tmp_path):
    """Each header agrees with the size of its member, and two agree with each other: 300 MB each, in a small file."""
    members = {name: zeros((12_500_000, 3)) for name in (DESIGN, OFFSET)}
    path = with_large_members(saved, tmp_path / "odd.npz", members)
    assert path.stat().st_size < 10_000_000
    said, memory = refusal_and_memory(path)
    assert "odd.npz" in said and "model.problem.design.X must have size 30 along n, found 12500000" in said
    assert memory < 10_000_000


def test_more_of_the_same_is_refused_by_the_size_of_the_file(saved, tmp_path):
    """A zip bomb of overlapping members: each is small in the file, all are large in memory."""
    path = with_large_members(saved, tmp_path / "odd.npz", {DESIGN: zeros((12_500_000, 3))})
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        listed = {info.filename: info for info in archive.infolist()}
    big = listed[DESIGN]
    for name in (OFFSET, TIMES):
        at = whole.rindex(b"PK\1\2", 0, whole.rindex(name.encode()))
        whole[at + 16:at + 28] = struct.pack("<III", big.CRC, big.compress_size, big.file_size)
        whole[at + 42:at + 46] = struct.pack("<I", big.header_offset)
    path.write_bytes(whole)
    said, memory = refusal_and_memory(path)
    assert "all parts must not unpack to more than 500 times the file" in said
    assert memory < 10_000_000


@pytest.mark.parametrize("text", [b"[" + 3_000_000 * b"[]," + b"[]]", b'"' + bytes([97]) * 9_000_000 + b'"'],
                         ids=["lists", "text"])
def test_a_page_that_unpacks_to_much_more_than_the_file_is_refused(saved, tmp_path, text):
    path = with_member(saved, tmp_path / "odd.npz", "page.npy", header((len(text),), "|u1") + text)
    said, memory = refusal_and_memory(path)
    assert "odd.npz" in said and "page must not unpack to more than 20 times the file" in said
    assert memory < 5_000_000


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bzip2", "lzma"])
def test_other_compressions_are_refused(saved, tmp_path, method):
    """Their headers may ask for any amount of memory."""
    path = with_large_members(saved, tmp_path / "odd.npz", {OFFSET: zeros((30, 1))}, method)
    with pytest.raises(ValueError, match="odd.npz.*must be stored or deflated"):
        load(path)


def test_honest_files_of_ones_and_zeros_are_read(tmp_path):
    """As much as 100,000 rows that hardly differ may shrink."""
    X = np.zeros((100_000, 2))
    X[::50, 0], X[::70, 1] = 1.0, 1.0
    rare = np.arange(100_000) % 90 == 0
    res = FusedLogit((X[:, [0]] > 0) ^ np.column_stack([rare, ~rare]), X).fit(1.0, 1.0, 1.0, tol=1e-6)
    res.save(tmp_path / "fit")
    pd.testing.assert_frame_equal(load(tmp_path / "fit").params, res.params)


def test_a_member_that_comes_twice_is_refused(saved, tmp_path):
    path = tmp_path / "odd.npz"
    path.write_bytes(saved.read_bytes())
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr(OFFSET, header((30, 3)) + bytes(720))
    with pytest.raises(ValueError, match="odd.npz"):
        load(path)


def test_a_page_of_many_brackets_is_refused(saved, tmp_path):
    text = b"[" * 10**6
    path = with_member(saved, tmp_path / "odd.npz", "page.npy", header((len(text),), "|u1") + text)
    with pytest.raises(ValueError, match="odd.npz"):
        load(path)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_is_there_keeps_its_permissions(saved, tmp_path, mode):
    path = tmp_path / "fit"
    path.touch()
    path.chmod(mode)
    load(saved).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("mask, mode", [(0o077, 0o600), (0o022, 0o644), (0o027, 0o640)])
def test_a_new_file_has_the_permissions_that_the_user_set(saved, tmp_path, mask, mode):
    before = os.umask(mask)
    try:
        load(saved).save(tmp_path / "fit")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "fit").stat().st_mode) == mode


def test_threads_that_save_touch_no_umask(saved, tmp_path):
    res, before = load(saved), os.umask(0o077)
    try:
        threads = [threading.Thread(target=lambda k=k: [res.save(tmp_path / f"{k}-{i}") for i in range(5)])
                   for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        assert os.umask(before) == 0o077
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o600}
    assert len(list(tmp_path.iterdir())) == 30


def test_a_link_stays_a_link(saved, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "fit")
    load(saved).save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and load(tmp_path / "fit").nobs == 30


@pytest.mark.parametrize("what", ["folder", "pipe", "/dev/zero", "/dev/stdin"])
def test_only_files_are_read(tmp_path, what):
    """A pipe without a writer would never open, a device never end."""
    path = tmp_path / "odd" if what in ("folder", "pipe") else what
    if what == "folder":
        path.mkdir()
    elif what == "pipe":
        os.mkfifo(path)
    elif not os.path.exists(path) or stat.S_ISREG(os.stat(path).st_mode):
        pytest.skip(f"{path} is a file here, or nothing")
    with pytest.raises(ValueError, match="path must lead to a file, found .*, which is a folder, a device or a pipe"):
        load(path)


def test_a_formula_that_is_none_is_refused(tmp_path):
    KINDS["formula"](None).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    inside = page["model"]["spec"]["formula"]
    for field, value in (("text", "low + mid"), ("text", ""), ("terms", []), ("terms", inside["terms"][:-1])):
        odd = json.loads(json.dumps(page))
        odd["model"]["spec"]["formula"][field] = value
        with pytest.raises(ValueError, match=f"odd.npz.*formula.{field} must"):
            load(put(tmp_path / "odd.npz", odd, arrays))
    inside["text"] = "low + mid ~ a"
    with pytest.raises(ValueError, match="odd.npz.*formula must have the features of the model on its right side"):
        load(put(tmp_path / "odd.npz", page, arrays), formula=True)


FULL = """
import resource, sys
from fusedlr import load
res = load(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    res.save(sys.argv[2])
except OSError as error:
    sys.stdout.write(f"{error.strerror}: {error.filename}")
"""


@pytest.mark.parametrize("missing", [1, 2_000, 10**9])
def test_a_full_disk_is_told_under_the_name_of_the_file_which_stays_as_it_was(saved, tmp_path, missing):
    size = max(saved.stat().st_size - missing, 10)
    (tmp_path / "fit").write_text("before")
    command = [sys.executable, "-c", FULL, saved, tmp_path / "fit", str(size)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == (f"File too large: {tmp_path / 'fit'}", "")
    assert [path.name for path in tmp_path.iterdir()] == ["fit"] and (tmp_path / "fit").read_text() == "before"


def test_a_missing_folder_is_named(saved, tmp_path):
    with pytest.raises(FileNotFoundError, match="path must lie in a folder that is there, found .*no/fit'; make .*no'"):
        load(saved).save(tmp_path / "no/fit")


def test_a_folder_is_not_overwritten(saved, tmp_path):
    with pytest.raises(ValueError, match="path must be that of a file"):
        load(saved).save(tmp_path)


@pytest.mark.parametrize("path", [None, 3, b"fit", ["fit"], "", "a\0b"])
def test_what_is_no_path_is_refused(saved, path):
    with pytest.raises((TypeError, ValueError), match="path must be the path of a file"):
        load(path)
    with pytest.raises((TypeError, ValueError), match="path must be the path of a file"):
        load(saved).save(path)
