"""What notebooks show of a map: its facts, its layers, its farthest boards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.drawing.chart import Chart
from farthest.drawing.svg import boards_svg, facts, image

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.queries.stored_map import StoredMap


def map_html(opened: StoredMap, boards: Sequence[str]) -> str:
    """A map as HTML. ``boards``: some of the last layer, to be drawn."""
    origin, record, layers = opened.origin, opened.record, opened.layers
    depth = "eccentricity" if opened.complete else "depth, where it was cut off"
    rows = [
        ("states", f"{opened.states:,}"),
        (depth, str(opened.depth)),
        ("origin", f"moves are counted {origin.direction} {origin.where}"),
        ("farthest boards", f"{layers[-1]:,}"),
        ("job", str(opened.job)),
        ("digest", opened.digest),
    ]
    parts = [
        facts(f"{opened.puzzle.title} ({record.name})", rows),
        image(Chart(layers).document(record.name), f"States at each depth, 0 to {opened.depth}"),
    ]
    if boards:
        captioned = [("", opened.puzzle.definition.parse_board(board)) for board in boards]
        title = f"{len(boards)} of {layers[-1]:,} farthest boards"
        parts.append(image(boards_svg(opened.puzzle, captioned, title), f"{title}: {', '.join(boards)}"))
    return "".join(parts)
