"""Estimators for scikit-learn: pipelines, searches, cross-validation and metadata routing around ``FusedLogit``.

Needs scikit-learn 1.6 or later. Input is checked by scikit-learn's own functions, all else is done by the model,
whose fit is ``results_``: summaries, refit, bootstrap and plots start there.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import pandas as pd

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils import check_array, check_consistent_length, column_or_1d
    from sklearn.utils.multiclass import check_classification_targets, type_of_target
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError("fusedlr.sklearn needs scikit-learn 1.6 or later: pip install 'fusedlr[sklearn]'") from error

from . import matrices
from .model import FusedLogit
from .outcomes import Direction, Kind
from .results import FusedLogitResults
from .tuning import By, Rule

__all__ = ["FusedLogitClassifier", "FusedLogitClassifierCV", "FusedOrderedClassifier"]


class _Fused(ClassifierMixin, BaseEstimator):
    """What the estimators share: features in, coefficients out."""

    results_: FusedLogitResults
    classes_: Any

    @property
    def coef_(self) -> np.ndarray:
        """Coefficients, a row for each task, ndarray (t, d); 0 for a column of ones."""
        coefs = np.zeros((len(self.tasks_), len(self._kept)))
        coefs[:, self._kept] = self.results_.coefs.to_numpy().T
        return coefs

    @property
    def intercept_(self) -> np.ndarray:
        """Intercepts, ndarray (t,)."""
        return self.results_.intercepts.to_numpy()

    @property
    def tasks_(self) -> list:
        """Names of the tasks, in their order."""
        check_is_fitted(self)
        return self.results_.model.endog_names

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "results_")

    def _options(self, sample_weight, groups, n):
        """Arguments of the model beside labels and features."""
        weights = None if sample_weight is None else column_or_1d(sample_weight)
        groups = None if groups is None else column_or_1d(groups)
        for given in (weights, groups):
            check_consistent_length(np.empty(n), given)
        return {"weights": weights, "groups": groups, "tasks": self.tasks, "standardize": self.standardize,
                "penalty_factors": self.penalty_factors, "fusion_factors": self.fusion_factors,
                "fuse_intercepts": self.fuse_intercepts, "adaptive": self.adaptive}

    def _training_rows(self, X, y="no_validation"):
        """Features, and labels where there is one a row."""
        return validate_data(self, X, y, dtype=float, ensure_min_samples=2, accept_sparse="csc")

    def _features(self, X):
        """Checked rows by name, without columns of ones, which are the model's own intercept."""
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(X.shape[1])])
        return matrices.frame(X[:, self._kept], None, np.asarray(names, dtype=object)[self._kept])

    def _fitted(self, X, build, *labels, **options):
        """Build the model and fit it."""
        self._kept = np.ones(X.shape[1], dtype=bool)
        self._kept[matrices.columns_of_ones(X)] = False
        if not self._kept.any():
            raise ValueError("X must have a feature besides a column of ones, found 0 feature(s)")
        model = build(labels[0], self._features(X), *labels[1:], **options)
        self.results_ = self._fit_model(model)
        return self

    def _fit_model(self, model):
        return model.fit(self.l1, self.l2, self.fusion, tol=self.tol)

    def _predicted(self, X, which, task=None):
        """What the model predicts for new rows, ndarray."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=float, reset=False, accept_sparse="csc")
        return self.results_.predict(self._features(X), which, task=task).to_numpy()


class FusedLogitClassifier(_Fused):
    """``FusedLogit`` at given penalties as a scikit-learn classifier.

    Parameters
    ----------
    l1, l2, fusion : float, array_like of shape (1 + d,), or Series by feature name
        As for ``FusedLogit.fit``.
    tasks : "chain", "ring", TaskGraph, or sequence of edges
        Which tasks are neighbours.
    order : sequence, optional
        Of long data whose tasks are words: their names, first to last.
    penalty_factors, fusion_factors : array_like, shape (d,), or Series by feature name, optional
    standardize, fuse_intercepts, adaptive : bool
        As for ``FusedLogit``.
    tol : float, optional
        As for ``FusedLogit.fit``.

    Attributes
    ----------
    classes_ : ndarray, shape (2,), or list of one for each task
        The two labels, sorted; the second is yes. A list where ``fit`` had a table of labels.
    coef_ : ndarray, shape (t, d)
    intercept_ : ndarray, shape (t,)
    tasks_ : list
        Names of the tasks.
    n_features_in_ : int
    feature_names_in_ : ndarray of str, shape (d,)
        Where ``X`` was a frame.
    results_ : FusedLogitResults
        The fit itself; its labels are 0 and 1.

    Notes
    -----
    With one label a row ``predict_proba`` is (n, 2) and ``decision_function`` (n,), as everywhere in
    scikit-learn. With a table of labels ``predict``, ``predict_proba`` and ``decision_function`` are
    (n, t), as those of scikit-learn's multilabel classifiers that have all three
    (``ClassifierChain``, ``OneVsRestClassifier``).

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.sklearn import FusedLogitClassifier
    >>> Y, X = datasets.weeks()
    >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
    >>> fitted.results_.coefs.round(2)
           week4  week8  week12  week16
    age     0.92   0.92    0.90    0.90
    dose    0.00   0.00    0.89    0.89
    noise   0.00   0.00    0.00    0.00
    """

    def __init__(self, l1: Any = 1.0, l2: Any = 0.0, fusion: Any = 1.0, *, tasks: Any = "chain", order: Any = None,
                 penalty_factors: Any = None, fusion_factors: Any = None, standardize: bool = True,
                 fuse_intercepts: bool = False, adaptive: bool = False, tol: float | None = None) -> None:
        self.l1 = l1
        self.l2 = l2
        self.fusion = fusion
        self.tasks = tasks
        self.order = order
        self.penalty_factors = penalty_factors
        self.fusion_factors = fusion_factors
        self.standardize = standardize
        self.fuse_intercepts = fuse_intercepts
        self.adaptive = adaptive
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None, task: Any = None, groups: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)
        y : array_like, shape (n, t) or (n,)
            Labels of all tasks, NaN where not observed; of one task; or, with ``task``, long data.
            Any two labels a task.
        sample_weight : array_like, shape (n,), optional
            A weight of 2 is the row twice.
        task : array_like, shape (n,), optional
            The task of each row of long data, as for ``FusedLogit.from_long``.
        groups : array_like, shape (n,), optional
            The sampling unit of each row, as for ``FusedLogit``.

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedLogitClassifier
        >>> Y, X = datasets.weeks()
        >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
        >>> fitted.coef_.shape
        (4, 3)
        """
        if np.asarray(y).ndim == 2 and np.asarray(y).shape[1] > 1:
            return self._fit_table(X, y, sample_weight, task, groups)
        X, y = self._training_rows(X, y)
        self.classes_, code = _coded(y)
        self._several, self._long = False, task is not None
        options = self._options(sample_weight, groups, X.shape[0])
        if task is None:
            return self._fitted(X, FusedLogit, code, **options)
        return self._fitted(X, FusedLogit.from_long, code, _tasks(task, X.shape[0]), order=self.order, **options)

    def _fit_table(self, X, y, sample_weight, task, groups):
        """Fit to labels of shape (n, t)."""
        if task is not None:
            raise ValueError("task goes with one column of labels, found a table of labels, whose columns are the "
                             "tasks")
        X, names, Y = self._training_rows(X), getattr(y, "columns", None), _table(y)
        check_consistent_length(X, Y)
        self._several, self._long = True, False
        self.classes_, codes = map(list, zip(*(_coded(column, lone=True) for column in Y.T)))
        labels = pd.DataFrame(np.column_stack(codes), columns=None if names is None else list(names))
        return self._fitted(X, FusedLogit, labels if names is not None else labels.to_numpy(),
                            **self._options(sample_weight, groups, X.shape[0]))

    def decision_function(self, X: Any, task: Any = None) -> np.ndarray:
        """Linear predictor, log odds of the second label.

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)
        task : array_like, shape (n,)
            Of each row; needed where ``fit`` had it, and only there.

        Returns
        -------
        ndarray, shape (n,), or (n, t) where ``fit`` had a table of labels

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedLogitClassifier
        >>> Y, X = datasets.weeks()
        >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
        >>> fitted.decision_function(X.head(2)).round(2)
        array([[ 0.32,  0.27,  1.05,  1.03],
               [-1.2 , -1.25, -0.36, -0.39]])
        """
        return self._table_or_column(X, "linear", task)

    def predict_proba(self, X: Any, task: Any = None) -> np.ndarray:
        """Probabilities of the two labels, or of the second label of each task.

        Parameters
        ----------
        X, task : as for ``decision_function``

        Returns
        -------
        ndarray, shape (n, 2), or (n, t) where ``fit`` had a table of labels

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedLogitClassifier
        >>> Y, X = datasets.weeks()
        >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
        >>> fitted.predict_proba(X.head(2)).round(2)
        array([[0.58, 0.57, 0.74, 0.74],
               [0.23, 0.22, 0.41, 0.4 ]])
        """
        yes = self._table_or_column(X, "prob", task)
        return yes if self._several else np.column_stack([1 - yes, yes])

    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """The more probable label.

        Parameters
        ----------
        X, task : as for ``decision_function``

        Returns
        -------
        ndarray, shape (n,), or (n, t) where ``fit`` had a table of labels

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedLogitClassifier
        >>> Y, X = datasets.weeks()
        >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
        >>> fitted.predict(X.head(2))
        array([[ True,  True,  True,  True],
               [False, False, False, False]])
        """
        yes = (self.decision_function(X, task) > 0).astype(int)
        if not self._several:
            return self.classes_[yes]
        columns = [classes[code] for classes, code in zip(self.classes_, yes.T)]
        kinds = {column.dtype.kind for column in columns}
        return np.column_stack(columns if len(kinds) == 1 else [column.astype(object) for column in columns])

    def score(self, X: Any, y: Any, sample_weight: Any = None, task: Any = None) -> float:
        """Accuracy: the share of the observed labels, of all tasks, that are predicted.

        Parameters
        ----------
        X, y, sample_weight, task : as for ``fit``

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedLogitClassifier
        >>> Y, X = datasets.weeks()
        >>> fitted = FusedLogitClassifier(l1=5, fusion=10).fit(X, Y)
        >>> round(fitted.score(X, Y), 2)
        0.72
        """
        found = self.predict(X, task)
        labels = _table(y) if self._several else column_or_1d(y)
        check_consistent_length(found, labels, sample_weight)
        weights = np.ones(len(found)) if sample_weight is None else column_or_1d(sample_weight)
        weights = np.where(pd.isna(labels.T), 0.0, weights)
        return float(np.average((found == labels).T, weights=weights))

    def _table_or_column(self, X, which, task):
        """Predictions of shape (n, t), or (n,) where a row has one label."""
        check_is_fitted(self)
        if self._long != (task is not None):
            needed = "be given, one for each row, as in fit" if self._long else "be left out, as in fit"
            raise ValueError(f"task must {needed}")
        values = self._predicted(X, which, None if task is None else column_or_1d(task))
        return values if self._several else values.reshape(-1)


