"""Compare recomputed scores with the published ones, row by row."""

import argparse

from study.files import read_scores, read_table, replacing
from study.published import compare_scores

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("ours", help="scores.csv of this run")
parser.add_argument("published", help="scores.csv of the published run")
parser.add_argument("output", help="text file to write")
args = parser.parse_args()

with replacing(args.output) as temporary:
    temporary.write_text(compare_scores(read_scores(args.ours), read_table(args.published)))
