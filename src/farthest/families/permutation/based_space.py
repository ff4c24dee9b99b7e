"""Permutation puzzles whose moves reach few of all arrangements: the places of some pieces tell those of all others.

The kernel enumerates the pattern of these pieces, whose states are one for one those of the puzzle. Boards are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from farthest.families.permutation.chain import Chain, level_fields
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.permutation.layout import Layout, choose_layout
from farthest.families.permutation.neighbours import PermutationBoards
from farthest.families.permutation.patterns import PermutationPatterns
from farthest.puzzles.definition import Board
from farthest.puzzles.pattern_maker import Choice
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.contract import NO_KEY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from farthest import _kernel
    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.reach import Level
    from farthest.spaces.contract import EngineKind


class BasedSpace(PermutationBoards):
    """See GatherSpace. ``levels``: the base, whose pieces on the first origin are the pattern's.

    Moves join all origins.
    ``pattern``: the space of the pattern; ``relabel``: for each label of the puzzle that of the pattern.
    """

    def __init__(
        self,
        puzzle: Puzzle,
        origin: Origin,
        origins: list[Board],
        levels: Sequence[Level],
        layout: Layout | None,
    ) -> None:
        super().__init__(puzzle, origin, origins)
        self.engine: EngineKind = "gather"
        self._levels = tuple(levels)
        definition, self.relabel = pattern_of_base(self.definition, origins, levels)
        chosen = choose_layout(definition, definition.goals) if layout is None else layout
        made = replace(puzzle, definition=definition, known=(), origin=replace(origin, where="goal"))
        self.pattern = PermutationSpace(made, made.origin, list(definition.goals), chosen)

    @property
    def undirected(self) -> bool:
        """See Space."""
        return self.definition.symmetric

    @property
    def keys(self) -> int:
        """See GatherSpace."""
        return self.pattern.keys

    def layout_fields(self) -> dict[str, Any]:
        """See Space: as of the pattern's space, and ``base``."""
        return {**self.pattern.layout_fields(), "base": level_fields(self._levels)}

    def shards_at(self, shard_classes: int) -> int:
        """See GatherSpace."""
        return self.pattern.shards_at(shard_classes)

    @property
    def kernel(self) -> _kernel.ArrangementSpace:
        """See GatherSpace."""
        return self.pattern.kernel

    def compile_kernel(self, shard_classes: int = 1, isa: str = "") -> _kernel.ArrangementSpace:
        """See GatherSpace."""
        return self.pattern.compile_kernel(shard_classes, isa)

    def shard_order(self, shards: int) -> range:
        """See GatherSpace."""
        return self.pattern.shard_order(shards)

    def keys_of(self, boards: Sequence[Sequence[int]]) -> list[int]:
        """See GatherSpace."""
        if boards == self.origins:
            return self.pattern.keys_of(self.pattern.origins)
        import numpy as np

        keys: list[int] = self.encode(np.array(boards, dtype=np.uint8)).tolist()
        return keys

    def encode(self, boards: NDArray[np.uint8]) -> NDArray[np.uint64]:
        """See Space. A board on which some piece is not where it follows to be has no key."""
        import numpy as np

        patterns = self._patterns(boards)
        keys = self.pattern.encode(patterns)
        keys[(self._whole(patterns) != boards).any(axis=1)] = np.uint64(NO_KEY)
        return keys

    def decode(self, codes: NDArray[np.uint64]) -> NDArray[np.uint8]:
        """See Space. On boards that cannot be reached the pieces that are not of the base are in the origin's order."""
        return self._whole(self.pattern.decode(codes))

    def why_unreachable(self, board: Sequence[int]) -> str | None:
        """See Space."""
        import numpy as np

        reason = super().why_unreachable(board)
        if reason is None and self.encode(np.array([board], dtype=np.uint8))[0] == NO_KEY:
            reason = f"group: the moves reach {self._chain.order:,} boards, and this is none of them"
        return reason

    @cached_property
    def _chain(self) -> Chain:
        return Chain(self.definition, self.origins[0], self._levels)

    def _patterns(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Boards of the puzzle as boards of the pattern."""
        import numpy as np

        relabel = np.array(self.relabel, dtype=np.uint8)
        return PermutationPatterns().boards(self.pattern.definition, relabel, boards)

    def _whole(self, patterns: NDArray[np.uint8]) -> NDArray[np.uint8]:
        boards = self._spread(patterns)
        found, whole = self._chain.whole(boards)
        boards[found] = whole[found]
        return boards

    def _spread(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The pattern's boards as boards of the puzzle: pieces that are alike are as in the origin, not turned."""
        import numpy as np

        slots = self.definition.slots
        out = np.zeros((len(boards), self.cells), dtype=np.uint8)
        out[:, : boards.shape[1]] = boards
        for alike in range(len(self.pattern.definition.counts)):
            held = [label for label in self.origins[0][:slots] if self.relabel[label] == alike]
            out[:, :slots][boards[:, :slots] == alike] = np.tile(np.array(held, dtype=np.uint8), len(boards))
        return out


def pattern_of_base(
    definition: Permutation, origins: Sequence[Board], levels: Sequence[Level]
) -> tuple[Permutation, tuple[int, ...]]:
    """The pattern of the pieces that stand on the base in the first origin, its goals the origins; and for each label
    of the puzzle that of the pattern. Raises PuzzleError where these are all pieces."""
    labels = tuple(sorted(origins[0][level.slot] for level in levels))
    own = replace(definition, goals=tuple(origins), start=None, net=None)
    return PermutationPatterns().make(own, "", Choice(True, tuple((label,) for label in labels)), "base")
