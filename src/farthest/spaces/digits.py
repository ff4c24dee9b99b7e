"""Dense spaces whose boards are digits in fixed ranges: the key is the number that they write, digit 0 the lowest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farthest import _kernel
from farthest.errors import PuzzleError, StorageError
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.origin import MAX_ORIGINS, origin_patterns
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY
from farthest.spaces.packed import PackedMove, PackedSpace
from farthest.spaces.too_large import check_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, EngineKind


# --- Boards of digits in fixed ranges, with their moves: what spaces by keys and spaces of packed boards share.
#
# A family says, of arrays of digits, where each of its moves leads (``steps``).

if TYPE_CHECKING:
    Digits = NDArray[np.int64]
    """The digits of boards: shape (boards, digits)."""
    Step = tuple[str, NDArray[np.intp], Digits]


class DigitBoards(ABC):
    """The part of ``Space`` that does not depend on codes. ``radices``: the number of values of each digit."""

    moves_both_ways = True

    def __init__(self, puzzle: Puzzle, origin: Origin, radices: Sequence[int], *, undirected: bool) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.cells = puzzle.definition.cells
        self.radices = tuple(radices)
        self.undirected = undirected
        self.origins = [self.board(digits) for digits in self._origin_digits()]

    @abstractmethod
    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """For each move, its name, the rows of ``digits`` that it can be made on, and the digits that it leads to. Not
        ``forward``: the digits that it leads from; a move may then be several items."""

    def pattern_digits(self, pattern: Board) -> Board:
        """The digits of a board, perhaps with ``WILDCARD``."""
        return pattern

    def board(self, digits: Board) -> Board:
        """The board of digits."""
        return digits

    def digits(self, boards: Boards) -> Digits:
        """The digits of boards."""
        import numpy as np

        return boards.astype(np.int64)

    def boards(self, digits: NDArray[np.integer[Any]]) -> Boards:
        """Inverse of ``digits``."""
        import numpy as np

        return digits.astype(np.uint8)

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        for name, rows, reached in self.steps(self.digits(boards), forward=self.forward(toward=toward)):
            if rows.size:
                yield name, rows, self.boards(reached)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """None is known."""
        del board
        return None

    def forward(self, *, toward: bool) -> bool:
        """Whether the player's moves go that way."""
        return (self.origin.direction == "to") == toward

    @cached_property
    def keys(self) -> int:
        """How many rows of digits there are."""
        return prod(self.radices)

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


if TYPE_CHECKING:
    Keys = NDArray[np.uint64]

VERSION = 1

Known = TypeVar("Known", bound=DigitBoards)


class DigitSpace(ABC, Generic[Known]):
    """A ScatterSpace, but for its successors, of keys in mixed radix."""

    engine: EngineKind = "scatter"
    code_bytes = 8
    moves_both_ways = True
    graded = False

    def __init__(self, known: Known, layout: dict[str, Any] | None) -> None:
        if layout is not None:
            check_layout(layout)
        self.known = known
        self.puzzle = known.puzzle
        self.origin = known.origin
        self.cells = known.cells
        self.radices = known.radices
        self.undirected = known.undirected
        self.origins = known.origins
        self.keys = known.keys
        check_keys(
            self.puzzle,
            self.keys,
            "choose a smaller one, count its first layers with --max-depth",
            what="states",
        )

    @abstractmethod
    def successors(self, codes: Buffer, threads: int) -> Buffer: ...

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
        """The definition decides all keys."""
        return {"version": VERSION}

    def encode(self, boards: Boards) -> Codes:
        import numpy as np

        digits = self.known.digits(boards.reshape(-1, self.cells))
        keys = np.zeros(len(digits), dtype=np.uint64)
        for place, weight in enumerate(self.weights):
            keys += digits[:, place].astype(np.uint64) * np.uint64(weight)
        keys[(digits >= np.array(self.radices)).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        import numpy as np

        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        self.check(keys)
        digits = np.empty((keys.size, len(self.radices)), dtype=np.int64)
        for place in range(len(self.radices)):
            digits[:, place] = self.digit(keys, place)
        return self.known.boards(digits)

    def check(self, keys: Keys) -> None:
        """Raises ValueError when a key is out of range."""
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        return self.known.neighbours(boards, toward=toward)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        return self.known.why_unreachable(board)

    def origin_codes(self) -> Buffer:
        import numpy as np

        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).data


class ExpandedDigitSpace(DigitSpace[Known]):
    """A DigitSpace whose moves the kernel makes."""

    @cached_property
    @abstractmethod
    def expander(self) -> _kernel.DigitExpander: ...

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        return _kernel.expand_codes(self.expander, codes, threads)


def check_layout(layout: dict[str, Any]) -> None:
    """Raises StorageError unless a stored layout is of this version."""
    found = layout.get("version")
    if found != VERSION:
        raise StorageError(
            f"stored key layout: version {found!r}, expected {VERSION}; "
            "the map was written by another version of farthest, use that one"
        )


# --- Packed spaces of boards of digits, as many as they are: a field of bits for each digit.


class PackedDigits(PackedSpace):
    """See PackedSpace. ``moves_away``: what the kernel makes; None: numpy finds the successors."""

    def __init__(self, known: DigitBoards, moves_away: Sequence[PackedMove] | None = None) -> None:
        self.known = known
        super().__init__(known, known.radices, None, moves_away, undirected=known.undirected)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        return self.known.digits(boards)

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        return self.known.boards(contents)
