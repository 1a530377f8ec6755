"""Write the provenance of the run."""

import argparse
import json

from study.files import read_arrays, read_scores, replacing
from study.provenance import provenance

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("scores", help="scores.csv")
parser.add_argument("output", help="json file to write")
parser.add_argument("--config", required=True, help="the workflow's config as json")
parser.add_argument("--models", nargs="+", required=True, help="models that were run")
parser.add_argument("--boosted", nargs="?", help="npz file of AdaBoost")
args = parser.parse_args()

boosted = str(read_arrays(args.boosted)["settings"]) if args.boosted else None
config = json.loads(args.config)
found = provenance(config, read_scores(args.scores, {**config, "models": args.models}), boosted)
with replacing(args.output) as temporary:
    temporary.write_text(json.dumps(found, indent=1) + "\n")
