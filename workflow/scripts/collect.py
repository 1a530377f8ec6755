"""Concatenate the scores of all cases into one table; only its header where there are none."""

import argparse

import pandas as pd

from study.files import read_table, write_table
from study.scores import COLUMNS

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="csv file to write")
parser.add_argument("cases", nargs="*", help="csv files of the cases")
args = parser.parse_args()

tables = [read_table(path) for path in args.cases] or [pd.DataFrame(columns=COLUMNS)]
write_table(args.scores, pd.concat(tables, ignore_index=True))
