"""Figures of fits, of the choice of penalties and of uncertainty.

Every function takes ``ax`` (a new figure of fitting size where left out) and returns the
Axes. Nothing depends on colour alone: signs are also hatched, tasks also run from light to dark.
"""

import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib import patches, ticker
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize

from .inputs import held_out_weights

__all__ = ["calibration", "coef_map", "cv_surface", "feature_path", "residual_history", "selection_frequencies"]

_INK = "0.15"
_FAINT = "0.6"
_MARKERS = "osD^vP"


def coef_map(results, features=30, per="sd", ax=None):
    """Coefficients as a map, features by tasks: zeros blank, tied neighbours one outlined cell.

    Parameters
    ----------
    results : FusedLogitResults
    features : int
        Most features to show; if there are more, those with the largest coefficients, largest first.
    per : "sd" or "unit"
        Change in log-odds for one standard deviation of the feature, which makes
        features comparable; or for one unit, the number in ``params``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes

    Notes
    -----
    A tied group whose tasks are not side by side is drawn in parts of the same colour.
    """
    values = _sized_coefs(results, per)
    shown = _largest(np.abs(values).max(axis=1), features)
    groups = results.model.tasks.tied(results.solution.params[1:][shown])
    ax = ax or _grid_axes(len(shown), results.model.endog_names)
    colour = _signed_colours(values)
    room = np.divide(_inches(ax), (values.shape[1], len(shown)))
    for row, feature in enumerate(shown):
        for first, last in _runs(groups[row]):
            _coef_cell(ax, row, first, last, values[feature, first], colour)
            _cell_numbers(ax, row, first, last, values[feature, first], colour, room)
    _label_grid(ax, [results.model.exog_names[1 + i] for i in shown], results.model.endog_names)
    unit = "standard deviation" if per == "sd" else "unit"
    _colour_bar(ax, colour, f"change in log-odds\nper {unit}\n(hatched: negative)")
    ax.set_title(_shown_title("Coefficients", values, len(shown)), loc="left")
    return ax


def feature_path(grid, feature, l1=None, l2=None, ax=None):
    """Coefficients of one feature in all tasks as fusion grows.

    Parameters
    ----------
    grid : Grid or CVResults
    feature : str
        A name, also that of the intercept.
    l1, l2 : float, optional
        Which points of the grid to show, those nearest to these values. Where left out:
        the chosen ones of a CVResults, the smallest of a Grid.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    chosen = getattr(grid, "penalties", None)
    grid = getattr(grid, "grid", grid)
    rows, l1, l2 = _slice(grid.table, _default(l1, chosen, "l1"), _default(l2, chosen, "l2"))
    names, tasks = list(grid.model.exog_names), grid.model.endog_names
    if feature not in names:
        raise ValueError(f"feature must be one of exog_names, found {feature!r}; there are {names[:5]} ...")
    lines = np.asarray(grid.params)[rows, names.index(feature)]
    ax = ax or _axes(6.4, 4.0)
    positions = _zero_log_axis(ax, grid.table["fusion"].to_numpy(dtype=float)[rows])
    _task_lines(ax, positions, lines, tasks)
    if chosen is not None:
        at = positions[np.argmin(np.abs(grid.table["fusion"].to_numpy(dtype=float)[rows] - chosen["fusion"]))]
        _mark_line(ax, at, "chosen")
    ax.axhline(0.0, color=_FAINT, linewidth=0.8, zorder=0)
    ax.set(xlabel="fusion", ylabel="coefficient")
    ax.set_title(f"{feature} as fusion grows (l1 = {l1:.3g}, l2 = {l2:.3g})", loc="left")
    return ax


def cv_surface(cv, l2=None, ax=None):
    """Scores over l1 and fusion, with the lowest and the one-standard-error point marked.

    Points within one standard error of the lowest are outlined. If only one of the
    penalties varies, the scores are drawn as a line with standard errors.

    Parameters
    ----------
    cv : CVResults
    l2 : float, optional
        Show points with the nearest l2; where left out, the best l2 for each l1 and fusion.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    score = "mean" if cv.by == "cv" else cv.by
    table = cv.table if l2 is None else cv.table[cv.table["l2"] == _nearest(cv.table["l2"], l2)]
    if table["l1"].nunique() == 1 or table["fusion"].nunique() == 1:
        return _cv_line(cv, table, score, ax)
    surface = table.groupby(["l1", "fusion"])[score].min().unstack("fusion")
    ax = ax or _grid_axes(surface.shape[0], [_short(value) for value in surface], cell=(0.62, 0.34))
    colour = _score_colours(cv, surface.to_numpy())
    ax.pcolormesh(np.arange(surface.shape[1] + 1), np.arange(surface.shape[0] + 1), surface.to_numpy(),
                  cmap=colour.cmap, norm=colour.norm, edgecolor="white", linewidth=0.5)
    if score == "mean":
        _outline(ax, surface.to_numpy() <= cv.table["mean"].iloc[cv.best] + cv.table["se"].iloc[cv.best])
    _mark_points(ax, cv, surface)
    _penalty_ticks(ax, surface)
    _colour_bar(ax, colour, _score_name(cv), "max" if surface.to_numpy().max() > colour.norm.vmax else "neither")
    ax.set_title(_cv_title(cv, l2), loc="left")
    return ax


