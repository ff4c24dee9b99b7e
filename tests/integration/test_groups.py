"""Groups from their usual generators: orders as the ATLAS of finite groups has them, layers as others have counted them
or a plain search finds them."""

from __future__ import annotations

from itertools import pairwise

import pytest

import farthest
from farthest.errors import ResourceError
from farthest.families.permutation.definition import permutation
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
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

J2 = (
    "(1,58,96,14,36,4,25,71)(2,20,85,42,50,92,64,31)(3,51,5,17,89,34,99,11)(6,70)(7,90,12,19,82,86,54,23)"
    "(8,43,37,57,77,75,30,73)(9,52,53,95)(10,59,91,28,97,32,68,40)(13,56,74,78,80,46,38,21)"
    "(15,100,63,41,27,67,22,35)(16,69,83,24)(18,33,45,81,55,29,98,60)(26,72,47,62)(39,76)"
    "(44,79,94,65,88,61,66,49)(48,84);(1,91,65,44,12,82,54,92,70,63)(2,78,80,85,81,5,73,35,17,24)"
    "(3,86,22,40,94,99,8,66,41,20)(4,62,74,57,27,58,97,34,50,55)(6,56,38,19,29,7,59,28,96,95)"
    "(9,13,47,10,32,33,11,37,98,67)(14,77,71,23,36,84,49,93,76,79)(15,31,18,45,16,26,72,30,42,60)"
    "(21,52,90,53,43,46,69,68,83,64)(25,75,87,89,39,88,51,48,100,61)"
)
HS = (
    "(1,60)(2,72)(3,81)(4,43)(5,11)(6,87)(7,34)(9,63)(12,46)(13,28)(14,71)(15,42)(16,97)(18,57)(19,52)"
    "(21,32)(23,47)(24,54)(25,83)(26,78)(29,89)(30,39)(33,61)(35,56)(37,67)(44,76)(45,88)(48,59)(49,86)"
    "(50,74)(51,66)(53,99)(55,75)(62,73)(65,79)(68,82)(77,92)(84,90)(85,98)(94,100);(1,86,13,10,47)"
    "(2,53,30,8,38)(3,40,48,25,17)(4,29,92,88,43)(5,98,66,54,65)(6,27,51,73,24)(7,83,16,20,28)"
    "(9,23,89,95,61)(11,42,46,91,32)(12,14,81,55,68)(15,90,31,56,37)(18,69,45,84,76)(19,59,79,35,93)"
    "(21,22,64,39,100)(26,58,96,85,77)(33,52,94,75,44)(34,62,87,78,50)(36,82,60,74,72)(41,80,70,49,67)"
    "(57,63,71,99,97)"
)
"""On 100 points, of the primitive groups of degree 100 in GAP's library."""


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


@pytest.mark.parametrize(
    "degrees",
    [
        pytest.param((2, 5, 6, 8, 9, 12), marks=pytest.mark.slow),
        pytest.param((2, 6, 8, 10, 12, 14, 18), marks=pytest.mark.slow),
        # 696,729,600 states, 1.2 GB, 81 seconds of a processor
        pytest.param((2, 8, 12, 14, 18, 20, 24, 30), marks=[pytest.mark.slow, pytest.mark.night]),
    ],
)
def test_coxeter_groups_on_more_than_64_roots(degrees: tuple[int, ...]) -> None:
    # The lengths of the elements are known from the degrees (J. Humphreys, Reflection Groups, 3.15).
    expected = [1]
    for degree in degrees:
        expected = [sum(expected[max(0, i - degree + 1) : i + 1]) for i in range(len(expected) + degree - 1)]
    assert list(farthest.histogram(coxeter(len(degrees))).layers) == expected


