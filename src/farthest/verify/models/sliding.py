"""Sliding puzzles: keys are ranks of arrangements, the blanks first (``ranking``); moves as paths of cells.

A path (c0, c1, ..., ck) is the move that applies where c0 holds the blank and c1 ... ck hold pieces: the piece in each
cell goes to the cell before it, and ck becomes blank. The same path read backwards takes the move back.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import (
    NO_KEY,
    Boards,
    CodedModel,
    LayoutError,
    Packed,
    joined,
    trailing_products,
)
from farthest.verify.models.ranking import Ranking

Path = tuple[int, ...]

_MOST_CELLS = 255


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> PackedSliding | SlidingModel:
    """See models."""
    return (PackedSliding if layout.get("kind") == "packed" else SlidingModel)(puzzle, origin, layout)


class SlidingMoves:
    """The moves of a Model. ``paths``: those from a board to the boards that may be one nearer to the origin: moves, or
    moves taken back where distances are counted from it."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self.definition = sliding(puzzle)
        paths = _slides(self.definition)
        if (
            puzzle.metric != "slide"
        ):  # one piece into a neighbouring blank: either way along an edge, forward on an arc
            edges, arcs = self.definition.edges, self.definition.arcs
            paths = {path for path in paths if len(path) == 2} or {*edges, *((b, a) for a, b in edges + arcs)}
        self.paths = sorted(path if origin.direction == "to" else path[::-1] for path in paths)
        self.templates: list[Board] = list(origin_patterns(self.definition, origin.where, puzzle.name))
        """The boards at distance 0; goals may hold wildcards."""

    def origins(self) -> Boards:
        boards = [board for template in self.templates for board in self.filled(template)]
        return np.array(boards, dtype=np.uint8)

    def filled(self, template: Board) -> Iterator[Board]:
        """The boards that a template stands for."""
        if WILDCARD not in template:
            yield template
            return
        at = template.index(WILDCARD)
        for label, count in enumerate(self.definition.counts):
            if template.count(label) < count:
                yield from self.filled((*template[:at], label, *template[at + 1 :]))

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        return self.moved(boards, [path[::-1] for path in self.paths])

    def moved(self, boards: Boards, paths: Sequence[Path]) -> tuple[NDArray[np.intp], Boards]:
        """What the moves of these paths make of boards, and of which."""
        boards, cells = np.ascontiguousarray(boards), np.ascontiguousarray(boards.T)
        parts = []
        for path in paths:
            legal = cells[path[0]] == 0
            for cell in path[1:]:
                legal &= cells[cell] != 0
            rows = np.flatnonzero(legal)
            after = np.ascontiguousarray(boards.take(rows, axis=0).T)
            for to, cell in pairwise(path):
                after[to] = after[cell]
            after[path[-1]] = 0
            parts.append((rows, after.T))
        return joined(parts, boards.shape[1])


class PackedSliding(SlidingMoves, CodedModel):
    """The model of packed codes: the labels, cell by cell."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        counts = self.definition.counts
        total = sum(label * count for label, count in enumerate(counts))
        self.coder = Packed(layout, [len(counts)] * sum(counts), total)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        return boards

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        return contents.astype(np.uint8)


class SlidingModel(SlidingMoves):
    """The model of ranked keys."""

    code_bytes = 8

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        self.ranking = ranking(layout, self.definition.counts)
        self.keys: int | None = self.ranking.keys

    @property
    def block_sizes(self) -> list[int]:
        return trailing_products(self.ranking.radices, halved=self.ranking.parity is not None)

    def codes(self, boards: Boards) -> NDArray[np.uint64]:
        slots = self.ranking.slots_of(boards)
        codes: NDArray[np.uint64] = self.ranking.rank(slots).astype(np.uint64)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY  # of the parity that has no keys
        return codes

    def boards(self, codes: NDArray[Any]) -> Boards:
        return self.ranking.boards(np.where(codes < self.ranking.keys, codes, 0).astype(np.int64))


def _slides(definition: Sliding) -> set[Path]:
    """Pieces in a straight row or column with no wall among them, each one cell toward the blank."""
    lines = [list(row) for row in definition.rows] + [
        list(column) for column in zip(*definition.rows, strict=True)
    ]
    paths: set[Path] = set()
    for line in lines + [line[::-1] for line in lines]:
        for start in range(len(line)):
            path: Path = ()
            for cell in line[start:]:
                if cell < 0:
                    break
                path += (cell,)
                if len(path) > 1:
                    paths.add(path)
    return paths


def ranking(layout: Mapping[str, Any], counts: Sequence[int]) -> Ranking:
    """The keys that a layout describes. ``counts``: the puzzle's own number of pieces of each label. Raises LayoutError
    unless the layout fits them."""
    cells = sum(counts)
    if layout.get("version") != 1:
        raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
    if not 1 <= cells <= _MOST_CELLS:
        raise LayoutError(f"the puzzle has {cells} cells; expected 1 to {_MOST_CELLS}")
    # JSON gives lists; a layout that was not yet stored may hold tuples.
    slots, classes, found, parity = (
        list(value) if isinstance(value, tuple) else value
        for value in map(layout.get, ("slots", "classes", "counts", "parity"))
    )
    if not _is_permutation(slots, cells):
        raise LayoutError(f"the layout's slots are {slots!r}; expected each cell from 0 to {cells - 1} once")
    if not _is_permutation(classes, len(counts)) or classes[0] != 0:
        raise LayoutError(
            f"the layout's classes are {classes!r}; "
            f"expected each label from 0 to {len(counts) - 1} once, 0 first"
        )
    expected = [counts[label] for label in classes]
    if found != expected:
        raise LayoutError(f"the layout's counts are {found!r}; the puzzle has {expected}")
    if parity is not None:
        if max(counts) > 1 or cells < 3:
            raise LayoutError("the layout has parity bits; that needs three or more pieces, all distinct")
        if not isinstance(parity, list) or len(parity) != cells or any(bit not in (0, 1) for bit in parity):
            raise LayoutError(f"the layout's parity is {parity!r}; expected {cells} bits")
    return Ranking([slots], classes, expected, parity)


def _is_permutation(values: Any, size: int) -> TypeGuard[list[int]]:
    return (
        isinstance(values, list)
        and all(type(value) is int for value in values)
        and sorted(values) == list(range(size))
    )
