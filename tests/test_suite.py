"""The suite itself, under the ways in which people start it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_ctrl_c_is_tested_where_the_caller_ignores_it():
    """As a shell does for `nohup make test &`: the signal that a test sends to itself must still arrive."""
    command = ["sh", "-c", 'trap "" INT; exec "$@"', "sh", sys.executable, "-m", "pytest", "-q", "-p",
               "no:cacheprovider", "tests/core/test_interrupt.py"]
    assert subprocess.run(command, cwd=ROOT, capture_output=True, timeout=300).returncode == 0


def test_tests_that_are_not_about_r_start_none():
    """A live R takes a second, memory and the signal of Ctrl-C."""
    source = "import pytest, sys; pytest.main(['-q', 'tests/test_tasks.py']); sys.exit('rpy2' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", source], cwd=ROOT, capture_output=True).returncode == 0
