"""Files of other programs: what they mean, proved by counting the boards that their moves reach."""

from __future__ import annotations

from dataclasses import replace
from math import factorial
from pathlib import Path
from typing import Any

import pytest

from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.reach import states_reached
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin, Puzzle
from permutations import distances, samples

CORNERS = """
Name  cube corners, DBL held
# U, R and F of the 2x2x2 cube

Set CORNERS 7 3
Solved
CORNERS
1 2 3 4 5 6 7
0 0 0 0 0 0 0
End
Move U
CORNERS
4 1 2 3 5 6 7
End
Move F
CORNERS
2 6 3 4 1 5 7
{turns}
End
"""


def read(path: Path, text: str | bytes) -> Permutation:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return permutation(load(path))


def states(definition: Permutation) -> int:
    return len(distances(Puzzle("x", "", "", "permutation", "power", Origin(), (), definition)))


def test_turns_of_moves_are_indexed_by_the_slot_that_the_content_leaves(tmp_path: Path) -> None:
    # F takes the content of slot 2 to slot 1, of 6 to 2, of 5 to 6 and of 1 to 5. Kociemba's table gives the turn of
    # the corner that comes: 1 2 0 0 2 1 0. The format wants that of the corner that leaves.
    arriving, leaving = "1 2 0 0 2 1 0", "2 1 0 0 1 2 0"
    definition = read(tmp_path / "right.tws", CORNERS.format(turns=leaving))
    f = next(move for move in definition.generators if move.name == "F")
    assert f.to == (4, 0, 2, 3, 5, 1, 6)
    assert f.delta == (2, 1, 0, 0, 1, 2, 0)
    new = "MoveTransformation F\nCORNERS\n1 5 2 3 0 4 6"
    same = CORNERS.format(turns=arriving).replace("Move F\nCORNERS\n2 6 3 4 1 5 7", new)
    assert read(tmp_path / "new.tws", same).generators == definition.generators
    other = read(tmp_path / "other.tws", CORNERS.format(turns=arriving))
    assert next(move for move in other.generators if move.name == "F").delta == (1, 2, 0, 0, 2, 1, 0)
    assert [move.name for move in definition.generators] == ["U", "F", "U2", "U'", "F2", "F'"]


def test_the_piece_that_leaves_is_the_one_that_is_turned(tmp_path: Path) -> None:
    text = "Set A 3 2\n{solved}Move A\nA\n2 1 3\n{turns}\nEnd\n"
    goal = "Solved\nA\n1 2 2\n0 0 0\nEnd\n"
    leaving = read(tmp_path / "a.def", text.format(solved=goal, turns="1 0 0"))
    assert next(iter(leaving.generators)).delta == (1, 0, 0)
    assert leaving.parse_board("2 1+1 2") in distances(
        Puzzle("x", "", "", "permutation", "power", Origin("from"), (), leaving)
    )


def test_a_set_left_out_is_solved_and_still(tmp_path: Path) -> None:
    definition = read(
        tmp_path / "x.tws",
        "Set A 3 1\nSet B 2 2\nSolved\nEnd\nMove R\nA\n2 3 1\nEnd\nMove S\nB\n1 2\n1 0\nEnd\n",
    )
    assert definition.format_board(definition.goals[0]) == "1 2 3 / 1 2"
    assert definition.orbit_names == ("A", "B", "B")
    assert states(definition) == 6


def test_identical_pieces_and_ignored_orientations(tmp_path: Path) -> None:
    text = "Set A 4 2\nSolved\nA\n1 1 2 3\n{turns}\nEnd\nMove R\nA\n4 1 2 3\n1 0 0 0\nEnd\n"
    told = read(tmp_path / "told.tws", text.format(turns="0 0 0 0"))
    ignored = read(tmp_path / "ignored.tws", text.format(turns="? ? 0 0"))
    assert told.counts == ignored.counts == (2, 1, 1)
    assert told.ignore == (False, False, False)
    assert ignored.ignore == (True, False, False)
    assert states(told) == 8
    assert states(ignored) == 8
    assert ignored.parse_board("1+1 1 2 3") == ignored.goals[0]


def test_start_states_are_numbered_from_zero(tmp_path: Path) -> None:
    definition = read(
        tmp_path / "x.tws", "Set A 3 1\nStartState\nA\n2 0 1\nEnd\nMoveTransformation R\nA\n1 2 0\nEnd\n"
    )
    assert definition.format_board(definition.goals[0]) == "2 0 1"
    assert definition.generators[0].to == (2, 0, 1)


