"""Judge the paper's claims by the scores."""

import argparse

from fusedlr.study.claims import judge
from fusedlr.study.files import read_table, write_table
from fusedlr.study.paired import compare

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("timing", help="csv file with the timing of Newton's steps")
parser.add_argument("claims", help="csv file to write: the verdicts")
parser.add_argument("comparisons", help="csv file to write: all paired comparisons")
args = parser.parse_args()

scores = read_table(args.scores)
write_table(args.comparisons, compare(scores))
write_table(args.claims, judge(scores, read_table(args.timing)))
