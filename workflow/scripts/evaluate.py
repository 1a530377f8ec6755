"""Score all models on all instances of one case, the paper's models and those of its other readings separately."""

import argparse
from pathlib import Path

import pandas as pd

from study.files import read_arrays, read_table, write_table
from study.models import READINGS
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
args = parser.parse_args()


def made(path):
    """Arrays of a result file, and the seconds beside it."""
    seconds = read_table(Path(path).with_suffix(".seconds.csv")).set_index("size")["seconds"]
    return {**read_arrays(path), "seconds": seconds}


tables, n = [], len(args.data)
for i, (data, fits) in enumerate(zip(args.data, args.fits)):
    margins = {model: made(args.margins[i + n * place]) for place, model in enumerate(args.foreign)}
    choices = read_table(Path(fits).with_suffix(".csv"))
    rows = score_instance(read_arrays(data), {**made(fits), "choices": choices}, margins)
    tables.append(rows.assign(case=args.case, instance=int(Path(data).stem)))
scores = pd.concat(tables, ignore_index=True).reindex(columns=COLUMNS)
stand_ins = [model.name for reading in READINGS.values() for place, model in reading.models.items()
             if place in args.models]
write_table(args.scores, scores[scores["model"].isin(args.models)])
write_table(args.readings, scores[scores["model"].isin(stand_ins)])
