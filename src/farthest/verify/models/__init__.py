"""Plain models of the families' moves and codes, by which ``farthest verify`` proves maps: one module a family.

A model is written from the definition and the documents alone, independently of the families' spaces and the kernel, so
that it does not repeat their mistakes. It is meant to be simple, not fast.

The module ``farthest.verify.models.<family>`` has

    model(puzzle, origin, layout) -> Model      ``layout`` as stored with the job; raises LayoutError where it is not
                                                one of the puzzle's, BoardError where the origin's text is not one
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.puzzle import Origin, Puzzle

Boards = NDArray[np.uint8]
"""Boards: shape (boards, cells)."""

Codes = NDArray[Any]
"""Codes: uint64, or ``S<width>`` for byte strings; shape (states,)."""


class Model(Protocol):
    """One puzzle's moves in the direction in which distances are counted, and its codes."""

    @property
    def keys(self) -> int | None:
        """The number of keys of a dense map, whose codes are 0 to keys - 1; None: sparse."""

    @property
    def code_bytes(self) -> int:
        """Bytes of a code: 8 where codes are numbers (uint64)."""

    def origins(self) -> Boards:
        """All boards at distance 0, in any order, perhaps repeated."""

    def successors(self, boards: Boards) -> tuple[NDArray[np.intp], Boards]:
        """All boards one move farther from the origin: (rows of ``boards`` that they follow, the boards).

        Where distances are counted from the origin, these are the boards that the player's moves lead to; where they
        are counted to it, the boards that the moves come from. In any order, perhaps repeated; moves that change
        nothing may be left out.
        """

    def codes(self, boards: Boards) -> Codes:
        """The codes of boards; 2**64 - 1, or bytes of 255, for a board that has none."""

    def boards(self, codes: Codes) -> Boards:
        """The boards of codes. For a code that no board has, any board, which then has another code; never raises an
        exception."""


@runtime_checkable
class BlockModel(Model, Protocol):
    """A model whose keys are mixed-radix numbers."""

    @property
    def block_sizes(self) -> list[int]:
        """How many consecutive keys agree in all digits but the last one, two, ..., ascending; the last: all keys."""


def model_of(puzzle: Puzzle, origin: Origin, layout: Mapping[str, Any]) -> Model:
    """The model of a puzzle of any family except ``sliding``, which has its own proof."""
    module = import_module(f"farthest.verify.models.{puzzle.family}")
    return cast(Model, module.model(puzzle, origin, layout))
