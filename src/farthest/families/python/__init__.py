"""The family ``python``: a space written as a class in Python (docs/python.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.puzzles.family import Family

if TYPE_CHECKING:
    from farthest.families.python.definition import Python
    from farthest.puzzles.tables import Source


class PythonFamily(Family):
    metrics = ("move",)
    default_origin = "from start"
    example = 'class = "module:Name"'

    def read(self, table: dict[str, Any], source: Source, metric: str) -> Python:
        from farthest.families.python.definition import read_python

        del metric  # all definitions can be played in all metrics
        return read_python(table, source)

    def from_fields(self, fields: dict[str, Any]) -> Python:
        from farthest.families.python.definition import from_fields

        return from_fields(fields)


FAMILY = PythonFamily()
