"""The table [permutation.turns]: what is wrong in it is told with its place."""

import re
from pathlib import Path

import pytest

from farthest.errors import PuzzleError
from farthest.families.permutation.definition import permutation
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Puzzle

CUBE = """
name = "pocket"
family = "permutation"
metric = "power"

[permutation]
slots = 7
modulus = 3

[permutation.generators]
U = "(1 2 3 4)"
R = "(1+1 4+2 7+1 5+2)"
F = "(1+2 5+1 6+2 2+1)"

[permutation.turns]
"""
X, Y = 'x = "(1+1 4+2 7+1 5+2)(2+2 3+1 8+2 6+1)"', 'y = "(1 2 3 4)(5 6 8 7)"'


def test_turns_are_kept_and_decide_nothing(tmp_path: Path) -> None:
    turned, plain = tmp_path / "turned.toml", tmp_path / "plain.toml"
    turned.write_text(f"{CUBE}held = [3]\n{X}\n{Y}\n")
    plain.write_text(CUBE.replace("[permutation.turns]\n", ""))
    first, second = load(turned), load(plain)
    assert first.digest == second.digest
    again = Puzzle.from_json(first.to_json())
    assert permutation(again).turns == permutation(first).turns
    assert permutation(again).turns is not None


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("held = 3", "held: expected the number of orientations of each held piece, got 3"),
        (f"{X}\n{Y}", "held: expected the number of orientations"),
        ("held = [3]", "no turns; correct the turns"),
        ("held = [3]\nx = 4", "x: expected cycles, got 4"),
        ('held = [3]\nx = "(1 9)"', "9"),
        (f"held = [2]\n{X}\n{Y}", "takes a piece to a slot with other orientations"),
        (f'held = [3]\n{Y}\nz = "(1 2)(5 8)"', "more than 1,000 turns|from another side|same places"),
        (f'held = [3]\nx = "(1 2 3)"\n{Y}', "more than 1,000 turns|from another side|same places"),
        ('held = [3]\ny = "(1 2 3 4)"', "two turns take the held pieces to the same places"),
    ],
)
def test_wrong_turns(lines: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "pocket.toml"
    file.write_text(f"{CUBE}{lines}\n")
    with pytest.raises(PuzzleError) as refused:
        load(file)
    assert str(refused.value).startswith(f"{file}, line ")
    assert "[permutation.turns]" in str(refused.value)
    assert re.search(message, str(refused.value))
