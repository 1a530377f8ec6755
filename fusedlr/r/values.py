"""Plain values of Python as low-level objects of R, and back; R must be running.

rpy2 is imported where it is used: importing it is the session's business.
"""

import numpy as np

__all__ = ["named_list", "to_python", "to_r"]


def to_r(value):
    """None, a number, a string, an array, a list of strings or a dict of these as an object of R."""
    from rpy2 import rinterface

    if value is None:
        return rinterface.NULL
    if isinstance(value, dict):
        return named_list({name: to_r(item) for name, item in value.items()})
    if isinstance(value, (bool, np.bool_)):
        return rinterface.BoolSexpVector([bool(value)])
    if isinstance(value, (int, np.integer)):
        return rinterface.IntSexpVector([int(value)])
    if isinstance(value, str):
        return rinterface.StrSexpVector([value])
    if isinstance(value, rinterface.Sexp):
        return value
    return _vector_to_r(value)


def _vector_to_r(values):
    from rpy2 import rinterface

    if isinstance(values, (list, tuple)) and all(item is None or isinstance(item, str) for item in values):
        return rinterface.StrSexpVector([rinterface.NA_Character if item is None else item for item in values])
    array = np.asarray(values)
    if array.dtype.kind not in "biuf" or array.ndim > 2:
        raise TypeError(f"R takes numbers, strings and arrays of up to two dimensions, found {type(values).__name__}")
    if array.dtype.kind == "f" or array.dtype.itemsize > 4 or array.dtype.kind == "u":
        kind, dtype = rinterface.FloatSexpVector, np.float64
    else:
        kind, dtype = rinterface.IntSexpVector, np.int32
    vector = kind.from_memoryview(memoryview(np.ascontiguousarray(array.ravel(order="F"), dtype=dtype)))
    if array.ndim == 2:
        vector.do_slot_assign("dim", rinterface.IntSexpVector(array.shape))
    return vector


def named_list(items):
    """A dict of objects of R as a list of R."""
    from rpy2 import rinterface

    vector = rinterface.ListSexpVector(list(items.values()))
    vector.do_slot_assign("names", rinterface.StrSexpVector(list(items)))
    return vector


def to_python(value):
    """A vector, matrix or list of R as arrays, lists and dicts; a factor is refused."""
    from rpy2 import rinterface

    if value.rid == rinterface.NULL.rid:
        return None
    if isinstance(value, rinterface.ListSexpVector):
        items = [to_python(item) for item in value]
        return items if value.names.rid == rinterface.NULL.rid else dict(zip(value.names, items))
    if isinstance(value, rinterface.StrSexpVector):
        return [None if item is rinterface.NA_Character else str(item) for item in value]
    if "levels" in tuple(value.list_attrs()):
        raise TypeError("a factor must be turned into codes or strings in R before it comes to Python")
    return _numbers(value)


def _numbers(vector):
    """A numeric or logical R vector as an array of its own memory."""
    from rpy2 import rinterface

    array = np.array(vector.memoryview(), order="F") if len(vector) else np.empty(0)
    if isinstance(vector, rinterface.FloatSexpVector):
        return array
    missing = array == np.iinfo(np.int32).min
    if missing.any():
        return np.where(missing, np.nan, array)
    return array.astype(bool) if isinstance(vector, rinterface.BoolSexpVector) else array
