"""Concatenate the scores under readings with data or fits of their own; only the header where there are none."""

import argparse
from pathlib import Path

import pandas as pd

from study.files import read_table, write_table
from study.readings import READINGS
from study.scores import COLUMNS

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="csv file to write")
parser.add_argument("cases", nargs="*", type=Path, help="csv files of the cases, as .../READING/scores/CASE.csv")
args = parser.parse_args()

tables = [pd.DataFrame(columns=["reading", "new_data", *COLUMNS])]
for path in args.cases:
    reading = path.parent.parent.name
    new_data = READINGS[reading].runs == "data"
    tables.append(read_table(path).assign(reading=reading, new_data=new_data)[tables[0].columns])
write_table(args.scores, pd.concat(tables[1:] or tables, ignore_index=True))
