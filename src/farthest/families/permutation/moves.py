"""Moves of a permutation puzzle: products, inverses, powers, and the list of moves that a metric counts.

A move is active (docs/permutations.md): the content of slot i goes to slot ``to[i]``, and ``delta[i]`` is added to
its orientation. Both are indexed by the slot that the content comes from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from farthest.errors import PuzzleError

T = TypeVar("T")

MAX_MOVES = 4096
"""Moves that a puzzle may have, inverses and powers among them."""

ROTATION = re.compile(r"[xyz][2']?|[A-Z_]+v")
"""Names of turns of the whole puzzle in files of twsearch and cubing.js: no moves, but moves are made of them."""


@dataclass(frozen=True, slots=True)
class Move:
    """One move. ``delta[i]`` lies between 0 and the modulus of slot i less one."""

    name: str
    to: tuple[int, ...]
    delta: tuple[int, ...]

    @property
    def effect(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What the move does, apart from its name."""
        return self.to, self.delta


Modulo = Sequence[int]
"""The modulus of each slot's orientations."""


def identity(slots: int) -> Move:
    """The move that changes nothing, without a name."""
    return Move("", tuple(range(slots)), (0,) * slots)


def product(first: Move, second: Move, moduli: Modulo) -> Move:
    """The move, without a name, that does ``first`` and then ``second``."""
    return Move(
        "",
        tuple(second.to[first.to[i]] for i in range(len(first.to))),
        tuple((first.delta[i] + second.delta[first.to[i]]) % moduli[i] for i in range(len(first.to))),
    )


def inverse(move: Move, moduli: Modulo) -> Move:
    """The move, without a name, that takes ``move`` back."""
    to, delta = [0] * len(move.to), [0] * len(move.to)
    for i, target in enumerate(move.to):
        to[target] = i
        delta[target] = -move.delta[i] % moduli[i]
    return Move("", tuple(to), tuple(delta))


def powers(move: Move, moduli: Modulo) -> list[Move] | None:
    """The powers of a move from the first up to the one before the identity; None where there are more than
    ``MAX_MOVES``.

    They are named as twisty puzzles are: ``R R2 R'``, and of a move of order six ``R R2 R3 R2' R'``.
    """
    found: list[Move] = []
    power = move
    while power.effect != identity(len(move.to)).effect:
        if len(found) == MAX_MOVES:
            return None
        found.append(power)
        power = product(power, move, moduli)
    order = len(found) + 1
    return [Move(_name(move.name, k, order), *power.effect) for k, power in enumerate(found, 1)]


def repeated(base: T, count: int, unit: T, product: Callable[[T, T], T]) -> T:
    """The power of anything that has products, by squaring."""
    while count:
        if count & 1:
            unit = product(unit, base)
        base = product(base, base)
        count >>= 1
    return unit


def listed(generators: Sequence[Move], moduli: Modulo, metric: str, inverses: bool) -> list[Move] | None:
    """All moves of a puzzle, in order, or None where they are more than ``MAX_MOVES``.

    In the metric ``power`` each power of a generator is one move; in ``generator`` each generator, and with
    ``inverses`` its inverse. A generator comes first; what is added to it is left out where a move of the same effect
    is there already, and gets another name where its own is taken.
    """
    moves = list(generators)
    effects, names = {move.effect for move in moves}, {move.name for move in moves}
    for generator in generators:
        if metric == "power":
            added = powers(generator, moduli)
            if added is None:
                return None
        else:
            added = [Move(generator.name + "'", *inverse(generator, moduli).effect)] if inverses else []
        for move in added:
            if move.effect in effects:
                continue
            name = move.name
            while name in names:
                name += "~"
            effects.add(move.effect)
            names.add(name)
            moves.append(Move(name, *move.effect))
    return moves if len(moves) <= MAX_MOVES else None


def odd(to: Sequence[int], slots: Iterable[int]) -> bool:
    """Whether the permutation is odd on these slots, which it permutes."""
    return sum(len(cycle) - 1 for cycle in cycles(to, slots)) % 2 == 1


