"""Boost trees on one instance in R: margins on its test rows for every training size."""

import argparse
import json
import time

import numpy as np
import pandas as pd

from fusedlr.r import ada
from study.files import read_instance, write_arrays, write_table
from study.simulate import r_seed

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("case")
parser.add_argument("instance", type=int)
parser.add_argument("data", help="npz file of the instance")
parser.add_argument("margins", help="npz file to write: margins (sizes, rows, tasks), sizes, by, settings")
parser.add_argument("seconds", help="csv file to write: CPU seconds by size")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--sizes", type=int, nargs="+", required=True)
parser.add_argument("--minsplit", type=int, default=20, help="rows that a tree needs to split; 20 is rpart's default")
args = parser.parse_args()

data, facts = read_instance(args.data, case=args.case, instance=args.instance, seed=args.seed)
fits, seconds = [], []
for size in args.sizes:
    start = time.process_time()
    seed = r_seed(args.seed, args.case, args.instance, size)
    fits.append(ada.boost(data["X_train"][:size], data["Y_train"][:size], data["X_test"], seed=seed,
                          control={"minsplit": args.minsplit}))
    seconds.append(time.process_time() - start)
    print(f"size {size}: {seconds[-1]:.1f} s", flush=True)

write_table(args.seconds, pd.DataFrame({"size": args.sizes, "seconds": np.round(seconds, 3)}))
write_arrays(args.margins, {
    "margins": np.stack([fit.margins for fit in fits]),
    "sizes": np.array(args.sizes),
    "by": np.array([fit.settings["by"] for fit in fits]),
    "settings": np.array(json.dumps([fit.settings for fit in fits], sort_keys=True)),
}, {**facts, "sizes": args.sizes})
