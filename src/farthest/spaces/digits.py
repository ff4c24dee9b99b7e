"""Boards that are digits in fixed ranges: pegs of discs, colours of lamps, amounts in jugs.

A family says where each of its moves leads (``DigitBoards``). The codes of its boards are keys, numbers that the digits
write, digit 0 the lowest; or they are packed, where boards are too many for keys.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any

from farthest.arrays import np
from farthest.puzzles.definition import WILDCARD, Board, DigitPuzzle, MoveName
from farthest.puzzles.origin import filled_boards
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY, check_keys, check_version, is_packed
from farthest.spaces.packed import CodedSpace, PackedMove, PackedSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest import _kernel
    from farthest.spaces.contract import Boards, Codes

    Digits = NDArray[np.integer[Any]]
    """The digits of boards: shape (boards, digits)."""
    Step = tuple[str, NDArray[np.intp], Digits]
    Keys = NDArray[np.uint64]

VERSION = 1


class DigitBoards(ABC):
    """The part of ``Space`` that does not depend on codes."""

    def __init__(self, puzzle: Puzzle, origin: Origin, definition: DigitPuzzle, *, undirected: bool) -> None:
        self.puzzle = puzzle
        self.origin = origin
        self.definition = definition
        self.cells = definition.cells
        self.radices = definition.radices
        self.undirected = undirected
        found = filled_boards(
            definition,
            origin.where,
            puzzle.name,
            lambda board: prod(map(len, self._choices(board))),
            lambda board: product(*self._choices(board)),
        )
        self.origins = [definition.board_of(digits) for digits in found]

    @abstractmethod
    def steps(self, digits: Digits, *, forward: bool) -> Iterator[Step]:
        """For each move, its name, the rows of ``digits`` that it can be made on, and the digits that it leads to. Not
        ``forward``: the digits that it leads from; a move may then be several items."""

    def expander(self) -> _kernel.DigitExpander | None:
        """What makes the moves away from the origin on keys, in the kernel; None: numpy makes them."""
        return None

    def packed_moves(self) -> Sequence[PackedMove] | None:
        """The same for packed boards."""
        return None

    def digits(self, boards: Boards) -> Digits:
        """The digits of boards."""
        digits = boards.astype(np.int64)
        return digits if self.definition.digit_bytes == 1 else digits[:, ::2] * 256 + digits[:, 1::2]

    def boards(self, digits: NDArray[np.integer[Any]]) -> Boards:
        """Inverse of ``digits``."""
        if self.definition.digit_bytes == 1:
            return digits.astype(np.uint8, copy=False)
        pairs = np.stack([digits >> 8, digits & 255], axis=-1)
        return pairs.astype(np.uint8).reshape(len(digits), self.cells)

    def neighbours(
        self, boards: Boards, *, toward: bool
    ) -> Iterator[tuple[MoveName, NDArray[np.intp], Boards]]:
        for name, rows, reached in self.steps(self.digits(boards), forward=self.forward(toward=toward)):
            if rows.size:
                yield name, rows, self.boards(reached)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        del board
        return None

    def forward(self, *, toward: bool) -> bool:
        """Whether the player's moves go that way."""
        return (self.origin.direction == "to") == toward

    def _choices(self, pattern: Board) -> list[Sequence[int]]:
        """For each digit of a board, perhaps with ``WILDCARD``, its values."""
        digits = zip(self.definition.digits(pattern), self.radices, strict=True)
        return [range(radix) if digit == WILDCARD else (digit,) for digit, radix in digits]


class DigitSpace(CodedSpace):
    """Keys in mixed radix: dense."""

    def __init__(self, plain: DigitBoards, layout: dict[str, Any] | None) -> None:
        if layout is not None:
            check_version(layout, VERSION)
        super().__init__(plain, undirected=plain.undirected)
        self.plain = plain
        self.radices = plain.radices
        self.keys: int = prod(self.radices)
        mend = "choose a smaller one"
        check_keys(self.puzzle, self.keys, mend, what="states")

    @cached_property
    def weights(self) -> list[int]:
        """What one more in each digit adds to the key."""
        return [prod(self.radices[:place]) for place in range(len(self.radices))]

    def digit(self, keys: Keys, place: int) -> NDArray[np.int64]:
        """One digit of each key."""
        found = keys // np.uint64(self.weights[place]) % np.uint64(self.radices[place])
        return found.astype(np.int64)

    def layout_fields(self) -> dict[str, Any]:
        """The definition decides all keys."""
        return {"version": VERSION}

    def encode(self, boards: Boards) -> Codes:
        digits = self.plain.digits(boards.reshape(-1, self.cells))
        keys = np.zeros(len(digits), dtype=np.uint64)
        for place, weight in enumerate(self.weights):
            keys += digits[:, place].astype(np.uint64) * np.uint64(weight)
        keys[(digits >= np.array(self.radices)).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        keys = np.ascontiguousarray(codes, dtype=np.uint64)
        self.check(keys)
        digits = np.empty((keys.size, len(self.radices)), dtype=np.int64)
        for place in range(len(self.radices)):
            digits[:, place] = self.digit(keys, place)
        return self.plain.boards(digits)

    def check(self, keys: Keys) -> None:
        """Raises ValueError when a key is out of range."""
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")

    @cached_property
    def expander(self) -> _kernel.DigitExpander | None:
        return self.plain.expander()


class PackedDigits(PackedSpace):
    """A field of bits for each digit, of which there may be any number."""

    def __init__(self, plain: DigitBoards) -> None:
        self.plain = plain
        super().__init__(plain, plain.radices, None, plain.packed_moves(), undirected=plain.undirected)

    def contents(self, boards: Boards) -> NDArray[np.integer[Any]]:
        return self.plain.digits(boards)

    def boards(self, contents: NDArray[np.integer[Any]]) -> Boards:
        return self.plain.boards(contents)


def digit_space(plain: DigitBoards, layout: dict[str, Any] | None) -> DigitSpace | PackedDigits:
    """The space of a stored layout; keys where there is none."""
    return PackedDigits(plain) if is_packed(layout) else DigitSpace(plain, layout)
