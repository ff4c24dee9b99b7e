"""The jugs family: fill a jug, empty it, or pour from one into another until that is full or this is empty.

A move that would change nothing cannot be made. Moves are one-way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from typing import TYPE_CHECKING, Any

from farthest.families.jugs.definition import amounts, board_of, jugs
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.digits import DigitSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.spaces.contract import Boards
    from farthest.spaces.digits import Keys, Step

BLOCK = 1 << 15
"""Keys stepped at a time: their arrays stay in the cache."""


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> JugsSpace:
    """See ``spaces.compile_space``."""
    return JugsSpace(puzzle, origin, layout)


class JugsSpace(DigitSpace):
    """Digit i is the amount in jug i."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        self.definition = jugs(puzzle)
        radices = [capacity + 1 for capacity in self.definition.capacities]
        super().__init__(puzzle, origin, radices, layout, undirected=False)

    def pattern_digits(self, pattern: Board) -> Board:
        """See DigitSpace."""
        return tuple(amounts(pattern))

    def board(self, digits: Board) -> Board:
        """See DigitSpace."""
        return board_of(digits)

    def digits(self, boards: Boards) -> NDArray[np.int64]:
        """See DigitSpace."""
        import numpy as np

        pairs = boards.astype(np.int64)
        digits: NDArray[np.int64] = pairs[:, ::2] * 256 + pairs[:, 1::2]
        return digits

    def boards(self, digits: NDArray[np.int64]) -> Boards:
        """See DigitSpace."""
        import numpy as np

        boards = np.empty((len(digits), self.cells), dtype=np.uint8)
        boards[:, ::2], boards[:, 1::2] = digits >> 8, digits & 255
        return boards

    def steps(self, keys: Keys, *, forward: bool) -> Iterator[Step]:
        """See DigitSpace."""
        import numpy as np

        held = [self.digit(keys, jug) for jug in range(len(self.radices))]

        def step(name: str, possible: NDArray[np.bool_], changes: dict[int, Any]) -> Step:
            rows = np.flatnonzero(possible)
            reached = keys[rows].view(np.int64)
            for jug, change in changes.items():
                reached = reached + (change[rows] if hasattr(change, "shape") else change) * self.weights[jug]
            return name, rows, reached.view(np.uint64)

        yield from self._forward_steps(held, step) if forward else self._backward_steps(held, step)

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        import numpy as np

        keys = np.frombuffer(memoryview(codes), dtype=np.uint64)
        if keys.size and int(keys.max()) >= self.keys:
            raise ValueError(f"key {int(keys.max())} is out of range, expected less than {self.keys}")
        blocks = [keys[first : first + BLOCK] for first in range(0, keys.size, BLOCK)]
        if threads > 1 and len(blocks) > 1:
            from concurrent.futures import ThreadPoolExecutor

            with ThreadPoolExecutor(threads) as pool:
                found = list(pool.map(self._expand, blocks))
        else:
            found = [self._expand(block) for block in blocks]
        return np.concatenate(found).data if found else b""

    def _expand(self, keys: Keys) -> Keys:
        import numpy as np

        found = [reached for _, _, reached in self.steps(keys, forward=self._forward(toward=False))]
        return np.concatenate(found) if found else np.empty(0, dtype=np.uint64)

    def _forward_steps(self, held: list[NDArray[np.int64]], step: Any) -> Iterator[Step]:
        import numpy as np

        capacities = self.definition.capacities
        for jug, capacity in enumerate(capacities):
            if "fill" in self.definition.moves:
                yield step(f"fill {jug + 1}", held[jug] < capacity, {jug: capacity - held[jug]})
            if "empty" in self.definition.moves:
                yield step(f"empty {jug + 1}", held[jug] > 0, {jug: -held[jug]})
        if "pour" in self.definition.moves:
            for a, b in permutations(range(len(capacities)), 2):
                amount = np.minimum(held[a], capacities[b] - held[b])
                yield step(f"pour {a + 1}→{b + 1}", amount > 0, {a: -amount, b: amount})

    def _backward_steps(self, held: list[NDArray[np.int64]], step: Any) -> Iterator[Step]:
        """The move before: what a full or empty jug held is any amount, and so is what was poured."""
        capacities = self.definition.capacities
        for jug, capacity in enumerate(capacities):
            for amount in range(capacity):
                if "fill" in self.definition.moves:
                    yield step(f"fill {jug + 1}", held[jug] == capacity, {jug: amount - capacity})
                if "empty" in self.definition.moves:
                    yield step(f"empty {jug + 1}", held[jug] == 0, {jug: amount + 1})
        if "pour" in self.definition.moves:
            for a, b in permutations(range(len(capacities)), 2):
                ended = (held[a] == 0) | (held[b] == capacities[b])
                for amount in range(1, min(capacities[a], capacities[b]) + 1):
                    possible = ended & (held[b] >= amount) & (held[a] + amount <= capacities[a])
                    yield step(f"pour {a + 1}→{b + 1}", possible, {a: amount, b: -amount})
