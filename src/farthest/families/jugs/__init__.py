"""The family ``jugs``: jugs of water that are filled, emptied and poured one into another, to measure an amount."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "jugs",
    metrics=("move",),
    default_origin="from start",
    example="capacities = [3, 5] and measure = 4",
    table="definition.JugsTable",
    definition="definition.Jugs",
    picture="definition.picture",
    hold="definition.hold",
)
