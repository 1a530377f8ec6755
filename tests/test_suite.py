"""The suite itself, under the ways in which people start it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_ctrl_c_is_tested_where_the_caller_ignores_it():
    """As a shell does for `nohup make test &`: the signal that a test sends to itself must still arrive."""
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "pytest", "-q", "-p",
               "no:cacheprovider", "tests/newton/test_interrupt.py"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300).returncode == 0
