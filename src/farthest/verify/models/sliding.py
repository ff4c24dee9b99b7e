"""Sliding puzzles as a plain model: boards by the proof's own ranking, moves as paths of cells.

Full maps of these puzzles have a faster proof (``verifier``); residue maps are proved by this model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.families.sliding.definition import sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import Boards
from farthest.verify.models.digits import PackedModel, joined, trailing_products
from farthest.verify.ranking import Ranking, paths_toward_origin

NO_KEY = np.uint64(2**64 - 1)


def model(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> SlidingModel | PackedModel:
    """See models."""
    if layout.get("kind") == "packed":
        counts = sliding(puzzle).counts
        total = sum(label * count for label, count in enumerate(counts))
        return PackedModel(SlidingMoves(puzzle, origin), layout, [len(counts)] * sum(counts), total)
    return SlidingModel(puzzle, origin, layout)


class SlidingMoves:
    """The moves of a Model."""

    def __init__(self, puzzle: Puzzle, origin: Origin) -> None:
        self._definition = sliding(puzzle)
        self._paths = [path[::-1] for path in paths_toward_origin(puzzle, origin)]
        self._origin = origin

    def origins(self) -> Boards:
        """See Model."""
        templates = origin_patterns(self._definition, self._origin.where, "")
        boards = [board for template in templates for board in self._filled(template)]
        return np.array(boards, dtype=np.uint8)

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """See Model."""
        parts = []
        for path in self._paths:
            legal = boards[:, path[0]] == 0
            for cell in path[1:]:
                legal &= boards[:, cell] != 0
            rows = np.flatnonzero(legal)
            after = boards[rows]
            after[:, list(path)] = boards[rows][:, [*path[1:], path[0]]]
            parts.append((rows, after))
        return joined(parts, boards.shape[1])

    def contents(self, boards: Boards) -> NDArray[np.int64]:
        """See packed.Moves: the labels."""
        return boards.astype(np.int64)

    def with_contents(self, contents: NDArray[np.int64]) -> Boards:
        """See packed.Moves."""
        return contents.astype(np.uint8)

    def _filled(self, template: Board) -> Iterator[list[int]]:
        """The boards that a template stands for."""
        counts = self._definition.counts
        missing = [label for label, count in enumerate(counts) if template.count(label) < count]
        if WILDCARD not in template:
            yield list(template)
            return
        at = template.index(WILDCARD)
        for label in missing:
            yield from self._filled((*template[:at], label, *template[at + 1 :]))


class SlidingModel(SlidingMoves):
    """See Model."""

    code_bytes = 8

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> None:
        super().__init__(puzzle, origin)
        self._ranking = Ranking(layout, self._definition.counts)
        self.keys: int | None = self._ranking.keys
        self._place_of = np.zeros(256, dtype=np.uint8)  # of a label among the layout's classes
        self._place_of[self._ranking.classes] = range(len(self._ranking.classes))

    @property
    def block_sizes(self) -> list[int]:
        """See BlockModel."""
        ranking = self._ranking
        return trailing_products(ranking.radices, halved=ranking.parity is not None)

    def codes(self, boards: Boards) -> NDArray[np.uint64]:
        """See Model."""
        ranking = self._ranking
        cells = np.argsort(self._place_of[boards], axis=1, kind="stable")
        slots = np.array(ranking.slot_of_cell, dtype=np.uint8)[cells].T
        codes: NDArray[np.uint64] = ranking.rank(slots[: ranking.ranked]).astype(np.uint64)
        codes[(self.boards(codes) != boards).any(axis=1)] = NO_KEY  # of the parity that has no keys
        return codes

    def boards(self, codes: NDArray[Any]) -> Boards:
        """See Model."""
        return self._ranking.boards(np.where(codes < self._ranking.keys, codes, 0).astype(np.int64))
