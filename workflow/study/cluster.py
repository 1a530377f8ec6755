"""Simulated duration of a larger study on a cluster, from the recorded durations of its jobs.

The jobs of one instance are simulate, then grid and adaboost in parallel. They are scheduled as Snakemake does it:
a free core takes the first waiting job whose input is there.
"""

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from study.models import foreign

__all__ = ["QUEUE", "START", "makespan", "recorded", "simulate_cluster", "slurm_group"]

RULES = ("simulate", "grid", *foreign())
#: Seconds that each Slurm job waits while its node stands idle.
QUEUE = 30.0
#: Seconds that each job takes to start Python or R and to read and write, beyond what was recorded.
START = 1.5


def slurm_group() -> int:
    """Instances in one Slurm job, as the profiles say."""
    profile = yaml.safe_load((Path(__file__).parents[1] / "profiles/slurm7/config.yaml").read_text(encoding="utf-8"))
    return int(dict(entry.split("=") for entry in profile["group-components"])["instance"])


def recorded(scores: pd.DataFrame) -> pd.DataFrame:
    """Seconds of the jobs of a study by ``rule`` ("grid" or a foreign model), ``case`` and ``instance``.

    The scores hold CPU seconds by training size. The linear models share one grid, which is counted once.
    """
    rules = scores["model"].where(scores["model"].isin(foreign()), "grid")
    once = scores.assign(rule=rules).drop_duplicates(["rule", "case", "instance", "size"])
    return once.groupby(["rule", "case", "instance"], as_index=False)["seconds"].sum()


def simulate_cluster(durations: pd.DataFrame, instances: int, nodes: Sequence[int] = (1, 10, 100),
                     cores: int = 2, start: float = START, group: int = 10, queue: float = QUEUE,
                     seed: int = 1) -> pd.DataFrame:
    """Hours that a study of many instances takes, by number of nodes.

    Durations of its jobs are resampled from those recorded (columns ``rule`` and ``seconds``). A rule that was not
    recorded is not run, except simulate, which takes a second or less. Each job takes ``start`` seconds more. A Slurm
    job holds a ``group`` of instances, has a node to itself, and waits ``queue`` seconds while its node is idle.

    The column ``busy`` is the utilisation of the cores.
    """
    work = _draw(durations, instances, start, np.random.default_rng(seed))
    groups = [work[first:first + group] for first in range(0, instances, group)]
    spans = [queue + makespan(members, cores) for members in groups]
    cpu = float(work.sum())
    rows = []
    for count in nodes:
        seconds = _list_schedule(spans, count)
        rows.append({"nodes": count, "cores": count * cores, "group": group, "slurm_jobs": len(groups),
                     "hours": seconds / 3600, "cpu_hours": cpu / 3600, "busy": cpu / (seconds * count * cores)})
    return pd.DataFrame(rows)


def makespan(instances: Sequence[Sequence[float]], cores: int) -> float:
    """Seconds until the jobs of some instances, shape (instances, rules), are done on one node.

    The first job of an instance is the input of the others.
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
            # Jobs of an instance that has begun go first: they are on the critical path.
            waiting.extendleft((number, later) for later in range(1, len(instances[number])))
    return now


def _list_schedule(spans, nodes):
    """Seconds until all Slurm jobs are done, each on the node that is free first."""
    free = [0.0] * nodes
    for span in spans:
        heappush(free, heappop(free) + span)
    return max(free)


def _draw(durations, instances, start, rng):
    """Seconds of every job of the larger study, (instances, rules); a simulation that was not timed only starts."""
    columns = []
    for rule in RULES:
        measured = durations.loc[durations["rule"] == rule, "seconds"].to_numpy(dtype=float)
        if measured.size:
            columns.append(start + rng.choice(measured, instances))
        elif rule == "simulate":
            columns.append(np.full(instances, start))
    return np.column_stack(columns)
