"""The definition of a permutation puzzle from declared sets of pieces and a list of moves: orbits, labels, the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import NamedTuple

from farthest.errors import PuzzleError
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_LABELS, MAX_MODULUS, MAX_POINTS, MAX_SLOTS, name_problem
from farthest.families.permutation.groups import Element, orbit_map, orbits
from farthest.families.permutation.guards import Guard, MoveGuards
from farthest.families.permutation.moves import MAX_MOVES, Move, cycles, identity, listed
from farthest.families.permutation.reach import base
from farthest.puzzles.definition import Board
from farthest.puzzles.grid import others_token


@dataclass(frozen=True, slots=True)
class PieceSet:
    """Pieces that may be exchanged, as a file declares them.

    ``pieces``: token and orientation of the piece in each slot, in the goal. ``ignore``: tokens of the pieces whose
    orientation does not matter.
    """

    name: str
    modulus: int
    pieces: tuple[tuple[str, int], ...]
    ignore: Set[str] = frozenset()


def slot_moduli(sets: Sequence[PieceSet]) -> list[int]:
    """The number of orientations in each slot; the slots of the sets follow one another."""
    return [each.modulus for each in sets for _ in each.pieces]


class Kind(NamedTuple):
    """What has one label: a token, how many pieces, in which orbit; whether their orientation is ignored."""

    token: str
    pieces: int
    orbit: int
    ignored: bool


Held = tuple[Sequence[int], Sequence[int]]
"""A board: the label and the orientation of each slot."""


def permutation_of(
    orbit_names: Sequence[str],
    orbits: Sequence[tuple[int, ...]],
    moduli: Sequence[int],
    kinds: Sequence[Kind],
    moves: Sequence[Move],
    goals: Sequence[Held],
    start: Held | None,
) -> Permutation:
    """The definition, without a net; of ``moves`` those that are ``distinct``. Orientations that do not count become 0.
    Raises PuzzleError."""
    modulus_of = {slot: modulus for orbit, modulus in zip(orbits, moduli, strict=True) for slot in orbit}
    slots = len(modulus_of)

    def board(held: Held) -> Board:
        labels, turns = held
        if max(moduli) == 1:
            return tuple(labels)
        counted = (modulus_of[slot] > 1 and not kinds[label].ignored for slot, label in enumerate(labels))
        return *labels, *(turn if counts else 0 for turn, counts in zip(turns, counted, strict=True))

    return Permutation(
        slots=slots,
        orbit_names=tuple(orbit_names),
        orbits=tuple(orbits),
        moduli=tuple(moduli),
        tokens=tuple(kind.token for kind in kinds),
        counts=tuple(kind.pieces for kind in kinds),
        label_orbit=tuple(kind.orbit for kind in kinds),
        ignore=tuple(kind.ignored and moduli[kind.orbit] > 1 for kind in kinds),
        generators=distinct(moves, modulus_of),
        goals=tuple(dict.fromkeys(map(board, goals))),
        start=None if start is None else board(start),
    )


def with_kinds(
    definition: Permutation, moduli: Sequence[int], kinds: Sequence[Kind], changed: Callable[[Board], Held]
) -> Permutation:
    """The puzzle with pieces of other kinds. ``changed``: what a board then has in its slots. Raises PuzzleError."""
    return permutation_of(
        definition.orbit_names,
        definition.orbits,
        moduli,
        kinds,
        definition.generators,
        [changed(goal) for goal in definition.goals],
        None if definition.start is None else changed(definition.start),
    )


def distinct(moves: Sequence[Move], modulus_of: Mapping[int, int]) -> tuple[Move, ...]:
    """The moves with turns below the moduli of the slots, without those that change nothing or do what an earlier one
    does: where orientations are ignored, there may be such."""
    found = {identity(len(modulus_of)).effect: ""}
    for move in moves:
        found.setdefault(
            (move.to, tuple(turn % modulus_of[slot] for slot, turn in enumerate(move.delta))), move.name
        )
    return tuple(Move(name, to, delta) for (to, delta), name in found.items() if name)


def assemble(sets: Sequence[PieceSet], moves: Sequence[Move], *, most: int = MAX_LABELS) -> Permutation:
    """The definition with all moves of the metric, and the sets' own board as the only goal.

    A set whose slots fall into parts between which no move carries a piece becomes one orbit for each part; an orbit
    in which every orientation is ignored has none. Raises PuzzleError where a move joins two sets, or
    kinds of piece are more than ``most``.
    """
    pieces = [piece for each in sets for piece in each.pieces]
    set_of = [each for each in sets for _ in each.pieces]
    of_moves = orbits(len(pieces), [move.to for move in moves])
    declared = [set_of[orbit[0]] for orbit in of_moves]
    moduli: list[int] = []
    kinds: list[Kind] = []
    labels = [0] * len(pieces)
    for number, (orbit, own) in enumerate(zip(of_moves, declared, strict=True)):
        held = Counter(pieces[slot][0] for slot in orbit)
        moduli.append(1 if held.keys() <= own.ignore else own.modulus)
        label_of = {token: len(kinds) + i for i, token in enumerate(held)}
        for slot in orbit:
            labels[slot] = label_of[pieces[slot][0]]
        kinds += [Kind(token, count, number, token in own.ignore) for token, count in held.items()]
    if len(kinds) > most:
        raise PuzzleError(
            f"{len(kinds)} kinds of piece, at most {most} are possible; make alike what looks alike"
        )
    names = [own.name for own in declared]
    return permutation_of(
        names, of_moves, moduli, kinds, moves, [(labels, [turn for _, turn in pieces])], None
    )


MOST_POINTS = 1000
"""Of more points orbits are not compared: that takes time by the square of their number."""


def pieces_of(names: Sequence[str], moves: Sequence[Move]) -> tuple[list[PieceSet], list[Move]]:
    """The pieces of points with these names, a set for each orbit of the points, and the moves on their slots.

    Points that always move together, such as the stickers of a corner, are one piece that is turned, called by the
    first of its points in the orbit that is kept. They are found by maps between points that commute with all moves.
    Such a map is known from the image of one point: it sends what a product of moves makes of that point to what the
    product makes of its image.

    * A permutation of an orbit that commutes takes each point to the next one on the same piece. Of the ways to make
      two pieces or more of an orbit's points the one with the fewest is chosen.
    * A map of one orbit into another that commutes tells where the second orbit's points are from where those of the
      first are, as for the two stickers of an edge that is never flipped. The second orbit is left out.

    The states are as many as before.
    """
    sets: list[PieceSet] = []
    place: dict[int, tuple[int, int]] = {}
    firsts: list[int] = []
    generators = [move.to for move in moves]
    for orbit in _independent(orbits(len(names), generators), generators):
        turn = _turn(orbit, generators) if len(orbit) <= MOST_POINTS else {point: point for point in orbit}
        pieces = list(cycles(turn, orbit))
        for slot, piece in enumerate(pieces, len(firsts)):
            place.update((point, (slot, i)) for i, point in enumerate(piece))
        firsts += [piece[0] for piece in pieces]
        sets.append(PieceSet("", len(pieces[0]), tuple((names[piece[0]], 0) for piece in pieces)))
    goes = [[place[move.to[point]] for point in firsts] for move in moves]
    return sets, [
        Move(move.name, tuple(slot for slot, _ in each), tuple(turn for _, turn in each))
        for move, each in zip(moves, goes, strict=True)
    ]


def _independent(every: Sequence[tuple[int, ...]], generators: Sequence[Element]) -> list[tuple[int, ...]]:
    """The orbits without those whose points always move with the points of another one; of two such the first stays."""
    independent = list(every)
    if sum(map(len, every)) > MOST_POINTS:
        return independent
    for orbit in reversed(every):
        others = [other for other in independent if other is not orbit and len(other) % len(orbit) == 0]
        if any(orbit_map(other[0], image, generators, generators) for other in others for image in orbit):
            independent.remove(orbit)
    return independent


def _turn(orbit: Sequence[int], generators: Sequence[Element]) -> dict[int, int]:
    """The permutation of the orbit's points with the longest cycles, all as long, that commutes with the generators."""
    best, longest = {point: point for point in orbit}, 1
    for image in orbit[1:]:
        turn = orbit_map(orbit[0], image, generators, generators)
        if turn is not None:
            length = len(next(cycles(turn, orbit[:1])))
            if longest < length <= min(len(orbit) // 2, MAX_MODULUS):
                best, longest = turn, length
    return best


Generator = tuple[str, Mapping[int, int]]
"""A name, perhaps empty, and the images of the points that are moved, at least one."""


def of_generators(
    generators: Sequence[Generator],
    metric: str,
    fail: Callable[[str], PuzzleError],
    *,
    inverses: bool = True,
    contents: Mapping[int, str] | None = None,
) -> Permutation:
    """The puzzle whose moves are these permutations of points. Points that no generator moves are left out. A generator
    without a name that can be a move's is called g and its number. ``contents``: the piece on each point, where some
    are alike: then each point is a slot. ``fail`` makes the error of a problem."""
    points = sorted({point for _, images in generators for point in images})
    slot_of = {point: slot for slot, point in enumerate(points)}
    moves = [
        Move(name, tuple(slot_of[images.get(point, point)] for point in points), (0,) * len(points))
        for name, (_, images) in zip(_names([name for name, _ in generators]), generators, strict=True)
    ]
    if contents is None:
        sets, moves = pieces_of([str(point) for point in points], moves)
    else:
        sets = [PieceSet("", 1, tuple((contents[point], 0) for point in points))]
    moduli = slot_moduli(sets)
    if len(moduli) > MAX_POINTS:
        raise fail(
            f"the moved points are {len(moduli)} pieces; at most {MAX_POINTS} are possible; take fewer points"
        )
    if len(moduli) > MAX_SLOTS and contents is None:
        sets = _with_a_base_alone(sets, moves) or sets
    kinds = sum(len({token for token, _ in each.pieces}) for each in sets)
    if kinds > MAX_LABELS:
        raise fail(
            f"{len(moduli)} pieces, {kinds} of them different; at most {MAX_LABELS} may be, where the order of the "
            "group is more than 4.6e18, or is not found in seconds; take fewer points"
        )
    every = listed(moves, moduli, metric, inverses=inverses)
    if every is None:
        raise fail(f"more than {MAX_MOVES} moves with all powers; take the metric generator")
    return assemble(sets, every)


def _with_a_base_alone(sets: Sequence[PieceSet], moves: Sequence[Move]) -> list[PieceSet] | None:
    """The sets with all pieces alike but those that tell where the others are; None: these are not found in time."""
    slots = [(number, place) for number, each in enumerate(sets) for place in range(len(each.pieces))]
    whole = assemble(sets, moves, most=MAX_POINTS)
    levels = base(whole, whole.goals[0])
    if levels is None:
        return None
    base_places = {slots[level.slot] for level in levels}
    others = others_token([token for each in sets for token, _ in each.pieces])
    return [
        replace(
            each,
            pieces=tuple(
                piece if (number, place) in base_places else (others, 0)
                for place, piece in enumerate(each.pieces)
            ),
            ignore=frozenset([others]),
        )
        for number, each in enumerate(sets)
    ]


def _names(given: Sequence[str]) -> list[str]:
    names: list[str] = []
    for number, name in enumerate(given, 1):
        names.append(name if name not in names and not name_problem(name) else f"g{number}")
    return names


Illegal = tuple[int, str]
"""A slot, and a token of pieces that may not stand there."""

Block = Sequence[tuple[Sequence[int], str]]
"""Pieces that are joined: of each the slots of its set, and its token."""


def piece_problem(pieces: Sequence[str], token: str, *, slot: int | None) -> str | None:
    """Why a piece of a set, of which these are the pieces in their slots, can be no part of a block, or cannot be
    illegal in a slot of the set; None: it can."""
    if token not in pieces:
        return f"there is no piece {token}; name pieces of the solved state"
    if slot is None:
        return (
            None
            if pieces.count(token) == 1
            else f"{pieces.count(token)} pieces are called {token}; a block joins "
            "pieces that are like no other, give them different names"
        )
    return f"piece {token} is there in the solved state; leave it out" if pieces[slot] == token else None


def guards_of(
    definition: Permutation,
    moves: Sequence[Move],
    illegal: Iterable[Illegal],
    blocks: Iterable[Block],
    turned: Mapping[object, Set[int]],
) -> tuple[MoveGuards, ...]:
    """The guards of the definition's moves. ``moves``: the same and perhaps more, before what does not count of their
    turns was left out. ``turned``: for effects of these the slots whose contents turn too, though nothing shows it."""
    moved = {
        move.name: {slot for slot, to in enumerate(move.to) if to != slot or move.delta[slot]}
        | turned.get(move.effect, set())
        for move in moves
    }
    label_of = {
        (orbit, token): label
        for label, (orbit, token) in enumerate(zip(definition.label_orbit, definition.tokens, strict=True))
    }
    refused: dict[int, set[int]] = {}
    for slot, token in illegal:
        illegal_label = label_of.get((definition.slot_orbits[slot], token))
        if illegal_label is not None:  # else no move brings it there
            refused.setdefault(illegal_label, set()).add(slot)
    joined = [
        sorted(
            {
                label_of[definition.slot_orbits[slot], token]
                for slots, token in block
                for slot in slots
                if (definition.slot_orbits[slot], token) in label_of
            }
        )
        for block in blocks
    ]
    found = []
    for move in definition.generators:
        by_slots: dict[tuple[int, ...], list[int]] = {}
        for label, slots in sorted(refused.items()):
            there = tuple(slot for slot, to in enumerate(move.to) if slot in slots or to in slots)
            by_slots.setdefault(there, []).append(label)
        guards = [Guard(tuple(labels), slots, False) for slots, labels in by_slots.items()]
        for block_labels in joined:
            orbits = {definition.label_orbit[label] for label in block_labels}
            there = tuple(sorted(slot for slot in moved[move.name] if definition.slot_orbits[slot] in orbits))
            if there and len(block_labels) > 1:
                guards.append(Guard(tuple(block_labels), there, True))
        found.append(tuple(sorted(guards)))
    return tuple(found)
