"""The local proof over one block of keys: each state against its neighbours one move toward the origin.

Let d be the stored distances and N(v) the boards one move from v toward the origin. If d = 0 exactly at the
origin, min over N(v) of d is d(v) - 1 for every other reached v, and no unreached v has a reached board in
N(v), then by induction on d the reached states are exactly those joined to the origin, and d is their
distance.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.verify.moves import Path
from farthest.verify.ranking import Ranking, Slots

Distances = NDArray[np.unsignedinteger[Any]]
Mask = NDArray[np.bool_]
Template = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: how many states were checked, how many are wrong, and the first wrong key."""

    checked: int
    failed: int
    first: int | None

    def merge(self, later: "Finding") -> "Finding":
        """This finding and that of a block with greater keys as one."""
        first = later.first if self.first is None else self.first
        return Finding(self.checked + later.checked, self.failed + later.failed, first)


@dataclass(frozen=True, slots=True)
class BlockResult:
    """``counts[d]``: states of the block at distance d, the unreachable last. ``findings``: by check name."""

    counts: NDArray[np.int64]
    findings: dict[str, Finding]


@dataclass(frozen=True, slots=True)
class Proof:
    """What every block is checked against; read only, shared by the threads.

    ``distances`` are those of all keys; ``paths`` lead one move toward the origin; ``origins`` are boards
    (a label per cell), perhaps with wildcards; ``depth`` is the last layer of a map with limited depth, else
    None.
    """

    ranking: Ranking
    distances: Distances
    paths: Sequence[Path]
    origins: Sequence[Template]
    depth: int | None

    @property
    def unreachable(self) -> int:
        """The value that stands for no distance: 255 or 65535."""
        return int(np.iinfo(self.distances.dtype).max)

    def check(self, first: int, last: int) -> BlockResult:
        """Check the states with keys first <= key < last."""
        slots = self.ranking.unrank(first, last)
        own = self.distances[first:last]
        nearest = self._nearest_neighbour(slots)
        reached = own != self.unreachable
        at_origin = self._at_origin(slots)
        counts = np.bincount(own, minlength=self.unreachable + 1)

        findings = {}

        def look(name: str, checked: int, wrong: Mask) -> None:
            failed = int(np.count_nonzero(wrong))
            findings[name] = Finding(checked, failed, first + int(wrong.argmax()) if failed else None)

        states = int(np.count_nonzero(reached))
        later = reached & ~at_origin
        # At distance 0, own - 1 wraps round to the largest value: such a state off the origin fails "origin".
        before = own - self.distances.dtype.type(1)
        look("origin", len(own), (own == 0) != at_origin)
        look("nearer", states - int(counts[0]), later & (nearest > before))
        look("jump", states - int(counts[0]), later & (own != 0) & (nearest < before))
        stop = self.unreachable if self.depth is None else self.depth
        look("closed", len(own) - states, ~reached & (nearest < stop))
        if self.depth is not None:
            look("depth", states, reached & (own > self.depth))
        return BlockResult(counts, findings)

    def _nearest_neighbour(self, slots: Slots) -> Distances:
        """The least distance among the neighbours of each board; ``unreachable`` where there is none."""
        nearest = np.full(slots.shape[1], self.unreachable, dtype=self.distances.dtype)
        blanks = slots[: self.ranking.starts[1]]
        # Keys place the blanks first, so in most blocks all boards have them in the same cells, and a move applies to
        # all boards or to none.
        if (blanks[:, 0] == blanks[:, -1]).all():
            blanks = blanks[:, :1]
        for path in self.paths:
            route = [self.ranking.slot_of_cell[cell] for cell in path]
            applies = (blanks == route[0]).any(axis=0)
            for slot in route[1:]:
                applies &= ~(blanks == slot).any(axis=0)
            if not applies.any():
                continue
            if applies.all():
                np.minimum(nearest, self._distances_after(slots, route), out=nearest)
            else:
                after = self._distances_after(slots[:, applies], route)
                nearest[applies] = np.minimum(nearest[applies], after)
        return nearest

    def _distances_after(self, slots: Slots, route: list[int]) -> Distances:
        """The distances of the boards that a move makes of these, to all of which it applies."""
        before = slots[: self.ranking.ranked]
        after = before.copy()
        for source, target in zip(route, route[-1:] + route[:-1], strict=True):
            # A piece in slot `source` goes to `target`: as a change of bits, so that it needs no branch.
            after ^= (before == source).view(np.uint8) * np.uint8(source ^ target)
        return self.distances[self.ranking.rank(after)]

    def _at_origin(self, slots: Slots) -> Mask:
        """Which boards are origins; a wildcard stands for any piece."""
        found = np.zeros(slots.shape[1], dtype=np.bool_)
        for template in self.origins:
            candidates: NDArray[np.intp] | None = None
            for slot, pieces in self._demands(template):
                if candidates is None:
                    candidates = np.flatnonzero((slots[pieces] == slot).any(axis=0))
                else:
                    candidates = candidates[(slots[pieces, candidates] == slot).any(axis=0)]
                if not candidates.size:
                    break
            found[candidates] = True
        return found

    def _demands(self, template: Template) -> list[tuple[int, slice]]:
        """The slots that a template fills, blanks first, each with the rows of the pieces that fit."""
        ranking = self.ranking
        return [
            (ranking.slot_of_cell[cell], slice(ranking.starts[j], ranking.starts[j + 1]))
            for j, label in enumerate(ranking.classes)
            for cell, content in enumerate(template)
            if content == label
        ]
