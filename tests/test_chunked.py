"""Rows in chunks: the minimiser of the same rows in memory, at any number of chunks."""

import os
import pickle
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, TaskGraph, chunked
from fusedlr.optimality import certify
from fusedlr.problem import Penalty, Problem
from fusedlr.solver import solve_exactly, solve_quadratic

N, D, T = 400, 8, 4


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(N, D)) + rng.choice([0.0, 5.0], size=D)) * 10.0 ** rng.uniform(-2, 2, size=D)
    signal_ = ((X - X.mean(axis=0)) / X.std(axis=0))[:, :3] @ rng.normal(size=(3, T))
    Y = (rng.random((N, T)) < 1 / (1 + np.exp(-signal_))).astype(float)
    Y[rng.random((N, T)) < 0.1] = np.nan
    return Y, X, rng.choice([0.5, 1.0, 2.0], size=N)


PENALTIES = [(4.0, 0.5, 6.0), (4.0, 0.0, 6.0), (0.0, 1.0, 2.0), (2.0, 0.0, 0.0)]


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("settings", [{}, {"standardize": False}, {"fuse_intercepts": True, "tasks": "ring"}],
                         ids=["default", "as it is", "ring"])
def test_the_minimiser_is_that_of_the_rows_in_memory(data, penalty, settings):
    Y, X, weights = data
    whole = FusedLogit(Y, X, weights=weights, **settings).fit(*penalty)
    found = chunked.fit(chunked.cut(Y, X, weights, rows=64), *penalty, **settings)
    size = np.append(1.0, X.std(axis=0))[:, None]
    np.testing.assert_allclose(found.params * size, whole.params.to_numpy() * size, rtol=0, atol=1e-7)
    np.testing.assert_array_equal(found.params == 0, whole.params.to_numpy() == 0)
    assert found.converged and found.objective == pytest.approx(whole.objective, rel=1e-12)
    assert found.llf == pytest.approx(whole.llf, rel=1e-9)


@pytest.mark.parametrize("rows", [1, 7, 100, 1000])
def test_the_number_of_chunks_changes_nothing(data, rows):
    Y, X, weights = data
    size = np.append(1.0, X.std(axis=0))[:, None]
    found, other = (chunked.fit(chunked.cut(Y, X, weights, rows=k), 4.0, 0.5, 6.0) for k in (rows, 128))
    np.testing.assert_allclose(found.params * size, other.params * size, rtol=0, atol=1e-8)
    assert found.passes == other.passes


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_no_gap_is_below_the_distance_to_the_minimum(data, penalty, tol):
    Y, X, weights = data
    chunks = chunked.cut(Y, X, weights, rows=64)
    rough, exact = chunked.fit(chunks, *penalty, tol=tol), chunked.fit(chunks, *penalty)
    assert rough.gap <= tol
    assert rough.gap >= (rough.objective - exact.objective) / exact.objective - 1e-13
    model = FusedLogit(Y, X, weights=weights)
    certificate = certify(model.problem, exact.params.to_numpy(), model.problem.penalty(*penalty))
    assert certificate.relative_gap <= 1e-7


def test_a_grid_has_the_fits_at_its_points(data):
    Y, X, _ = data
    chunks = chunked.cut(Y, X, rows=150)
    grid = chunked.fit_grid(chunks, [8.0, 2.0], [0.1], [0.0, 5.0], tol=1e-9)
    assert [tuple(fit.penalties.values()) for fit in grid] == [(8.0, 0.1, 0.0), (8.0, 0.1, 5.0), (2.0, 0.1, 0.0),
                                                               (2.0, 0.1, 5.0)]
    for found in grid:
        assert found.objective == pytest.approx(chunked.fit(chunks, *found.penalties.values()).objective, rel=2e-9)


def test_frames_go_by_name(data):
    Y, X, _ = data
    names = list("abcdefgh")
    frame = pd.DataFrame(X, columns=names)
    chunks = [lambda: (Y[:200], frame[:200]), lambda: (Y[200:], frame[200:][names[::-1]])]
    with pytest.raises(ValueError, match="chunks must have the same features and tasks"):
        chunked.fit(chunks, 4.0, 0.5, 6.0)
    found = chunked.fit([chunks[0], lambda: (Y[200:], frame[200:])], 4.0, 0.5, 6.0, names=list("pqrs"))
    assert list(found.params.index) == ["const", *names] and list(found.params.columns) == list("pqrs")
    np.testing.assert_allclose(found.predict(frame[names[::-1]]), found.predict(X), rtol=1e-14)
    parts = list(found.predict_chunks([lambda: X[:100], lambda: (Y[100:], X[100:])]))
    np.testing.assert_array_equal(pd.concat(parts), found.predict(X))


