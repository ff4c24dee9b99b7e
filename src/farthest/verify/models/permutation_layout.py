"""A stored key layout of a permutation puzzle, read as docs/key-layout.md says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import comb
from typing import Any

from farthest.families.permutation.definition import Permutation
from farthest.verify.ranking import LayoutError


@dataclass(frozen=True, slots=True)
class PlacedClass:
    """A label's pieces: rows ``first`` to ``end - 1`` of ``slots``; those of its orbit begin at row ``orbit_first``."""

    label: int
    first: int
    end: int
    orbit_first: int
    orbit_end: int
    radix: int


class LayoutFields:
    """A stored layout. Raises LayoutError unless it is of the puzzle's slots, labels and orbits."""

    def __init__(self, definition: Permutation, layout: Mapping[str, Any]) -> None:
        if layout.get("version") != 1:
            raise LayoutError(f"the key layout has version {layout.get('version')!r}; expected 1")
        try:
            self.orbits: list[list[int]] = [list(map(int, orbit)) for orbit in layout["orbits"]]
            labels = list(map(int, layout["classes"]))
            counts = list(map(int, layout["counts"]))
            self.twisted = list(map(int, layout["twisted"]))
            self.turned = list(map(int, layout.get("turned", ())))
            self.sums = [None if total is None else int(total) for total in layout["sums"]]
            parity = layout["parity"]
            self.parity = None if parity is None else list(map(int, parity))
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutError(f"the key layout is malformed ({error!r})") from None
        if sorted(map(tuple, self.orbits)) != sorted(definition.orbits) or len(self.sums) != len(self.orbits):
            raise LayoutError(f"the layout's orbits are {self.orbits}; the puzzle's are {definition.orbits}")
        if sorted(labels) != list(range(len(definition.counts))) or counts != [
            definition.counts[label] for label in labels
        ]:
            raise LayoutError(
                f"the layout's classes are {labels}, {counts} pieces; the puzzle has {definition.counts}"
            )
        if not set(self.twisted) <= set(labels) or len(set(self.twisted)) < len(self.twisted):
            raise LayoutError(f"the layout's twisted labels are {self.twisted}; expected labels, none twice")
        by_piece = {
            slot for label in self.twisted for slot in definition.orbits[definition.label_orbit[label]]
        }
        if not set(self.turned) <= set(range(definition.slots)) - by_piece or len(set(self.turned)) < len(
            self.turned
        ):
            raise LayoutError(
                f"the layout's turned slots are {self.turned}; expected slots of orbits without twisted labels, none "
                "twice"
            )
        if self.parity is not None and (len(self.parity) != definition.slots or max(counts) > 1):
            raise LayoutError("the layout's parity is not a bit for each slot of distinct pieces")
        self.classes = list(self._placed(definition, labels))

    def _placed(self, definition: Permutation, labels: list[int]) -> list[PlacedClass]:
        """The classes with their rows; each fills its label's orbit."""
        placed, first = [], 0
        waiting = iter(labels)
        for orbit in self.orbits:
            start, end = first, first + len(orbit)
            while first < end:
                label = next(waiting)
                if list(definition.orbits[definition.label_orbit[label]]) != orbit:
                    raise LayoutError(
                        f"the layout places label {label} in the orbit {orbit}, which is not its own"
                    )
                count = definition.counts[label]
                placed.append(PlacedClass(label, first, first + count, start, end, comb(end - first, count)))
                first += count
        return placed