def cycles(to: Sequence[int] | Mapping[int, int], slots: Iterable[int]) -> Iterator[list[int]]:
    """The cycles of a permutation that these slots are in, each from the first of them."""
    seen = set[int]()
    for start in slots:
        if start in seen:
            continue
        cycle = [start]
        while (slot := to[cycle[-1]]) != start:
            cycle.append(slot)
        seen.update(cycle)
        yield cycle


def _name(name: str, power: int, order: int) -> str:
    back = order - power
    if back < power:
        return f"{name}{back if back > 1 else ''}'"
    return f"{name}{power if power > 1 else ''}"


_TOKEN = re.compile(
    r"\s*(?:(?P<mark>[(),])|(?P<slot>\d{1,9})(?:(?P<twist>[+-]\d{1,9}))?(?![\d+-])|(?P<wrong>\S))"
)

Images = tuple[list[int], list[int]]
"""``to`` and ``delta`` of a move, both indexed by the slot that the content comes from, from 0; twists as written."""


def read_cycles(text: str, slots: int, first: int) -> Images:
    """The permutation of ``slots`` slots, numbered from ``first``, that a product of disjoint cycles is.

    ``(1 2 3)(4 5)``: the content of slot 1 goes to slot 2, that of 2 to 3, that of 3 to 1. ``(1+1 2+2 3)``: on its way
    the content of slot 1 turns by 1, that of slot 2 by 2. ``(4+1)``: the content of slot 4 stays and turns. Raises
    PuzzleError.
    """
    to, delta = list(range(slots)), [0] * slots
    seen: set[int] = set()
    cycle: list[int] | None = None
    place = 0
    while text[place:].strip():
        found = _TOKEN.match(text, place)
        assert found is not None  # what is not blank matches, if only as wrong
        place = found.end()
        if found["wrong"]:
            raise PuzzleError(
                f"{found['wrong']!r} at place {place}; expected slots in brackets such as (1 2 3)(4 5)"
            )
        if found["mark"] == "(":
            if cycle is not None:
                raise PuzzleError(f"a bracket opens in a cycle at place {place}; close the cycle before it")
            cycle = []
        elif found["mark"] == ")":
            if cycle is None:
                raise PuzzleError(f"a bracket closes no cycle at place {place}; open one before it")
            for i, slot in enumerate(cycle):
                to[slot] = cycle[(i + 1) % len(cycle)]
            cycle = None
        elif cycle is None:
            raise PuzzleError(
                f"{found[0].strip()!r} at place {place} is in no cycle; put it in brackets, as (1 2 3)"
            )
        elif found["slot"]:
            slot = _slot(int(found["slot"]), slots, first)
            if slot in seen:
                raise PuzzleError(
                    f"slot {found['slot']} appears twice; expected disjoint cycles, leave it out once"
                )
            seen.add(slot)
            cycle.append(slot)
            delta[slot] = int(found["twist"] or 0)
    if cycle is not None:
        raise PuzzleError("the last cycle is not closed; add a bracket: (1 2 3)")
    return to, delta


def read_images(values: Sequence[object], slots: int, first: int) -> list[int]:
    """The permutation given by the slot that the content of each slot goes to. Raises PuzzleError."""
    if len(values) != slots:
        raise PuzzleError(f"{len(values)} images, expected {slots}, one per slot")
    to = []
    for value in values:
        if type(value) is not int:
            raise PuzzleError(
                f"{value!r} is not a slot; expected whole numbers from {first} to {slots - 1 + first}"
            )
        to.append(_slot(value, slots, first))
    twice = sorted({image for image in to if to.count(image) > 1})
    if twice:
        raise PuzzleError(
            f"two slots go to slot {twice[0] + first}: not a permutation; expected each slot once, correct one of them"
        )
    return to


def _slot(number: int, slots: int, first: int) -> int:
    if not first <= number < slots + first:
        raise PuzzleError(
            f"slot {number} is out of range; expected {first} to {slots - 1 + first} (numbered from {first})"
        )
    return number - first
