"""Heuristics that combine others: sums, and the greatest of several."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy

from farthest.heuristics.contract import UNREACHABLE
from farthest.heuristics.patterns import AdditivePattern

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from farthest.heuristics.contract import Component, Heuristic
    from farthest.spaces.contract import Boards


class Sum:
    """``A+B``. Admissible where it adds up additive pattern databases without a common piece: no move is counted twice.
    Other sums claim nothing."""

    consistent = False

    def __init__(self, name: str, parts: Sequence[Heuristic]) -> None:
        self.name = name
        self._parts = parts
        labels = [set(part.labels) for part in parts if isinstance(part, AdditivePattern)]
        self.admissible = len(labels) == len(parts) and not any(a & b for a, b in combinations(labels, 2))

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        total = numpy.zeros(len(boards), dtype=numpy.int32)
        for part in self._parts:
            total += part.values(boards)
            numpy.minimum(total, UNREACHABLE, out=total)
        return total

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where each part is one sum."""
        found: list[Component] = []
        for part in self._parts:
            terms = part.terms()
            if terms is None or len(terms) > 1:
                return None
            found += terms[0]
        return [found]


class Greatest:
    """``A,B``: the greatest value of several."""

    def __init__(self, name: str, parts: Sequence[Heuristic]) -> None:
        self.name = name
        self._parts = parts
        self.admissible = all(part.admissible for part in parts)
        self.consistent = all(part.consistent for part in parts)

    def values(self, boards: Boards) -> NDArray[numpy.int32]:
        """See Heuristic."""
        values: NDArray[numpy.int32] = numpy.maximum.reduce([part.values(boards) for part in self._parts])
        return values

    def terms(self) -> list[list[Component]] | None:
        """See Heuristic: where all parts have terms."""
        found: list[list[Component]] = []
        for part in self._parts:
            terms = part.terms()
            if terms is None:
                return None
            found += terms
        return found
