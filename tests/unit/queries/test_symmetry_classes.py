"""Classes of states up to symmetry, compared with the orbits found one by one."""

from pathlib import Path

import numpy
import pytest

import farthest
from cases import for_each
from farthest.errors import JobError
from farthest.puzzles.family import Symmetries, family
from farthest.queries.distance_map import DistanceMap
from farthest.queries.states import symmetries_of

HALF_TURNS = """
name = "half-turns"
family = "permutation"
metric = "generator"

[[permutation.orbits]]
name = "corners"
slots = 8

[[permutation.orbits]]
name = "edges"
slots = 12

[permutation.generators]
U = { corners = "(1 3)(2 4)", edges = "(1 3)(2 4)" }
D = { corners = "(5 7)(8 6)", edges = "(5 7)(8 6)" }
L = { corners = "(2 7)(6 3)", edges = "(3 7)(10 11)" }
R = { corners = "(1 8)(4 5)", edges = "(1 5)(12 9)" }
F = { corners = "(1 6)(5 2)", edges = "(2 6)(9 10)" }
B = { corners = "(3 8)(7 4)", edges = "(4 8)(11 12)" }
"""

ALIKE = """
name = "alike"
family = "permutation"
metric = "generator"

[permutation]
goal = "1 1 1 2 2 2"
modulus = 3
ignore = "2"

[permutation.generators]
R = "(1+1 2+2 3 4 5 6)"
S = "(1 4)(2 5)(3 6)"
"""


def enumerated(name: str, folder: Path, *, depth: int | None = None, to: str = "goal") -> DistanceMap:
    if "\n" in name:
        (folder / "puzzle.toml").write_text(name)
        name = str(folder / "puzzle.toml")
    return farthest.enumerate(name, max_depth=depth, origin=f"to {to}", database=folder / "farthest.db")


CASES = [
    ("8-puzzle", 7, "goal", 2),
    ("sliding-3x3", 6, "1 2 3 / 4 0 5 / 6 7 8", 8),
    ("sliding-2x3", 9, "goal", 1),
    ("cuboid-1x3x3", None, "goal", 8),
    pytest.param("cuboid-2x2x3", 3, "goal", 4, marks=pytest.mark.night),
    pytest.param("cube-2x2x2-htm", 2, "goal", 48, marks=pytest.mark.night),
    pytest.param("cube-2x2x2-qtm", 2, "moves: R U F'", 48, marks=pytest.mark.slow),
    pytest.param("pyraminx", 2, "goal", 24, marks=pytest.mark.slow),
    pytest.param("skewb", 1, "goal", 24, marks=pytest.mark.night),
    pytest.param("topspin-7-4-free", None, "goal", 14, marks=pytest.mark.night),
    ("lrx-6", 6, "goal", 2),
    pytest.param(HALF_TURNS, 2, "goal", 48, marks=pytest.mark.night),
    (ALIKE, None, "goal", 2),
]


@pytest.mark.parametrize(("name", "depth", "to", "symmetries"), CASES)
def test_classes_are_the_orbits_of_the_states(
    name: str, depth: int | None, to: str, symmetries: int, tmp_path: Path
) -> None:
    with enumerated(name, tmp_path, depth=depth, to=to) as opened:
        found = symmetries_of(opened)
        assert len(found.maps) == symmetries
        for inverses in {False, found.inversion is not None}:
            counted = opened.symmetry_classes(inverses=inverses)
            for layer in counted.layers:
                boards = [opened.labels(text) for text in opened.states_at(layer.depth)]
                orbits = found_orbits(found, boards, inverses=inverses)
                fixed = [orbit for orbit in found_orbits(found, boards, inverses=False) if len(orbit) == 1]
                assert (layer.states, layer.classes, layer.fixed) == (len(boards), len(orbits), len(fixed))
                told = [
                    opened.labels(text) for text in opened.representatives(layer.depth, inverses=inverses)
                ]
                assert len(told) == len(orbits)
                assert {orbit for orbit in orbits if orbit.isdisjoint(told)} == set()


def found_orbits(
    found: Symmetries, boards: list[tuple[int, ...]], *, inverses: bool
) -> set[frozenset[tuple[int, ...]]]:
    rows = numpy.array(boards, dtype=numpy.uint8)
    sides = [rows]
    if inverses and found.inversion is not None:
        sides.append(found.inversion.images(rows))
    images = [each.images(side).tolist() for side in sides for each in found.maps]
    known = set(boards)
    orbits = set()
    for row in range(len(boards)):
        orbit = frozenset(tuple(image[row]) for image in images)
        assert orbit <= known  # as far from the origin
        orbits.add(orbit)
    assert sum(map(len, orbits)) == len(boards)
    return orbits


@for_each("name", ["cube-2x2x2-htm", "cube-3x3x3", "pyraminx", "sliding-3x3", "dino-cube"])
def test_symmetries_take_neighbours_to_neighbours(name: str) -> None:
    puzzle = farthest.load_puzzle(name)
    found = family(puzzle.family).symmetries(puzzle.definition, puzzle.definition.origin_boards[0][0])
    assert found is not None
    for board in farthest.random_boards(puzzle, 3, seed=1):
        row = numpy.array([puzzle.definition.parse_board(board)], dtype=numpy.uint8)
        copies = [after for _, after in farthest.copies(puzzle, board)]
        for each in found.maps:
            (image,) = each.images(row)
            text = puzzle.definition.format_board(image.tolist())
            images = each.images(numpy.array(copies, dtype=numpy.uint8))
            assert set(map(tuple, images.tolist())) == {after for _, after in farthest.copies(puzzle, text)}


def test_where_symmetries_are_not_known(tmp_path: Path) -> None:
    with (
        enumerated("hanoi-3-3", tmp_path) as opened,
        pytest.raises(JobError, match="family hanoi are not known"),
    ):
        opened.symmetry_classes()
    with enumerated("first-row", tmp_path) as opened, pytest.raises(JobError, match="a set of boards"):
        opened.symmetry_classes()
    with enumerated("3-puzzle", tmp_path) as opened, pytest.raises(JobError, match="no inverses"):
        list(opened.representatives(2, inverses=True))


@pytest.mark.night
@pytest.mark.slow
def test_published_classes(tmp_path: Path) -> None:
    """Of the pocket cube 77,802 and with inverses 40,296; of the half-turn group the row of its 15,752."""
    with enumerated("cube-2x2x2-qtm", tmp_path) as opened:
        assert opened.symmetry_classes().classes == 77_802
        assert opened.symmetry_classes(inverses=True).classes == 40_296
    with enumerated(HALF_TURNS, tmp_path) as opened:
        counted = opened.symmetry_classes()
        row = [1, 1, 2, 5, 18, 56, 162, 482, 1258, 2627, 4094, 4137, 2231, 548, 114, 16]
        assert [layer.classes for layer in counted.layers] == row
