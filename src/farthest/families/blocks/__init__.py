"""The family ``blocks``: rigid pieces of any shape that slide on a grid, such as Klotski and Rush Hour."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "blocks",
    metrics=("step", "slide", "move"),
    default_origin="from start",
    example="start = [...]",
    forms=(
        ("rush-BOARD", "any board of Rush Hour, in 36 characters"),
        ("klotski-CODE", "any board of Klotski, in nine hexadecimal digits"),
    ),
    files=(".txt",),
    table="reader.BlocksTable",
    definition="definition.Blocks",
    parametric="reader.board_puzzle",
    written="reader.written_puzzle",
    read_file="foreign.parse_jimslide",
    picture="picture.picture",
    hold="picture.hold",
)
