"""Draw one instance of a case."""

import argparse

from study.files import write_arrays
from study.simulate import COPYING, NOISE, simulate

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("case")
parser.add_argument("instance", type=int)
parser.add_argument("output", help="npz file to write")
parser.add_argument("--seed", type=int, required=True)
parser.add_argument("--noise", choices=NOISE, default="sd")
parser.add_argument("--copying", choices=COPYING, default="before")
args = parser.parse_args()

arrays = simulate(args.case, args.instance, args.seed, args.noise, args.copying)
write_arrays(args.output, arrays, {name: getattr(args, name)
                                   for name in ("case", "instance", "seed", "noise", "copying")})
