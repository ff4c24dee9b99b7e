"""The family ``permutation``: pieces on slots, and moves that permute the contents of the slots and turn them."""

from farthest.puzzles.family import Family

FAMILY = Family(
    "permutation",
    metrics=("generator", "power"),
    default_origin="to goal",
    example='goal = "1 2 3" and [permutation.generators]',
    forms=(
        ("pancake-N", "pancakes, pancake sorting by prefix reversals"),
        ("burnt-pancake-N", "burnt pancakes"),
        ("reversals-N", "sorting by reversals of any block"),
        ("topspin-N-K", "Top Spin"),
        ("topspin-N-K-free", "Top Spin whose ring is turned freely"),
        ("lrx-N", "a ring turned left and right, and an exchange"),
    ),
    files=(".tws", ".def", ".gap", ".g", ".json"),
    table="reader.PermutationTable",
    definition="definition.Permutation",
    parametric="forms.parametric_puzzle",
    written="generator_text.written_puzzle",
    read_file="foreign.parse_foreign",
    kpuzzle="kpuzzle.kpuzzle",
    solvable="solvable.SolvableBoards",
    move_maker="written_moves.WrittenMoves",
    picture="picture.picture",
    hold="picture.hold",
    canvas="stickers.canvas",
    in_space="turning.in_space",
    symmetries="symmetries.symmetries",
    with_moves="some_moves.with_moves",
    patterns="patterns.PermutationPatterns",
)
