"""Time the paper's ADMM and Newton's method on some instances."""

import argparse
from pathlib import Path

import pandas as pd

from study.files import read_instance, write_table
from study.timing import COLUMNS, time_admm

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("timing", help="csv file to write; only its header where nothing is timed")
parser.add_argument("data", nargs="*", type=Path, help="npz files of the instances, as .../case/instance.npz")
args = parser.parse_args()

tables = [pd.DataFrame(columns=COLUMNS)]
for path in args.data:
    data, _ = read_instance(path, case=path.parent.name, instance=int(path.stem))
    tables.append(time_admm(data).assign(case=path.parent.name)[COLUMNS])
write_table(args.timing, pd.concat(tables[1:] or tables, ignore_index=True).round({"admm": 5, "newton": 6}))
