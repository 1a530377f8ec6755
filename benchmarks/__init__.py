"""What fusedlr costs, measured beside its peers: ``make bench``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))  # instances and grid of the study
