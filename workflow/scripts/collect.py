"""Put the scores of all cases into one table."""

import argparse

import pandas as pd

from fusedlr.study.files import read_table, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="csv file to write")
parser.add_argument("cases", nargs="+", help="csv files of the cases")
args = parser.parse_args()

write_table(args.scores, pd.concat([read_table(path) for path in args.cases], ignore_index=True))
