"""Recomputed scores beside the published ones."""

import numpy as np

__all__ = ["compare_scores"]

KEY = ["case", "instance", "size", "model"]
#: What must come back exactly for a row to count as identical: errors are counts, and penalties points of the grid.
EXACT = ["test_error", "validation_error", "l1", "l2", "fusion", "status"]
#: What depends on the last bits of a fit, and is reported by its largest difference.
CLOSE = ["bayes_risk", "distance_zero", "distance_nonzero"]


def compare_scores(ours, published):
    """How recomputed scores agree with the published ones, in words: a sentence, then one line for each row that differs.

    Rows are identical if test error, validation error, chosen penalties and status are
    equal to the last digit; gaps and seconds vary from machine to machine and are left out.
    """
    both = ours.merge(published, on=KEY, suffixes=("", "_published"))
    if both.empty:
        return f"none of the {len(ours)} rows is among the published ones\n"
    differs = np.column_stack([_unequal(both[name], both[f"{name}_published"]) for name in EXACT])
    lines = [_sentence(both, differs.any(axis=1), len(ours))]
    for row, flags in zip(both.to_dict("records"), differs):
        if flags.any():
            changes = ", ".join(f"{name} {row[name]} (published {row[f'{name}_published']})"
                                for name, flag in zip(EXACT, flags) if flag)
            lines.append(" ".join(str(row[name]) for name in KEY) + f": {changes}")
    return "\n".join(lines) + "\n"


def _sentence(both, differs, n_ours):
    largest = ", ".join(f"{name} {np.nanmax(np.abs(both[name] - both[f'{name}_published']).to_numpy(), initial=0):.1e}"
                        for name in ("test_error", *CLOSE))
    unpublished = f" ({n_ours - len(both)} more are not published)" if n_ours > len(both) else ""
    return (f"{(~differs).sum()} of {len(both)} rows are identical to the published ones{unpublished}; "
            f"largest differences: {largest}")


def _unequal(ours, published):
    return (ours != published) & ~(ours.isna() & published.isna())
