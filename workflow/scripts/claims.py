"""Judge the paper's claims by the scores, under each reading of the paper."""

import argparse

from study.files import read_scores, read_table, write_table
from study.judging import judge_readings, side_by_side
from study.paired import compare
from study.readings import by_reading

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("readings", help="csv file: scores of the models of other readings")
parser.add_argument("otherwise", help="csv file: scores under readings with data or fits of their own")
parser.add_argument("timing", help="csv file with the timing of chi-updates")
parser.add_argument("admm", help="csv file with the timing of ADMM")
parser.add_argument("groups", help="csv file: scores of the experiment on larger groups")
parser.add_argument("claims", help="csv file to write: the claims, two readings side by side")
parser.add_argument("verdicts", help="csv file to write: the verdicts under all readings")
parser.add_argument("comparisons", help="csv file to write: all paired comparisons")
args = parser.parse_args()

scores, readings = read_scores(args.scores), read_scores(args.readings, may_be_empty=True)
verdicts = judge_readings(scores, readings, read_table(args.timing), read_scores(args.groups, may_be_empty=True),
                          read_table(args.admm), by_reading(read_table(args.otherwise)))
write_table(args.comparisons, compare(scores))
write_table(args.claims, side_by_side(verdicts))
write_table(args.verdicts, verdicts)
