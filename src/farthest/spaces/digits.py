"""Dense spaces whose boards are digits in fixed ranges: the key is the number that they write, digit 0 the lowest."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farthest import _kernel
from farthest.errors import StorageError
from farthest.spaces.contract import NO_KEY
from farthest.spaces.digit_boards import DigitBoards
from farthest.spaces.too_large import check_keys

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.puzzles.definition import MoveName
    from farthest.spaces.contract import Boards, Codes, EngineKind

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
    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""

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

        digits = self.known.digits(boards.reshape(-1, self.cells))
        keys = np.zeros(len(digits), dtype=np.uint64)
        for place, weight in enumerate(self.weights):
            keys += digits[:, place].astype(np.uint64) * np.uint64(weight)
        keys[(digits >= np.array(self.radices)).any(axis=1)] = NO_KEY
        return keys

    def decode(self, codes: Codes) -> Boards:
        """See Space."""
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
        """See Space."""
        return self.known.neighbours(boards, toward=toward)

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space."""
        return self.known.why_unreachable(board)

    def origin_codes(self) -> Buffer:
        """See ScatterSpace."""
        import numpy as np

        boards = np.array(self.origins, dtype=np.uint8).reshape(-1, self.cells)
        return np.ascontiguousarray(self.encode(boards)).data


class ExpandedDigitSpace(DigitSpace[Known]):
    """A DigitSpace whose moves the kernel makes."""

    @cached_property
    @abstractmethod
    def expander(self) -> _kernel.DigitExpander:
        """See ScatterSpace."""

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        return _kernel.expand_codes(self.expander, codes, threads)


def check_layout(layout: dict[str, Any]) -> None:
    """Raises StorageError unless a stored layout is of this version."""
    found = layout.get("version")
    if found != VERSION:
        raise StorageError(
            f"stored key layout: version {found!r}, expected {VERSION}; "
            "the map was written by another version of farthest, use that one"
        )
