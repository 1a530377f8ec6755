"""Tabulate the sensitivity of the results to readings that the paper leaves open."""

import argparse

import pandas as pd

from study.files import read_instance, read_made, read_scores, read_table, write_table
from study.readings import by_reading
from study.scores import error_of_margins
from study.sensitivity import summarise

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("readings", help="csv file: scores of the models of other readings")
parser.add_argument("otherwise", help="csv file: scores under readings with data or fits of their own")
parser.add_argument("verdicts", help="csv file: the verdicts under all readings")
parser.add_argument("sensitivity", help="csv file to write")
parser.add_argument("--separable", nargs="*", default=[], help="csv file: unpenalized fits under other constants")
parser.add_argument("--boosted", nargs="*", default=[], help="npz files: AdaBoost that may split small bags")
parser.add_argument("--data", nargs="*", default=[], help="npz files of their instances, as .../case/instance.npz")
args = parser.parse_args()


def small_bags(path, margins):
    case, instance = path.removesuffix(".npz").split("/")[-2:]
    data, facts = read_instance(path, case=case, instance=int(instance))
    arrays = read_made(margins, facts)
    return [{"case": case, "instance": int(instance), "size": size,
             "test_error": error_of_margins(values, data["Y_test"])}
            for size, values in zip(arrays["sizes"], arrays["margins"])]


boosted = [row for pair in zip(args.data, args.boosted) for row in small_bags(*pair)]
write_table(args.sensitivity, summarise(
    read_scores(args.scores), read_table(args.readings), read_table(args.verdicts),
    by_reading(read_table(args.otherwise)), read_table(args.separable[0]) if args.separable else None,
    pd.DataFrame(boosted) if boosted else None))
