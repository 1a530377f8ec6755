"""Figures of the study, each drawn from a tidy table that is kept beside it."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
from matplotlib.backends.backend_agg import FigureCanvasAgg

from study.contents import FIGURES
from study.figures import claims, overview
from study.figures.style import style
from study.files import replacing, write_table

__all__ = ["functions", "save"]


def functions(name: str) -> Any:
    """The two functions of a figure: from its tables to the one behind it, and from that to the figure."""
    home = overview if hasattr(overview, f"{name}_figure") else claims
    return getattr(home, f"{name}_table"), getattr(home, f"{name}_figure")


def save(name: str, tables: Any, stem: Any) -> None:
    """Draw one figure without a screen and write it as pdf and png, and its table as csv, beside each other.

    Parameters
    ----------
    name : str
        Of ``FIGURES``.
    tables : list of DataFrame
        The tables that it is drawn from.
    stem : str
        Path without suffix.
    """
    tabulate, draw = functions(name)
    table = tabulate(*tables)
    with plt.rc_context(style()):
        figure = draw(table) if len(table) else _nothing_to_draw(name)
        FigureCanvasAgg(figure)
        box = figure.get_tightbbox(figure.canvas.get_renderer()).padded(0.05)
        for suffix, extra in (("pdf", {"CreationDate": None, "ModDate": None}), ("png", {"Software": None})):
            with replacing(f"{stem}.{suffix}") as temporary:
                figure.savefig(temporary, format=suffix, metadata=extra, dpi=200, bbox_inches=box)
        plt.close(figure)
    write_table(f"{stem}.csv", table)


def _nothing_to_draw(name):
    """A sentence in the place of a figure that a run of few cases or models has no numbers for."""
    figure = plt.figure(figsize=(5, 0.6))
    figure.text(0.5, 0.5, f"Nothing to show in this run: the figure takes {FIGURES[name].needs}.", ha="center",
                va="center")
    return figure