def test_memory_maps_are_opened_where_they_are_read(data, tmp_path):
    Y, X, _ = data
    np.save(tmp_path / "X.npy", X.astype(np.float32))
    np.save(tmp_path / "Y.npy", np.nan_to_num(Y).astype(np.int8))
    maps = [np.load(tmp_path / name, mmap_mode="r") for name in ("Y.npy", "X.npy")]
    chunks = chunked.cut(*maps, rows=90)
    assert len(pickle.dumps(chunks[0])) < 1500
    found = chunked.fit([pickle.loads(pickle.dumps(chunk)) for chunk in chunks], 4.0, 0.5, 6.0)
    whole = FusedLogit(np.nan_to_num(Y), X.astype(np.float32)).fit(4.0, 0.5, 6.0)
    assert found.objective == pytest.approx(whole.objective, rel=1e-12)
    parts = chunked.cut(maps[0][100:], maps[1][100:], rows=90)  # a part of a map is read as it is
    np.testing.assert_array_equal(parts[0]()[1], X[100:190].astype(np.float32))


def test_dask_arrays_are_taken_in_chunks(data):
    dask = pytest.importorskip("dask.array")
    Y, X, _ = data
    found = chunked.fit(chunked.cut(dask.from_array(Y, chunks=(70, T)), dask.from_array(X, chunks=(70, D)), rows=70),
                        4.0, 0.5, 6.0)
    assert found.objective == pytest.approx(FusedLogit(Y, X).fit(4.0, 0.5, 6.0).objective, rel=1e-12)
    with pytest.raises(TypeError, match=r"exog.*Dask array.*fusedlr\.chunked.*compute\(\)"):
        FusedLogit(Y, dask.from_array(X))


def test_threads_work_on_chunks_side_by_side(data):
    Y, X, _ = data
    with ThreadPoolExecutor(3) as executor:
        found = chunked.fit(chunked.cut(Y, X, rows=50), 4.0, 0.5, 6.0, map=executor.map)
    assert found.objective == pytest.approx(chunked.fit(chunked.cut(Y, X, rows=50), 4.0, 0.5, 6.0).objective, rel=1e-14)


def read(folder, first, last, dies):
    """Rows of two files; once, on the way, the worker that reads them is lost. Every reading leaves a mark."""
    (Path(folder) / f"read-{first}-{os.getpid()}-{os.urandom(4).hex()}").touch()
    if dies and not (Path(folder) / "died").exists() and len(list(Path(folder).glob(f"read-{first}-*"))) == 3:
        (Path(folder) / "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return tuple(np.load(Path(folder) / name, mmap_mode="r")[first:last] for name in ("Y.npy", "X.npy"))


def test_a_lost_worker_costs_its_chunk_only(data, tmp_path):
    Y, X, _ = data
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "Y.npy", Y)
    chunks = [partial(read, str(tmp_path), first, first + 100, first == 200) for first in range(0, N, 100)]
    made = []

    def make():
        made.append(ProcessPoolExecutor(1, mp_context=get_context("spawn")))
        return made[-1]

    found = chunked.fit(chunks, 4.0, 0.5, 6.0, map=chunked.resilient(make))
    for executor in made:
        executor.shutdown()
    assert (tmp_path / "died").exists() and len(made) == 2
    assert found.objective == pytest.approx(FusedLogit(Y, X).fit(4.0, 0.5, 6.0).objective, rel=1e-12)
    counts = [len(list(tmp_path.glob(f"read-{first}-*"))) for first in range(0, N, 100)]
    assert max(counts) - min(counts) <= 1  # the chunk that was lost was read once more, and no other


def test_what_is_not_offered_is_refused_by_name(data):
    found = chunked.fit(chunked.cut(*data[:2]), 4.0, 0.5, 6.0)
    for name, words in (*((name, f"{name} is not offered for rows beyond memory")
                          for name in ("refit", "bootstrap", "stability", "summary")),
                        ("nonsense", "has no attribute 'nonsense'")):
        with pytest.raises(AttributeError, match=words):
            getattr(found, name)


