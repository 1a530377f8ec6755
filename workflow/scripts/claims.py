"""Judge the paper's claims by the scores, as read here and under other readings."""

import argparse

from study.files import read_scores, read_table, write_table
from study.judging import judge, judge_readings
from study.paired import compare

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("readings", help="csv file: scores of the models of other readings")
parser.add_argument("timing", help="csv file with the timing of chi-updates")
parser.add_argument("groups", help="csv file: scores of the experiment on larger groups")
parser.add_argument("claims", help="csv file to write: the verdicts")
parser.add_argument("verdicts", help="csv file to write: the verdicts under other readings")
parser.add_argument("comparisons", help="csv file to write: all paired comparisons")
args = parser.parse_args()

scores, readings, groups = (read_scores(path) for path in (args.scores, args.readings, args.groups))
write_table(args.comparisons, compare(scores))
write_table(args.claims, judge(scores, read_table(args.timing), groups))
write_table(args.verdicts, judge_readings(scores, readings, groups))
