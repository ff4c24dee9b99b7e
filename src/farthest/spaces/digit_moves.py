"""Spaces of digits in one radix whose moves the kernel makes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from farthest import _kernel
from farthest.spaces.contract import NO_KEY
from farthest.spaces.digits import DigitSpace

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from farthest.spaces.digits import Keys, Step


class DigitMoveSpace(DigitSpace):
    """A DigitSpace with an expander."""

    @abstractmethod
    def moves(self, *, forward: bool) -> tuple[list[str], _kernel.DigitExpander]:
        """The names of the moves, and what makes them; not ``forward``: what takes each of them back."""

    @cached_property
    def expander(self) -> _kernel.DigitExpander:
        """See ScatterSpace."""
        return self.moves(forward=self._forward(toward=False))[1]

    def successors(self, codes: Buffer, threads: int) -> Buffer:
        """See ScatterSpace."""
        return _kernel.expand_codes(self.expander, codes, threads)

    def steps(self, keys: Keys, *, forward: bool) -> Iterator[Step]:
        """See DigitSpace."""
        import numpy as np

        names, expander = self.moves(forward=forward)
        for move, name in enumerate(names):
            reached = np.frombuffer(expander.after(move, keys), dtype=np.uint64)
            rows = np.flatnonzero(reached != NO_KEY)
            yield name, rows, reached[rows]
