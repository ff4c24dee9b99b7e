"""The family ``blocks``: rigid pieces of any shape that slide on a grid, such as Klotski and Rush Hour."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "blocks",
    metrics=("step", "slide", "move"),
    default_origin="from start",
    example="start = [...]",
    forms=(("rush-BOARD", "any board of Rush Hour, in 36 characters"),),
    table="reader.BlocksTable",
    definition="definition.Blocks",
    parametric="reader.rush_hour",
    picture="picture.picture",
    hold="picture.hold",
)
