"""Puzzles with some moves of another alone: which boards they reach, how they are written and drawn."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.moves import Move, identity, inverse, product
from farthest.families.user_input import board_given
from farthest.puzzles.catalogue import find, load, with_moves
from farthest.puzzles.family import board_picture
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from permutations import distances, moved, samples

CUBE = "cube-3x3x3"


@for_each(
    ("name", "canonical", "moves"),
    [
        (f"{CUBE}<U,R>", f"{CUBE}<U,R>", "U R U2 U' R2 R'"),
        (f"{CUBE}< R3 , U', U2>", f"{CUBE}<U,R>", "U R U2 U' R2 R'"),
        (f"{CUBE}<F2,R2,U2>", f"{CUBE}<U2,R2,F2>", "U2 R2 F2"),
        (f"{CUBE}<R,U2>", f"{CUBE}<U2,R>", "U2 R R2 R'"),
        (f"{CUBE}-qtm<U2,R>", f"{CUBE}-qtm<U2,R>", "U2 R R'"),
        (f"{CUBE}<L,R2>", f"{CUBE}<L,R2>", "L R2 L2 L'"),
        (f"{CUBE}<S=F'B,M=L'R>", f"{CUBE}<M=L'R,S=F'B>", "M S M2 M' S2 S'"),
        (f"{CUBE}-qtm<A=L R, U>", f"{CUBE}-qtm<U,A=LR>", "U A U' A'"),
        (f"{CUBE}<A=(R U')2>", f"{CUBE}<A=RU'RU'>", ""),
        (f"{CUBE}<A=U R R', U>", f"{CUBE}<U>", "U U2 U'"),
        ("megaminx<A2'>", "megaminx<A>", "A A2 A2' A'"),
        ("skewb<X=UBR DFR>", "skewb<X=UBR DFR>", "X X'"),
        ("hungarian-rings<A5>", "hungarian-rings<A5>", "A5 A5'"),
        (f"{CUBE}<U2,R2>@edges", f"{CUBE}<U2,R2>@edges", "U2 R2"),
    ],
)
def test_names(name: str, canonical: str, moves: str) -> None:
    puzzle = load(name)
    assert puzzle.name == canonical
    assert load(canonical) == puzzle == find(canonical)
    assert load(canonical).digest == puzzle.digest
    assert Puzzle.from_json(puzzle.to_json()) == puzzle
    if moves:
        assert " ".join(move.name for move in permutation(puzzle).generators) == moves


def test_slots_that_stay_are_left_out_and_pieces_that_cannot_turn_are_not_turned() -> None:
    two = permutation(load(f"{CUBE}<U,R>"))
    assert two.format_board(two.goals[0]) == "URF UFL ULB UBR DFR DRB / UR UF UL UB DR FR BR"
    assert two.moduli == (3, 1)
    assert two.arrangements() == 720 * 729 * 5040
    half = permutation(load(f"{CUBE}<U2,R2,F2>"))
    assert set(half.moduli) == {1}
    edges = permutation(load(f"{CUBE}<R,F>"))  # F flips edges, but not these: U and D would
    assert edges.moduli == (3, 1)
    assert permutation(load(f"{CUBE}<U,R,F>")).moduli == (3, 2)


@for_each(
    ("moves", "order"),
    [  # J. Scherphuis, Puzzle Pages (jaapsch.net), Cube subgroups
        ("U,D", 16),
        ("U2,R2", 12),
        ("U,R2", 14_400),
        ("U,R", 73_483_200),
        ("U2,D2,F2", 96),
        ("U,R2,F2", 10_886_400),
        ("U,R2,L2", 58_060_800),
        ("U,R,D2", 3_555_411_148_800),
        ("U,R,F", 170_659_735_142_400),
        ("U2,D2,F2,R2", 165_888),
        ("U,D,L2,R2,F2,B2", 19_508_428_800),
        (
            "A=UD,B=LR,C=FB,M=L'R,E=D'U,S=F'B",
            15_925_248,
        ),  # M. Longridge, Cube-Lovers mailing list, April 1995
    ],
)
def test_orders_of_groups_of_the_cube(moves: str, order: int) -> None:
    definition = permutation(load(f"{CUBE}<{moves}>"))
    assert definition.reachable(definition.goals) == order


@for_each(
    "name",
    [
        "cube-2x2x2-htm<U,R2>",
        f"{CUBE}<U2,D2,F2>",
        f"{CUBE}-qtm<M=L' R,E=D' U,S=F' B>",
        "pyraminx<A=U R>",
        "skewb<A=UBR DFR'>",
    ],
)
def test_distances_are_those_of_the_moves_on_the_whole_puzzle(name: str) -> None:
    whole = permutation(load(name.partition("<")[0]))
    part = load(name)
    words = name.partition("<")[2].removesuffix(">").split(",")
    moves = [_move(whole, word.partition("=")[2] or word) for word in words]
    steps = [each for move in moves for each in (move, inverse(move, whole.slot_moduli))]
    if part.metric == "power":
        steps += [product(move, move, whole.slot_moduli) for move in moves]
    found = dict.fromkeys(whole.goals, 0)
    queue = list(whole.goals)
    for board in queue:
        for move in steps:
            after = moved(whole, move, board)
            if after not in found:
                found[after] = found[board] + 1
                queue.append(after)
    assert sorted(found.values()) == sorted(distances(part).values())


def _move(definition: Permutation, words: str) -> Move:
    """Moves of the puzzle, each a name, with 2 or ' behind it, made one after the other."""
    named = {move.name: move for move in definition.generators}
    whole = identity(definition.slots)
    for word in words.split():
        move = named[word.rstrip("'2")]
        if word.endswith("2"):
            move = product(move, move, definition.slot_moduli)
        whole = product(
            whole,
            inverse(move, definition.slot_moduli) if word.endswith("'") else move,
            definition.slot_moduli,
        )
    return whole


