"""The family ``pegs``: peg solitaire. A peg jumps over a neighbour into an empty hole; the other is taken away."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "pegs",
    metrics=("jump", "chain"),
    default_origin="from start",
    example="start, the rows of a board: o for a peg, . for an empty hole",
    table="definition.PegsTable",
    definition="definition.Pegs",
    solvable="space.SolvablePegs",
    picture="definition.picture",
    hold="definition.hold",
    canvas="definition.canvas",
)
