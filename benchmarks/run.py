"""Measure fusedlr beside its peers, in one process and one thread.

    make bench                       all parts, about ten minutes on a free machine
    make bench ARGS="--only a,d"     some parts
    make bench ARGS=--quick          tiny sizes, to see that everything works
    make bench ARGS=--publish        also copy the results to benchmarks/published

Prints a table for each part and writes it with a csv file and a figure to benchmarks/results. A part that needs
something that is not installed says so and is left out.
"""

import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy reads it

import argparse
import importlib
import shutil
import subprocess
import sys
import time
import traceback
from pathlib import Path

from fusedlr.r.session import RMissingError

from .machine import describe

HERE = Path(__file__).parent

#: Module and function of each part.
PARTS = {
    "a": ("grid_points", "run"),
    "b": ("elastic_net", "run"),
    "c": ("single_fits", "run"),
    "d": ("newton_step", "run"),
    "e": ("growth", "run"),
    "f": ("boosting", "run"),
    "g": ("fresh", "run_import"),
    "h": ("fresh", "run_memory"),
    "i": ("building", "run"),
    "j": ("many_rows", "run"),
    "k": ("paths", "run"),
}


def main():
    args = read_arguments()
    results = HERE / ("results/quick" if args.quick else "results")
    results.mkdir(parents=True, exist_ok=True)
    if "c" in args.only:
        install_peers()
    texts, failed = [describe()], False
    print(texts[0], flush=True)
    for letter in args.only:
        text, ok = run_part(letter, args.quick, results)
        texts.append(text)
        failed |= not ok
        print(text, flush=True)
    draw(results)
    (results / "tables.md").write_text("\n".join(texts), encoding="utf-8")
    print(f"tables, csv files and figure: {results.relative_to(HERE.parent)}")
    if args.publish and not failed:
        publish(results)
    return int(failed)


def read_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(PARTS), help="letters of the parts, as a,b,d")
    parser.add_argument("--quick", action="store_true", help="tiny sizes; the numbers mean nothing")
    parser.add_argument("--publish", action="store_true", help="copy the results to benchmarks/published")
    args = parser.parse_args()
    args.only = args.only.split(",")
    unknown = sorted(set(args.only) - set(PARTS))
    if unknown:
        parser.error(f"--only takes the letters {', '.join(PARTS)}, found {', '.join(unknown)}")
    if args.publish and (args.quick or set(args.only) != set(PARTS)):
        parser.error("--publish needs all parts in full: leave out --quick and --only")
    return args


def run_part(letter, quick, results):
    """Text of one part, and whether it ran or was left out for a reason; its table goes to a csv file."""
    module, function = PARTS[letter]
    began = time.monotonic()
    try:
        part = getattr(importlib.import_module(f"benchmarks.{module}"), function)(quick)
    except RMissingError as missing:
        return f"## ({letter}) left out: {missing}\n", True
    except Exception:
        return f"## ({letter}) failed\n\n{traceback.format_exc()}", False
    part.table.to_csv(results / f"{part.name}.csv", index=False, lineterminator="\n")
    return f"{part}took {time.monotonic() - began:.0f} s\n", True


def install_peers():
    """Try to get the R packages that fused fits are compared with."""
    library = HERE.parent / ".rlib"
    library.mkdir(exist_ok=True)
    if shutil.which("Rscript"):
        command = ["Rscript", "--no-save", "--no-restore", HERE / "peers.R", library]
        try:
            subprocess.run(command, timeout=900, stderr=subprocess.DEVNULL, check=False)
        except subprocess.TimeoutExpired:
            print("R's packages smurf and penalized took too long to install")


def draw(results):
    """Draw what was measured, where matplotlib is installed."""
    try:
        from .figure import draw_all
    except ImportError as missing:
        print(f"no figure: {missing}")
        return
    draw_all(results)


def publish(results):
    """Copy the results to the folder that is kept with the project."""
    target = HERE / "published"
    target.mkdir(exist_ok=True)
    for path in results.iterdir():
        if path.is_file():
            shutil.copy(path, target / path.name)
    print(f"published: {target.relative_to(HERE.parent)}")


if __name__ == "__main__":
    sys.exit(main())
