"""The families of puzzles. A new one is a line here, a module of its name in this package and one in ``spaces``.

The module has

    METRICS: tuple[str, ...]                    the first is what a file without a metric means
    DEFAULT_ORIGIN: str                         "to goal" or "from start"
    EXAMPLE: str                                what the least table holds, for messages
    read(table, source, metric) -> Body         reads the family's TOML table; raises PuzzleError
    from_fields(fields) -> Body                 the body whose ``PuzzleDefinition.fields`` these were, come through JSON;
                                                raises TypeError, KeyError, ValueError or PuzzleError
    FORMS: tuple[str, ...]                      how its parametric names are written, for messages; may be empty
    parametric(name) -> Puzzle | None           the puzzle of a parametric name; raises PuzzleError for a size that
                                                cannot be
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol, cast

if TYPE_CHECKING:
    from farthest.puzzles.definition import PuzzleDefinition
    from farthest.puzzles.puzzle import Puzzle
    from farthest.puzzles.source import Source

FAMILIES = ("sliding", "permutation", "blocks", "hanoi", "lights", "jugs", "pegs", "python")


class Family(Protocol):
    """A family's module."""

    METRICS: tuple[str, ...]
    DEFAULT_ORIGIN: str
    EXAMPLE: str
    FORMS: tuple[str, ...]

    def read(self, table: dict[str, Any], source: Source, metric: str) -> PuzzleDefinition: ...

    def from_fields(self, fields: dict[str, Any]) -> PuzzleDefinition: ...

    def parametric(self, name: str) -> Puzzle | None: ...


def family(name: str) -> Family:
    """The module of one of ``FAMILIES``."""
    return cast(Family, import_module(f"farthest.puzzles.{name}"))
