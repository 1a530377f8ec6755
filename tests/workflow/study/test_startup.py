"""A run starts with its own packages, alone in its folder, or says why not."""

import subprocess
import sys
from pathlib import Path

import pytest

from study import startup

ROOT = Path(__file__).parents[3]
HOLD = """
import sys
sys.path.insert(0, sys.argv[1])
from study import startup
startup.hold_lock(sys.argv[2])
print("held", flush=True)
input()
"""


def test_a_project_without_a_built_package_is_refused_with_what_to_do(tmp_path):
    startup.check_python(ROOT)
    (tmp_path / "fusedlr").mkdir()
    (tmp_path / "fusedlr/__init__.py").touch()
    with pytest.raises(ValueError, match="is not built for .*; run 'make study' once"):
        startup.check_python(tmp_path)


def test_a_folder_has_one_run_at_a_time(tmp_path):
    """A killed run leaves nothing locked."""
    command = [sys.executable, "-c", HOLD, str(ROOT / "workflow"), str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="another run is at work in"):
            startup.hold_lock(tmp_path)
        other.kill()
    startup.hold_lock(tmp_path)


def test_jobs_run_this_python_and_the_packages_of_a_project_with_any_name(tmp_path):
    home = tmp_path / "a {project} $(touch hit) 'of' two"
    (home / "workflow/study").mkdir(parents=True)
    (home / "workflow/study/__init__.py").write_text("print('its own')")
    command = startup.shell_prefix(home).format() + "python3 -c 'import study, sys; print(sys.prefix)'"
    done = subprocess.run(command, shell=True, cwd=tmp_path, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["its own", sys.prefix]
    assert not (tmp_path / "hit").exists()
