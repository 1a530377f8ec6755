"""Unpenalized fits under other constants of the rule for separated data."""

import argparse
from pathlib import Path

import pandas as pd

from study.files import read_instance, write_table
from study.separable import separable_errors

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("errors", help="csv file to write")
parser.add_argument("data", nargs="+", help="npz files of the instances, as .../case/instance.npz")
parser.add_argument("--sizes", type=int, nargs="+", required=True)
parser.add_argument("--tol", type=float, required=True)
args = parser.parse_args()

tables = []
for path in map(Path, args.data):
    facts = {"case": path.parent.name, "instance": int(path.stem)}
    tables.append(separable_errors(read_instance(path, **facts)[0], args.sizes, args.tol).assign(**facts))
write_table(args.errors, pd.concat(tables, ignore_index=True))
