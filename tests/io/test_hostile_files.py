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
import threading
import tracemalloc
import zipfile

import numpy as np
import pandas as pd
import pytest

from fusedlr import FusedLogit, load

RNG = np.random.default_rng(19)
X = RNG.normal(size=(30, 3))
Y = pd.DataFrame(X[:, [0]] + RNG.logistic(size=(30, 3)) > 0, columns=["low", "mid", "high"])


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


ARRAYS = {
    "offset of one row": ("offset", lambda a: a[:1]),
    "offset of one dimension": ("offset", lambda a: a[:, 0]),
    "offset not finite": ("offset", lambda a: a * np.nan),
    "weights complex": ("weights", lambda a: a * 1j),
    "weights one number": ("weights", lambda a: a[0, 0]),
    "weights negative": ("weights", lambda a: -a),
    "weights of text": ("weights", lambda a: a.astype(str)),
    "signs of floats": ("signs", lambda a: a.astype(float)),
    "signs zero": ("signs", lambda a: 0 * a),
    "X of more columns": ("X", lambda a: np.hstack([a, a])),
    "X infinite": ("X", lambda a: a / 0.0),
    "scale zero": ("scale", lambda a: 0 * a),
    "scale of dates": ("scale", lambda a: a.astype("M8[s]")),
    "params of another shape": ("params", lambda a: a[:, :2]),
    "params not finite": ("params", lambda a: a + np.inf),
    "factors negative": ("penalty_factors", lambda a: a - 2),
    "edges to nowhere": ("edges", lambda a: a + 7),
    "edges negative": ("edges", lambda a: a - 1),
    "edges of three": ("edges", lambda a: np.hstack([a, a])),
    "edge weights too few": ("edge_weights", lambda a: a[:1]),
    "edge weights zero": ("edge_weights", lambda a: 0 * a),
    "a record": ("offset", lambda a: np.zeros(30, dtype=[("a", float)])),
}


@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("name, change", ARRAYS.values(), ids=ARRAYS.keys())
def test_a_wrong_array_is_refused_by_name(saved, tmp_path, name, change):
    page, arrays = parts(saved)
    path = put(tmp_path / "odd.npz", page, {**arrays, name: change(arrays[name])})
    # TaskGraph speaks of tasks, where edges join what is not there.
    with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*({name}|tasks)"):
        load(path)


@pytest.mark.parametrize("name", ["X", "signs", "weights", "offset", "scale", "edges", "edge_weights", "params"])
def test_a_missing_array_is_refused_by_name(saved, tmp_path, name):
    page, arrays = parts(saved)
    del arrays[name]
    path = put(tmp_path / "odd.npz", page, arrays)
    with pytest.raises(ValueError, match=rf"odd.npz.*{name} must be there"):
        load(path)


WRONG = [None, True, -1, 1e400, "text", [], [1], [[1]], {}, {"a": 1}, float("nan")]
FIELDS = ["endog_names", "exog_names", "labels", "task_names", "constant", "standardize", "formula", "solution",
          "penalties", "method", "tol", "kept", "solution.objective", "solution.status", "solution.iterations",
          "penalties.l1", "kept.nobs", "kept.llf_per_task"]
FINE = {("task_names", None), ("constant", None), ("formula", None), ("standardize", True), ("solution.objective", -1)}


@pytest.mark.parametrize("field", FIELDS)
def test_a_wrong_field_of_the_page_is_refused_by_name(saved, tmp_path, field):
    for value in WRONG:
        if any(field == name and value is fine for name, fine in FINE):
            continue
        page, arrays = parts(saved)
        *above, last = field.split(".")
        (page[above[0]] if above else page)[last] = value
        path = put(tmp_path / "odd.npz", page, arrays)
        # A list of another length is noticed by the next field that has to agree with it.
        with pytest.raises(ValueError, match=rf"{re.escape(str(path))}.*({re.escape(field)}|must have size)"):
            load(path)


@pytest.mark.parametrize("field", [f for f in FIELDS if f not in ("task_names", "constant", "formula")])
def test_a_missing_field_of_the_page_is_refused_by_name(saved, tmp_path, field):
    page, arrays = parts(saved)
    *above, last = field.split(".")
    del (page[above[0]] if above else page)[last]
    with pytest.raises(ValueError, match=f"odd.npz.*{above[0] if above else last} must"):
        load(put(tmp_path / "odd.npz", page, arrays))


