"""Patterns by name: what they keep, how they are written, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import permutation
from farthest.families.sliding.definition import sliding
from farthest.puzzles.catalogue import load
from farthest.puzzles.patterns import pattern_of
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space


@for_each(
    ("name", "canonical"),
    [
        ("15-puzzle@1-7", "15-puzzle@1-7"),
        ("15-puzzle@7.6.5.1-4", "15-puzzle@1-7"),
        ("15-puzzle@1.2", "15-puzzle@1.2"),
        ("15-puzzle@13.10.9.6.5.1", "15-puzzle@1.5.6.9.10.13"),
        ("15-puzzle@plain:1-3.15", "15-puzzle@plain:1-3.15"),
        ("pancake-9@2-4", "pancake-9@2-4"),
        ("pancake-9@plain:2-4", "pancake-9@plain:2-4"),
        ("pancake-9@4=2-3.7=6.1", "pancake-9@1.2=3=4.6=7"),
        ("pancake-9@places:2-4", "pancake-9@2-4"),
        ("burnt-pancake-5@places:all", "burnt-pancake-5@places:1-5"),
        ("burnt-pancake-5@places:4.turns:all", "burnt-pancake-5@4.turns:all"),
        ("cube-3x3x3@places:BR=FL=BL=FR.turns:all", "cube-3x3x3@FR=FL=BL=BR.turns:corners.edges"),
        ("cube-3x3x3@edges.turns:edges.places:URF", "cube-3x3x3@edges.places:URF"),
        ("cube-2x2x2-htm@places:DFR=URF.ULB", "cube-2x2x2-htm@places:ULB.URF=DFR"),
        ("hanoi-cyclic-4-12@12.1-3", "hanoi-cyclic-4-12@1-3.12"),
    ],
)
def test_names(name: str, canonical: str) -> None:
    puzzle = load(name)
    assert puzzle.name == canonical
    assert load(canonical) == puzzle
    assert puzzle.origin == Origin("to", "goal")
    assert puzzle.known == ()
    assert Puzzle.from_json(puzzle.to_json()) == puzzle
    assert Puzzle.from_json(puzzle.to_json()).digest == puzzle.digest


def test_an_additive_pattern_keeps_its_pieces_and_the_place_of_the_blank() -> None:
    pattern = pattern_of(load("15-puzzle-blank-first"), "1-7")
    definition = sliding(pattern.puzzle)
    assert pattern.additive
    assert pattern.labels == (1, 2, 3, 4, 5, 6, 7)
    assert definition.tokens == ("·", "1", "2", "3", "4", "5", "6", "7")
    assert definition.counts == (9, 1, 1, 1, 1, 1, 1, 1)
    assert definition.goals == ((0, 1, 2, 3, 4, 5, 6, 7) + (0,) * 8,)
    assert definition.blanks == (0,)
    assert definition.start is None
    boards = np.array([range(16), range(15, -1, -1)], dtype=np.uint8)
    assert pattern.boards(boards).tolist() == [
        [0, 1, 2, 3, 4, 5, 6, 7] + [0] * 8,
        [0] * 8 + [7, 6, 5, 4, 3, 2, 1, 0],
    ]


def test_a_pattern_of_discs_is_the_puzzle_of_these() -> None:
    """So all patterns of as many discs have one map."""
    parent = load("hanoi-4-9")
    pattern = pattern_of(parent, "2.5.9")
    assert pattern.additive
    assert pattern.puzzle.digest == load("hanoi-4-3").digest
    boards = np.array([[0, 1, 2, 3, 0, 1, 2, 3, 0]], dtype=np.uint8)
    assert pattern.boards(boards).tolist() == [[1, 0, 0]]


def test_a_plain_pattern_makes_the_other_pieces_alike() -> None:
    pattern = pattern_of(load("eight-kinds"), "plain:│.┌")
    definition = sliding(pattern.puzzle)
    assert not pattern.additive
    assert definition.tokens[0] == "□"
    assert set(definition.tokens[1:]) == {"│", "┌", "·"}
    assert sum(definition.counts) == 9
    assert not definition.blanks
    assert definition.format_board(definition.goals[0]) == "┌··/│□│/···"


@for_each(
    ("name", "states"),
    [
        ("cube-2x2x2-htm@URF=UFL.ULB", 7 * 15 * 27),
        ("cube-2x2x2-htm@places:URF=UFL=ULB.DFR", 35 * 4),
        ("cube-2x2x2-htm@URF=UFL.turns:all", 21 * 3**7),
        ("pyraminx@UL=UB.turns:edges", 15 * 2**6),
        ("pyraminx@places:edges.turns:axes", 720 * 3**4),
    ],
)
def test_alike_pieces_and_what_is_told_of_them(name: str, states: int) -> None:
    parent = load(name.partition("@")[0])
    pattern = pattern_of(parent, name.partition("@")[2])
    assert pattern.puzzle.definition.arrangements() == states
    space, of_pattern = compile_space(parent), compile_space(pattern.puzzle)
    assert space.keys is not None
    boards = space.decode(np.arange(0, space.keys, space.keys // 50, dtype=np.uint64))
    seen = pattern.boards(boards)
    assert (of_pattern.decode(of_pattern.encode(seen)) == seen).all()
    moves = {move: after for move, _, after in space.neighbours(boards, toward=False)}
    for move, _, after in of_pattern.neighbours(seen, toward=False):
        assert (pattern.boards(moves[move]) == after).all()


def test_pieces_of_which_the_puzzle_ignores_some_turns() -> None:
    moves = '[permutation.generators]\nR = "(1+1 2+2 3)"\nL = "(2+1 3+1 4+1)"\n'
    text = '[permutation]\ngoal = "a b c d"\nmodulus = 3\nignore = "a b"\n'
    puzzle = parse_puzzle(f'name = "p"\nfamily = "permutation"\n{text}{moves}', "p")
    assert permutation(pattern_of(puzzle, "a=b.c=d").puzzle).ignore == (True, False)
    assert permutation(pattern_of(puzzle, "places:a=c.d").puzzle).moduli == (1,)
    for wrong in ("a=c", "c.turns:all"):
        with pytest.raises(PuzzleError, match="cannot be alike and turned"):
            pattern_of(puzzle, wrong)


def test_orbits_and_orientations_outside_of_a_pattern_do_not_matter() -> None:
    parent = load("cube-2x2x2-htm")
    pattern = pattern_of(parent, "URF.ULB")
    definition, whole = permutation(pattern.puzzle), permutation(parent)
    assert not pattern.additive
    assert definition.tokens.count("·") == 1
    assert definition.ignore[definition.tokens.index("·")]
    assert definition.slots == whole.slots
    assert definition.arrangements() == 7 * 6 * 9
    # A move on the board of the pattern is that of the board.
    space, of_pattern = compile_space(parent), compile_space(pattern.puzzle)
    boards = space.decode(np.arange(0, 3_674_160, 99_991, dtype=np.uint64))
    moves = {name: (rows, after) for name, rows, after in space.neighbours(boards, toward=False)}
    for name, rows, after in of_pattern.neighbours(pattern.boards(boards), toward=False):
        assert (pattern.boards(moves[name][1]) == after).all()
        assert (moves[name][0] == rows).all()


def test_goals_are_those_of_the_puzzle() -> None:
    two = parse_puzzle(
        'name = "two"\nfamily = "sliding"\n[sliding]\ngoals = ["1 2 3 / 4 5 0", "1 2 3 / 5 4 0", "0 1 2 / 3 4 5"]\n',
        "two",
    )
    definition = sliding(pattern_of(two, "1.2").puzzle)
    assert definition.goals == ((1, 2, 0, 0, 0, 0), (0, 1, 2, 0, 0, 0))
    assert definition.blanks == (5, 0)
    assert len(sliding(pattern_of(two, "plain:1.2").puzzle).goals) == 2


def test_pieces_that_a_goal_leaves_open_are_in_any_open_cell() -> None:
    first_row = load("first-row")
    definition = sliding(first_row)
    token = next(
        token for label, token in enumerate(definition.tokens) if label and label not in definition.goals[0]
    )
    pattern = sliding(pattern_of(first_row, token).puzzle)
    assert len(pattern.goals) == definition.goals[0].count(-1)


def test_a_pattern_of_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "at@home"
    folder.mkdir()
    file = folder / "p.toml"
    file.write_text('name = "p"\nfamily = "sliding"\n[sliding]\ngoal = ["1 2", "3 0"]\n')
    assert load(str(file)).name == "p"
    assert load(file).name == "p"
    assert load(f"{file}@1.2").name == "p@1.2"


@for_each(
    ("name", "message"),
    [
        ("15-puzzle@", "15-puzzle@: no pieces after @; expected PUZZLE@TOKENS such as @1.2"),
        ("15-puzzle@plain:", "no pieces after @"),
        ("@1", "'@1': no puzzle before @"),
        (
            "15-puzzle@16",
            "no piece is written '16'; expected pieces with . between, or a range such as 1-7; did you",
        ),
        ("15-puzzle@0", "no piece is written '0'"),
        ("15-puzzle@1-16", "no piece is written '16'|more than the 15 kinds"),
        ("15-puzzle@1-99999999999", "no piece is written '1-99999999999'"),
        ("15-puzzle@7-1", "7-1 runs downward; write 1-7"),
        ("15-puzzle@1.1", "piece 1 appears twice"),
        ("15-puzzle@1-3.2", "piece 2 appears twice"),
        ("15-puzzle@1..2", "there is nothing beside a dot"),
        ("15-puzzle@1,2", "no piece is written '1,2'"),
        ("15-puzle@1", "did you mean '15-puzzle'"),
        ("15-puzzle@1@2", "pattern of a pattern already"),
        ("eight-kinds@│", "there are 2 pieces │; those of an additive pattern must all be distinct"),
        ("two-blanks@1", "2 blanks; additive patterns need exactly one; write plain: after @"),
        ("8-puzzle-slide@1", "the metric is slide; additive patterns need step; write plain: after @"),
        (
            "die-hard-jugs@1",
            "only sliding and permutation and hanoi puzzles have patterns, and this one is of the family jugs",
        ),
        ("pancake-9@1-9", "the pattern has all pieces, so none are alike"),
        ("15-puzzle@plain:1-15", "the pattern has all pieces, so none are alike"),
        ("burnt-pancake-5@1-5", "the pattern has all pieces, so none are alike"),
        ("burnt-pancake-5@places:1-5.turns:all", "the pattern has all pieces, so none are alike"),
        ("15-puzzle@plain:1=2", "= joins alike pieces in patterns of permutation puzzles"),
        ("hanoi-4-5@1-5", "the pattern has all discs; leave some out"),
        ("hanoi-4-5@plain:1", "a pattern of hanoi leaves the other discs out, .* leave out plain:"),
        ("hanoi-4-5@1=2", "all discs differ; leave out ="),
        ("15-puzzle@places:1", "no piece is written 'places:1'"),
        ("cube-3x3x3@UR=URF", "UR and URF never stand in each other's places"),
        ("cube-3x3x3@UR=UF.UF", "piece UF appears twice"),
        ("cube-3x3x3@UR=", "there is nothing beside a dot"),
        ("cube-3x3x3@places:", "there is nothing beside a dot"),
        ("cube-3x3x3@corner", "did you mean 'corners'"),
        ("cube-3x3x3@turns:UR", "no set of pieces is named 'UR'.*the sets are corners edges all"),
        ("pyraminx@turns:edges.UL", "no set of pieces is named 'UL'; .* name pieces before turns:"),
        ("cube-3x3x3@turns:", "no set of pieces is named ''"),
        ("cuboid-2x2x3@turns:corners", "the pieces of corners are not turned"),
        ("pancake-5@turns:all", "the pieces of all are not turned"),
    ],
)
def test_what_is_refused(name: str, message: str) -> None:
    with pytest.raises(PuzzleError, match=message):
        load(name)
