"""How far a run of the study is, read off its result files."""

import re
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
#: The last line of what a Python script says of an error that ended it.
ERROR = re.compile(r"[\w.]*(Error|Exception|Interrupt)\b")
#: Seconds by which the clock of a file system may lag behind.
CLOCK = 2.0
#: Seconds of finished work after which the speed so far replaces the number of cores in the estimate.
ENOUGH = 30.0


class Progress:
    """Says every so many seconds how many jobs of each kind are done and how long the rest may take.

    ``parts`` holds the result file of each job, by kind. ``say`` takes a line of text; the error stream if not given,
    where on a terminal one line of progress stays and is written over.
    """

    def __init__(self, parts: Mapping[str, Sequence], every: float = 30.0, say: Callable[[str], Any] | None = None,
                 cores: int = 1) -> None:
        self.parts = {name: [Path(path) for path in paths] for name, paths in parts.items() if paths}
        self.say, self.cores = say or _say, cores
        self.every = 2.0 if say is None and sys.stderr.isatty() else every
        self.over = threading.Event()
        self.began = self.changed = time.time()
        self.count = 0

    def start(self) -> None:
        """Begin to count, in the background."""
        self.began = self.changed = time.time()
        threading.Thread(target=self._watch, daemon=True).start()

    def finish(self, *results: str | Path, report: str | Path | None = None) -> None:
        """Stop, and say what was done and what is missing, with the CPU time of each kind.

        The first line of each of the text files ``results`` follows, and the path of the ``report``, if the run made
        them.
        """
        self.over.set()
        self.say(self.summary())
        for path in filter(Path.exists, map(Path, results)):
            self.say(f"study: {path.read_text().splitlines()[0]}")
        if report is not None and Path(report).exists():
            self.say(f"study: report: {report}")

    def failures(self, logs: str | Path) -> None:
        """Say of each log that this run wrote and that ends in an error what the error is, and where it stands."""
        for path in sorted(Path(logs).rglob("*.log")):
            lines = path.read_text(errors="replace").strip().splitlines()
            if lines and path.stat().st_mtime >= self.began - CLOCK and ERROR.match(lines[-1]):
                self.say(f"study: FAILED {path}: {lines[-1]}")

    def done(self) -> dict[str, int]:
        """Number of finished jobs, by kind."""
        return {name: sum(path.exists() for path in paths) for name, paths in self.parts.items()}

    def new(self) -> dict[str, int]:
        """Number of jobs that this run finished, by kind: those whose result is younger than its start."""
        return {name: sum(path.exists() and path.stat().st_mtime >= self.began - CLOCK for path in paths)
                for name, paths in self.parts.items()}

    def line(self) -> str:
        """Counts of what is not finished and the time left, in words."""
        done = self.done()
        counts = ", ".join(f"{name} {done[name]} of {len(paths)}" for name, paths in self.parts.items()
                           if done[name] < len(paths)) or "all done"
        return f"study: {counts}; about {_minutes(self.seconds_left(done))} left"

    def seconds_left(self, done: Mapping[str, int]) -> float:
        """Seconds for the missing jobs: their work, kind by kind, at the speed so far.

        What the running jobs have done is counted by the time since the last one ended, on all cores.
        """
        now, each = time.time(), {name: START + _seconds_of_a_job(name, paths) for name, paths in self.parts.items()}
        if sum(done.values()) != self.count:
            self.count, self.changed = sum(done.values()), now
        work = sum(each[name] * count for name, count in self.new().items())
        missing = sum(each[name] * (len(paths) - done[name]) for name, paths in self.parts.items())
        running = self.cores * min(now - self.changed, max(each.values(), default=0.0))
        elapsed = now - self.began
        speed = work / elapsed if work >= ENOUGH and elapsed > 0 else self.cores
        return max(missing - running, 0.0) / speed

    def summary(self) -> str:
        """Finished, new and missing jobs of each kind and their CPU time, in words; kinds never begun are left out."""
        done, new, lines = self.done(), self.new(), []
        for name, paths in self.parts.items():
            missing = len(paths) - done[name]
            if done[name]:
                lines.append(f"study: {name}: {done[name]} of {len(paths)} done, {new[name]} of them now"
                             + (f", {missing} MISSING" if missing else "") + _cpu_time(paths))
        return "\n".join([*lines, f"study: took {_minutes(time.time() - self.began)}"])

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
    """Write to the error stream; on a terminal a line of progress is written over by the next line of any kind."""
    stays = sys.stderr.isatty() and text.endswith(" left")
    before = "\r\033[K" if sys.stderr.isatty() else ""
    sys.stderr.write(before + text + ("" if stays else "\n"))
    sys.stderr.flush()
