"""Report on models side by side on a table: scores, paired differences, boxes."""

import argparse
import json
from pathlib import Path

import matplotlib
import pandas as pd

from fusedlr import Comparison
from study.files import read_table, replacing, write_table
from study.own import page, read_own

matplotlib.use("Agg")

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="csv file")
parser.add_argument("page", type=Path, help="html file to write; tables and figure go beside it")
parser.add_argument("splits", nargs="+", help="csv files of the splits")
parser.add_argument("--options", type=json.loads, required=True, help="outcomes, features, models and so on, as JSON")
args = parser.parse_args()

scores = pd.concat([read_table(path) for path in args.splits], ignore_index=True)
found = Comparison(scores.drop(columns="test_share"), scores["test_share"].iloc[0])
differences, boxes = found.differences(), args.page.with_name("boxes.png")
with replacing(boxes) as temporary:
    found.plot().figure.savefig(temporary, format="png", dpi=150)
write_table(args.page.with_name("scores.csv"), found.scores)
write_table(args.page.with_name("differences.csv"), differences)
with replacing(args.page) as temporary:
    temporary.write_text(page(found.scores, differences, boxes.read_bytes(), read_own(args.data, args.options),
                              args.options), encoding="utf-8")