@pytest.mark.parametrize(
    ("generators", "order"),
    [
        pytest.param(J2, 604_800, marks=pytest.mark.slow),
        pytest.param(HS, 44_352_000, marks=[pytest.mark.slow, pytest.mark.night]),
    ],
    ids=["J2", "HS"],
)
def test_sporadic_groups_on_a_hundred_points(generators: str, order: int) -> None:
    puzzle = farthest.Permutations(generators)
    space = compile_space(puzzle)
    assert (space.engine, space.keys) == ("scatter", order)
    assert farthest.histogram(puzzle).states == order


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


@pytest.mark.parametrize("alike", [False, True])
def test_first_layers_of_more_slots_than_64(alike: bool) -> None:
    # The corners of a cube, 24 stickers that are turned in threes, and 60 points of which two rows of six are turned.
    row = [*range(1, 6), 0, *range(6, 60)]
    side = [*range(5), 6, *range(7, 11), 5, *range(11, 60)]
    order = [*(7 * i % 61 for i in range(1, 61))]
    mixed = [order.index(row[side[i - 1]] + 1) for i in order]
    moves = [[*each, *(60 + (i + 1) % 10 for i in range(10))] for each in (row, side, mixed)]
    goal = [point // 3 for point in range(70)] if alike else list(range(70))
    layers, seen = [[tuple(goal)]], {tuple(goal)}
    both = [*moves, *([each.index(i) for i in range(70)] for each in moves)]
    for _ in range(2):
        layers.append([])
        for board in layers[-2]:
            for each in both:
                after = tuple(board[i] for i in each)
                if after not in seen:
                    seen.add(after)
                    layers[-1].append(after)
    text = " ".join(map(str, goal))
    toml = {f"m{number}": [each.index(i) + 1 for i in range(70)] for number, each in enumerate(moves)}
    lines = "".join(f"{name} = {images}\n" for name, images in toml.items())
    puzzle = parse_puzzle(
        f'name = "x"\nfamily = "permutation"\n[permutation]\ngoal = "{text}"\n[permutation.generators]\n{lines}',
        "x",
    )
    assert puzzle.definition.cells == 70
    assert list(farthest.histogram(puzzle, max_depth=2).layers) == list(map(len, layers))
    if alike:  # else the order of the group tells how many states there are
        with pytest.raises(ResourceError, match=r"70 slots; .* count its first layers with --max-depth"):
            farthest.histogram(puzzle)


def heisenberg(modulus: int) -> list[list[int]]:
    """Two generators of the group of triples with the product (a + x, b + y, c + z + a y), acting on itself."""
    triples = [(a, b, c) for a in range(modulus) for b in range(modulus) for c in range(modulus)]
    number = {triple: i for i, triple in enumerate(triples)}
    return [
        [number[(a + x) % modulus, (b + y) % modulus, (c + a * y) % modulus] for a, b, c in triples]
        for x, y in ((1, 0), (0, 1))
    ]


@pytest.mark.slow
def test_a_group_that_acts_on_1331_points_as_on_itself() -> None:
    found = farthest.histogram(farthest.Permutations(heisenberg(11)))
    # cayleypy's table of growth of Heisenberg groups
    assert found.layers == (1, 4, 12, 36, 82, 164, 290, 400, 200, 96, 46)


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


def coxeter(rank: int) -> Puzzle:
    """The group E6, E7 or E8 on its roots, by the reflections in its simple roots."""
    bonds = {(0, 2), (1, 3), *((i, i + 1) for i in range(2, rank - 1))}  # numbered as N. Bourbaki does

    def reflected(root: tuple[int, ...], mirror: int) -> tuple[int, ...]:
        beside = sum(root[i] for i in range(rank) if {(i, mirror), (mirror, i)} & bonds)
        return (*root[:mirror], beside - root[mirror], *root[mirror + 1 :])

    roots = [tuple(int(i == k) for k in range(rank)) for i in range(rank)]
    number = {root: i for i, root in enumerate(roots)}
    for root in roots:
        for mirror in range(rank):
            image = reflected(root, mirror)
            if image not in number:
                number[image] = len(roots)
                roots.append(image)
    return farthest.Permutations(
        [[number[reflected(root, mirror)] for root in roots] for mirror in range(rank)]
    )
