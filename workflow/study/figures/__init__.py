"""Figures of the study, each drawn from a tidy table that is kept beside it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.backends.backend_agg import FigureCanvasAgg

from study.figures.style import style
from study.files import replacing, write_table

__all__ = ["Figure", "save"]


@dataclass(frozen=True)
class Figure:
    """A figure and its words."""

    tables: tuple[str, ...]  # result tables that it is drawn from
    needs: str  # what these must hold for it to show anything
    caption: str
    tabulate: Callable[..., pd.DataFrame]  # from these tables to the one behind the figure
    draw: Callable[[pd.DataFrame], Any]  # from that one to the figure


def save(figure: Figure, tables: Sequence[pd.DataFrame], stem: str | Path) -> None:
    """Draw a figure without a screen and write it as pdf and png, and its table as csv, beside each other."""
    table = figure.tabulate(*tables)
    with plt.rc_context(style()):
        drawn = figure.draw(table) if len(table) else _nothing_to_draw(figure)
        FigureCanvasAgg(drawn)
        box = drawn.get_tightbbox(drawn.canvas.get_renderer()).padded(0.05)
        for suffix, extra in (("pdf", {"CreationDate": None, "ModDate": None}), ("png", {"Software": None})):
            with replacing(f"{stem}.{suffix}") as temporary:
                drawn.savefig(temporary, format=suffix, metadata=extra, dpi=200, bbox_inches=box)
        plt.close(drawn)
    write_table(f"{stem}.csv", table)


def _nothing_to_draw(figure):
    """A sentence in the place of a figure that a run of few cases or models has no numbers for."""
    drawn = plt.figure(figsize=(5, 0.6))
    drawn.text(0.5, 0.5, f"Nothing to show in this run: the figure takes {figure.needs}.", ha="center", va="center")
    return drawn
