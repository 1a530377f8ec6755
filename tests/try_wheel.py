"""Fit one model with an installed fusedlr and check that the answer is proved: python tests/try_wheel.py [folder]."""

import sys

import numpy as np

sys.path[:0] = sys.argv[1:]

from fusedlr import FusedLogit  # noqa: E402 - from the folder that was named

rng = np.random.default_rng(1)
model = FusedLogit(rng.integers(0, 2, (60, 3)), rng.normal(size=(60, 5)))
result = model.fit(l1=1.0, l2=0.1, fusion=0.5)
proof = result.certify()
assert 0 <= result.gap <= 1e-6 and proof.kind == "gap" and proof.relative_gap <= 1e-6, (result.gap, proof)
sys.stdout.write(f"{sys.modules['fusedlr'].__file__}\n")
