"""Judge published results anew, by the present rules, and put the table of verdicts into paper/README.md."""

import argparse
from pathlib import Path

from study.judging import judge_readings
from study.published import published_evidence, write_verdicts

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("published", type=Path, help="folder of the published results")
parser.add_argument("readme", help="file with the marks of the table")
parser.add_argument("--judged-by", required=True, help="sentence on who judged")
args = parser.parse_args()

write_verdicts(args.readme, judge_readings(*published_evidence(args.published)), args.judged_by)
