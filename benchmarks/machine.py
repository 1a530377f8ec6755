"""What the numbers were measured on, in a few words that name no machine."""

import platform
import re
from importlib.metadata import version
from pathlib import Path

import fusedlr

__all__ = ["describe"]

PACKAGES = ("numpy", "scipy", "pandas")


def describe():
    """Processor, versions and kernel chosen by the solver, as text."""
    packages = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (f"fusedlr {fusedlr.__version__} (kernel {_kernel()}), Python {platform.python_version()}, {packages}\n"
            f"{processor()}, one thread; median (least to largest) of the repeats\n")


def processor():
    """Name of the processor where the system tells it."""
    try:
        found = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        found = None
    name = found.group(1).strip() if found else "unknown"
    return f"{platform.machine()} processor" if name == "unknown" else name


def _kernel():
    from fusedlr.core import cpu

    return cpu() if callable(cpu) else cpu
