"""Formulas with several outcomes on the left, evaluated on a data frame; the right side again on new data.

The sides are evaluated separately. A missing label must not drop its row, because other
tasks may be observed there; and labels must arrive as the user wrote them, where
patsy would dummy-code booleans and strings.
"""

from __future__ import annotations

import ast
import tokenize
from collections.abc import Mapping
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np
import pandas as pd

from .. import checks
from ..frames import plain
from ..io import FLAG, LABEL, NAME, NONE, TEXT, Plain, either, listed, record, row

__all__ = ["SAVED_FORMULA", "Formula", "calling_environment"]


def calling_environment(depth: int) -> Any:
    """The names that a formula may use: those visible ``depth`` calls up."""
    import patsy

    try:
        return patsy.EvalEnvironment.capture(depth)
    except (AttributeError, ValueError):  # the caller is R, and there is no frame of Python above
        return _plain_environment()


def _has_two_sides(text: Any) -> bool:
    return isinstance(text, str) and text.count("~") == 1


class Formula:
    """A formula and what it takes to evaluate its right side on new data.

    Parameters
    ----------
    text : str
    data : DataFrame
    environment : patsy.EvalEnvironment, optional
        Names other than the columns of ``data``; numpy as ``np`` where left out.
    drop : bool
        Whether rows with a missing value on the right side become rows of NaN in ``exog``,
        for the model to drop; elsewhere they are refused.

    Attributes
    ----------
    endog, exog : DataFrame
        Labels as they stand in ``data``, and the design; gone after ``without_data``.
    sample : DataFrame
        The rows and columns of ``data`` from which the design can be built again: one
        row for each level of a factor, or all rows where the formula has a transform
        such as ``center`` that depends on all of them. Copies and pickles carry it.
    terms : dict of str to list of str
        Columns of the design that belong to each term of the right side; a factor has several.
    trusted : bool
        Whether it may be evaluated; False where it was read from a file, until the user says so.
    """

    trusted = True

    def __init__(self, text: str, data: pd.DataFrame, environment: Any = None, drop: bool = False) -> None:
        if not _has_two_sides(text):
            raise ValueError(f"formula must be of the form 'task + task ~ feature + feature', found "
                             f"{checks.shown(text)}")
        data = plain("data", data)
        if not isinstance(data, pd.DataFrame):
            way_out = "; use pandas.DataFrame(data)" if isinstance(data, Mapping) else ""
            raise TypeError(f"data must be a DataFrame, found {checks.shown(data)}{way_out}")
        self.text = text
        environment = _plain_environment() if environment is None else environment
        data = _plain_types(data)
        self.endog = _left_side(text, data, environment)
        self.exog, self._info, complete = _right_side(text, data, environment, drop)
        self.sample = _sample(self._info, data.iloc[complete])
        self.terms = {name: list(self._info.column_names[where]) for name, where in self._info.term_name_slices.items()}

    def without_data(self) -> Formula:
        """The same formula without the data it was built from; ``sample`` stays."""
        self.endog = self.exog = None
        return self

    def design(self, data: pd.DataFrame, gaps: bool = False) -> pd.DataFrame:
        """Right side of the formula on new data, DataFrame with the columns of the design.

        With ``gaps`` rows with a missing value are rows of NaN; elsewhere they are refused.
        """
        import patsy

        data = plain("exog", data)
        if not isinstance(data, pd.DataFrame):
            raise TypeError(f"exog must be a DataFrame with the variables of the formula {self.text!r}, "
                            f"found {type(data).__name__}")
        info = self._design_info()
        absent = [name for name in self.sample.columns if name not in data.columns]
        if absent:
            raise ValueError(f"exog must have the variables of the formula {self.text!r}; missing are {absent}")
        with _refusals("exog", self.text, data):
            design, = patsy.build_design_matrices([info], _plain_types(data).reset_index(drop=True),
                                                  NA_action="drop" if gaps else "raise", return_type="dataframe")
        return design.reindex(range(len(data))).set_axis(data.index, axis=0)

    def trust(self, features: tuple) -> None:
        """Evaluate what came from a file; refuse it where its design lacks one of the features."""
        absent = [name for name in features if name not in self._design_info().column_names]
        if absent:
            raise ValueError(f"formula must have the features of the model on its right side; missing are {absent[:4]}")
        self.trusted = True

    def _design_info(self):
        if self._info is None:
            right = self.text.split("~")[1]
            self._info = _right_side("~" + right, self.sample, _plain_environment())[1]
        return self._info

    def __deepcopy__(self, memo):
        return self

    def __getstate__(self):
        # patsy refuses to be pickled: the design is built again from the sample when it is needed.
        return {"text": self.text, "sample": self.sample, "terms": self.terms, "endog": None, "exog": None,
                "_info": None, "trusted": self.trusted}

    def packed(self) -> dict:
        """Text and sample as plain values; ``unpacked`` takes them back."""
        columns = [{"name": name, "values": self.sample[name].tolist(), "levels": _levels(self.sample[name])}
                   for name in self.sample]
        return {"text": self.text, "sample": columns, "terms": [list(term) for term in self.terms.items()]}

    @classmethod
    def unpacked(cls, page: Any) -> Formula:
        """A formula from its text and sample, evaluated when first used, once it is trusted."""
        if not _has_two_sides(page["text"]):
            raise ValueError(f"formula.text must have one ~, found {checks.shown(page['text'])}")
        sample = pd.DataFrame({column["name"]: _column(column) for column in page["sample"]})
        formula = cls.__new__(cls)
        formula.__dict__.update(text=page["text"], sample=sample, terms=dict(page["terms"]), endog=None, exog=None,
                                _info=None, trusted=False)
        return formula


