"""Fit the whole grid of penalties on one instance for every training size, and choose a point for each linear model."""

import argparse

import numpy as np
import pandas as pd

from study.files import read_instance, write_arrays, write_table
from study.fitting import fit_size
from study.models import points
from study.readings import READINGS, SHARED

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("case")
parser.add_argument("instance", type=int)
parser.add_argument("data", help="npz file of the instance")
parser.add_argument("fits", help="npz file to write: params (sizes, models, 101, 4), chosen points (sizes, models, 4), "
                    "validation_error (sizes, points, 4), and choices, the chosen penalties by size and model, as csv")
parser.add_argument("seconds", help="csv file to write: CPU seconds by size")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--sizes", type=int, nargs="+", required=True)
parser.add_argument("--tol", type=float, required=True)
parser.add_argument("--reading", choices=READINGS, default=SHARED)
args = parser.parse_args()

data, facts = read_instance(args.data, case=args.case, instance=args.instance, seed=args.seed)
fits = []
for size in args.sizes:
    fits.append(fit_size(data, size, args.tol, args.reading))
    print(f"size {size}: {fits[-1].seconds:.1f} s", flush=True)

choices = pd.concat([fit.choices.assign(size=size) for fit, size in zip(fits, args.sizes)])
write_table(args.seconds, pd.DataFrame({"size": args.sizes, "seconds": [round(fit.seconds, 3) for fit in fits]}))
write_arrays(args.fits, {
    "params": np.stack([fit.params for fit in fits]),
    "chosen": np.stack([fit.chosen for fit in fits]),
    "validation_error": np.stack([fit.validation_error for fit in fits]),
    "choices": np.array(choices.to_csv(index=False)),
    "points": points(),
    "sizes": np.array(args.sizes),
}, {**facts, "sizes": args.sizes, "reading": args.reading})
