"""The jugs family: amounts as keys, whose successors numpy finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.families.jugs.boards import JugsBoards
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.blockwise import in_blocks
from farthest.spaces.digits import DigitSpace
from farthest.spaces.packed import PackedSpace
from farthest.spaces.packed_digits import PackedDigits
from farthest.spaces.packed_layout import is_packed

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest.families.jugs.boards import Changes
    from farthest.spaces.digits import Keys


def compile(  # noqa: A001 - what families call it
    puzzle: Puzzle, origin: Origin, layout: dict[str, Any] | None
) -> JugsSpace | PackedSpace:
    """See ``spaces.compile_space``."""
    known = JugsBoards(puzzle, origin)
    return PackedDigits(known) if is_packed(layout) else JugsSpace(known, layout)


class JugsSpace(DigitSpace[JugsBoards]):
    """See JugsBoards."""

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        import numpy as np

        keys = np.frombuffer(memoryview(codes), dtype=np.uint64)
        self.check(keys)
        return in_blocks(self._expand, keys, threads)

    def _expand(self, keys: Keys) -> Keys:
        import numpy as np

        def reached(name: str, rows: NDArray[np.intp], changes: Changes) -> Keys:
            del name
            after = keys[rows].view(np.int64)
            for jug, change in changes.items():
                after += change * self.weights[jug]
            return after.view(np.uint64)

        held = [self.digit(keys, jug) for jug in range(len(self.radices))]
        found = list(self.known.changes(held, reached, forward=self.known.forward(toward=False)))
        return np.concatenate(found) if found else np.empty(0, dtype=np.uint64)
