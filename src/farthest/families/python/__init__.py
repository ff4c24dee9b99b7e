"""The family ``python``: a space written as a class in Python (docs/python.md)."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "python",
    metrics=("move",),
    default_origin="from start",
    example='class = "module:Name"',
    table="definition.PythonTable",
    definition="definition.Python",
)