def test_rotations_sequences_and_what_is_skipped(tmp_path: Path) -> None:
    text = (
        "Set A 4 1\nSolved\nEnd\nMove R\nA\n2 1 3 4\nEnd\nMove Fv\nA\n4 1 2 3\nEnd\nMove x\nA\n2 3 4 1\nEnd\n"
        "MoveSequence S R Fv R Fv'\nMoveAlias T R\nParallelMoves\nR S\nEnd\nMultiplicators\nR 2\nEnd\n"
    )
    definition = read(tmp_path / "x.tws", text)
    assert [move.name for move in definition.generators] == ["R", "S", "S'"]
    assert definition.generators[1].to == (1, 3, 2, 0)  # R, then the exchange of slots 4 and 1
    assert states(definition) == 6


def test_files_of_many_times(tmp_path: Path) -> None:
    definition = "Set A 3 1\n\tSolved \n A\t\n1 2  3\nEnd\n# comment\nMove R # another\nA\n2 3 1\nEnd"
    plain = read(tmp_path / "x.tws", definition)
    assert read(tmp_path / "y.DEF", definition.replace("\n", "\r\n")) == plain
    assert read(tmp_path / "z.tws", definition.replace("\n", "\r")) == plain
    assert read(tmp_path / "u.tws", b"# by K\xe5re\n" + definition.encode()) == plain
    assert read(tmp_path / "v.tws", b"\xef\xbb\xbf" + definition.encode()) == plain
    puzzle = load(tmp_path / "x.tws")
    assert (puzzle.name, puzzle.family, puzzle.metric) == ("x", "permutation", "power")
    (tmp_path / "233.tws").write_text("Name two  words\n" + definition)
    assert load(tmp_path / "233.tws").name == "puzzle-233"
    assert load(tmp_path / "233.tws").title == "two words"


@pytest.mark.parametrize(
    ("text", "names", "count"),
    [
        ("G := Group((1,2,3,4,5), (1,2));", ["g1", "g2", "g1'"], 120),
        ("a := (1,2,3,4,5);; b := (1,2,3);;\nG := Group([a, b]);", ["a", "b", "a'", "b'"], 60),
        ("r := (1,2,3)(4,5,6);\ns := (1,4)(2,5)(3,6);\n", ["r", "s", "r'"], 6),
        ("gens := [ (1,2)*(2,3), PermList([2,1,3]) ];", ["g1", "g2", "g1'"], 6),
        (
            "a := (1,2,3); # a comment\nb := a^-1;\nG := GroupWithGenerators([a, b, ()]);\nSize(G);",
            ["a", "b"],
            3,
        ),
        ("a := (1,2,3,4); c := a^2; d := a^(1,2); G := Group(c/d, d);", ["g1", "d", "d'"], 8),
        ("x := (10,20)(30,40);", ["x"], 2),
        ("a := (1,2,3)(11,12,13); b := (3,4)(13,14);", ["a", "b", "a'"], 24),
        ("a := (1,2,3); b := (1,2); c := (1,4)(2,5)(3,6);", ["a", "b", "c", "a'"], 72),
        ("a:=((1,2)(3,4))*();\nb:=();", ["a"], 2),
        ("Group((1,2,3,4,5),\n(1,\n2))", ["g1", "g2", "g1'"], 120),
        ("gens := [(1,2,3), (3,4)];\nG := Group(gens[1]*gens[2], gens[2])", ["g1", "g2", "g1'"], 24),
        (
            "G := Group((1,2,3), (3,4)); IsSolvable(G); H := Subgroup(G, [G.1]);\nK := Group(GeneratorsOfGroup(H));",
            ["g1", "g1'"],
            3,
        ),
        (
            "gap> a := (1,2,3);;\ngap> G := Group(a,\n>  (3,4));\nGroup([ (1,2,3), (3,4) ])\ngap> Size(G);\n24",
            ["a", "g2", "a'"],
            24,
        ),
    ],
)
def test_generator_lists(text: str, names: list[str], count: int, tmp_path: Path) -> None:
    definition = read(tmp_path / "x.gap", text)
    assert [move.name for move in definition.generators] == names
    assert states(definition) == count
    assert load(tmp_path / "x.gap").metric == "generator"