@pytest.mark.parametrize("kind", ["bootstrap", "stability"])
def test_wrong_repetitions_are_refused_by_name(saved, tmp_path, kind):
    getattr(load(saved), kind)(4, progress=False).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    for field, value in [("status", []), ("status", ["optimal"]), ("status", ["fine"] * 4), ("status", "optimal"),
                         ("seed", -1), ("seed", 0.5), ("seed", None), ("more", 1)]:
        path = put(tmp_path / "odd.npz", {**page, kind: {**page[kind], field: value}}, arrays)
        with pytest.raises(ValueError, match=rf"odd.npz.*({kind}.*{field}|{kind} must hold|samples must have size)"):
            load(path)
    for samples in (arrays["samples"][:3], arrays["samples"][:, :2], arrays["samples"] * np.nan, np.zeros(4)):
        with pytest.raises(ValueError, match="odd.npz.*samples must"):
            load(put(tmp_path / "odd.npz", page, {**arrays, "samples": samples}))
    other = "stability" if kind == "bootstrap" else "bootstrap"
    with pytest.raises(ValueError, match=f"odd.npz.*{kind} must be one of"):
        load(put(tmp_path / "odd.npz", {**page, "kind": f"fusedlr {other}"}, arrays))


def places(page):
    """Where something stands in a page: at most two entries of each list."""
    entries = page.items() if isinstance(page, dict) else enumerate(page[:2]) if isinstance(page, list) else ()
    for key, value in entries:
        yield (key,)
        for below in places(value):
            yield (key, *below)


KINDS = {
    "refit": lambda res: res.refit(),
    "bootstrap": lambda res: res.bootstrap(2, n_jobs=1, progress=False),
    "cv": lambda res: res.model.fit_cv(folds=2, l1=[1.0, 2.0], l2=[0.1], fusion=[1.0], n_jobs=1, progress=False),
    "grid": lambda res: res.model.fit_grid([1.0, 2.0], [0.1], [1.0], progress=False),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::fusedlr.FusedLogitWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_a_page_with_a_hole_or_a_number_of_any_size_is_refused_or_can_be_used(saved, tmp_path, kind):
    KINDS[kind](load(saved)).save(tmp_path / "whole.npz")
    page, arrays = parts(tmp_path / "whole.npz")
    refused = 0
    for *above, last in places(page):
        for value in (None, 10**30, [1]):
            odd = json.loads(json.dumps(page))
            inside = functools.reduce(operator.getitem, above, odd)
            if value is None:
                del inside[last]
            else:
                inside[last] = value
            try:
                str(load(put(tmp_path / "odd.npz", odd, arrays)))
            except ValueError as refusal:
                assert "odd.npz" in str(refusal), (above, last, value)
                refused += 1
    assert refused > 50


def test_a_page_overwrites_no_attribute(saved, tmp_path):
    page, arrays = parts(saved)
    page["kept"]["model"] = 1
    with pytest.raises(ValueError, match="odd.npz.*kept must hold exactly"):
        load(put(tmp_path / "odd.npz", page, arrays))


def test_names_that_come_twice_are_refused(saved, tmp_path):
    page, arrays = parts(saved)
    page["exog_names"][1] = page["exog_names"][2]
    with pytest.raises(ValueError, match="odd.npz.*exog_names must hold.*none of them twice"):
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
    path = with_member(saved, tmp_path / "odd.npz", "offset.npy", header(shape))
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
    """Each header agrees with the size of its member, and all but that of signs agree: 300 MB each, in a small file."""
    members = {f"{name}.npy": zeros((12_500_000, 3)) for name in ("X", "offset", "weights")}
    path = with_large_members(saved, tmp_path / "odd.npz", members)
    assert path.stat().st_size < 10_000_000
    said, memory = refusal_and_memory(path)
    assert "odd.npz" in said and "signs must have size 12500000 along n" in said
    assert memory < 10_000_000


def test_more_of_the_same_is_refused_by_the_size_of_the_file(saved, tmp_path):
    """One packed piece that several members point to: each is small in the file, all are large in memory."""
    path = with_large_members(saved, tmp_path / "odd.npz", {"X.npy": zeros((12_500_000, 3))})
    whole = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        listed = {info.filename: info for info in archive.infolist()}
    big = listed["X.npy"]
    for name in ("offset.npy", "weights.npy"):
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
    path = with_large_members(saved, tmp_path / "odd.npz", {"offset.npy": zeros((30, 3))}, method)
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
        archive.writestr("offset.npy", header((30, 3)) + bytes(720))
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


def test_a_folder_is_not_overwritten(saved, tmp_path):
    with pytest.raises(ValueError, match="path must be that of a file"):
        load(saved).save(tmp_path)


@pytest.mark.parametrize("path", [None, 3, b"fit", ["fit"], "", "a\0b"])
def test_what_is_no_path_is_refused(saved, path):
    with pytest.raises((TypeError, ValueError), match="path must be the path of a file"):
        load(path)
    with pytest.raises((TypeError, ValueError), match="path must be the path of a file"):
        load(saved).save(path)
