"""The family ``sliding``: pieces on the cells of a grid or graph that move into blanks."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "sliding",
    metrics=("step", "slide"),
    default_origin="to goal",
    example="goal = [...]",
    forms=(
        ("sliding-ROWSxCOLUMNS", "sliding tile puzzle, blank first"),
        ("sliding-ROWSxCOLUMNS-slide", "sliding tile puzzle, several tiles in one move"),
    ),
    table="reader.SlidingTable",
    definition="definition.Sliding",
    parametric="reader.plain_board",
    solvable="solvable.solvable",
    move_maker="written_moves.WrittenMoves",
    picture="picture.picture",
    hold="picture.hold",
    canvas="picture.canvas",
    symmetries="symmetries.grid_symmetries",
    patterns="patterns.SlidingPatterns",
)
