"""Unpenalized fits under other constants of the rule for separated data."""

import argparse
from pathlib import Path

import pandas as pd

from study.files import read_arrays, write_table
from study.separable import separable_errors

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("errors", help="csv file to write")
parser.add_argument("data", nargs="+", help="npz files of the instances, as .../case/instance.npz")
parser.add_argument("--sizes", type=int, nargs="+", required=True)
parser.add_argument("--tol", type=float, required=True)
args = parser.parse_args()

tables = [separable_errors(read_arrays(path), args.sizes, args.tol).assign(case=path.parent.name,
                                                                           instance=int(path.stem))
          for path in map(Path, args.data)]
write_table(args.errors, pd.concat(tables, ignore_index=True))
