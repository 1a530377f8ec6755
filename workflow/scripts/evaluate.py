"""Score all models on all instances of one case, the paper's models and those of its other readings separately."""

import argparse
import io
from pathlib import Path

import pandas as pd

from study.files import exact, read_instance, read_made, read_table, write_table
from study.models import STAND_INS
from study.readings import READINGS, SHARED
from study.scores import COLUMNS, score_instance

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("case")
parser.add_argument("scores", help="csv file to write: scores of the models asked for")
parser.add_argument("readings", help="csv file to write: scores of models that stand in their place in other readings")
parser.add_argument("--data", nargs="+", required=True, help="npz files of the instances, named by instance")
parser.add_argument("--fits", nargs="+", required=True, help="npz files of the grids, in the same order")
parser.add_argument("--foreign", nargs="*", default=[], help="models that are no part of the grid")
parser.add_argument("--margins", nargs="*", default=[], help="their npz files: those of the first model, of the "
                    "second...")
parser.add_argument("--models", nargs="+", required=True)
parser.add_argument("--sizes", type=int, nargs="+", required=True)
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--reading", choices=READINGS, default=SHARED)
args = parser.parse_args()


def made(path, facts, **more):
    """Arrays of a result file that is about what it should be, and the seconds beside it."""
    seconds = read_table(Path(path).with_suffix(".seconds.csv")).set_index("size")["seconds"]
    return {**read_made(path, {**facts, "sizes": args.sizes, **more}), "seconds": seconds}


tables, n = [], len(args.data)
for i, (data, fits) in enumerate(zip(args.data, args.fits)):
    instance = int(Path(data).stem)
    arrays, facts = read_instance(data, case=args.case, instance=instance, seed=args.seed)
    margins = {model: made(args.margins[i + n * place], facts) for place, model in enumerate(args.foreign)}
    linear = made(fits, facts, reading=args.reading)
    choices = pd.read_csv(io.StringIO(str(linear["choices"])), **exact())
    rows = score_instance(arrays, {**linear, "choices": choices}, margins)
    tables.append(rows.assign(case=args.case, instance=instance))
scores = pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)
stand_ins = [model.name for places in STAND_INS.values() for place, model in places.items() if place in args.models]
write_table(args.scores, scores[scores["model"].isin(args.models)])
write_table(args.readings, scores[scores["model"].isin(stand_ins)])
