"""Results on disk: arrays and a page of JSON in one npz file, which runs no code when it is read."""

import json
import os
import tempfile
import zlib
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from . import __version__
from .objective import Data, Solution
from .tasks import TaskGraph

__all__ = ["read", "write"]

KIND = "fusedlr results"

# Raised when a file written before can no longer be read; files of a later format are refused.
FORMAT = 1

# What numpy, zipfile and json say of a file that is not ours or is damaged.
_BROKEN = (BadZipFile, zlib.error, EOFError, AttributeError, KeyError, TypeError, ValueError)


def write(results, path, remove_data=False):
    """Write results to ``path``: beside it first, then renamed, so that no half file is ever seen."""
    arrays = _arrays(results, remove_data or results.model._data is None)
    page = json.dumps(_page(results), default=_plain).encode()
    arrays["page"] = np.frombuffer(page, dtype=np.uint8)
    path = Path(path)
    handle, beside = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, **arrays)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def read(path, formula=False):
    """Results from a file that ``write`` made."""
    page, arrays = _contents(path)
    from .results import FusedLogitResults

    model = _model(page, arrays, formula)
    solution = Solution(arrays["params"], **page["solution"], history={})
    results = FusedLogitResults(model, solution, {name: _revived(value) for name, value in page["penalties"].items()},
                                page["method"], page["tol"])
    for name, value in page["kept"].items():
        results.__dict__[name] = pd.Series(value, model.endog_names) if isinstance(value, list) else value
    return results


def _contents(path):
    """The page and the arrays of a file, or a refusal that says what is wrong with it."""
    refusal = ValueError(f"path must lead to a file written by FusedLogitResults.save, found {str(path)!r}, which is "
                         "something else or cut short")
    try:
        # Opened here, because numpy leaves a file open that turns out to be cut short.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        page = json.loads(arrays.pop("page").tobytes())
    except _BROKEN as error:
        raise refusal from error
    if not isinstance(page, dict) or page.get("kind") != KIND:
        raise refusal
    if page["format"] > FORMAT:
        raise ValueError(f"path leads to a file of format {page['format']}, written by fusedlr {page['fusedlr']}; "
                         f"this is fusedlr {__version__}, which reads up to format {FORMAT}: update fusedlr")
    return page, arrays


# ---- writing --------------------------------------------------------------------------------------------------------

def _arrays(results, remove_data):
    model = results.model
    arrays = {"params": results.solution.params, "scale": model.scale, "edges": model.tasks.edges,
              "edge_weights": model.tasks.weights}
    if model.penalty_factors is not None:
        arrays["penalty_factors"] = model.penalty_factors
    if not remove_data:
        data = model.data
        arrays.update(X=data.X, signs=data.signs.astype(np.int8), weights=data.weights, offset=data.offset)
        arrays.update({} if model.index is None else {"index": _index_array(model.index)})
    return arrays


def _index_array(index):
    """Row labels as numbers or dates; as text where they are anything else."""
    values = index.to_numpy()
    return values if values.dtype.kind in "iufbM" else index.map(str).to_numpy().astype("U")


def _page(results):
    from .results import KEPT

    model, solution = results.model, results.solution
    return {
        "kind": KIND, "format": FORMAT, "fusedlr": __version__,
        "endog_names": model.endog_names, "exog_names": model.exog_names, "labels": model.labels,
        "task_names": model.tasks.names, "constant": model.constant, "standardize": model.standardize,
        "fuse_intercepts": model.fuse_intercepts,
        "formula": None if model.formula is None else _formula_page(model.formula),
        "solution": {"objective": solution.objective, "gap": solution.gap, "status": solution.status,
                     "iterations": solution.iterations},
        "penalties": {name: _dismantled(value) for name, value in results.penalties.items()},
        "method": results.method, "tol": results.tol,
        "kept": {name: _dismantled_kept(getattr(results, name)) for name in KEPT},
    }


def _dismantled(penalty):
    """A penalty as JSON has it: a number, a list, or pairs of name and number."""
    if hasattr(penalty, "keys"):
        return {"by_name": [[name, float(penalty[name])] for name in penalty.keys()]}
    return np.asarray(penalty, dtype=float).tolist()


def _dismantled_kept(value):
    return value.tolist() if isinstance(value, pd.Series) else value


def _formula_page(formula):
    sample = formula.sample
    columns = [{"name": name, "values": sample[name].tolist(), "levels": _levels(sample[name])} for name in sample]
    return {"text": formula.text, "sample": columns}


def _levels(column):
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return None
    return {"categories": column.cat.categories.tolist(), "ordered": column.cat.ordered}


def _plain(value):
    """numpy's numbers as Python's; anything else has no place in a file without code."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"names and labels must be text or numbers to be saved, found {type(value).__name__} {value!r}")


def _umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


# ---- reading --------------------------------------------------------------------------------------------------------

def _model(page, arrays, formula):
    from fusedlr import FusedLogit  # the model imports its results, so it is found when it is needed

    model = FusedLogit.__new__(FusedLogit)
    model.endog_names, model.exog_names = _names(page["endog_names"]), _names(page["exog_names"])
    model.labels = [tuple(pair) for pair in page["labels"]]
    model.constant, model.standardize = page["constant"], page["standardize"]
    model.fuse_intercepts = page.get("fuse_intercepts", True)  # the first files knew nothing else
    model.scale, model.penalty_factors = arrays["scale"], arrays.get("penalty_factors")
    edges = [(int(j), int(k), weight) for (j, k), weight in zip(arrays["edges"], arrays["edge_weights"])]
    model.tasks = TaskGraph(edges, len(model.endog_names), page["task_names"])
    model.formula = _formula(page["formula"]) if formula and page["formula"] else None
    model._data, model.index = _data(arrays)
    return model


def _data(arrays):
    if "X" not in arrays:
        return None, None
    data = Data(arrays["X"], arrays["signs"].astype(float), arrays["weights"], arrays["offset"])
    return data, pd.Index(arrays["index"]) if "index" in arrays else None


def _formula(page):
    from .formula import Formula

    return Formula.revive(page["text"], pd.DataFrame({column["name"]: _column(column) for column in page["sample"]}))


def _column(column):
    levels = column["levels"]
    return column["values"] if levels is None else pd.Categorical(column["values"], **levels)


def _names(names):
    """Names as they were: JSON knows no tuples, which are the names of columns with several levels."""
    return [tuple(name) if isinstance(name, list) else name for name in names]


def _revived(penalty):
    if isinstance(penalty, dict):
        return dict((_names([name])[0], value) for name, value in penalty["by_name"])
    return penalty
