"""From declared sets of pieces and a list of moves to the body of a permutation puzzle: orbits, labels, the goal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass

from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.moves import Move, identity


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


def assemble(sets: Sequence[PieceSet], moves: Sequence[Move]) -> Permutation:
    """The body with all moves of the metric, and the sets' own board as the only goal.

    A set whose slots fall into parts between which no move carries a piece becomes one orbit for each part; an orbit
    in which every orientation is ignored has none. Raises PuzzleError where a move joins two sets.
    """
    slots = sum(len(each.pieces) for each in sets)
    pieces = [piece for each in sets for piece in each.pieces]
    set_of = [number for number, each in enumerate(sets) for _ in each.pieces]
    orbits = parts(slots, moves)
    moduli: list[int] = []
    tokens: list[str] = []
    counts: list[int] = []
    label_orbit: list[int] = []
    ignore: list[bool] = []
    labels, turns = [0] * slots, [0] * slots
    for number, orbit in enumerate(orbits):
        declared = sets[set_of[orbit[0]]]
        held = Counter(pieces[slot][0] for slot in orbit)
        modulus = 1 if all(token in declared.ignore for token in held) else declared.modulus
        label_of = {token: len(tokens) + i for i, token in enumerate(held)}
        for slot in orbit:
            token, turn = pieces[slot]
            labels[slot] = label_of[token]
            turns[slot] = 0 if token in declared.ignore else turn
        moduli.append(modulus)
        tokens += held
        counts += held.values()
        label_orbit += [number] * len(held)
        ignore += [modulus > 1 and token in declared.ignore for token in held]
    oriented = any(modulus > 1 for modulus in moduli)
    modulus_of = {slot: modulus for orbit, modulus in zip(orbits, moduli, strict=True) for slot in orbit}
    return Permutation(
        slots=slots,
        orbit_names=tuple(sets[set_of[orbit[0]]].name for orbit in orbits),
        orbits=orbits,
        moduli=tuple(moduli),
        tokens=tuple(tokens),
        counts=tuple(counts),
        label_orbit=tuple(label_orbit),
        ignore=tuple(ignore),
        generators=distinct(moves, modulus_of),
        goals=((*labels, *turns) if oriented else tuple(labels),),
    )


def distinct(moves: Sequence[Move], modulus_of: Mapping[int, int]) -> tuple[Move, ...]:
    """The moves with turns below the moduli, without those that change nothing or do what an earlier one does: where
    orientations are ignored, there may be such."""
    found = {identity(len(modulus_of)).effect: ""}
    for move in moves:
        found.setdefault(
            (move.to, tuple(turn % modulus_of[slot] for slot, turn in enumerate(move.delta))), move.name
        )
    return tuple(Move(name, to, delta) for (to, delta), name in found.items() if name)


def parts(slots: int, moves: Sequence[Move]) -> tuple[tuple[int, ...], ...]:
    """The parts of the slots between which no move carries a piece, by their first slots."""
    root = list(range(slots))

    def find(slot: int) -> int:
        while root[slot] != slot:
            root[slot] = root[root[slot]]
            slot = root[slot]
        return slot

    for move in moves:
        for slot, to in enumerate(move.to):
            a, b = find(slot), find(to)
            root[max(a, b)] = min(a, b)
    parts: dict[int, list[int]] = {}
    for slot in range(slots):
        parts.setdefault(find(slot), []).append(slot)
    return tuple(tuple(part) for part in parts.values())
