"""Moves of an arrangement space over its cells.

Convention (docs/permutations.md): a move is active on contents. After it, the content of cell i is in cell ``to[i]``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Move:
    """A permutation of cells, legal where every cell in the bit mask ``require`` is blank and none in ``forbid`` is.

    ``name`` is (from, to): pieces move so that cell ``from`` becomes blank and cell ``to``, which was, is filled.
    """

    to: tuple[int, ...]
    require: int
    forbid: int
    name: tuple[int, int]

    @property
    def odd(self) -> bool:
        """Whether the permutation is odd."""
        seen, odd = set[int](), False
        for start in range(len(self.to)):
            cell, length = start, 0
            while cell not in seen:
                seen.add(cell)
                cell = self.to[cell]
                length += 1
            odd ^= length > 0 and length % 2 == 0
        return odd

    def inverse(self) -> Move:
        """The move that undoes this one, legal exactly on its results."""
        back = [0] * len(self.to)
        for cell, target in enumerate(self.to):
            back[target] = cell
        return Move(
            tuple(back),
            _image(self.require, self.to),
            _image(self.forbid, self.to),
            (self.name[1], self.name[0]),
        )


def _image(mask: int, to: tuple[int, ...]) -> int:
    return sum(1 << target for cell, target in enumerate(to) if mask >> cell & 1)
