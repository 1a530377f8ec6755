"""Estimate how long 8 cases of many instances take on a cluster, from the recorded durations of the jobs."""

import argparse

from study.cluster import recorded, simulate_cluster
from study.files import read_scores, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv, which holds the CPU seconds of every job")
parser.add_argument("table", help="csv file to write")
parser.add_argument("--instances", type=int, default=1000, help="instances of each of the 8 cases")
parser.add_argument("--nodes", type=int, nargs="+", default=[1, 10, 100])
parser.add_argument("--cores", type=int, default=2, help="cores of a node")
parser.add_argument("--group", type=int, default=10, help="instances in one Slurm job")
args = parser.parse_args()

durations = recorded(read_scores(args.scores))
table = simulate_cluster(durations, 8 * args.instances, args.nodes, args.cores, group=args.group)
write_table(args.table, table)
print(f"recorded seconds: {durations.groupby('rule')['seconds'].agg(['size', 'median', 'max']).round(1).to_string()}\n")
print(f"8 cases x {args.instances:,} instances:\n{table.round(2).to_string(index=False)}")
