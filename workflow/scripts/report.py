"""Build the report: one page of html, and a pdf where pandoc and LaTeX are installed."""

import argparse
import shutil
import subprocess
from pathlib import Path

from fusedlr.study.files import replacing
from fusedlr.study.report import embedded, linked, render

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("template", type=Path)
parser.add_argument("results", type=Path, help="folder with the results")
parser.add_argument("page", type=Path, help="html file to write; the pdf goes beside it")
args = parser.parse_args()

template = args.template.read_text(encoding="utf-8")
if shutil.which("pandoc") and shutil.which("pdflatex"):
    with replacing(args.page.with_suffix(".pdf")) as pdf:
        subprocess.run(
            ["pandoc", "--from", "html", "--to", "pdf", "--pdf-engine", "pdflatex", "--output", str(pdf),
             "--variable", "geometry:margin=2cm,landscape", "--variable", "fontsize=10pt"],
            input=render(template, args.results, linked), text=True, check=True)
else:
    print("no pdf: it needs pandoc and pdflatex")
with replacing(args.page) as page:
    page.write_text(render(template, args.results, embedded), encoding="utf-8")