def calibration(results, endog=None, exog=None, offset=None, weights=None, bins=10, ax=None):
    """Observed share of yes against predicted probability, for each task.

    Predictions of a task are cut into ``bins`` groups of equal number (weights counted; a
    row may be divided between two of them); bars are 95 % Wilson intervals, left out
    beyond six tasks.

    Parameters
    ----------
    results : FusedLogitResults
    endog, exog, offset, weights : as for ``FusedLogit``, optional
        Held-out rows; the rows of the fit, with their weights, where left out.
    bins : int
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    model = results.model
    if (endog is None) != (exog is None):
        raise ValueError("endog and exog must be given together, found only one of them")
    if endog is None:
        labels, counts = model.endog.to_numpy(dtype=float), model.data.weights
    else:
        _, labels, index = model.held_out(endog, exog)
        counts = held_out_weights(weights, labels, index, model.endog_names)
    predicted = np.asarray(results.predict(exog, offset=offset), dtype=float).reshape(labels.shape)
    ax = ax or _axes(5.2, 4.8)
    ax.plot([0, 1], [0, 1], color=_FAINT, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    colours = _task_colours(labels.shape[1])
    for k, task in enumerate(model.endog_names):
        seen = counts[:, k] > 0
        line = _calibration(predicted[seen, k], labels[seen, k], counts[seen, k], bins)
        _calibration_line(ax, *line, colours[k], _style(k, len(colours)), task)
    _task_key(ax, model.endog_names, colours)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal", xlabel="predicted probability of yes",
           ylabel="observed share of yes")
    ax.set_title(f"Calibration, {'rows of the fit' if exog is None else 'held-out rows'}", loc="left")
    return ax


def selection_frequencies(bootstrap, features=30, ax=None):
    """How often resamples keep a coefficient, and how often they tie neighbours.

    The area and darkness of a dot is the share of resamples in which the coefficient is not zero;
    the width of the bar between two neighbouring columns is the share in which both are
    tied and not zero.

    Parameters
    ----------
    bootstrap : BootstrapResults
    features : int
        Most features to show; if there are more, those selected most often.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    model = bootstrap.results.model
    samples = bootstrap.samples[:, 1:]
    share = (samples != 0).mean(axis=0)
    shown = _largest(share.mean(axis=1), features)
    ax = ax or _grid_axes(len(shown), model.endog_names, cell=(0.5, 0.34))
    colour = ScalarMappable(Normalize(0.0, 1.0), sns.light_palette("0.1", as_cmap=True))
    for row, feature in enumerate(shown):
        _dots(ax, row, share[feature], colour)
        for j, k in model.tasks.edges:
            if k == j + 1:
                tied = np.mean((samples[:, feature, j] == samples[:, feature, k]) & (samples[:, feature, j] != 0))
                ax.add_patch(patches.Rectangle((j + 0.5, row + 0.5 - 0.3 * tied), 1.0, 0.6 * tied, color="0.72",
                                               linewidth=0, zorder=1))
    _label_grid(ax, [model.exog_names[1 + i] for i in shown], model.endog_names)
    _colour_bar(ax, colour, "share of resamples\n(dot: not zero;\nbar: tied and not zero)")
    what = f"Selected in {len(samples)} resamples"
    ax.set_title(_shown_title(what, share, len(shown), "most often kept"), loc="left")
    return ax


