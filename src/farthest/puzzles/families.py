"""The families of puzzles by name, and how the definitions of each are read.

A family is a package of its name in ``farthest.families``. A new one is a word in ``FAMILIES``, a package, and a model
in ``farthest.verify.models``, which is written apart. The package has

    FAMILY: Family              in its ``__init__``: what the family offers (puzzles/family.py)
    definition                  a module: the family's PuzzleDefinition (puzzles/definition.py)
    space                       a module: ``compile(puzzle, origin, layout) -> Space`` (spaces/contract.py)

and beside them whatever the family needs: ``reader`` for its TOML table, ``forms`` for puzzles by parametric names,
``boards`` for boards as text, ``picture``, ``solvable``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from farthest.puzzles.definition import PuzzleDefinition
    from farthest.puzzles.source import Source

FAMILIES = ("sliding", "permutation", "blocks", "hanoi", "lights", "jugs", "pegs", "python")


class Rules(Protocol):
    """How a family's definitions are read."""

    metrics: tuple[str, ...]
    """The first is what a file without a metric means."""
    default_origin: str
    """``to goal`` or ``from start``."""
    example: str
    """What the least table holds, for messages."""

    def read(self, table: dict[str, Any], source: Source, metric: str) -> PuzzleDefinition:
        """The definition of the family's TOML table. Raises PuzzleError."""

    def from_fields(self, fields: dict[str, Any]) -> PuzzleDefinition:
        """The definition whose ``PuzzleDefinition.fields`` these were, come through JSON. Raises TypeError, KeyError,
        ValueError or PuzzleError."""


def rules(name: str) -> Rules:
    """Those of one of ``FAMILIES``."""
    return cast(Rules, import_module(f"farthest.families.{name}").FAMILY)
