"""Dense spaces whose boards are digits in fixed ranges: the key is the number that they write, digit 0 the lowest.

A family says, of arrays of keys, where each of its moves leads (``steps``), and what the successors are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError, StorageError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin_boards import MAX_ORIGINS, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.too_large import check_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, EngineKind

    Keys = NDArray[np.uint64]
    Step = tuple[str, NDArray[np.intp], Keys]

VERSION = 1


class DigitSpace(ABC):
    """A ScatterSpace, but for its successors, of keys in mixed radix.

    ``radices``: the number of values of each digit, the lowest first.
    """

    engine: EngineKind = "scatter"
    code_bytes = 8
    moves_both_ways = True
    graded = False

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        radices: Sequence[int],
        layout: dict[str, Any] | None,
        *,
        undirected: bool,
    ) -> None:
        if layout is not None:
            check_layout(layout)
        self.puzzle = puzzle
        self.origin = origin
        self.cells = puzzle.definition.cells
        self.radices = tuple(radices)
        self.undirected = undirected
        self.keys: int = prod(self.radices)
        check_keys(puzzle, self.keys, "choose a smaller one", what="states")
        self.origins = [self.board(digits) for digits in self._origin_digits()]

    @abstractmethod
    def steps(self, keys: Keys, *, forward: bool) -> Iterator[Step]:
        """For each move, its name, the rows of ``keys`` (uint64, shape (states,)) that it can be made on, and the keys
        that it leads to. Not ``forward``: the keys that it leads from; a move may then be several items."""

    def pattern_digits(self, pattern: Board) -> Board:
        """The digits of a board, perhaps with ``WILDCARD``."""
        return pattern

    def board(self, digits: Board) -> Board:
        """The board of digits."""
        return digits

    def digits(self, boards: Boards) -> NDArray[np.int64]:
        """The digits, shape (boards, digits), of boards."""
        import numpy as np

        return boards.astype(np.int64)

    def boards(self, digits: NDArray[np.int64]) -> Boards:
        """Inverse of ``digits``."""
        import numpy as np

        return digits.astype(np.uint8)

    @cached_property
    def weights(self) -> list[int]:
        """What one more in each digit adds to the key."""
        return [prod(self.radices[:place]) for place in range(len(self.radices))]

    def digit(self, keys: Keys, place: int) -> NDArray[np.int64]:
        """One digit of each key."""
        import numpy as np

        found: NDArray[np.int64] = (
            keys // np.uint64(self.weights[place]) % np.uint64(self.radices[place])
        ).astype(np.int64)
        return found

    def layout_fields(self) -> dict[str, Any]:
        """See Space: the definition decides all keys."""
        return {"version": VERSION}

    def encode(self, boards: Boards) -> Codes:
        """See Space."""
        import numpy as np

        digits = self.digits(boards.reshape(-1, self.cells))
        keys = np.zeros(len(digits), dtype=np.uint64)
        for place, weight in enumerate(self.weights):
            keys += digits[:, place].astype(np.uint64) * np.uint64(weight)
        keys[(digits >= np.array(self.radices)).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
        import numpy as np

        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")
        digits = np.empty((keys.size, len(self.radices)), dtype=np.int64)
        for place in range(len(self.radices)):
            digits[:, place] = self.digit(keys, place)
        return self.boards(digits)

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        """See Space."""
        keys = self.encode(boards)
        for name, rows, reached in self.steps(keys, forward=self._forward(toward=toward)):
            if rows.size:
                yield name, rows, self.decode(reached)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space: none is known."""
        del board
        return None

    def origin_codes(self) -> Buffer:
        """See ScatterSpace."""
        import numpy as np

        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).data

    def _origin_digits(self) -> list[Board]:
        """The digits of the boards at depth 0, ``WILDCARD`` filled in; sorted, none twice.

        Raises BoardError when the origin is not a board, PuzzleError when there is no start, no goal or too many.
        """
        definition, name = self.puzzle.definition, self.puzzle.name
        found: set[Board] = set()
        total = 0
        for pattern in origin_patterns(self.puzzle.definition, self.origin.where, self.puzzle.name):
            choices = [
                range(radix) if digit == WILDCARD else (digit,)
                for digit, radix in zip(self.pattern_digits(pattern), self.radices, strict=True)
            ]
            total += prod(map(len, choices))
            if total > MAX_ORIGINS:
                raise PuzzleError(
                    f"puzzle {name}: the goals stand for more than {MAX_ORIGINS:,} boards "
                    f"(goal {definition.format_board(pattern)}); use fewer wildcards"
                )
            found.update(product(*choices))
        return sorted(found)

    def _forward(self, *, toward: bool) -> bool:
        """Whether the player's moves go that way."""
        return (self.origin.direction == "to") == toward


def check_layout(layout: dict[str, Any]) -> None:
    """Raises StorageError unless a stored layout is of this version."""
    found = layout.get("version")
    if found != VERSION:
        raise StorageError(
            f"stored key layout: version {found!r}, expected {VERSION}; "
            "the map was written by another version of farthest, use that one"
        )
