"""Tabulate the sensitivity of the results to readings that the paper leaves open."""

import argparse

import pandas as pd

from study.files import read_arrays, read_scores, read_table, write_table
from study.scores import error_of_margins
from study.sensitivity import summarise

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("readings", help="csv file: scores of the models of other readings")
parser.add_argument("claims", help="csv file: the claims as read here")
parser.add_argument("verdicts", help="csv file: the verdicts under other readings")
parser.add_argument("sensitivity", help="csv file to write")
parser.add_argument("--noise", nargs="*", default=[], help="csv files: scores under the other reading of the noise")
parser.add_argument("--copying", nargs="*", default=[], help="csv files: scores with coefficients copied after drawing")
parser.add_argument("--separable", nargs="*", default=[], help="csv file: unpenalized fits under other constants")
parser.add_argument("--boosted", nargs="*", default=[], help="npz files: AdaBoost that may split small bags")
parser.add_argument("--data", nargs="*", default=[], help="npz files of their instances, as .../case/instance.npz")
args = parser.parse_args()


def small_bags(data, margins):
    case, instance = data.removesuffix(".npz").split("/")[-2:]
    arrays, truth = read_arrays(margins), read_arrays(data)["Y_test"]
    return [{"case": case, "instance": int(instance), "size": size, "test_error": error_of_margins(values, truth)}
            for size, values in zip(arrays["sizes"], arrays["margins"])]


def table(paths):
    return pd.concat([read_table(path) for path in paths], ignore_index=True) if paths else None


boosted = [row for pair in zip(args.data, args.boosted) for row in small_bags(*pair)]
whole = [read_scores(args.scores), *(read_table(path) for path in (args.readings, args.claims, args.verdicts))]
write_table(args.sensitivity, summarise(*whole, table(args.noise), table(args.copying), table(args.separable),
                                        pd.DataFrame(boosted) if boosted else None))
