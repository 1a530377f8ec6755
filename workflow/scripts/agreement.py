"""Compare fits without fusion with R's glmnet on some instances."""

import argparse
from pathlib import Path

import pandas as pd

from fusedlr.r.session import RMissingError
from study.agreement import COLUMNS, compare_fits
from study.files import read_instance, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("agreement", help="csv file to write; only its header where R has no glmnet")
parser.add_argument("data", nargs="+", help="npz files of the instances, as .../case/instance.npz")
args = parser.parse_args()

try:
    tables = [compare_fits(read_instance(path, case=path.parent.name, instance=int(path.stem))[0]).assign(
        case=path.parent.name) for path in map(Path, args.data)]
except RMissingError as error:
    print(error)
    tables = [pd.DataFrame(columns=COLUMNS)]
write_table(args.agreement, pd.concat(tables, ignore_index=True)[COLUMNS])
