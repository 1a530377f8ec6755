"""How long a larger study takes on a cluster, by the recorded durations of its jobs.

The jobs of one instance are simulate, then grid and adaboost at the same time. They are handed out as Snakemake does
it: whenever a core is free, it takes the first job that waits and whose input is there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

from study.models import foreign

__all__ = ["INSTANCES", "QUEUE", "START", "makespan", "recorded", "simulate_cluster", "slurm_group"]

RULES = ("simulate", "grid", *foreign())
#: Instances of all cases together in the larger study: 8 cases of 1,000.
INSTANCES = 8000
#: Seconds that each Slurm job waits while its node stands idle.
QUEUE = 30.0
#: Seconds that each job takes to start Python or R and to read and write, beyond what was recorded.
START = 1.5


def slurm_group() -> int:
    """Instances in one Slurm job, as the profiles say."""
    profile = yaml.safe_load((Path(__file__).parents[1] / "profiles/slurm7/config.yaml").read_text(encoding="utf-8"))
    return int(dict(entry.split("=") for entry in profile["group-components"])["instance"])


def recorded(scores: pd.DataFrame) -> pd.DataFrame:
    """Durations of the jobs of a study, from its scores.

    The scores hold CPU seconds by training size. The linear models share one grid, which is counted once.

    Returns
    -------
    DataFrame
        Columns ``rule`` ("grid" or the name of a model that is no part of it, those that were run), ``case``,
        ``instance``, ``seconds``.
    """
    rules = scores["model"].where(scores["model"].isin(foreign()), "grid")
    once = scores.assign(rule=rules).drop_duplicates(["rule", "case", "instance", "size"])
    return once.groupby(["rule", "case", "instance"], as_index=False)["seconds"].sum()


def simulate_cluster(durations: pd.DataFrame, instances: int = INSTANCES, nodes: Sequence[int] = (1, 10, 100),
                     cores: int = 2, start: float = START, group: Any = 10, queue: float = QUEUE,
                     seed: int = 1) -> pd.DataFrame:
    """Hours that a study of many instances takes, by number of nodes.

    Parameters
    ----------
    durations : DataFrame
        Columns ``rule`` ("simulate", "grid", "adaboost") and ``seconds``, one row for each job that was recorded. The
        jobs of the larger study draw their durations from these, with replacement; rules that are not there are not
        run, but for simulate, which takes a second or less.
    instances : int
        Instances of all cases together.
    nodes : sequence of int
    cores : int
        Of each node.
    start : float
        Seconds that each job takes to start Python or R and to read and write, beyond what was recorded.
    group : int
        Instances in one Slurm job, which has a node to itself.
    queue : float
        Seconds that each Slurm job waits in the queue while its node stands idle.
    seed : int

    Returns
    -------
    DataFrame
        One row for each number of nodes: ``nodes``, ``cores`` in all, ``group``, ``slurm_jobs``, ``hours``,
        ``cpu_hours``, and ``busy``, the share of the cores' time that was work.
    """
    work = _draw(durations, instances, start, np.random.default_rng(seed))
    groups = [work[first:first + group] for first in range(0, instances, group)]
    spans = [queue + makespan(members, cores) for members in groups]
    cpu = float(work.sum())
    rows = []
    for count in nodes:
        seconds = _list_schedule(spans, count)
        rows.append({"nodes": count, "cores": count * cores, "group": group, "slurm_jobs": len(groups),
                     "hours": seconds / 3600,
                     "cpu_hours": cpu / 3600, "busy": cpu / (seconds * count * cores)})
    return pd.DataFrame(rows)


def makespan(instances: Any, cores: int) -> Any:
    """Seconds until the jobs of some instances are done on one node.

    Parameters
    ----------
    instances : array_like, shape (instances, rules)
        Seconds of each job; the first job of an instance is the input of the others.
    cores : int
    """
    waiting = deque((number, 0) for number in range(len(instances)))
    running: list[tuple] = []
    now = 0.0
    while waiting or running:
        while waiting and len(running) < cores:
            number, rule = waiting.popleft()
            heappush(running, (now + instances[number][rule], number, rule))
        now, number, rule = heappop(running)
        if rule == 0:
            # Jobs of an instance that has begun go first, as the longest way to the end does.
            waiting.extendleft((number, later) for later in range(1, len(instances[number])))
    return now


def _list_schedule(spans, nodes):
    """Seconds until all Slurm jobs are done, each on the node that is free first."""
    free = [0.0] * nodes
    for span in spans:
        heappush(free, heappop(free) + span)
    return max(free)


def _draw(durations, instances, start, rng):
    """Seconds of every job of the larger study, shape (instances, rules).

    A simulation that was not timed only starts.
    """
    columns = []
    for rule in RULES:
        measured = durations.loc[durations["rule"] == rule, "seconds"].to_numpy(dtype=float)
        if measured.size:
            columns.append(start + rng.choice(measured, instances))
        elif rule == "simulate":
            columns.append(np.full(instances, start))
    return np.column_stack(columns)
