"""Checks before the first job, and the environment of jobs; only the standard library is needed here."""

import fcntl
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["can_boost", "check_python", "hold_lock", "shell_prefix"]

#: Locks of this process, held until it ends, however it ends.
_LOCKS: list[Any] = []


def check_python(home: Path) -> None:
    """Raise ValueError where jobs would not find the packages of this project and what they need."""
    if not _runs(home, "import fusedlr.core, study.plan, study.settings"):
        raise ValueError(f"fusedlr of {home} is not built for {sys.executable}; run 'make study' once, "
                         "then '. .venv/bin/activate' before 'snakemake --cores N'")


def can_boost(home: Path) -> bool:
    """Whether R can boost trees: set-up leaves a marker file where it can; else R is asked, which takes a second."""
    asked = "import sys; from fusedlr.r.ada import available; sys.exit(available() is None)"
    return (home / ".rlib/complete").exists() or _runs(home, asked)


def hold_lock(folder: str | Path) -> None:
    """Lock a folder; ValueError where another run holds it, since their rows would mix. A killed run holds no lock."""
    (Path(folder) / ".snakemake").mkdir(exist_ok=True)
    lock = open(Path(folder) / ".snakemake/fusedlr.lock", "w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lock.close()
        raise ValueError(f"another run is at work in {Path(folder).resolve()}; wait for it, or give this one a "
                         "--directory of its own") from None
    except OSError:
        pass  # a file system without locks
    _LOCKS.append(lock)


def shell_prefix(home: Path) -> str:
    """Start of every shell command of the workflow: jobs run the Python that runs Snakemake.

    None of these values may be a parameter or part of a rule's shell command: Snakemake would rerun finished jobs when
    the project or its Python moves. Braces are doubled, as Snakemake formats the prefix.
    """
    values = {
        "PATH": f"{shlex.quote(str(Path(sys.executable).parent))}:$PATH",
        "PYTHONPATH": f"{shlex.quote(_packages(home))}${{PYTHONPATH:+:$PYTHONPATH}}",
        "SCRIPTS": shlex.quote(str(home / "workflow/scripts")),
        "PAPER": shlex.quote(str(home / "paper")),
    }
    prefix = "export " + " ".join(f"{name}={value}" for name, value in values.items()) + "; "
    return prefix.replace("{", "{{").replace("}", "}}")


def _packages(home):
    return os.pathsep.join([str(home), str(home / "workflow")])


def _runs(home, source):
    """Whether Python source runs without an error in the environment of a job."""
    path = os.pathsep.join(filter(None, [_packages(home), os.environ.get("PYTHONPATH")]))
    done = subprocess.run([sys.executable, "-c", source], cwd=home, env={**os.environ, "PYTHONPATH": path},
                          capture_output=True)
    return done.returncode == 0