class FusedLogitClassifierCV(FusedLogitClassifier):
    """``FusedLogit`` at penalties chosen by cross-validation or a criterion, as a scikit-learn classifier.

    Parameters
    ----------
    l1, l2, fusion : float or sequence of float, optional
        The grid; chosen to suit the data where left out.
    cv : int, array_like of shape (n,), splitter, or iterable of (train, test)
        ``folds`` of ``FusedLogit.fit_cv``; None is 5.
    rule : "min" or "1se"
    metric : "logloss", "error" or "auc"
    by : "cv", "aic", "bic" or "ebic"
    repeats : int
        As for ``FusedLogit.fit_cv``.
    random_state : int, RandomState or None
        Draws the folds.
    n_jobs : int, optional
        Number of threads; the numbers do not depend on it.
    tasks, order, penalty_factors, fusion_factors, standardize, fuse_intercepts, adaptive
        As for ``FusedLogitClassifier``.
    tol : float
        Relative duality gap of every fit of the grid.

    Attributes
    ----------
    penalties_ : dict
        The chosen ``l1``, ``l2`` and ``fusion``.
    results_ : CVResults
        The fit at the chosen penalties, with the scores of all points.

    Notes
    -----
    The other attributes, and the shapes of predictions, are those of ``FusedLogitClassifier``.
    Rows of one group are in one fold.

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.sklearn import FusedLogitClassifierCV
    >>> Y, X = datasets.weeks()
    >>> fitted = FusedLogitClassifierCV(random_state=1).fit(X, Y)
    >>> fitted.results_.coefs.round(2)
           week4  week8  week12  week16
    age     1.03   1.03    0.94    0.94
    dose   -0.00  -0.00    1.00    1.00
    noise   0.01   0.01    0.01    0.01
    """

    def __init__(self, l1: Any = None, l2: Any = None, fusion: Any = None, *, cv: Any = None, rule: Rule = "min",
                 metric: str = "logloss", by: By = "cv", repeats: int = 1, random_state: Any = 0,
                 n_jobs: int | None = None, tasks: Any = "chain", order: Any = None, penalty_factors: Any = None,
                 fusion_factors: Any = None, standardize: bool = True, fuse_intercepts: bool = False,
                 adaptive: bool = False, tol: float = 1e-6) -> None:
        super().__init__(l1, l2, fusion, tasks=tasks, order=order, penalty_factors=penalty_factors,
                         fusion_factors=fusion_factors, standardize=standardize, fuse_intercepts=fuse_intercepts,
                         adaptive=adaptive, tol=tol)
        self.cv = cv
        self.rule = rule
        self.metric = metric
        self.by = by
        self.repeats = repeats
        self.random_state = random_state
        self.n_jobs = n_jobs

    @property
    def penalties_(self) -> dict:
        """The chosen l1, l2 and fusion."""
        check_is_fitted(self)
        return self.results_.penalties

    def _fit_model(self, model):
        state = self.random_state
        rng = state.randint(2**31 - 1) if isinstance(state, np.random.RandomState) else state
        return model.fit_cv(5 if self.cv is None else self.cv, self.rule, self.metric, rng, self.l1, self.l2,
                            self.fusion, self.by, self.tol, self.n_jobs, progress=False, repeats=self.repeats)


