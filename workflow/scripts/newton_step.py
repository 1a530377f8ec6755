"""Time the chi-update of the paper's ADMM in d-space and in n-space."""

import argparse

from study.files import write_table
from study.timing import time_chi_updates

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("timing", help="csv file to write; only its header where nothing is timed")
parser.add_argument("--features", type=int, nargs="*", default=[])
args = parser.parse_args()

write_table(args.timing, time_chi_updates(args.features).round({"seconds": 5}))
