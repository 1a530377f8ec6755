"""How long a larger study takes on a cluster, by the measured durations of its jobs.

    python -m benchmarks.scale results                        from the seconds that a study has written
    python -m benchmarks.scale durations.csv --instances 1000

The jobs of one instance are simulate, then grid and adaboost at the same time. They are handed out as Snakemake does
it: whenever a core is free, it takes the first job that waits and whose input is there.
"""

import argparse
from collections import deque
from heapq import heappop, heappush
from pathlib import Path

import numpy as np
import pandas as pd

__all__ = ["makespan", "read_durations", "simulate_cluster"]

RULES = ("simulate", "grid", "adaboost")


def simulate_cluster(durations, instances=8000, nodes=(1, 10, 100), cores=2, start=1.5, group=10, queue=30.0, seed=1):
    """Hours that a study of many instances takes, by number of nodes.

    Parameters
    ----------
    durations : DataFrame
        Columns ``rule`` ("simulate", "grid", "adaboost") and ``seconds``, one row for each job that was measured. The
        jobs of the larger study draw their durations from these, with replacement.
    instances : int
        Instances of all cases together.
    nodes : sequence of int
    cores : int
        Of each node.
    start : float
        Seconds that each job takes to start Python or R and to read and write, beyond what was measured.
    group : int
        Instances in one Slurm job, which has a node to itself.
    queue : float
        Seconds that each Slurm job waits in the queue while its node stands idle.
    seed : int

    Returns
    -------
    DataFrame
        One row for each number of nodes: ``nodes``, ``cores`` in all, ``slurm_jobs``, ``hours``, ``cpu_hours``, and ``busy``,
        the share of the cores' time that was work.
    """
    work = _draw(durations, instances, start, np.random.default_rng(seed))
    groups = [work[first:first + group] for first in range(0, instances, group)]
    spans = [queue + makespan(members, cores) for members in groups]
    cpu = float(work.sum())
    rows = []
    for count in nodes:
        seconds = _list_schedule(spans, count)
        rows.append({"nodes": count, "cores": count * cores, "slurm_jobs": len(groups), "hours": seconds / 3600,
                     "cpu_hours": cpu / 3600, "busy": cpu / (seconds * count * cores)})
    return pd.DataFrame(rows)


def makespan(instances, cores):
    """Seconds until the jobs of some instances are done on one node.

    Parameters
    ----------
    instances : array_like, shape (instances, rules)
        Seconds of each job; the first job of an instance is the input of the others.
    cores : int
    """
    waiting = deque((number, 0) for number in range(len(instances)))
    running, now = [], 0.0
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
    """Seconds of every job of the larger study, shape (instances, rules); a rule that was not measured only starts."""
    columns = []
    for rule in RULES:
        measured = durations.loc[durations["rule"] == rule, "seconds"].to_numpy(dtype=float)
        drawn = rng.choice(measured, instances) if measured.size else np.zeros(instances)
        columns.append(start + drawn)
    return np.column_stack(columns)


def read_durations(results):
    """Measured durations from the folder that a study has written, or from a csv file with ``rule`` and ``seconds``.

    The study keeps CPU seconds by training size beside each grid and each AdaBoost; a job is their sum.
    """
    results = Path(results)
    if results.is_file():
        return pd.read_csv(results)
    rows = [{"rule": rule, "seconds": pd.read_csv(path)["seconds"].sum()}
            for rule in RULES for path in sorted((results / rule).rglob("*.seconds.csv"))]
    if not rows:
        raise ValueError(f"{results} holds no *.seconds.csv of a study: run make study first")
    return pd.DataFrame(rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", help="folder of a study, or csv file with the columns rule and seconds")
    parser.add_argument("--instances", type=int, default=1000, help="instances of each of the 8 cases")
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--cores", type=int, default=2, help="cores of a node")
    args = parser.parse_args()
    durations = read_durations(args.results)
    table = simulate_cluster(durations, 8 * args.instances, args.nodes, args.cores)
    print(f"measured: {durations.groupby('rule')['seconds'].agg(['size', 'median', 'max']).round(1).to_string()}\n")
    print(f"8 cases x {args.instances:,} instances:\n{table.round(2).to_string(index=False)}")


if __name__ == "__main__":
    main()
