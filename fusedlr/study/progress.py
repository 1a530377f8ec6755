"""How far a run of the study is, read off its result files."""

import sys
import threading
import time
from pathlib import Path

import pandas as pd

__all__ = ["Progress"]

#: Rough CPU seconds of one job; only their proportions matter, for the time left.
WEIGHTS = {"simulate": 1, "grid": 10, "adaboost": 30}


class Progress:
    """Says now and then how many jobs of each part are done and how long the rest may take.

    Parameters
    ----------
    parts : dict of str to list of str
        Result file of each job, by part.
    every : float
        Seconds between two lines.
    say : function
        Takes a line of text; writes to the error stream if not given.
    """

    def __init__(self, parts, every=30.0, say=None):
        self.parts = {name: [Path(path) for path in paths] for name, paths in parts.items() if paths}
        self.every, self.say = every, say or _say
        self.over = threading.Event()
        self.began, self.before = time.monotonic(), {}

    def start(self):
        """Begin to count, in the background."""
        self.began, self.before = time.monotonic(), self.done()
        threading.Thread(target=self._watch, daemon=True).start()

    def finish(self):
        """Stop, and say what was done and what is missing, with the CPU time of each part."""
        self.over.set()
        self.say(self.summary())

    def done(self):
        """Number of finished jobs, by part."""
        return {name: sum(path.exists() for path in paths) for name, paths in self.parts.items()}

    def line(self):
        """Counts and the time left, in words."""
        done = self.done()
        counts = ", ".join(f"{name} {done[name]} of {len(paths)}" for name, paths in self.parts.items())
        left = self.seconds_left(done)
        return f"study: {counts}" + ("" if left is None else f"; about {_minutes(left)} left")

    def seconds_left(self, done):
        """Seconds for the missing jobs at the speed so far, or None while nothing has been done."""
        gained = sum(WEIGHTS.get(name, 1) * (done[name] - self.before.get(name, 0)) for name in self.parts)
        missing = sum(WEIGHTS.get(name, 1) * (len(paths) - done[name]) for name, paths in self.parts.items())
        return (time.monotonic() - self.began) * missing / gained if gained > 0 else None

    def summary(self):
        """Finished, new and missing jobs of each part and their CPU time, in words."""
        done, lines = self.done(), []
        for name, paths in self.parts.items():
            new, missing = done[name] - self.before.get(name, 0), len(paths) - done[name]
            lines.append(f"study: {name}: {done[name]} of {len(paths)} done, {new} of them now"
                         + (f", {missing} MISSING" if missing else "") + _cpu_time(paths))
        return "\n".join([*lines, f"study: took {_minutes(time.monotonic() - self.began)}"])

    def _watch(self):
        while not self.over.wait(self.every):
            self.say(self.line())


def _cpu_time(paths):
    """CPU time that the jobs wrote beside their results, in words; empty where they write none."""
    tables = [path.with_suffix(".seconds.csv") for path in paths]
    seconds = [pd.read_csv(table)["seconds"].sum() for table in tables if table.exists()]
    return f", {_minutes(sum(seconds))} of CPU time" if seconds else ""


def _minutes(seconds):
    return f"{seconds / 60:.1f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _say(text):
    sys.stderr.write(text + "\n")
    sys.stderr.flush()
