"""Puzzles that are too large for the kernel, for keys or for maps: the error says what can be done."""

from collections.abc import Callable
from math import comb
from pathlib import Path

import pytest

import farthest
from farthest import _kernel
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, gather

HALF = """
U := (1,3,8,6)(2,5,7,4)(9,33,25,17)(10,34,26,18)(11,35,27,19);
L := (9,11,16,14)(10,13,15,12)(1,17,41,40)(4,20,44,37)(6,22,46,35);
F := (17,19,24,22)(18,21,23,20)(6,25,43,16)(7,28,42,13)(8,30,41,11);
G := Group(U, L, F);
"""
"""Three faces of Rubik's cube: 16 pieces, and more lines of states than the kernel takes in a shard."""

MEGAMINX = """
name = "two-faces"
family = "permutation"
[[permutation.orbits]]
name = "corners"
goal = "a b c d e f g h"
modulus = 3
[[permutation.orbits]]
name = "edges"
slots = 9
modulus = 2
[permutation.generators]
U = { corners = "(1+0 2+1 3+2 4+0 5+0)", edges = "(1 2 3 4 5)" }
F = { corners = "(1+1 2+2 6+0 7+0 8+0)", edges = "(1+1 6+1 7 8 9)" }
"""


@pytest.fixture(params=["half.gap", "two-faces.toml"])
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path: Path = tmp_path / request.param
    path.write_text(HALF if path.suffix == ".gap" else MEGAMINX)
    return path


VERBS: dict[str, Callable[[farthest.Puzzle, Path], object]] = {
    "enumerate": lambda puzzle, folder: farthest.enumerate(puzzle, database=folder / "maps.db"),
    "histogram": lambda puzzle, folder: farthest.histogram(puzzle),
    "submit": lambda puzzle, folder: farthest.submit(puzzle, database=folder / "maps.db"),
    "kernel": lambda puzzle, folder: gather(compile_space(puzzle)).kernel,
}


@pytest.mark.parametrize("file", ["half.gap"], indirect=True)
@pytest.mark.parametrize("verb", VERBS)
def test_a_space_of_too_many_lines(file: Path, verb: str, tmp_path: Path) -> None:
    with pytest.raises(farthest.ResourceError) as caught:
        VERBS[verb](farthest.load_puzzle(file), tmp_path)
    said = str(caught.value)
    assert said.startswith(f"puzzle {file.stem}: ")
    assert "more than the kernel can step (a shard has more than 2^32 lines of states)" in said
    assert f"solve single boards (`farthest solve {file.stem} BOARD`)" in said
    assert "--max-depth N" in said
    assert "take a pattern of some pieces (PUZZLE@PIECES)" in said


@pytest.mark.slow
@pytest.mark.parametrize("file", ["two-faces.toml"], indirect=True)
def test_elements_are_numbered_where_arrangements_are_too_many(file: Path, tmp_path: Path) -> None:
    with pytest.raises(farthest.ResourceError, match=r"a distance for each of 8\.00e\+12 keys"):
        farthest.enumerate(file, database=tmp_path / "maps.db")
    assert farthest.histogram(file, max_depth=3).layers == (1, 4, 12, 32)  # the faces have order 5


def test_what_the_error_advises_can_be_done(file: Path) -> None:
    assert farthest.solve(file, "goal").length == 0
    pieces = ".".join(farthest.load_puzzle(file).definition.tokens[:3])  # type: ignore[attr-defined]
    assert farthest.histogram(f"{file}@{pieces}", max_depth=2).layers[0] == 1


@pytest.mark.parametrize("name", ["hanoi-2-50", "hanoi-4-25", "lights-7x7", "pancake-64", "sliding-8x8"])
def test_what_has_too_many_keys_is_refused_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(
        farthest.ResourceError, match=r"solve single boards \(`farthest solve [\w-]+ BOARD`\)"
    ):
        farthest.enumerate(name, database=tmp_path / "maps.db")


@pytest.mark.parametrize(
    ("name", "layers"),
    [
        ("pancake-64", (1, 63)),
        ("sliding-8x8", (1, 2, 4, 10)),
        ("hanoi-4-40", (1, 3, 6, 12)),
        ("lights-8x8", (1, 64, comb(64, 2))),
    ],
)
def test_first_layers_of_any_puzzle(name: str, layers: tuple[int, ...], tmp_path: Path) -> None:
    limit = len(layers) - 1
    assert farthest.histogram(name, max_depth=limit).layers == layers
    with farthest.enumerate(name, database=tmp_path / "maps.db", max_depth=limit) as found:
        assert found.layers == layers
        assert found.distance(next(found.states_at(limit))) == limit
        assert found.verify().ok
    job = farthest.submit(name, database=tmp_path / "maps.db", max_depth=limit, histogram_only=True)
    assert job.layout == PACKED


def test_layers_are_counted_where_a_map_would_have_too_many_keys(tmp_path: Path) -> None:
    assert farthest.histogram("hanoi-4-25", max_depth=2).layers == (1, 3, 6)
    with pytest.raises(farthest.ResourceError, match=r"its map would have a distance for each of 1\.13e"):
        farthest.submit("hanoi-4-25", database=tmp_path / "maps.db")
    assert farthest.submit("hanoi-4-25", database=tmp_path / "maps.db", histogram_only=True).id == 1


def test_the_kernel_tells_a_limit_from_what_is_wrong() -> None:
    with pytest.raises(_kernel.LimitError, match="arrangements"):
        _kernel.ArrangementSpace(30, [1] * 30, (), [])
    with pytest.raises(ValueError, match="slots must be 2 to 64") as caught:
        _kernel.ArrangementSpace(65, [1] * 65, (), [])
    assert type(caught.value) is ValueError
