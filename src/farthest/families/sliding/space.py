"""The sliding family: moves of pieces into blanks on grids and graphs, in the metrics ``step`` and ``slide``.

step: one piece moves to a neighbouring blank cell. slide: k >= 1 pieces in a straight row next to a blank move one
cell toward it together, as one move (grids only).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import factorial, prod
from typing import TYPE_CHECKING, Any

from farthest.families.sliding.definition import Sliding, filled, sliding, spare_labels
from farthest.puzzles.definition import Board
from farthest.puzzles.origin import filled_boards
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.arrangement import ArrangementSpace, Layout, Move, choose_layout
from farthest.spaces.contract import Space, is_packed

if TYPE_CHECKING:
    from farthest.spaces.packed import PackedSpace
    from farthest.spaces.reduced import Representatives


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> Space:
    definition = sliding(puzzle)
    if definition.blanks:
        from farthest.families.sliding.patterns import PatternSpace

        return PatternSpace(puzzle, origin, layout)
    packed = is_packed(layout)
    space = _arrangements(puzzle, origin, None if packed else layout)
    return _packed(space) if packed else space


def compile_reduced(puzzle: Puzzle, origin: Origin, order: int | None) -> Representatives | None:
    """See ``spaces.reduced_space``."""
    definition = sliding(puzzle)
    origins = origin_boards(puzzle, origin)
    if definition.blanks or len(origins) != 1:
        return None
    from farthest.families.sliding.symmetries import group_of

    maps = group_of(definition, origins[0])
    if len(maps) == 1:
        return None
    from farthest.spaces.reduced import subgroup
    from farthest.spaces.reduced_arrangement import ReducedArrangementSpace, choose_cut, label_sets

    chosen = subgroup(maps, len(maps) if order is None else order)
    if chosen is None or len(chosen) == 1:
        return None
    pieces = range(1, len(definition.counts))
    cut = choose_cut(
        [(0,), *label_sets([each.labels for each in chosen], pieces)],
        definition.counts,
        len(chosen),
        halved=_arrangements(puzzle, origin, None).layout.parity is not None,
    )
    if cut is None:
        return None
    plain = _arrangements(puzzle, origin, None, cut.classes)
    slots, classes = plain.layout.slots, plain.layout.classes
    relabellings = [
        (
            [slots.index(each.cells[cell]) for cell in slots],
            [classes.index(each.labels[label]) for label in classes],
        )
        for each in chosen
    ]
    return ReducedArrangementSpace(plain, chosen, relabellings, cut)


def _arrangements(
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None, classes: tuple[int, ...] | None = None
) -> ArrangementSpace:
    """``classes``: an order in which labels are placed, where no layout is given."""
    definition = sliding(puzzle)
    forward = tuple(moves_of(definition, puzzle.metric))
    backward = tuple(move.inverse() for move in forward)
    origins = origin_boards(puzzle, origin)
    toward, away = (forward, backward) if origin.direction == "to" else (backward, forward)
    chosen = (
        choose_layout(
            definition.rows, definition.edges + definition.arcs, definition.counts, forward, origins, classes
        )
        if layout is None
        else Layout.from_dict(layout, definition.counts)
    )
    return ArrangementSpace(
        puzzle,
        origin,
        origins,
        chosen,
        moves_toward=toward,
        moves_away=away,
        undirected=not definition.arcs,
    )


def _packed(space: ArrangementSpace) -> PackedSpace:
    """The space of the same puzzle and origin with boards packed into codes, a label for each cell."""
    from farthest.spaces.packed import UNCHANGED, PackedMove, PackedSpace

    counts = sliding(space.puzzle).counts
    moves = [
        PackedMove(move.to, [UNCHANGED] * space.cells, move.require, move.forbid) for move in space.moves_away
    ]
    total = sum(label * count for label, count in enumerate(counts))
    return PackedSpace(space, [len(counts)] * space.cells, total, moves, undirected=space.undirected)


def moves_of(definition: Sliding, metric: str) -> Iterator[Move]:
    """All moves of the pieces, in a fixed order."""
    if metric == "slide":
        yield from _slides(definition)
        return
    for source, target in definition.ways:
        yield _shift(definition.cells, [target, source])


def _slides(definition: Sliding) -> Iterator[Move]:
    rows = [list(row) for row in definition.rows]
    columns = [list(column) for column in zip(*rows, strict=True)]
    for line in [*rows, *columns]:
        for way in (line, line[::-1]):
            for i, blank in enumerate(way):
                if blank < 0:
                    continue
                for length in range(2, len(way) - i + 1):
                    cells = way[i : i + length]
                    if cells[-1] < 0:
                        break
                    yield _shift(definition.cells, cells)


def _shift(count: int, cells: Sequence[int]) -> Move:
    """The blank in cells[0]; each piece in cells[1:] moves one place forward, which leaves cells[-1] blank."""
    to = list(range(count))
    for target, source in pairwise(cells):
        to[source] = target
    to[cells[0]] = cells[-1]
    return Move(tuple(to), 1 << cells[0], sum(1 << cell for cell in cells[1:]), (cells[-1], cells[0]))


def origin_boards(puzzle: Puzzle, origin: Origin) -> list[Board]:
    """The boards at depth 0, wildcards filled in."""
    definition = sliding(puzzle)

    def ways(pattern: Board) -> int:
        spare = spare_labels(definition, pattern)
        return factorial(sum(spare)) // prod(factorial(n) for n in spare)

    return filled_boards(
        definition, origin.where, puzzle.name, ways, lambda pattern: filled(definition, pattern)
    )
