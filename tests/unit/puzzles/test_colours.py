"""Puzzles with faces that are alike: pieces are alike where they look alike, and boards where all stickers do."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations, product

import pytest

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.permutation.colours import recoloured
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.net import board_colours
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.reader import parse_puzzle
from permutations import moved

OPPOSITE = {"yellow": "white", "orange": "red", "blue": "green"}
SCHEMES = {
    "opposite": OPPOSITE,
    "two neighbours": {"red": "white"},
    "three at a corner": {"red": "white", "green": "white"},
    "a belt": {"red": "green", "orange": "green", "blue": "green"},
    "all but one": {"red": "white", "green": "white", "orange": "white", "blue": "white"},
    "exchanged": {"red": "white", "white": "red"},
}


def seen(definition: Permutation, board: Board) -> tuple[str | None, ...]:
    """The colours of all stickers."""
    assert definition.net is not None
    return tuple(board_colours(definition.net, definition.slot_moduli, definition.goals[0], board))


def boards(definition: Permutation, slots: tuple[int, ...]) -> list[Board]:
    """The goal with the pieces of three slots in every order, turned in every way."""
    goal = definition.goals[0]
    found = []
    for order in permutations(slots):
        for turns in product(*(range(definition.slot_moduli[slot]) for slot in slots)):
            board = list(goal)
            for slot, there, turn in zip(slots, order, turns, strict=True):
                board[slot] = goal[there]
                if definition.oriented:
                    board[definition.slots + slot] = turn
            found.append(tuple(board))
    return found


@for_each("name", ["cube-3x3x3", "cube-2x2x2-htm", "cube-3x3x3<U2,R2,F2>"])
@for_each("scheme", SCHEMES)
def test_boards_are_alike_where_all_stickers_are(name: str, scheme: str) -> None:
    definition, colours = permutation(load(name)), SCHEMES[scheme]
    rng = random.Random(name + scheme)
    given = []
    for orbit in definition.orbits:
        given += boards(definition, tuple(rng.sample(orbit, 3)))
    given.sort(key=lambda board: board != definition.goals[0])
    made = recoloured(replace(definition, goals=tuple(dict.fromkeys(given))), colours)
    shown = {tuple(colours.get(name or "", name) for name in seen(definition, board)) for board in given}
    assert {seen(made, board) for board in made.goals} == shown
    assert len(made.goals) == len(shown)
    # Moves do to both what they do.
    board, ours = definition.goals[0], made.goals[0]
    for _ in range(30):
        number = rng.randrange(len(definition.generators))
        board = moved(definition, definition.generators[number], board)
        ours = moved(made, made.generators[number], ours)
        assert seen(made, ours) == tuple(colours.get(name or "", name) for name in seen(definition, board))


def test_kinds_of_pieces() -> None:
    three = permutation(load("cube-3x3x3-three-colours"))
    assert dict(zip(three.tokens, three.counts, strict=True)) == {
        "URF": 4,
        "UFL": 4,
        "UR": 4,
        "UF": 4,
        "FR": 4,
    }
    assert three.moduli == (3, 2)
    assert not any(three.ignore)
    corner = recoloured(permutation(load("cube-3x3x3")), SCHEMES["three at a corner"])
    ignored = [token for token, each in zip(corner.tokens, corner.ignore, strict=True) if each]
    assert ignored == ["URF", "UR"]  # and UF, FR
    assert corner.counts[corner.tokens.index("UR")] == 3
    one = recoloured(permutation(load("cube-3x3x3")), dict.fromkeys(("red", "green", *OPPOSITE), "white"))
    assert (one.counts, one.oriented) == ((8, 12), False)
    assert one.net is not None
    assert {sticker.colour for sticker in one.net.stickers} == {"white"}


def test_turns_of_the_whole_puzzle_stay() -> None:
    held = permutation(load("cube-2x2x2-htm"))
    assert recoloured(held, OPPOSITE).turns == held.turns


SQUARES = """
name = "square"
family = "permutation"
metric = "generator"
[permutation]
goal = "a b c"
modulus = 4
[permutation.generators]
A = "(1+1 2)"
B = "(2 3)"
[permutation.net]
colours = { W = "white", R = "red", G = "green" }
squares = """


@pytest.mark.parametrize(
    ("squares", "problem"),
    [
        ("W:1 R:1+1 W:1+2 R:1+3 W:2 W:2+1 R:2+2 R:2+3", "the net does not show all of c"),
        (
            "W:1 R:1+1 W:1+2 G:1+3 W:2 R:2+1 W:2+2 R:2+3 W:3 R:3+1 W:3+2 R:3+3",
            "b looks the same after a turn by 2",
        ),
    ],
)
def test_pieces_that_cannot_be_told(squares: str, problem: str) -> None:
    definition = permutation(parse_puzzle(f'{SQUARES}"{squares}"', "square.toml"))
    with pytest.raises(PuzzleError, match=problem):
        recoloured(definition, {"white": "blue"})


TABLE = '[permutation]\nof = "{}"\ncolours = {}\n'


@for_each(
    ("of", "colours", "problem"),
    [
        ("cube-3x3x3", '{ pink = "white" }', "line 6.* has no 'pink'; its colours are blue, green"),
        ("cube-3x3x3", '{ red = "puce" }', "line 6.*red becomes 'puce'; expected one of"),
        ("cube-3x3x3", "{ red = 3 }", "red becomes 3; expected one of"),
        ("cube-3x3x3", "{}", "expected colours, got a table; write colours = { blue"),
        ("cube-3x3x3", '"U=D"', "expected colours, got 'U=D'"),
        ("pancake-4", '{ red = "white" }', "pancake-4 has no net"),
    ],
)
def test_wrong_colours(of: str, colours: str, problem: str) -> None:
    metric = load(of).metric
    text = f'name = "x"\nfamily = "permutation"\nmetric = "{metric}"\n' + TABLE.format(of, colours)
    with pytest.raises(PuzzleError, match=problem):
        parse_puzzle(text, "x.toml")


def test_colours_of_a_puzzle_of_its_own() -> None:
    with pytest.raises(PuzzleError, match="colours: expected beside of, the name of a puzzle"):
        parse_puzzle(SQUARES.replace("goal", "colours = { red = 'white' }\ngoal") + '"W:1"', "square.toml")