SAMPLES = samples()


@given(st.sampled_from(sorted(SAMPLES)), st.data())
def test_any_puzzle_with_some_moves_equals_one_that_is_made_with_these(
    name: str, data: st.DataObject
) -> None:
    whole = SAMPLES[name]
    definition = permutation(whole)
    names = [move.name for move in definition.generators]
    chosen = data.draw(st.lists(st.sampled_from(names), min_size=1, unique=True))
    part = with_moves(whole, ",".join(chosen))
    kept = [move for move in definition.generators if move.name in chosen]
    if definition.symmetric:
        kept += [Move(f"{move.name}'", *inverse(move, definition.slot_moduli).effect) for move in kept]
    expected = distances(replace(whole, definition=_with(definition, kept)))
    assert sorted(distances(part).values()) == sorted(expected.values())


def _with(definition: Permutation, moves: list[Move]) -> Permutation:
    """The definition with other moves; its orbits may hold parts that these do not join."""
    unique = {move.effect: move for move in reversed(moves)}
    return replace(definition, generators=tuple(unique.values()))


@for_each(
    "name",
    [
        f"{CUBE}<U,R>",
        f"{CUBE}<U2,R2,F2>",
        f"{CUBE}<U2,D2,L2>",
        f"{CUBE}<U,R,F>",
        "megaminx<A,B>",
        "dino-cube<UBR,UFR>",
        "skewb<UBR,DFR>",
        "cube-2x2x2-htm<U,R2>",
    ],
)
def test_boards_look_as_the_whole_puzzle_does_after_the_same_moves(name: str) -> None:
    whole, part = load(name.partition("<")[0]), load(name)
    rng = random.Random(name)
    words = [move.name for move in permutation(part).generators]
    for _ in range(4):
        moves = "moves: " + " ".join(rng.choices(words, k=8))
        pictures = [board_picture(puzzle, board_given(puzzle, moves)) for puzzle in (whole, part)]
        assert pictures[0] == pictures[1]


@for_each(
    ("name", "message"),
    [
        ("cube-3x3x3<U,R", "no > at the end"),
        ("<U,R>", "no puzzle before <"),
        ("cube-3x3x3<>", "no moves between < and >"),
        ("cube-3x3x3<U,R>x", "no > at the end"),
        ("cube-3x3x3<U,,R>", "a move is missing"),
        ("cube-3x3x3<U,A=>", "a move is missing"),
        ("cube-3x3x3<U,Q>", "'Q': expected one of U D L R F B, and after it perhaps a number, ' or both"),
        (
            "cube-3x3x3<U,M>",
            "'M': it turns the whole puzzle, after which the letters mean other faces; write the moves of",
        ),
        ("cube-3x3x3<U,Rw>", "'Rw': it turns the whole puzzle"),
        ("cube-3x3x3<U R>", "'U R' is several moves one after the other; name it: A=U R"),
        ("cube-3x3x3<A=U U'>", "changes nothing; leave it out"),
        ("cube-3x3x3<U,U4>", "changes nothing; leave it out"),
        ("cube-3x3x3<A=U R,A=R U>", "two moves are called A"),
        ("cube-3x3x3<A/B=U R>", "holds /"),
        ("cube-3x3x3<A=(U R>", "'(' without ')' after it"),
        ("cube-3x3x3@corners<U,R>", "write the moves before @: cube-3x3x3<U,R>@corners"),
        ("15-puzzle<U,R>", "moves can be chosen only of puzzles of the family permutation"),
        ("cube-9<U,R>", "no puzzle is called 'cube-9'"),
        ("cube-3x3x3<" + "U," * 64 + "R>", "65 moves, expected at most 64"),
        ("cube-3x3x3<" + "U," * 3000 + "R>", "more than 4096 characters of moves"),
    ],
)
def test_wrong_moves(name: str, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        load(name)
    assert message in str(error.value)
    assert "x y z" not in str(error.value)


TEXT = 'name = "mine"\nfamily = "permutation"\nmetric = "power"\n[permutation]\n'


def test_a_file_may_name_another_puzzle() -> None:
    mine = parse_puzzle(TEXT + 'of = "cube-3x3x3<U2,R2>@edges"\n', "mine.toml")
    assert mine.definition == load(f"{CUBE}<U2,R2>@edges").definition
    assert permutation(mine).net is not None
    started = parse_puzzle(
        TEXT
        + 'of = "cube-3x3x3<U2,R2>"\nstart = "moves: U2"\n'.replace(
            "moves: U2", "ULB UBR URF UFL DFR DRB / UL UF UR UB DR FR BR"
        ),
        "mine.toml",
    )
    assert permutation(started).start is not None


@for_each(
    ("keys", "message"),
    [
        ('of = "cube-3x3x3"\nslots = 4', "line 6, [permutation] slots: slots and of are both given"),
        ("of = 3", "line 5, [permutation] of: expected the name of a puzzle, got 3"),
        ('of = "cube-3x3"', "line 5, [permutation] of: no puzzle is called 'cube-3x3'"),
        (
            'of = "15-puzzle"',
            "line 5, [permutation] of: 15-puzzle is of the family sliding, expected permutation",
        ),
        (
            'of = "cube-3x3x3-qtm"',
            'line 5, [permutation] of: cube-3x3x3-qtm has the metric generator; write metric = "generator"',
        ),
        ('of = "cube-3x3x3<Q>"', "line 5, [permutation] of: cube-3x3x3<Q>: 'Q'"),
    ],
)
def test_wrong_names_of_other_puzzles(keys: str, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        parse_puzzle(TEXT + keys, "mine.toml")
    assert message in str(error.value)
