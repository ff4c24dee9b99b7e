"""Groups from their usual generators: orders as the ATLAS of finite groups has them, layers as others have counted them
or a plain search finds them."""

from __future__ import annotations

from itertools import pairwise

import pytest

import farthest
from farthest.families.permutation.definition import permutation
from farthest.puzzles.puzzle import Puzzle
from farthest.spaces import compile_space

CUBE = """
U := ( 1, 3, 8, 6)( 2, 5, 7, 4)( 9,33,25,17)(10,34,26,18)(11,35,27,19);
L := ( 9,11,16,14)(10,13,15,12)( 1,17,41,40)( 4,20,44,37)( 6,22,46,35);
F := (17,19,24,22)(18,21,23,20)( 6,25,43,16)( 7,28,42,13)( 8,30,41,11);
R := (25,27,32,30)(26,29,31,28)( 3,38,43,19)( 5,36,45,21)( 8,33,48,24);
B := (33,35,40,38)(34,37,39,36)( 3, 9,46,32)( 2,12,47,29)( 1,14,48,27);
D := (41,43,48,46)(42,45,47,44)(14,22,30,38)(15,23,31,39)(16,24,32,40);
"""
"""Rubik's cube by its stickers: the example of GAP's manual."""

M11 = "(1,2,3,4,5,6,7,8,9,10,11);(3,7,11,8)(4,10,5,6)"
M12 = f"{M11};(1,12)(2,11)(3,6)(4,8)(5,9)(7,10)"
M22 = (
    "(1,2,3,4,5,6,7,8,9,10,11)(12,13,14,15,16,17,18,19,20,21,22);"
    "(1,4,5,9,3)(2,8,10,7,6)(12,15,16,20,14)(13,19,21,18,17);(1,21)(2,10,8,6)(3,13,4,17)(5,19,9,18)(11,22)(12,14,16,20)"
)
M23 = (
    "a=(1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23);"
    "b=(3,17,10,7,9)(4,13,14,19,5)(8,18,11,12,23)(15,20,22,21,16)"
)
C24 = "(1,24)(2,23)(3,12)(4,16)(5,18)(6,10)(7,20)(8,14)(9,21)(11,17)(13,22)(15,19)"
"""The Mathieu groups, of J. Conway and N. Sloane, Sphere Packings, and GAP's manual."""


def layers(generators: str) -> list[int]:
    """By a plain search among permutations of points."""
    moves = []
    for text in generators.split(";"):
        moved: dict[int, int] = {}
        for cycle in text.strip("() ").split(")("):
            points = [int(point) for point in cycle.split(",")]
            moved.update(pairwise((*points, points[0])))
        moves += [moved, {image: point for point, image in moved.items()}]
    points = sorted({point for move in moves for point in move})
    tables = [tuple(points.index(move.get(point, point)) for point in points) for move in moves]
    layer = {tuple(range(len(points)))}
    seen, counts = set(layer), []
    while layer:
        counts.append(len(layer))
        layer = {tuple(map(table.__getitem__, each)) for each in layer for table in tables} - seen
        seen |= layer
    return counts


def test_m11_on_eleven_and_on_twelve_points() -> None:
    three_more = "(1,2,3,4,5,6,7,8,9,10,11)(12,13,14);(3,7,11,8)(4,10,5,6)"
    for generators in (M11, three_more):
        assert farthest.histogram(generators).layers == tuple(layers(generators))


@pytest.mark.slow
def test_m12() -> None:
    found = farthest.histogram(M12)
    assert (found.states, list(found.layers)) == (95_040, layers(M12))


@pytest.mark.night
@pytest.mark.slow
def test_m22() -> None:
    assert farthest.histogram(M22).states == 443_520


@pytest.mark.night
@pytest.mark.slow
def test_the_half_turns_of_the_cube(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("gap") / "half.gap"
    file.write_text(CUBE + "H := Group(U^2, L^2, F^2, R^2, B^2, D^2);")
    found = farthest.histogram(file)
    # H. Kociemba, The subgroup <U2, D2, R2, L2, F2, B2>; T. Rokicki's programs count the same.
    assert (found.states, found.eccentricity, sum(found.layers)) == (663_552, 15, 663_552)
    assert found.layers[:8] == (1, 6, 27, 120, 519, 1932, 6484, 20310)
    names = {move.name for move in permutation(farthest.load_puzzle(file)).generators}
    assert names == {"U2", "L2", "F2", "R2", "B2", "D2"}


@pytest.mark.slow
def test_a_coxeter_group_on_more_than_64_roots() -> None:
    found = farthest.histogram(coxeter_e6())
    expected = [1]
    for degree in (
        2,
        5,
        6,
        8,
        9,
        12,
    ):  # the lengths of its elements are known (J. Humphreys, Reflection Groups, 3.15)
        expected = [sum(expected[max(0, i - degree + 1) : i + 1]) for i in range(len(expected) + degree - 1)]
    assert list(found.layers) == expected


@pytest.mark.slow
def test_more_pieces_than_64_are_told_by_a_base() -> None:
    q = 67
    shift = [*((i + 1) % q for i in range(q)), q]
    scale = [*(4 * i % q for i in range(q)), q]
    turn = [q, *(-pow(i, -1, q) % q for i in range(1, q)), 0]
    puzzle = farthest.Permutations([shift, scale, turn])
    assert puzzle.definition.cells == 68
    space = compile_space(puzzle)
    assert (space.engine, space.keys) == ("scatter", q * (q * q - 1) // 2)
    assert farthest.histogram(puzzle).states == 150_348


@pytest.mark.night
def test_m24_by_two_generators_and_by_three() -> None:
    order = 244_823_040
    three = farthest.histogram(f"{M23};c={C24}")
    assert (three.states, three.eccentricity) == (order, 17)
    two = farthest.histogram(f"{M23.split(';', maxsplit=1)[0]};c={C24}*{M23.split('=')[2]}")
    assert two.states == order


@pytest.mark.night
def test_two_faces_of_the_cube(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("gap") / "two.gap"
    file.write_text(CUBE + "G := Group(U, R);")
    found = farthest.histogram(file)
    assert (found.states, found.eccentricity) == (73_483_200, 25)  # J. Scherphuis: quarter turns


def coxeter_e6() -> Puzzle:
    """The group of E6 on its 72 roots, by the reflections in its simple roots."""
    simple: list[tuple[int, ...]] = [(1, -1, -1, -1, -1, -1, -1, 1), (2, 2, 0, 0, 0, 0, 0, 0)]
    simple += [tuple(-2 if k == i else 2 if k == i + 1 else 0 for k in range(8)) for i in range(4)]

    def reflected(root: tuple[int, ...], mirror: tuple[int, ...]) -> tuple[int, ...]:
        product = sum(a * b for a, b in zip(root, mirror, strict=True))  # all have the length 8
        return tuple(a - product * b // 4 for a, b in zip(root, mirror, strict=True))

    roots = list(simple)
    for root in roots:
        roots += {reflected(root, mirror) for mirror in simple} - set(roots)
    return farthest.Permutations(
        [[roots.index(reflected(root, mirror)) for root in roots] for mirror in simple]
    )
