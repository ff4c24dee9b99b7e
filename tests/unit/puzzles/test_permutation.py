"""Permutation puzzles: every option of the TOML table, moves, boards as text, definitions as JSON."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from catalogued import catalogued
from farthest.errors import BoardError, PuzzleError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.moves import Move, identity, inverse, powers, product
from farthest.families.user_input import board_given
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from permutations import distances, samples

NAMES = ["pancake-5", "burnt-pancake-4", "topspin-6-4", "lrx-6", "cube-2x2x2-htm", "pyraminx", "skewb"]


def body_of(table: str, metric: str = "generator") -> Permutation:
    text = f'name = "mine"\nfamily = "permutation"\nmetric = "{metric}"\n[permutation]\n{table}'
    return permutation(parse_puzzle(text, "mine.toml"))


def moves_of(table: str, metric: str = "generator") -> dict[str, tuple[tuple[int, ...], tuple[int, ...]]]:
    return {move.name: move.effect for move in body_of(table, metric).generators}


GENERATORS = "[permutation.generators]\n"


@for_each(
    ("table", "expected"),
    [
        (f'slots = 4\n{GENERATORS}R = "(1 2 3)"', ((1, 2, 0, 3), (0, 0, 0, 0))),
        (f'slots = 4\nnumbering = 0\n{GENERATORS}R = "(0 1 2)"', ((1, 2, 0, 3), (0, 0, 0, 0))),
        (f'slots = 4\n{GENERATORS}R = "(1, 2)( 3 4 )"', ((1, 0, 3, 2), (0, 0, 0, 0))),
        (f"slots = 4\n{GENERATORS}R = [2, 3, 1, 4]", ((1, 2, 0, 3), (0, 0, 0, 0))),
        (f"slots = 4\nnumbering = 0\n{GENERATORS}R = [1, 2, 0, 3]", ((1, 2, 0, 3), (0, 0, 0, 0))),
        (f'slots = 4\nmodulus = 3\n{GENERATORS}R = "(1+1 2-1 3)(4+2)"', ((1, 2, 0, 3), (1, 2, 0, 2))),
        (
            f"slots = 4\nmodulus = 3\n{GENERATORS}R = {{ to = [2, 3, 1, 4], twist = [1, -1, 0, 2] }}",
            ((1, 2, 0, 3), (1, 2, 0, 2)),
        ),
        (f"slots = 4\nmodulus = 3\n{GENERATORS}R = {{ twist = [1, 0, 0, 0] }}", ((0, 1, 2, 3), (1, 0, 0, 0))),
    ],
)
def test_notations(table: str, expected: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    assert moves_of(table)["R"] == expected


def test_sets_are_numbered_together_and_apart() -> None:
    sets = (
        '[[permutation.orbits]]\nname = "a"\ngoal = "x y z"\n'
        '[[permutation.orbits]]\nname = "b"\ngoal = "1 2"\nmodulus = 2\n'
    )
    together = body_of(sets + GENERATORS + 'R = "(1 2 3)(4+1 5)"')
    apart = body_of(sets + GENERATORS + 'R = { a = [2, 3, 1], b = "(1+1 2)" }')
    assert together == apart
    assert together.orbits == ((0, 1, 2), (3, 4))
    assert together.moduli == (1, 2)
    assert together.orbit_names == ("a", "b")
    assert together.draw_board(together.goals[0]) == ["a  x y z", "b  1 2"]


def test_orbits_are_split_where_no_move_joins_them() -> None:
    definition = body_of(f'goal = "a a b b"\n{GENERATORS}R = "(1 3)"\nS = "(2 4)"')
    assert definition.orbits == ((0, 2), (1, 3))
    assert definition.tokens == ("a", "b", "a", "b")
    assert definition.format_board(definition.goals[0]) == "a a b b"
    assert definition.arrangements() == 4


def test_inverses_and_powers() -> None:
    table = f'slots = 6\n{GENERATORS}R = "(1 2 3 4 5 6)"\nT = "(1 2)"'
    assert list(moves_of(table)) == ["R", "T", "R'"]
    assert list(moves_of("inverses = false\n" + table)) == ["R", "T"]
    assert list(moves_of(table, "power")) == ["R", "T", "R2", "R3", "R2'", "R'"]
    both = f"slots = 3\n{GENERATORS}R = [2, 3, 1]\nL = [3, 1, 2]"
    assert list(moves_of(both)) == ["R", "L"]
    assert not body_of("inverses = false\n" + table).symmetric
    assert body_of(table).symmetric
    assert ("one-way", "not every move can be taken back by one move") in body_of(
        "inverses = false\n" + table
    ).facts()


def test_directed_distances() -> None:
    one_way = f'inverses = false\nslots = 5\n{GENERATORS}R = "(1 2 3 4 5)"'
    assert sorted(distances(puzzle(one_way)).values()) == [0, 1, 2, 3, 4]
    assert sorted(distances(puzzle(one_way.replace("false", "true"))).values()) == [0, 1, 1, 2, 2]
    assert sorted(distances(puzzle(one_way.replace("inverses = false\n", ""), "power")).values()) == [
        0,
        1,
        1,
        1,
        1,
    ]


def puzzle(table: str, metric: str = "generator") -> Puzzle:
    text = f'name = "mine"\nfamily = "permutation"\nmetric = "{metric}"\n[permutation]\n{table}'
    return parse_puzzle(text, "mine.toml")


def test_goals_start_and_ignored_orientations() -> None:
    definition = body_of(
        'goals = ["1 2 3", "2 1 3"]\nstart = "3 2+1 1"\nmodulus = 2\nignore = "3"\n'
        + GENERATORS
        + 'R = "(1+1 2)"\nS = "(2 3+1)"'
    )
    assert definition.goals == ((0, 1, 2, 0, 0, 0), (1, 0, 2, 0, 0, 0))
    assert definition.start == (2, 1, 0, 0, 1, 0)
    assert definition.ignore == (False, False, True)
    assert definition.parse_board("3+1 2+1 1") == definition.start
    assert definition.arrangements() == 6 * 4


def test_a_set_without_orientations_that_matter_has_none() -> None:
    definition = body_of(
        f'slots = 3\nmodulus = 3\nignore = "1 2 3"\n{GENERATORS}R = "(1+1 2 3)"\nS = "(1+1)"'
    )
    assert not definition.oriented
    assert definition.cells == 3
    assert [move.name for move in definition.generators] == ["R", "R'"]


@for_each("name", [*NAMES, *samples()])
def test_definitions_come_back_from_json(name: str) -> None:
    each = samples().get(name) or load(name)
    again = Puzzle.from_json(each.to_json())
    assert again == each
    assert again.digest == each.digest


def test_damaged_definitions() -> None:
    text = load("burnt-pancake-3").to_json()
    for old, new in [
        ('"slots":3', '"slots":4'),
        ('"orbits":[[0,1,2]]', '"orbits":[[0,1,1]]'),
        ('"moduli":[2]', '"moduli":[0]'),
        ('"counts":[1,1,1]', '"counts":[1,1,2]'),
        ('"label_orbit":[0,0,0]', '"label_orbit":[0,0,7]'),
        ('"ignore":[false,false,false]', '"ignore":[0,0,0]'),
        ('"to":[0,1,2]', '"to":[0,1,1]'),
        ('"delta":[1,0,0]', '"delta":[2,0,0]'),
        ('"goals":[[0,1,2,0,0,0]]', '"goals":[[0,1,2,0,0,2]]'),
        ('"generators":', '"moves":'),
    ]:
        assert old in text, old
        with pytest.raises(PuzzleError):
            Puzzle.from_json(text.replace(old, new, 1))


@pytest.mark.parametrize("name", [name for name in samples() if not name.endswith(", to")])
def test_boards_come_back_from_text(name: str) -> None:
    each = samples()[name]
    definition = permutation(each)
    boards = sorted(distances(each))[-100:]
    written = definition.texts(np.array(boards, dtype=np.uint8))
    assert written == [definition.format_board(board) for board in boards]
    assert [definition.parse_board(text) for text in written] == boards
    assert [definition.parse_board(text.replace(" / ", " ")) for text in written] == boards
    assert [definition.parse_board(text.replace(" ", "")) for text in written] == boards
    assert definition.parse_boards(written) == b"".join(map(bytes, boards))
    assert [definition.check_board(board) for board in boards] == boards
    array = np.array(boards, dtype=np.uint8)
    assert definition.first_wrong(array) is None
    array[len(boards) // 2, 0] = 99
    assert definition.first_wrong(array) == len(boards) // 2
    if definition.oriented:
        array = np.array(boards, dtype=np.uint8)
        array[-1, definition.slots] = 200
        assert definition.first_wrong(array) == len(boards) - 1


@st.composite
def oriented_moves(draw: st.DrawFn) -> tuple[Move, Move, list[int]]:
    moduli = [draw(st.integers(1, 4))] * 5
    both = []
    for name in "ab":
        to = draw(st.permutations(range(5)))
        both.append(Move(name, tuple(to), tuple(draw(st.integers(0, modulus - 1)) for modulus in moduli)))
    return both[0], both[1], moduli


@given(oriented_moves())
def test_moves_are_a_group(drawn: tuple[Move, Move, list[int]]) -> None:
    a, b, moduli = drawn
    none = identity(5).effect
    assert product(a, inverse(a, moduli), moduli).effect == none
    assert (
        inverse(product(a, b, moduli), moduli).effect
        == product(inverse(b, moduli), inverse(a, moduli), moduli).effect
    )
    every = powers(a, moduli)
    assert every is not None
    assert product(Move("", *every[-1].effect), a, moduli).effect == none if every else a.effect == none
    assert len({move.effect for move in every}) == len({move.name for move in every}) == len(every)


def test_sizes_of_the_catalogue() -> None:
    states = {
        "pyraminx": 933_120,
        "skewb": 3_149_280,
        "dino-cube": 19_958_400,
        "cuboid-1x3x3": 192,
        "cuboid-2x2x3": 241_920,
        "cube-2x2x2-htm": 3_674_160,
        "cube-2x2x2-qtm": 3_674_160,
    }
    found = {each.name: each for each in catalogued() if each.family == "permutation"}
    assert {name: found[name].known[0].states for name in states} == states
    for each in found.values():
        if not permutation(each).guards:
            assert permutation(each).arrangements() % (each.known[0].states or 1) == 0
        assert permutation(each).symmetric
        reached = permutation(each).reachable(permutation(each).goals)
        assert reached in (None, each.known[0].states)


def test_a_file_of_another_program_in_another_metric(tmp_path: Path) -> None:
    (tmp_path / "ring.tws").write_text("Set A 4 1\nSolved\nEnd\nMove R\nA\n4 1 2 3\nEnd\n")
    text = 'name = "mine"\nfamily = "permutation"\n[permutation]\nfile = "ring.tws"\nstart = "4 1 2 3"\n'
    mine = parse_puzzle(text, str(tmp_path / "mine.toml"))
    assert [move.name for move in permutation(mine).generators] == ["R", "R'"]
    assert permutation(mine).start == (3, 0, 1, 2)
    assert [move.name for move in permutation(load(tmp_path / "ring.tws")).generators] == ["R", "R2", "R'"]
    for wrong, expected in [
        ('file = "none.tws"', "line 4.*cannot be read"),
        ('file = "ring.txt"', "line 4.*ends in .tws"),
        ("file = 3", "line 4.*got 3"),
        ('file = "ring.tws"\nslots = 4', "line 5.*slots and file are both given"),
    ]:
        with pytest.raises(PuzzleError, match=expected):
            parse_puzzle(text.replace('file = "ring.tws"', wrong), str(tmp_path / "mine.toml"))


def test_elements_of_a_group_are_boards() -> None:
    """As GAP has them: of a product the first factor comes first, as of moves."""
    puzzle = load("(1,2,3,4,5); (1,2)")
    for moves, cycles in (("g2 g1", "(1,2)(1,2,3,4,5)"), ("g1 g2'", "(2 3 4 5)"), ("g2 g2", " () ")):
        assert board_given(puzzle, f"moves: {moves}") == board_given(puzzle, cycles)
    for wrong, told in (("(1,6)", "'6' is none of its points"), ("(1,2)(3,3)", "(3,3): a point is twice")):
        with pytest.raises(BoardError, match=re.escape(told)):
            board_given(puzzle, wrong)