class FusedOrderedClassifier(_Fused):
    """``FusedLogit.from_ordered`` at given penalties as a scikit-learn classifier of one ordered outcome.

    Parameters
    ----------
    l1, l2, fusion : as for ``FusedLogitClassifier``
    levels : sequence, optional
        The levels, lowest first; needed where ``y`` holds words without an order. Levels that the
        rows of a fit never take are left out of that fit.
    kind : "sequential" or "cumulative"
    direction : "forward" or "backward"
        As for ``FusedLogit.from_ordered``.
    penalty_factors, fusion_factors, standardize, fuse_intercepts, adaptive, tol : as for ``FusedLogitClassifier``

    Attributes
    ----------
    classes_ : ndarray, shape (number of levels,)
        The levels in their order.
    coef_, intercept_, tasks_, n_features_in_, feature_names_in_, results_ : as for ``FusedLogitClassifier``

    Examples
    --------
    >>> from fusedlr import datasets
    >>> from fusedlr.sklearn import FusedOrderedClassifier
    >>> _, X = datasets.weeks()
    >>> level = 1 + (X["age"] + X["noise"] > 0) + (X["age"] + X["noise"] > 1)
    >>> fitted = FusedOrderedClassifier(l1=1, fusion=10).fit(X[["age", "dose"]], level)
    >>> fitted.classes_
    array([1, 2, 3])
    >>> fitted.results_.coefs.round(2)
            >1    >2
    age   1.63  1.63
    dose -0.14 -0.14
    """

    tasks = "chain"

    def __init__(self, l1: Any = 1.0, l2: Any = 0.0, fusion: Any = 1.0, *, levels: Any = None,
                 kind: Kind = "sequential", direction: Direction = "forward", penalty_factors: Any = None,
                 fusion_factors: Any = None, standardize: bool = True, fuse_intercepts: bool = False,
                 adaptive: bool = False, tol: float | None = None) -> None:
        self.l1 = l1
        self.l2 = l2
        self.fusion = fusion
        self.levels = levels
        self.kind = kind
        self.direction = direction
        self.penalty_factors = penalty_factors
        self.fusion_factors = fusion_factors
        self.standardize = standardize
        self.fuse_intercepts = fuse_intercepts
        self.adaptive = adaptive
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Fit.

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)
        y : array_like, shape (n,)
            Numbers, an ordered categorical, or any values named in ``levels``.
        sample_weight, groups : as for ``FusedLogitClassifier.fit``

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedOrderedClassifier
        >>> _, X = datasets.weeks()
        >>> level = 1 + (X["age"] + X["noise"] > 0) + (X["age"] + X["noise"] > 1)
        >>> fitted = FusedOrderedClassifier(l1=1, fusion=10).fit(X[["age", "dose"]], level)
        >>> fitted.n_features_in_
        2
        """
        known = self._known_levels(y)
        X, y = self._training_rows(X, y)
        check_classification_targets(y)
        seen = np.unique(y)
        if len(seen) < 2:
            raise ValueError(f"y must have two classes or more, found one class, {seen.tolist()}")
        levels = None if known is None else [level for level in known if level in seen]
        self._fitted(X, FusedLogit.from_ordered, y, levels=levels, kind=self.kind, direction=self.direction,
                     **self._options(sample_weight, groups, X.shape[0]))
        self.classes_ = np.array(self.results_.predict(self._features(X[:1]), "levels").columns)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of each level, ndarray (n, number of levels).

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedOrderedClassifier
        >>> _, X = datasets.weeks()
        >>> level = 1 + (X["age"] + X["noise"] > 0) + (X["age"] + X["noise"] > 1)
        >>> fitted = FusedOrderedClassifier(l1=1, fusion=10).fit(X[["age", "dose"]], level)
        >>> fitted.predict_proba(X[["age", "dose"]].head(2)).round(2)
        array([[0.46, 0.4 , 0.15],
               [0.93, 0.07, 0.  ]])
        """
        return self._predicted(X, "levels")

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-probability of each level, ndarray (n, number of levels); of two levels the log odds, (n,).

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedOrderedClassifier
        >>> _, X = datasets.weeks()
        >>> level = 1 + (X["age"] + X["noise"] > 0) + (X["age"] + X["noise"] > 1)
        >>> fitted = FusedOrderedClassifier(l1=1, fusion=10).fit(X[["age", "dose"]], level)
        >>> fitted.decision_function(X[["age", "dose"]].head(2)).round(2)
        array([[-0.79, -0.92, -1.91],
               [-0.08, -2.62, -6.3 ]])
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return self._predicted(X, "linear")[:, 0]
        with np.errstate(divide="ignore"):
            return np.log(self._predicted(X, "levels"))

    def predict(self, X: Any) -> np.ndarray:
        """The most probable level, ndarray (n,).

        Parameters
        ----------
        X : array_like or scipy.sparse matrix, shape (n, d)

        Examples
        --------
        >>> from fusedlr import datasets
        >>> from fusedlr.sklearn import FusedOrderedClassifier
        >>> _, X = datasets.weeks()
        >>> level = 1 + (X["age"] + X["noise"] > 0) + (X["age"] + X["noise"] > 1)
        >>> fitted = FusedOrderedClassifier(l1=1, fusion=10).fit(X[["age", "dose"]], level)
        >>> fitted.predict(X[["age", "dose"]].head(3))
        array([1, 1, 1])
        """
        shares = self.predict_proba(X)
        return self.classes_[shares.argmax(axis=1)]

    def _known_levels(self, y):
        """The order that the user gave, in ``levels`` or by an ordered categorical; None where there is none."""
        if self.levels is not None:
            return list(self.levels)
        dtype = getattr(y, "dtype", None)
        return list(dtype.categories) if isinstance(dtype, pd.CategoricalDtype) and dtype.ordered else None


def _table(y):
    """Labels of several tasks as given, NaN or None where not observed, ndarray (n, t)."""
    return check_array(y, dtype=None, ensure_all_finite="allow-nan", input_name="y")


def _tasks(task, n):
    task = pd.Series(task).reset_index(drop=True)  # rows go by position here, as in scikit-learn
    check_consistent_length(np.empty(n), task)
    return task


def _coded(column, lone=False):
    """The two labels of a column, sorted, and 0, 1 or NaN for each row."""
    observed = ~pd.isna(column)
    labels = np.array(column[observed].tolist())
    check_classification_targets(labels)
    classes = np.unique(labels)
    if lone and len(classes) == 1 and classes[0] in (0, 1):  # as in a fold that has lost the rarer label
        classes = np.array([0, 1], dtype=classes.dtype)
    if len(classes) > 2:
        raise ValueError("Only binary classification is supported. The type of the target is "
                         f"{type_of_target(labels)}; FusedOrderedClassifier takes ordered levels")
    if len(classes) < 2:
        raise ValueError(f"y must have two classes in every task, found one class, {classes.tolist()}")
    code = np.full(len(column), np.nan)
    code[observed] = labels == classes[1]
    return classes, code
