"""Which tasks are neighbours: a weighted, undirected graph over the tasks."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any

import numpy as np

from . import checks
from .io import NONE, WHOLE, Plain, either, finite, listed, named, names, record, row

__all__ = ["SAVED_GRAPH", "TaskGraph"]

# More would not fit into memory with their coefficients; far more would take minutes to be refused there.
MOST_TASKS = 10**6


class TaskGraph:
    """Neighbouring tasks and how strongly each pair is fused.

    Parameters
    ----------
    edges : sequence of (task, task) or (task, task, weight)
        Tasks by position or, if ``names`` is given, by name. A weight multiplies
        ``fusion`` on that edge; 1 where left out.
    n_tasks : int, optional
        Number of tasks; taken from ``names`` where those are given.
    names : sequence of str, optional
        One name for each task.

    Attributes
    ----------
    n_tasks : int
    names : tuple of str or None
    edges : ndarray, shape (n_edges, 2)
        Positions of both ends, the smaller first.
    weights : ndarray, shape (n_edges,)

    Examples
    --------
    >>> TaskGraph.chain(4).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    >>> TaskGraph([("low", "high", 2.0)], names=["low", "high"]).weights.tolist()
    [2.0]
    """

    def __init__(self, edges: Any, n_tasks: int | None = None, names: Sequence | None = None) -> None:
        self.names = _checked_names(names)
        self.n_tasks = _checked_size(n_tasks, self.names)
        self._places = {name: k for k, name in enumerate(self.names or ())}
        triples = [self._parse(edge) for edge in _checked_edges(edges)]
        _refuse_repeats(triples)
        self.edges = np.array([[j, k] for j, k, _ in triples], dtype=np.intp).reshape(-1, 2)
        self.weights = np.array([weight for _, _, weight in triples], dtype=float)
        for array in (self.edges, self.weights):
            array.flags.writeable = False

    @classmethod
    def chain(cls, n_tasks: int, names: Sequence | None = None) -> TaskGraph:
        """Each task tied to the next: the paper's ``Circ = 0``.

        Examples
        --------
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.chain(3).edges.tolist()
        [[0, 1], [1, 2]]
        """
        names = _checked_names(names)
        n_tasks = _checked_size(n_tasks, names)
        return cls._at([(k, k + 1) for k in range(n_tasks - 1)], n_tasks, names)

    @classmethod
    def ring(cls, n_tasks: int, names: Sequence | None = None) -> TaskGraph:
        """A chain whose last task is tied to the first: the paper's ``Circ = 1``.

        Examples
        --------
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.ring(3).edges.tolist()
        [[0, 1], [1, 2], [0, 2]]
        """
        names = _checked_names(names)
        n_tasks = _checked_size(n_tasks, names)
        if n_tasks < 3:
            raise ValueError(f"tasks='ring' needs at least 3 tasks, found n_tasks = {n_tasks}; use 'chain'")
        return cls._at([(k, (k + 1) % n_tasks) for k in range(n_tasks)], n_tasks, names)

    @classmethod
    def _at(cls, edges: list, n_tasks: int, names: Any) -> TaskGraph:
        """A graph whose edges are given by position, whatever the names of its tasks."""
        graph = cls(edges, n_tasks)
        graph.names = names
        return graph

    @classmethod
    def build(cls, tasks: Any, n_tasks: int, names: Sequence | None = None) -> TaskGraph:
        """The graph that a user's ``tasks`` argument describes.

        Parameters
        ----------
        tasks : "chain", "ring", TaskGraph, or sequence of edges
        n_tasks : int
        names : sequence of str, optional

        Examples
        --------
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.build([("low", "high", 2.0)], 3, ["low", "mid", "high"]).edges.tolist()
        [[0, 2]]
        """
        if isinstance(tasks, cls):
            if tasks.n_tasks != n_tasks:
                raise ValueError(f"tasks is a TaskGraph of {tasks.n_tasks} tasks, but endog has {n_tasks} columns")
            return tasks
        if isinstance(tasks, str):
            makers = {"chain": cls.chain, "ring": cls.ring}
            if tasks not in makers:
                raise ValueError(f"tasks must be 'chain', 'ring', a TaskGraph or a list of edges, found {tasks!r}")
            return makers[tasks](n_tasks, names)
        return cls(tasks, n_tasks, names)

    @property
    def is_chain(self) -> bool:
        """Whether the edges are exactly (0, 1), (1, 2), ... in this order; weights may differ."""
        path = np.column_stack([np.arange(self.n_tasks - 1), np.arange(1, self.n_tasks)])
        return np.array_equal(self.edges, path)

    @property
    def is_line(self) -> bool:
        """Whether every edge ties a task to the next: a chain, or several of them one after the other."""
        return bool((self.edges[:, 1] == self.edges[:, 0] + 1).all())

    @property
    def is_ring(self) -> bool:
        """Whether the edges are those of a chain and one from the last task to the first; weights may differ."""
        steps = {tuple(sorted((k, (k + 1) % self.n_tasks))) for k in range(self.n_tasks)}
        return self.n_tasks > 2 and {tuple(edge) for edge in self.edges.tolist()} == steps

    def differences(self, params: np.ndarray) -> np.ndarray:
        """Difference of every row of ``params`` along each edge, shape (rows, n_edges).

        Examples
        --------
        >>> import numpy as np
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.chain(3).differences(np.array([[1.0, 1.0, 4.0]])).tolist()
        [[0.0, -3.0]]
        """
        return params[:, self.edges[:, 0]] - params[:, self.edges[:, 1]]

    @property
    def for_core(self) -> tuple[np.ndarray, np.ndarray]:
        """Edges and weights in the types of the C++ core."""
        return np.ascontiguousarray(self.edges, dtype=np.intc), np.ascontiguousarray(self.weights, dtype=float)

    def tied(self, params: np.ndarray) -> np.ndarray:
        """Groups of tied tasks: neighbours with equal values, row by row.

        Parameters
        ----------
        params : ndarray, shape (rows, n_tasks)

        Returns
        -------
        ndarray of int, shape (rows, n_tasks)
            Position of the first task of the group that a task belongs to. Tasks are in
            one group if a path of edges with exactly equal values leads from one to the other.

        Examples
        --------
        >>> import numpy as np
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.chain(3).tied(np.array([[1.0, 1.0, 4.0]])).tolist()
        [[0, 0, 2]]
        """
        return self.groups(self.differences(params) == 0)

    def groups(self, joined: np.ndarray) -> np.ndarray:
        """Connected components of a subgraph, row by row, labelled as in ``tied``.

        Parameters
        ----------
        joined : ndarray of bool, shape (rows, n_edges)
            Which edges the subgraph has.

        Examples
        --------
        >>> import numpy as np
        >>> from fusedlr import TaskGraph
        >>> TaskGraph.chain(3).groups(np.array([[True, False]])).tolist()
        [[0, 0, 2]]
        """
        group = np.tile(np.arange(self.n_tasks), (len(joined), 1))
        while True:
            before = group.copy()
            for (j, k), same in zip(self.edges, joined.T):
                group[same, j] = group[same, k] = np.minimum(group[same, j], group[same, k])
            if np.array_equal(before, group):
                return group

    def components(self) -> np.ndarray:
        """Label of the connected component of each task, shape (n_tasks,).

        Examples
        --------
        >>> from fusedlr import TaskGraph
        >>> TaskGraph([(0, 1), (2, 3)], 4).components().tolist()
        [0, 0, 1, 1]
        """
        everything = self.groups(np.ones((1, len(self.edges)), dtype=bool))[0]
        return np.unique(everything, return_inverse=True)[1]

    def _parse(self, edge):
        if isinstance(edge, str) or not hasattr(edge, "__len__") or len(edge) not in (2, 3):
            raise ValueError("tasks (edges): an edge is (task, task) or (task, task, weight), "
                             f"found {checks.shown(edge)}")
        j, k = sorted((self._position(edge[0]), self._position(edge[1])))
        if j == k:
            raise ValueError(f"tasks (edges): an edge joins two different tasks, found {checks.shown(edge)}")
        return j, k, _checked_weight(edge[2] if len(edge) == 3 else 1.0, edge)

    def _position(self, task):
        if self.names is not None and isinstance(task, Hashable) and task in self._places:
            return self._places[task]
        # Names that are numbers leave no room for positions. 1.0 is a position too: R has no other whole numbers.
        by_name = any(isinstance(name, Real) for name in self.names or ())
        if not by_name and not isinstance(task, bool) and isinstance(task, Real) and task in range(self.n_tasks):
            return int(task)
        known = [f"names {list(self.names)}"] if self.names else []
        known += [f"positions 0 to {self.n_tasks - 1}"] * (not by_name)
        raise ValueError(f"tasks (edges): no task {checks.shown(task)}; there are {' or '.join(known)}")

    def __eq__(self, other):
        return (
            isinstance(other, TaskGraph)
            and self.n_tasks == other.n_tasks
            and self.names == other.names
            and np.array_equal(self.edges, other.edges)
            and np.array_equal(self.weights, other.weights)
        )

    __hash__ = None  # type: ignore[assignment]  # graphs are compared by their arrays

    def __repr__(self):
        edges = ", ".join(f"{j}-{k}" if w == 1 else f"{j}-{k}*{w:g}" for (j, k), w in zip(self.edges, self.weights))
        return f"TaskGraph({self.n_tasks} tasks; {edges or 'no edges'})"


# A graph in a file: its edges by position.
SAVED_GRAPH = Plain(
    record({"n_tasks": WHOLE, "names": either(NONE, named("t", least=1)),
            "edges": listed(row(WHOLE, WHOLE, finite(0)))}),
    lambda graph: {"n_tasks": graph.n_tasks, "names": graph.names,
                   "edges": [[*edge, weight] for edge, weight in zip(graph.edges.tolist(), graph.weights.tolist())]},
    lambda page: TaskGraph._at(page["edges"], page["n_tasks"], page["names"] and tuple(names(page["names"]))))


def _checked_names(names):
    if names is None:
        return None
    names = tuple(checks.listed("names", names))
    if any(name is None or name != name for name in names) or len(set(names)) != len(names):
        raise ValueError(f"names must differ from each other, found {list(names)}")
    return names


def _checked_size(n_tasks, names):
    if n_tasks is None:
        if names is None:
            raise ValueError("n_tasks is needed where no names are given")
        return len(names)
    n_tasks = checks.whole("n_tasks", n_tasks, 1, MOST_TASKS)
    if names is not None and len(names) != n_tasks:
        raise ValueError(f"names must hold one name for each of {n_tasks} tasks, found {len(names)}")
    return n_tasks


def _checked_edges(edges):
    """Edges as a list; a mapping or a string is refused."""
    single = (isinstance(edges, (str, bytes, Mapping, Set, type)) or hasattr(edges, "tocsr")
              or getattr(edges, "ndim", 1) == 0)
    if single or not isinstance(edges, Iterable):
        raise TypeError(f"tasks must be 'chain', 'ring', a TaskGraph or a list of edges, found {checks.shown(edges)}")
    return edges


def _checked_weight(weight, edge):
    if isinstance(weight, bool) or not isinstance(weight, Real):
        raise TypeError(f"tasks (edges): the weight of an edge must be a number, found {checks.shown(edge)}")
    if not 0 < weight < np.inf:
        raise ValueError("tasks (edges): the weight of an edge must be finite and positive, "
                         f"found {checks.shown(edge)}")
    return float(weight)


def _refuse_repeats(triples):
    seen = set()
    for j, k, _ in triples:
        if (j, k) in seen:
            raise ValueError(f"tasks (edges): the edge between tasks {j} and {k} is given twice; add the weights "
                             "instead")
        seen.add((j, k))