def residual_history(results, ax=None):
    """Residuals of the ADMM by iteration.

    Parameters
    ----------
    results : FusedLogitResults
        Fitted with ``method="admm"``.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    history = results.solution.history
    if "primal" not in history:
        raise ValueError(f"results must come from method='admm', which keeps residuals; found {results.method!r}")
    ax = ax or _axes(6.4, 3.6)
    for name, style in (("primal", "-"), ("dual", "--")):
        values = np.asarray(history[name], dtype=float)
        ax.plot(np.arange(1, len(values) + 1), np.where(values > 0, values, np.nan), style, color=_INK, linewidth=1.2,
                label=f"{name} residual")
    ax.set(yscale="log", xlabel="iteration", ylabel="residual")
    ax.legend(frameon=False)
    sns.despine(ax=ax)
    ax.set_title(f"ADMM, {results.status}", loc="left")
    return ax


# ---- frames, ticks, colours -----------------------------------------------------------------------------------------


def _axes(width, height):
    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def _grid_axes(n_rows, columns, cell=(0.55, 0.26)):
    """Axes whose cells have about the same size whatever their number, wide enough for the names of a few columns."""
    wide = max(cell[0], 0.08 * max(len(str(name)) for name in columns) + 0.1) if len(columns) <= 8 else cell[0]
    width = min(max(len(columns) * wide, 2.4), 9.0) + 2.5
    height = min(max(n_rows * cell[1], 2.1), 9.0) + 0.9
    return _axes(width, height)


def _label_grid(ax, row_names, column_names):
    n_rows, n_columns = len(row_names), len(column_names)
    ax.set(xlim=(0, n_columns), ylim=(n_rows, 0))
    crowded = sum(len(str(name)) for name in column_names) > 13 * _inches(ax)[0]
    ax.set_xticks(np.arange(n_columns) + 0.5, [str(name) for name in column_names], rotation=90 if crowded else 0)
    ax.set_yticks(np.arange(n_rows) + 0.5, [str(name) for name in row_names])
    ax.tick_params(length=0, labelsize=9)
    for position in np.arange(n_rows + 1):
        ax.axhline(position, color="0.9", linewidth=0.6, zorder=0)
    for spine in ax.spines.values():
        spine.set_visible(False)


def _inches(ax):
    size = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
    return size.width, size.height


def _colour_bar(ax, colour, label, extend="neither"):
    bar = ax.figure.colorbar(colour, ax=ax, extend=extend, fraction=0.05, pad=0.03, aspect=25, shrink=0.9)
    bar.set_label(label, fontsize=9, labelpad=6)
    bar.ax.tick_params(labelsize=8, length=2)
    bar.outline.set_visible(False)


def _largest(sizes, limit):
    """Positions of the largest; in their own order if all fit."""
    if len(sizes) <= limit:
        return np.arange(len(sizes))
    return np.argsort(-sizes, kind="stable")[:limit]


def _shown_title(what, values, n_shown, which="largest"):
    total = len(values)
    if n_shown == total:
        return what
    zero = int((values == 0).all(axis=1).sum())
    return f"{what}:\nthe {n_shown} {which} of {total:,} features\n({zero:,} are zero in all tasks)"


# ---- coefficient map ------------------------------------------------------------------------------------------------


def _sized_coefs(results, per):
    if per not in ("sd", "unit"):
        raise ValueError(f"per must be 'sd' or 'unit', found {per!r}")
    model = results.model
    return results.coefs * (model.data.X.std(axis=0) * model.scale)[:, None] if per == "sd" else results.coefs


def _signed_colours(values):
    top = np.abs(values).max() or 1.0
    return ScalarMappable(Normalize(-top, top), sns.diverging_palette(265, 35, s=85, l=45, sep=1, as_cmap=True))


def _runs(groups):
    """First and last column of every run of equal groups."""
    ends = np.flatnonzero(np.append(np.diff(groups) != 0, True))
    return zip(np.append(0, ends[:-1] + 1), ends)


def _coef_cell(ax, row, first, last, value, colour):
    """One outlined cell over tied columns; negative values are hatched, so that grey print keeps the sign."""
    if value == 0:
        return
    place, fill = (first + 0.04, row + 0.08), colour.to_rgba(value)
    size = {"width": last - first + 0.92, "height": 0.84}
    # The hatch is drawn in the edge's colour, so fill and outline are two boxes.
    ax.add_patch(patches.Rectangle(place, **size, facecolor=fill, edgecolor=(1, 1, 1, 0.5), linewidth=0,
                                   hatch="////" if value < 0 else None))
    ax.add_patch(patches.Rectangle(place, **size, fill=False, edgecolor=_INK, linewidth=0.9))


def _cell_numbers(ax, row, first, last, value, colour, room):
    """The value in its cell, where the cell is wide enough to hold it."""
    if value == 0 or (last - first + 1) * room[0] < 0.42 or room[1] < 0.15:
        return
    fill, number = colour.to_rgba(value), f"{value:.2f}" if abs(value) >= 0.005 else f"{value:.0e}"
    ax.text((first + last + 1) / 2, row + 0.51, number.replace("-", "\N{MINUS SIGN}"), ha="center", va="center",
            fontsize=8, color=_readable_on(fill), bbox={"facecolor": fill, "edgecolor": "none", "pad": 0.8})


def _readable_on(fill):
    """Black or white, whichever stands out more."""
    red, green, blue = fill[:3]
    return "black" if 0.3 * red + 0.59 * green + 0.11 * blue > 0.5 else "white"


# ---- lines by task --------------------------------------------------------------------------------------------------


def _task_colours(n_tasks):
    """From dark to light, in the order of the tasks; the lightest still shows on paper."""
    return sns.color_palette("viridis", as_cmap=True)(np.linspace(0.0, 0.82, n_tasks))


def _style(k, n_tasks):
    """Marker of a task; none beyond six."""
    return _MARKERS[k] if n_tasks <= len(_MARKERS) else None


def _task_lines(ax, positions, lines, tasks):
    """One line for each task; wider ones below, so that tied tasks show as one striped line."""
    colours = _task_colours(len(tasks))
    few = len(tasks) <= len(_MARKERS)
    for k in range(len(tasks)):
        width = 1.4 + 1.1 * (len(tasks) - 1 - k) if few else 1.3
        ax.plot(positions, lines[:, k], color=colours[k], linewidth=width, marker=_style(k, len(tasks)),
                markersize=4 + width / 2, solid_capstyle="round")
    sns.despine(ax=ax)
    _task_key(ax, tasks, colours)


def _task_key(ax, tasks, colours):
    """A legend of the tasks; beyond six, of seven of them in order."""
    n = len(tasks)
    shown = np.arange(n) if n <= len(_MARKERS) else np.unique(np.linspace(0, n - 1, 7).round().astype(int))
    handles = [plt.Line2D([], [], color=colours[k], marker=_style(k, n), label=str(tasks[k]), linewidth=2)
               for k in shown]
    title = "task" if n <= len(_MARKERS) else f"task (7 of {n})"
    ax.legend(handles=handles, title=title, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=9)


def _calibration(predicted, observed, counts, bins):
    """Mean prediction, share of yes and number of labels in groups of equal number, each (bins,)."""
    order = np.argsort(predicted, kind="stable")
    end = np.cumsum(counts[order])
    total = end[-1] if len(end) else 0.0
    ends = np.linspace(0.0, total, min(bins, max(int(total), 1)) + 1)
    start = end - counts[order]
    inside = np.minimum(end, ends[1:, None]) - np.maximum(start, ends[:-1, None])
    inside = np.clip(inside, 0.0, None)
    size = inside.sum(axis=1)
    return inside @ predicted[order] / size, inside @ observed[order] / size, size


def _calibration_line(ax, mean, share, size, colour, marker, task):
    ax.plot(mean, share, color=colour, marker=marker, markersize=5, linewidth=1.2, label=str(task))
    if marker is not None:
        low, high = _wilson(share, size)
        ax.vlines(mean, low, high, color=colour, linewidth=0.8, alpha=0.4)


def _wilson(share, n, z=1.96):
    centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * np.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    return centre - half, centre + half


def _zero_log_axis(ax, values):
    """Positions on a log axis that has room for 0, which stands one step to the left of the rest."""
    positive = np.sort(values[values > 0])
    ratio = np.median(positive[1:] / positive[:-1]) if len(positive) > 1 else 10.0
    positions = np.where(values > 0, values, (positive[0] if len(positive) else 1.0) / ratio)
    ax.set_xscale("log")
    if (values == 0).any():
        zero = positions[values == 0][0]
        ticks = positive[:: max(1, len(positive) // 6)]
        ax.set_xticks([zero, *ticks], ["0", *(_short(tick) for tick in ticks)])
        ax.xaxis.set_minor_locator(ticker.NullLocator())
    return positions


def _mark_line(ax, position, label):
    ax.axvline(position, color=_FAINT, linewidth=1, linestyle=(0, (2, 2)), zorder=0)
    ax.annotate(label, (position, 1.0), xycoords=("data", "axes fraction"), xytext=(3, -3), textcoords="offset points",
                va="top", fontsize=8, color="0.35")


def _slice(table, l1, l2):
    """Rows of a grid at one l1 and l2, in order of fusion."""
    l1, l2 = _nearest(table["l1"], l1), _nearest(table["l2"], l2)
    rows = np.flatnonzero((table["l1"] == l1) & (table["l2"] == l2))
    return rows[np.argsort(table["fusion"].to_numpy()[rows], kind="stable")], l1, l2


def _default(value, chosen, name):
    return value if value is not None or chosen is None else chosen[name]


def _nearest(values, wanted):
    values = np.unique(values)
    return values[0] if wanted is None else values[np.argmin(np.abs(values - wanted))]


# ---- cross-validation -----------------------------------------------------------------------------------------------


def _score_colours(cv, surface):
    """Light is good. The scale ends four standard errors above the lowest, lest bad corners drown the rest."""
    low, high = np.nanmin(surface), np.nanmax(surface)
    if cv.by == "cv":
        high = min(high, low + 4 * cv.table["se"].iloc[cv.best])
    return ScalarMappable(Normalize(low, max(high, low + 1e-12)), sns.color_palette("crest", as_cmap=True))


def _outline(ax, inside):
    """A line around the cells that are inside."""
    padded = np.pad(inside, 1)
    for row, column in zip(*np.nonzero(inside)):
        for shift, ends in (((-1, 0), ((0, 0), (1, 0))), ((1, 0), ((0, 1), (1, 1))),
                            ((0, -1), ((0, 0), (0, 1))), ((0, 1), ((1, 0), (1, 1)))):
            if not padded[row + 1 + shift[0], column + 1 + shift[1]]:
                (x0, y0), (x1, y1) = ends
                ax.plot([column + x0, column + x1], [row + y0, row + y1], color="black", linewidth=1.6, clip_on=False)


def _marks(cv):
    """Label, row of the table and marker of the points worth marking."""
    marks = [("lowest", cv.best, "o")]
    return marks if cv.one_se is None else [*marks, ("1-SE", cv.one_se, "D")]


def _mark_points(ax, cv, surface):
    for label, row, marker in _marks(cv):
        point = cv.table.iloc[row]
        if point["l1"] in surface.index and point["fusion"] in surface.columns:
            ax.plot(surface.columns.get_loc(point["fusion"]) + 0.5, surface.index.get_loc(point["l1"]) + 0.5, marker,
                    color="white", markeredgecolor="black", markersize=9 if marker == "o" else 7, clip_on=False,
                    linestyle="none", label=_point_label(label, point), zorder=5)
    ax.legend(loc="upper left", bbox_to_anchor=(-0.02, -0.2), frameon=False, fontsize=9, ncol=1)


def _point_label(label, point):
    penalties = ", ".join(f"{name} = {point[name]:.3g}" for name in ("l1", "l2", "fusion"))
    return f"{label}: {penalties}, df = {point['df']:g}"


def _penalty_ticks(ax, surface):
    ax.set_xticks(np.arange(surface.shape[1]) + 0.5, [_short(value) for value in surface.columns])
    ax.set_yticks(np.arange(surface.shape[0]) + 0.5, [_short(value) for value in surface.index])
    ax.tick_params(length=0, labelsize=9)
    ax.set(xlabel="fusion", ylabel="l1")


def _short(value):
    """Two digits, without a power of ten where that is readable."""
    return f"{float(f'{value:.2g}'):g}"


def _score_name(cv):
    names = {"logloss": "mean log-loss of held-out labels", "error": "share of wrong held-out labels"}
    return names[cv.metric] if cv.by == "cv" else cv.by.upper()


def _cv_title(cv, l2):
    shown = "best l2 in each cell" if l2 is None else f"l2 = {_nearest(cv.table['l2'], l2):.3g}"
    return f"{'Cross-validation' if cv.by == 'cv' else cv.by.upper()}, {shown}"


def _cv_line(cv, table, score, ax):
    """Scores along the one penalty that varies, with standard errors."""
    name = next((name for name in ("l1", "fusion", "l2") if table[name].nunique() > 1), "l1")
    best = table.loc[table.groupby(name)[score].idxmin()].sort_values(name)
    ax = ax or _axes(6.4, 4.0)
    positions = _zero_log_axis(ax, best[name].to_numpy(dtype=float))
    errors = best["se"].to_numpy() if score == "mean" else None
    ax.errorbar(positions, best[score].to_numpy(), yerr=errors, color=_INK, ecolor=_FAINT, marker="o",
                markersize=4, capsize=2)
    values = best[name].to_numpy(dtype=float)
    for label, row, _ in _marks(cv):
        _mark_line(ax, positions[np.argmin(np.abs(values - cv.table[name].iloc[row]))], label)
    sns.despine(ax=ax)
    ax.set(xlabel=name, ylabel=_score_name(cv))
    ax.set_title("Cross-validation" if cv.by == "cv" else cv.by.upper(), loc="left")
    return ax


# ---- bootstrap ------------------------------------------------------------------------------------------------------


def _dots(ax, row, share, colour):
    """Dots whose area is the share; round whatever the shape of the cell."""
    room = _inches(ax)
    cell = min(room[0] / len(share), 0.34)
    seen = share > 0
    ax.scatter(np.flatnonzero(seen) + 0.5, np.full(seen.sum(), row + 0.5), s=share[seen] * (cell * 72 * 0.72) ** 2,
               c=colour.to_rgba(share[seen]), edgecolors=_INK, linewidths=0.6, zorder=2)