@pytest.mark.parametrize(
    ("group", "order"),
    [
        ("SymmetricGroup(2)", 2),
        ("SymmetricGroup(6)", 720),
        ("AlternatingGroup(3)", 3),
        ("AlternatingGroup(7)", 2520),
        ("AlternatingGroup(8)", 20160),
        ("CyclicGroup(IsPermGroup, 6)", 6),
        ("DihedralGroup(10)", 10),
        ("DihedralGroup(12)", 12),
        ("MathieuGroup(11)", 7920),
        ("MathieuGroup(12)", 95040),
        ("MathieuGroup(22)", 443520),
        ("MathieuGroup(23)", 10200960),
        ("MathieuGroup(24)", 244823040),
    ],
)
def test_groups_by_their_names(group: str, order: int, tmp_path: Path) -> None:
    definition = read(tmp_path / "x.gap", f"G := {group};")
    assert states_reached(definition, definition.goals[0]) == order


def test_points_that_are_not_moved_are_left_out(tmp_path: Path) -> None:
    definition = read(tmp_path / "x.g", "x := (10,20)(30,40); y := (30,40);")
    assert definition.tokens == ("10", "20", "30", "40")
    assert definition.orbits == ((0, 1), (2, 3))


TWO_FACES = """
U := ( 1, 3, 8, 6)( 2, 5, 7, 4)( 9,33,25,17)(10,34,26,18)(11,35,27,19);
R := (25,27,32,30)(26,29,31,28)( 3,38,43,19)( 5,36,45,21)( 8,33,48,24);
"""


def test_points_of_two_orbits_that_move_together_are_one_piece(tmp_path: Path) -> None:
    # These two faces never flip an edge: the two stickers of an edge are in two orbits.
    definition = read(tmp_path / "x.gap", TWO_FACES)
    assert [len(orbit) for orbit in definition.orbits] == [6, 7]
    assert definition.moduli == (3, 1)
    assert definition.arrangements() == factorial(6) * 3**6 * factorial(7)
    # Where the pieces are follows from where their stickers are, whatever comes first.
    definition = read(tmp_path / "y.gap", "a := (11,13,15)(12,14,16)(1,2,3); b := (11,12);")
    assert (definition.tokens, definition.slot_moduli) == (("11", "13", "15"), (2, 2, 2))


def test_pieces_that_are_not_turned_cyclically_stay_points(tmp_path: Path) -> None:
    definition = read(tmp_path / "x.gap", "a := (1,2,3); b := (1,2); c := (1,4)(2,5)(3,6);")
    assert definition.slot_moduli == (1,) * 6


def stickers(definition: Permutation) -> str:
    """The generators as permutations of points, one for each orientation in each slot, numbered from 1."""
    first, points = [], 1
    for modulus in definition.slot_moduli:
        first.append(points)
        points += modulus
    lists = []
    for move in definition.generators:
        images = [
            first[move.to[slot]] + (turn + move.delta[slot]) % modulus
            for slot, modulus in enumerate(definition.slot_moduli)
            for turn in range(modulus)
        ]
        lists.append(f"PermList({images})")
    return f"G := Group({', '.join(lists)});"


@pytest.mark.parametrize(
    "name",
    [
        "turned, to",
        "moduli mixed, to",
        "turned and not, to",
        "sums, by piece",
        "sums, even moves",
        "slots apart",
    ],
)
def test_stickers_become_pieces(name: str, tmp_path: Path) -> None:
    definition = permutation(samples()[name])
    pieces = read(tmp_path / "x.gap", stickers(definition))
    assert pieces.oriented
    assert states(pieces) == states(replace(definition, generators=definition.generators, **told(definition)))


def told(definition: Permutation) -> dict[str, Any]:
    """The fields that make all pieces distinct."""
    orbit = {slot: number for number, slots in enumerate(definition.orbits) for slot in slots}
    goal = (*range(definition.slots), *([0] * definition.slots if definition.oriented else []))
    return {
        "tokens": tuple(str(slot) for slot in range(definition.slots)),
        "counts": (1,) * definition.slots,
        "label_orbit": tuple(orbit[slot] for slot in range(definition.slots)),
        "ignore": (False,) * definition.slots,
        "goals": (goal,),
    }


def test_a_cube_by_its_stickers(tmp_path: Path) -> None:
    definition = read(tmp_path / "x.gap", stickers(permutation(load("cube-2x2x2-qtm"))))
    assert definition.slot_moduli == (3,) * 7
    assert definition.tokens == ("1", "4", "7", "10", "13", "16", "19")
    assert definition.arrangements() == permutation(load("cube-2x2x2-qtm")).arrangements()
