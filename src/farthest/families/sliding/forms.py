"""Plain sliding boards of any size by name: ``sliding-3x4``, ``sliding-3x4-slide``, with their published answers."""

from __future__ import annotations

import os
import re

from farthest.errors import PuzzleError
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.grid import MAX_CELLS, grid_edges, number_cells
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.wording import shown

_PUBLISHED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "published.json")
_NAME = re.compile(r"sliding-([0-9]+)x([0-9]+)(?:-(step|slide))?")


def plain_board(name: str) -> Puzzle | None:
    """The board of such a name, else None. Raises PuzzleError for an impossible size."""
    size = _NAME.fullmatch(name)
    return _board(name, size[1], size[2], size[3] or "step") if size else None


def _board(name: str, rows_text: str, columns_text: str, metric: str) -> Puzzle:
    # Sizes are compared as texts first: a number of many digits is not worth reading.
    longest = len(str(MAX_CELLS))
    rows_text, columns_text = rows_text.lstrip("0") or "0", columns_text.lstrip("0") or "0"
    absurd = max(len(rows_text), len(columns_text)) > longest
    rows, columns = (0, 0) if absurd else (int(rows_text), int(columns_text))
    if absurd or not 2 <= rows * columns <= MAX_CELLS:
        raise PuzzleError(
            f"{shown(name)}: a board has 2 to {MAX_CELLS} cells; choose a smaller size"
            if absurd or rows * columns > MAX_CELLS
            else f"{shown(name)}: {rows * columns} cells, expected 2 to {MAX_CELLS}; choose a larger size"
        )
    cells = rows * columns
    numbered = number_cells([[False] * columns for _ in range(rows)])
    return Puzzle(
        name=f"sliding-{rows}x{columns}" + ("-slide" if metric == "slide" else ""),
        title=f"Sliding puzzle of {rows} x {columns} cells, blank first",
        source="the plain board of this size",
        family="sliding",
        metric=metric,
        origin=Origin(),
        known=_published(rows, columns, metric),
        definition=Sliding(
            rows=numbered,
            edges=grid_edges(numbered),
            arcs=(),
            tokens=tuple(str(label) for label in range(cells)),
            counts=(1,) * cells,
            goals=(tuple(range(cells)),),
            start=None,
        ),
    )


def _published(rows: int, columns: int, metric: str) -> tuple[KnownAnswer, ...]:
    """The published answers for a board and its mirror image in the diagonal, which has the same layers."""
    import json

    with open(_PUBLISHED, encoding="utf-8") as file:
        published = json.load(file)
    turned = " (of the board turned on its side)" if rows > columns else ""
    return tuple(
        KnownAnswer(
            states=answer["states"],
            eccentricity=answer.get("eccentricity"),
            layers=tuple(answer["layers"]) if "layers" in answer else None,
            farthest=None,
            source=answer["source"] + turned,
            first_layers=tuple(answer["first_layers"]) if "first_layers" in answer else None,
        )
        for answer in published
        if answer["name"] == f"sliding-{min(rows, columns)}x{max(rows, columns)}-{metric}"
    )