_COLUMN = record({"name": NAME, "values": listed(either(NONE, LABEL), "rows of the formula's sample"),
                  "levels": either(NONE, record({"categories": listed(LABEL), "ordered": FLAG}))})
_TERM = row(TEXT, listed(TEXT))
SAVED_FORMULA = Plain(either(NONE, record({"text": TEXT, "sample": listed(_COLUMN), "terms": listed(_TERM)})),
                      lambda formula: formula and formula.packed(), lambda page: page and Formula.unpacked(page))


def _levels(column):
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return None
    return {"categories": column.cat.categories.tolist(), "ordered": column.cat.ordered}


def _column(column):
    levels = column["levels"]
    return column["values"] if levels is None else pd.Categorical(column["values"], **levels)


@contextmanager
def _refusals(argument, text, data):
    """Turn patsy's complaints into a ValueError that names the argument, the formula, the term and a way out."""
    import patsy

    try:
        yield
    except (patsy.PatsyError, NameError, SyntaxError, ValueError) as error:
        reason = " ".join(str(error).split("\n")[0].split())
        origin = getattr(error, "origin", None)
        where = f" in {origin.relevant_code()!r}" if origin is not None else ""
        raise ValueError(f"{argument} does not suit the formula {text!r}: {reason}{where}"
                         f"{_way_out(reason, text, data)}") from None


def _way_out(reason, text, data):
    if "missing values" in reason:
        return "; drop these rows first, with data.dropna(subset=[...])"
    quoted = [f"Q({name!r})" for name in data.columns
              if isinstance(name, str) and not name.isidentifier() and name in text and f"Q({name!r})" not in text]
    return f"; write a column whose name is no word of Python as {', '.join(quoted[:3])}" if quoted else ""


def _plain_environment():
    import patsy

    return patsy.EvalEnvironment([{"np": np, "pd": pd}])


def _left_side(text, data, environment):
    """One column for each term on the left, with its values untouched."""
    import patsy

    with _refusals("data", text, data):
        terms = patsy.ModelDesc.from_formula(text).lhs_termlist
        columns = {}
        for term in terms:
            if len(term.factors) != 1:
                raise ValueError("the left side must list tasks as 'task + task'")
            columns[term.name()] = _task(term.factors[0], data, environment)
        if not columns:
            raise ValueError("the left side names no task")
    return pd.DataFrame(columns, index=data.index)


def _task(factor, data, environment):
    """Labels of one task as they stand in the data; what is no column of labels is refused."""
    values = _evaluate(factor, data, environment)
    if isinstance(getattr(ast.parse(factor.code, mode="eval").body, "op", None), ast.BitOr):
        raise ValueError(f"{factor.code!r} on the left side is one task, as | means 'or' in Python; list tasks as "
                         "'task + task', and write I((a == 1) | (b == 1)) where one task is meant")
    if hasattr(values, "contrast"):  # what patsy's C(...) returns
        raise ValueError(f"{factor.code!r} on the left side must be the column itself, without C(...)")
    return pd.Series(values, index=data.index) if not isinstance(values, pd.Series) else values


def _evaluate(factor, data, environment):
    state = {}
    factor.memorize_passes_needed(state, environment)
    return factor.eval(state, data)


def _right_side(text, data, environment, drop=False):
    """The design of the right side, patsy's description of it, and the positions of the rows that are complete."""
    import patsy

    right = "~" + text.split("~")[1]
    with _refusals("data", text, data):
        design = patsy.dmatrix(right, data.reset_index(drop=True), eval_env=environment, return_type="dataframe",
                               NA_action="drop" if drop else "raise")
    complete = design.index.to_numpy()
    info, design = design.design_info, design.reindex(range(len(data)))
    return design.set_axis(data.index, axis=0), info, complete


def _sample(info, data):
    """Rows and columns of ``data`` that are enough to build the design again."""
    used = [name for name in data.columns if any(_mentions(factor, name) for factor in info.factor_infos)]
    if any(details.state.get("transforms") for details in info.factor_infos.values()):
        return data[used].copy()
    rows = {0}
    for factor, details in info.factor_infos.items():
        if details.type == "categorical":
            values = factor.eval(details.state, data)
            values = values.data if hasattr(values, "contrast") else values  # what patsy's C(...) returns
            codes = pd.factorize(np.asarray(values))[0]
            rows.update(np.unique(codes, return_index=True)[1].tolist())
    return data[used].iloc[sorted(rows)].copy()


def _mentions(factor, name):
    if not isinstance(name, str):
        return False
    words = {token.string.strip("\"'") for token in tokenize.generate_tokens(StringIO(factor.code).readline)}
    return name in words


def _plain_types(data):
    """The same frame in types that every patsy knows: pandas' own strings as objects, its own numbers as floats."""
    types = {name: object if isinstance(dtype, pd.StringDtype) else float for name, dtype in data.dtypes.items()
             if isinstance(dtype, pd.StringDtype) or _is_nullable_number(dtype)}
    return data.astype(types) if types else data


def _is_nullable_number(dtype):
    return pd.api.types.is_extension_array_dtype(dtype) and pd.api.types.is_numeric_dtype(dtype)