X0, Y0 = np.random.default_rng(1).normal(size=(30, 2)), np.arange(60).reshape(30, 2) % 2.0
Y0[:, 0] = np.arange(30) % 3 == 0
Y0[:, 1] = np.arange(30) % 2
BAD = {
    "no list": (None, {}, TypeError, "chunks must be a list of functions.*chunked.cut"),
    "arrays": ([(Y0, X0)], {}, TypeError, "chunks must be a list of functions"),
    "no penalty": ([lambda: (Y0, X0)], {"l1": 0.0}, ValueError, "l1 or l2 must be positive"),
    "constant": ([lambda: (Y0, X0 * [1, 0])], {}, ValueError, "exog: columns 'x2' are constant.*drop"),
    "one class": ([lambda: (Y0 * [1, 0], X0)], {}, ValueError, "endog: columns 1 must have both labels"),
    "labels": ([lambda: (Y0 + 1, X0)], {}, ValueError, "chunk 0: endog must hold 0, 1"),
    "features": ([lambda: (Y0, X0 * np.nan)], {}, ValueError, "chunk 0: exog must be finite"),
    "weights": ([lambda: (Y0, X0, -np.ones(30))], {}, ValueError, "chunk 0: weights must be finite and not negative"),
    "shapes": ([lambda: (Y0, X0[1:])], {}, ValueError, "chunk 0 must have labels.*shapes"),
    "other features": ([lambda: (Y0, X0), lambda: (Y0, X0[:, :1])], {}, ValueError, "chunks must have the same"),
}


@pytest.mark.parametrize("chunks, settings, kind, words", BAD.values(), ids=BAD.keys())
def test_bad_chunks_are_refused_by_name(chunks, settings, kind, words):
    with pytest.raises(kind, match=words):
        chunked.fit(chunks, **{"l1": 1.0, **settings})


def test_rows_of_arrays_must_agree():
    with pytest.raises(ValueError, match="exog must have the 30 rows of endog, found 29"):
        chunked.cut(Y0, X0[1:])


# ---- the quadratic door ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("seed", range(20))
def test_a_quadratic_is_minimised(seed):
    rng = np.random.default_rng(seed)
    rows, t = int(rng.integers(2, 12)), int(rng.integers(1, 6))
    roots = rng.normal(size=(t, 2 * rows, rows)) * 10.0 ** rng.uniform(-2, 2, size=rows)
    gram, slopes, start = np.einsum("kia,kib->kab", roots, roots), *rng.normal(size=(2, rows, t))
    tasks = TaskGraph.build("ring" if t > 2 else "chain", t)
    l1, l2, fusion = (rng.choice([0.0, 0.3, 3.0], size=rows) for _ in range(3))
    penalty = Penalty(np.append(0, l1[1:]), np.append(0, l2[1:]), fusion)
    found = solve_quadratic(gram, slopes, penalty, tasks, start)

    def value(params):
        move = params - start
        bent = np.einsum("ak,kab,bk->", move, gram, move)
        tied = penalty.fusion @ (np.abs(tasks.differences(params)) @ tasks.weights)
        return (slopes * move).sum() + bent / 2 + penalty.l1 @ np.abs(params).sum(axis=1) + tied + \
            penalty.l2 @ (params**2).sum(axis=1) / 2

    least = value(found)
    assert least <= value(start)
    for _ in range(200):
        near = found + rng.normal(size=found.shape) * 10.0 ** rng.uniform(-6, 0) / np.sqrt(np.einsum("kaa->ak", gram))
        assert value(near) >= least - 1e-12 * (1 + abs(least))


def test_newton_steps_on_quadratics_lead_to_the_fit(data):
    Y, X, _ = data
    problem = Problem.wide((X - X.mean(axis=0)) / X.std(axis=0), np.nan_to_num(Y))
    penalty = problem.penalty(3.0, 0.1, 2.0)
    params, Z = np.zeros((1 + D, T)), np.column_stack([np.ones(N), problem.design.X])
    sign = np.where(np.nan_to_num(Y) == 1, 1, -1)
    for _ in range(12):
        p = 1 / (1 + np.exp(sign * (Z @ params)))
        gram = np.stack([(Z * w[:, None]).T @ Z for w in (p * (1 - p)).T])
        params = solve_quadratic(gram, -Z.T @ (sign * p), penalty, problem.tasks, params)
    np.testing.assert_allclose(params, solve_exactly(problem, penalty).params, atol=1e-9)
