"""The hanoi family: only the smallest disc of a peg moves, onto an empty peg or a larger disc."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest.puzzles.definition import Origin, Puzzle
from farthest.puzzles.hanoi import hanoi
from farthest.spaces.digits import DigitSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.digits import Keys, Step

_TABLE = 1 << 16


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> HanoiSpace:
    """See ``spaces.compile_space``."""
    return HanoiSpace(puzzle, origin, layout)


class HanoiSpace(DigitSpace):
    """Digit i is the peg of disc i, disc 0 the smallest."""

    def __init__(self, puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None) -> None:
        self.body = hanoi(puzzle)
        super().__init__(puzzle, origin, self.body.radices, layout, undirected=self.body.undirected)

    def steps(self, keys: Keys, *, forward: bool) -> Iterator[Step]:
        """See DigitSpace. Made backward, a move takes the disc from where it lies back to where it was."""
        import numpy as np

        tops = self._tops(keys)
        weights = np.array([*self.weights, 0], dtype=np.int64)
        for a, b in self.body.arcs:
            source, target = (a, b) if forward else (b, a)
            rows = np.flatnonzero(tops[source] < tops[target])
            change = weights[tops[source][rows]] * (target - source)
            yield f"{a}→{b}", rows, keys[rows] + change.view(np.uint64)  # modulo 2^64: it may be negative

    def _tops(self, keys: Keys) -> NDArray[np.uint8]:
        """For each peg and key the number of the smallest disc there, ``discs`` where there is none."""
        import numpy as np

        tops = np.full((self.body.pegs, keys.size), self.body.discs, dtype=np.uint8)
        for first, table in self._tables:
            part = (keys // np.uint64(self.weights[first])) % np.uint64(table.shape[1])
            np.minimum(tops, table[:, part.astype(np.intp)], out=tops)
        return tops

    @cached_property
    def _tables(self) -> list[tuple[int, NDArray[np.uint8]]]:
        """Of each group of consecutive discs, its first, and the tops of all its arrangements, the others away."""
        import numpy as np

        pegs, discs = self.body.pegs, self.body.discs
        group = max(count for count in range(1, 17) if pegs**count <= _TABLE)
        tables = []
        for first in range(0, discs, group):
            count = min(group, discs - first)
            numbers = np.arange(pegs**count)
            tops = np.full((pegs, numbers.size), discs, dtype=np.uint8)
            for disc in reversed(range(count)):
                tops[numbers // pegs**disc % pegs, numbers] = first + disc
            tables.append((first, tops))
        return tables
