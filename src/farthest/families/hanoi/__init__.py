"""The family ``hanoi``: discs on pegs, moved one at a time, never onto a smaller one."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "hanoi",
    metrics=("move",),
    default_origin="to goal",
    example="pegs = 3 and discs = 5",
    forms=(
        ("hanoi-PEGS-DISCS", "the tower of Hanoi, towers of Hanoi"),
        ("hanoi-cyclic-PEGS-DISCS", "the tower of Hanoi, from peg to peg round a ring, towers"),
        ("hanoi-adjacent-PEGS-DISCS", "the tower of Hanoi, between neighbouring pegs, towers"),
    ),
    table="definition.HanoiTable",
    definition="definition.Hanoi",
    parametric="definition.hanoi_by_name",
    solvable="space.solvable",
    picture="definition.picture",
    patterns="patterns.HanoiPatterns",
    hold="definition.hold",
)
