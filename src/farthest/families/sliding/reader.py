"""The table of a sliding puzzle in a puzzle's file, and plain boards of any size by name, with published answers."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.grid import (
    MAX_CELLS,
    WALL_TOKEN,
    WILDCARD_TOKEN,
    Passages,
    disconnection,
    grid_edges,
    number_cells,
    number_in_name,
    token_problem,
)
from farthest.puzzles.puzzle import Origin, Puzzle, published
from farthest.puzzles.tables import Drawn, DrawnTable, Given, Text
from farthest.wording import counted, shown, times

if TYPE_CHECKING:
    from farthest.puzzles.picture import Rows

_LISTED = 6


class SlidingTable(DrawnTable):
    """The ``[sliding]`` table of a definition: docs/puzzles.md says what its keys mean."""

    header = "sliding"
    blank = Text(write="0", default="0")
    pieces = Given()
    edges = Given()
    arcs = Given()

    def read(self) -> Sliding:
        graph = "edges" in self or "arcs" in self
        blank = self.blank
        if problem := token_problem(blank):
            raise self.fail("blank", f'{shown(blank)} {problem}; write another sign, such as blank = "0"')
        goals = self.drawn_goals("1 2/3 0", one_row=graph)
        if not goals:
            raise self.fail(
                "", 'no goal; write goal = ["1 2 3", "4 5 6", "7 8 0"], or goals = [...] for a set'
            )
        start = self.drawn("start") if "start" in self else None
        boards = [*goals, start] if start else goals
        self.check_shapes(boards, graph)
        for board in boards:
            self._check_blanks(board, blank, goals[0])
        pieces, listed = self._counted_pieces(boards, blank)
        for board in boards:
            self._check_pieces(board, pieces, listed)
        rows, (edges, arcs) = (
            ((), self.passages(len(goals[0].tokens), joined="cells")) if graph else self._grid(goals[0])
        )
        drawn = [token for board in boards for token in board.tokens if token != WILDCARD_TOKEN]
        tokens = tuple(dict.fromkeys([blank, *drawn, *pieces]))
        labels = {token: label for label, token in enumerate(tokens)} | {WILDCARD_TOKEN: WILDCARD}
        return Sliding(
            rows=rows,
            edges=edges,
            arcs=arcs,
            tokens=tokens,
            counts=tuple(pieces[token] for token in tokens),
            goals=self.each_once((goal, tuple(labels[token] for token in goal.tokens)) for goal in goals),
            start=tuple(labels[token] for token in start.tokens) if start else None,
        )

    def _check_blanks(self, board: Drawn, blank: str, first: Drawn) -> None:
        blanks, expected = board.tokens.count(blank), first.tokens.count(blank)
        if not blanks:
            usual = [token for token in ("0", "_", ".", "□") if token in board.tokens]
            mend = (
                f'if {usual[0]} is the blank, add blank = "{usual[0]}"' if usual else f"write {blank} there"
            )
            raise self.fail(
                board.key, f"{board.name} has no blank {shown(blank)}, expected at least one; {mend}"
            )
        if blanks == len(board.tokens):
            raise self.fail(
                board.key, f"{board.name} holds only blanks, expected at least one piece; add one"
            )
        if blanks != expected:
            raise self.fail(
                board.key,
                f"{board.name} holds the blank {times(blanks)}, {first.name} {times(expected)}; "
                f"expected the same number of {blank}, correct one of them",
            )

    def _counted_pieces(self, boards: list[Drawn], blank: str) -> tuple[Counter[str], str]:
        """How many of each token, and what tells it: ``pieces``, else the first board without ``*``."""
        cells, blanks = len(boards[0].tokens), boards[0].tokens.count(blank)
        if "pieces" in self:
            pieces = Counter(self.drawn("pieces").tokens)
            pieces[blank] = pieces[blank] or blanks  # blanks may be left out of the list
            if pieces.total() != cells or pieces[blank] != blanks:
                found = (
                    f"{counted(pieces.total() - pieces[blank], 'piece')}, {counted(pieces[blank], 'blank')}"
                )
                raise self.fail(
                    "pieces",
                    f"{found}; expected {cells - blanks} and {blanks}, list each as often as it is there",
                )
            return pieces, "pieces"
        for board in boards:
            if WILDCARD_TOKEN not in board.tokens:
                return Counter(board.tokens), board.name
        raise self.fail(
            boards[0].key,
            "each goal holds * (any piece), so the pieces are not known; "
            f'add start, or list them all: pieces = "{blank} 1 2 ..."',
        )

    def _check_pieces(self, board: Drawn, pieces: Counter[str], listed: str) -> None:
        held = Counter(board.tokens)
        wild = held.pop(WILDCARD_TOKEN, 0)
        problems = [f"{count} {token} too many" for token, count in (held - pieces).items()]
        if not wild:
            problems += [f"{count} {token} missing" for token, count in (pieces - held).items()]
        if problems:
            raise self.fail(
                board.key,
                f"{board.name} differs from {listed}: {', '.join(problems[:_LISTED])}; "
                "expected the same pieces, correct one of them",
            )

    def _grid(self, drawn: Drawn) -> tuple[Rows, tuple[Passages, Passages]]:
        rows = number_cells([[token == WALL_TOKEN for token in row] for row in drawn.rows])
        edges = grid_edges(rows)
        apart = disconnection(len(drawn.tokens), edges)
        if apart:
            raise self.fail(
                drawn.key, f"{apart}; expected one part, open walls or make the cells of others walls"
            )
        return rows, (edges, ())


_NAME = re.compile(r"sliding-([0-9]+)x([0-9]+)(?:-(step|slide))?")


def plain_board(name: str) -> Puzzle | None:
    """The board ``sliding-3x4`` or ``sliding-3x4-slide``, with the published answers for it or its mirror image in the
    diagonal, which has the same layers; None where the name has another form. Raises PuzzleError for an impossible
    size."""
    size = _NAME.fullmatch(name)
    if size is None:
        return None
    rows, columns, metric = number_in_name(size[1]), number_in_name(size[2]), size[3] or "step"
    if rows * columns > MAX_CELLS:
        raise PuzzleError(f"{shown(name)}: a board has 2 to {MAX_CELLS} cells; choose a smaller size")
    if rows * columns < 2:
        raise PuzzleError(
            f"{shown(name)}: {rows * columns} cells, expected 2 to {MAX_CELLS}; choose a larger size"
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
        known=published(
            __file__,
            f"sliding-{min(rows, columns)}x{max(rows, columns)}-{metric}",
            " (of the board turned on its side)" if rows > columns else "",
        ),
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
