"""Draws the number of states at each depth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from farthest.queries.output_file import OutputError, form_of, written_file
from farthest.safe_text import safe

if TYPE_CHECKING:
    from collections.abc import Sequence

FORMS = (".png", ".svg")
MOST_OF_A_TITLE = 200
"""Most characters of a title."""


def plot_layers(
    layers: Sequence[int], file: str | Path, *, title: str, log: bool = False, force: bool = False
) -> None:
    """Draw ``layers[d]``, the number of states at depth d, as bars to a .png or .svg file.

    ``log``: a logarithmic scale of states. Raises OutputError where matplotlib is missing, or the file cannot
    be written, or exists and ``force`` is not given.
    """
    file = Path(file)
    form = form_of(file, FORMS)
    try:
        import matplotlib
        from matplotlib.figure import Figure  # without pyplot, which looks for a display
        from matplotlib.ticker import FuncFormatter, MaxNLocator
    except ImportError:
        raise OutputError(
            f"{file}: a plot needs matplotlib, which is not installed: pip install 'farthest[plot]'"
        ) from None
    # With a fixed salt and no date, the same layers give the same file.
    with written_file(file, force=force) as part, matplotlib.rc_context({"svg.hashsalt": "farthest"}):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.bar(range(len(layers)), layers, width=0.85, color="#3b6ea5", log=log)
        # Titles come from files: a $ in a title must not begin a formula.
        shown = " ".join(safe(title[:MOST_OF_A_TITLE]).split())
        axes.set_title(shown, fontsize="medium", fontweight="bold", loc="left", parse_math=False)
        axes.set_title(f"{sum(layers):,} states, {len(layers) - 1} deep", fontsize="small", loc="right")
        axes.set_xlabel("depth (moves)")
        axes.set_ylabel("states" + (" (logarithmic)" if log else ""))
        axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=16))
        if not log:
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.margins(x=0.01)
        axes.grid(axis="y", linewidth=0.5, alpha=0.5)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
        metadata = {"Date": None} if form == ".svg" else None
        figure.savefig(part, format=form[1:], dpi=150, metadata=metadata)
