"""Draw one figure of the study: pdf, png and the table behind it."""

import argparse
from pathlib import Path

from study.contents import FIGURES
from study.figures import save
from study.files import read_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("name", choices=FIGURES)
parser.add_argument("pdf", help="pdf file to write; png and csv go beside it")
parser.add_argument("tables", nargs="+", help="csv files that it is drawn from")
args = parser.parse_args()

save(FIGURES[args.name], [read_table(path) for path in args.tables], Path(args.pdf).with_suffix(""))
