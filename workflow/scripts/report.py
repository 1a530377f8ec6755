"""Build the report: one page of html, and a pdf where pandoc and LaTeX are installed."""

import argparse
import os
import subprocess
from pathlib import Path

from study.contents import FIGURES
from study.files import replacing
from study.report import TITLE, for_print, render

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("template", type=Path, help="paper/report.html of the project")
parser.add_argument("results", type=Path, help="folder with the results")
parser.add_argument("page", type=Path, help="html file to write; the pdf goes beside it")
parser.add_argument("--figures", nargs="*", default=list(FIGURES), help="figures that were drawn")
args = parser.parse_args()

template, paper = args.template.read_text(encoding="utf-8"), args.template.parent
home = os.path.relpath(paper.parent, args.page.parent)
with replacing(args.page) as page:
    page.write_text(render(template, args.results, home=home, drawn=args.figures), encoding="utf-8")

settings = ["--include-in-header", str(paper / "print.tex"), "--lua-filter", str(paper / "print.lua"), "--pdf-engine",
            "pdflatex", "--metadata", f"title={TITLE}"]
try:
    with replacing(args.page.with_suffix(".pdf")) as pdf:
        subprocess.run(["pandoc", "--from", "html", "--to", "pdf", *settings, "--output", str(pdf)],
                       input=for_print(template, args.results, args.figures), text=True, check=True)
except (FileNotFoundError, subprocess.CalledProcessError) as error:
    print(f"no pdf: it needs pandoc and LaTeX with the packages of paper/print.tex ({error})")
