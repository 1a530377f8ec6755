"""Fit and score the models on one random split of a table."""

import argparse
import json

from fusedlr import compare
from study.files import write_table
from study.own import read_own

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("data", help="csv file")
parser.add_argument("split", type=int, help="number of the split, from 0 on")
parser.add_argument("scores", help="csv file to write")
parser.add_argument("--options", type=json.loads, required=True, help="outcomes, features, models and so on, as JSON")
args = parser.parse_args()

asked = args.options
found = compare(**read_own(args.data, asked), models=asked["models"], splits=asked["splits"], sizes=asked["rows"],
                rng=asked["seed"], only=[args.split], n_jobs=1, progress=False)
write_table(args.scores, found.scores.assign(test_share=found.test_share))
