"""How far a run of the study is, read off its result files."""

import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from study.cluster import START

__all__ = ["Progress"]

#: Rough CPU seconds of one job by kind, until one has recorded its own; "other" for kinds not named.
EXPECTED = {"simulate": 0.5, "grid": 6.0, "adaboost": 20.0, "small bags": 2.0, "other": 3.0}
#: Seconds of finished work after which the speed so far replaces the number of cores in the estimate.
ENOUGH = 30.0


class Progress:
    """Says every so many seconds how many jobs of each kind are done and how long the rest may take.

    ``parts`` holds the result file of each job, by kind. ``say`` takes a line of text; the error stream if not given.
    """

    def __init__(self, parts: Mapping[str, Sequence], every: float = 30.0, say: Callable[[str], Any] | None = None,
                 cores: int = 1) -> None:
        self.parts = {name: [Path(path) for path in paths] for name, paths in parts.items() if paths}
        self.every, self.say, self.cores = every, say or _say, cores
        self.over = threading.Event()
        self.began = time.monotonic()
        self.before: dict = {}

    def start(self) -> None:
        """Begin to count, in the background."""
        self.began, self.before = time.monotonic(), self.done()
        threading.Thread(target=self._watch, daemon=True).start()

    def finish(self, *results: str | Path) -> None:
        """Stop, and say what was done and what is missing, with the CPU time of each kind.

        The first line of each of the text files ``results`` follows, if the run made it.
        """
        self.over.set()
        self.say(self.summary())
        for path in filter(Path.exists, map(Path, results)):
            self.say(f"study: {path.read_text().splitlines()[0]}")

    def done(self) -> dict[str, int]:
        """Number of finished jobs, by kind."""
        return {name: sum(path.exists() for path in paths) for name, paths in self.parts.items()}

    def line(self) -> str:
        """Counts and the time left, in words."""
        done = self.done()
        counts = ", ".join(f"{name} {done[name]} of {len(paths)}" for name, paths in self.parts.items())
        return f"study: {counts}; about {_minutes(self.seconds_left(done))} left"

    def seconds_left(self, done: Mapping[str, int]) -> float:
        """Seconds for the missing jobs: their work, kind by kind, at the speed so far."""
        each = {name: START + _seconds_of_a_job(name, paths) for name, paths in self.parts.items()}
        work = sum(each[name] * (done[name] - self.before.get(name, 0)) for name in self.parts)
        missing = sum(each[name] * (len(paths) - done[name]) for name, paths in self.parts.items())
        elapsed = time.monotonic() - self.began
        return missing / (work / elapsed if work >= ENOUGH else self.cores)

    def summary(self) -> str:
        """Finished, new and missing jobs of each kind and their CPU time, in words; kinds never begun are left out."""
        done, lines = self.done(), []
        for name, paths in self.parts.items():
            new, missing = done[name] - self.before.get(name, 0), len(paths) - done[name]
            if done[name]:
                lines.append(f"study: {name}: {done[name]} of {len(paths)} done, {new} of them now"
                             + (f", {missing} MISSING" if missing else "") + _cpu_time(paths))
        return "\n".join([*lines, f"study: took {_minutes(time.monotonic() - self.began)}"])

    def _watch(self):
        while not self.over.wait(self.every):
            self.say(self.line())


def _told(paths):
    """CPU seconds of each finished job that wrote them beside its result."""
    tables = [path.with_suffix(".seconds.csv") for path in paths]
    return [pd.read_csv(table)["seconds"].sum() for table in tables if table.exists()]


def _seconds_of_a_job(name, paths):
    """Mean CPU seconds of the finished jobs of a kind; the rough value where none was recorded."""
    told = _told(paths)
    return sum(told) / len(told) if told else EXPECTED.get(name, EXPECTED["other"])


def _cpu_time(paths):
    """CPU time that the jobs wrote beside their results, in words; empty where they write none."""
    told = _told(paths)
    return f", {_minutes(sum(told))} of CPU time" if told else ""


def _minutes(seconds):
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
