"""Results on disk: everything comes back, nothing is executed, and writing is atomic."""

import json
import os
import pickle

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, TaskGraph, load
from fusedlr.io import npz

RNG = np.random.default_rng(9)
X = pd.DataFrame(RNG.normal(size=(50, 3)), pd.date_range("2021-01-01", periods=50), ["age", "dose", "noise"])
Y = pd.DataFrame(np.where(X[["age"]].to_numpy() + RNG.logistic(size=(50, 3)) > 0, "sick", "healthy"), X.index,
                 ["low", "mid", "high"])
STATISTICS = ("gap", "llf", "llnull", "aic", "bic", "df", "df_model", "df_resid", "nobs", "objective", "status",
              "iterations", "method", "tol")

FITS = {
    "plain": (lambda: FusedLogit(Y, X), {}),
    "standardized": (lambda: FusedLogit(Y, X * 7, standardize=True), {}),
    "arrays": (lambda: FusedLogit((Y == "sick").to_numpy(), X.to_numpy()), {}),
    "weights, offset, factors": (lambda: FusedLogit(Y, X, weights=np.arange(50) % 3, offset=np.linspace(0, 1, 50),
                                                    penalty_factors={"dose": 0}), {}),
    "ring": (lambda: FusedLogit(Y, X, tasks="ring"), {}),
    "weighted graph": (lambda: FusedLogit(Y, X, tasks=TaskGraph([("low", "high", 2)], names=Y.columns)), {}),
    "missing labels": (lambda: FusedLogit(Y.where(X["age"] > -1), X), {}),
    "penalties by name": (lambda: FusedLogit(Y, X), {"l1": pd.Series([1.0, 2.0, 3.0], X.columns)}),
    "penalties by vector": (lambda: FusedLogit(Y, X), {"fusion": np.arange(4.0)}),
    "row labels of text": (lambda: FusedLogit(Y.set_axis(list(map(str, range(50))), axis=0),
                                              X.set_axis(list(map(str, range(50))), axis=0)), {}),
    "numbers as names": (lambda: FusedLogit(Y.set_axis([1, 2, 3], axis=1), X.set_axis([10, 20, 30], axis=1)), {}),
}


@pytest.mark.parametrize("remove_data", [False, True], ids=["with data", "without data"])
@pytest.mark.parametrize("make, penalties", FITS.values(), ids=FITS.keys())
def test_everything_comes_back(tmp_path, make, penalties, remove_data):
    res = make().fit(**{"l1": 1.0, "l2": 0.1, "fusion": 1.0, **penalties})
    res.save(tmp_path / "fit", remove_data=remove_data)
    back = load(tmp_path / "fit")
    pd.testing.assert_frame_equal(back.params, res.params)
    pd.testing.assert_frame_equal(back.fused_groups, res.fused_groups)
    assert [getattr(back, name) for name in STATISTICS] == [getattr(res, name) for name in STATISTICS]
    assert str(back.summary()) == str(res.summary())
    exog = res.model.exog
    offset = 0.5 if res.model.spec.has_offset else None
    pd.testing.assert_frame_equal(back.predict(exog, "label", offset), res.predict(exog, "label", offset))
    assert back.model.spec.has_offset == res.model.spec.has_offset
    if not remove_data:
        pd.testing.assert_frame_equal(back.fittedvalues, res.fittedvalues, check_freq=False)
        assert back.model.tasks == res.model.tasks


def test_a_loaded_model_fits_again(tmp_path):
    res = FusedLogit(Y, X, standardize=True).fit(1, 0.1, 1)
    res.save(tmp_path / "fit")
    again = load(tmp_path / "fit").model.fit(1, 0.1, 1)
    pd.testing.assert_frame_equal(again.params, res.params)


def test_a_formula_is_read_only_if_asked_for(tmp_path):
    frame = Y.join(X).assign(site=pd.Categorical(np.resize(["a", "b", "c"], 50)))
    res = FusedLogit.from_formula("low + mid ~ np.exp(age) + site", frame).fit(1, 0.1, 1)
    res.save(tmp_path / "fit")
    plain = load(tmp_path / "fit")
    with pytest.raises(ValueError, match=r"exog.*np.exp\(age\)"):
        plain.predict(frame)
    np.testing.assert_allclose(plain.predict(res.model.exog), res.fittedvalues)
    trusted = load(tmp_path / "fit", formula=True)
    pd.testing.assert_frame_equal(trusted.predict(frame.iloc[:5]), res.predict(frame.iloc[:5]))


def test_without_data_a_file_is_small(tmp_path):
    wide = pd.DataFrame(RNG.normal(size=(50, 400)), X.index)
    res = FusedLogit(Y, wide).fit(3, 0.1, 1)
    res.save(tmp_path / "with")
    res.save(tmp_path / "without", remove_data=True)
    assert (tmp_path / "without").stat().st_size < (tmp_path / "with").stat().st_size / 5
    assert res.model.problem.n_rows == 50


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "fit"
    path.write_text("old")
    res = FusedLogit(Y, X).fit(1, 0.1, 1)

    def full_disk(file, array, allow_pickle):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(npz.np.lib.format, "write_array", full_disk)
    with pytest.raises(OSError, match="disk full"):
        res.save(path)
    assert os.listdir(tmp_path) == ["fit"] and path.read_text() == "old"


def test_a_pickle_is_never_opened(tmp_path):
    path = tmp_path / "trap.npz"
    np.savez(path, page=np.array([print], dtype=object))
    with pytest.raises(ValueError, match="written by the save method of a result"):
        load(path)
    path.write_bytes(pickle.dumps({"kind": "fusedlr results"}))
    with pytest.raises(ValueError, match="written by the save method of a result"):
        load(path)


@pytest.mark.parametrize("kind", ["results", "a kind of its own"])
@pytest.mark.parametrize("number, version", [(npz.FORMAT + 1, "9.0"), (npz.FORMAT - 1, "0.1.0"), ("2", "9.0")])
def test_a_file_of_another_format_is_refused_and_names_the_version_that_wrote_it(tmp_path, number, version, kind):
    page = json.dumps({"kind": f"fusedlr {kind}", "format": number, "fusedlr": version}).encode()
    np.savez(tmp_path / "other.npz", page=np.frombuffer(page, dtype=np.uint8))
    with pytest.raises(ValueError, match=f"other.npz.*format is {number}, written by fusedlr {version};.*"
                                         f"reads format {npz.FORMAT}: use the version that wrote it"):
        load(tmp_path / "other.npz")


def test_every_file_says_its_format(tmp_path):
    FusedLogit(Y, X).fit(1, 0.1, 1).save(tmp_path / "fit.npz")
    with np.load(tmp_path / "fit.npz") as archive:
        page = json.loads(archive["page"].tobytes())
    assert (page["kind"], page["format"]) == ("fusedlr results", npz.FORMAT) == ("fusedlr results", 2)


def test_no_such_file_is_said_plainly(tmp_path):
    with pytest.raises(FileNotFoundError, match="No such file.*nothing"):
        load(tmp_path / "nothing")


def test_labels_that_json_does_not_know_are_refused(tmp_path):
    bins = pd.cut(X["age"], [-9, 0, 9])
    with pytest.raises(TypeError, match="text or numbers to be saved.*Interval"):
        FusedLogit(bins, X).fit(1, 0.1, 1).save(tmp_path / "fit")
    assert os.listdir(tmp_path) == []
