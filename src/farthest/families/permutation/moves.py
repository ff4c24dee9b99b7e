"""Moves of a permutation puzzle: products, inverses, powers, and the list of moves that a metric counts.

A move is active (docs/permutations.md): the content of slot i goes to slot ``to[i]``, and ``delta[i]`` is added to
its orientation. Both are indexed by the slot that the content comes from.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

MAX_MOVES = 1024
"""Moves that a puzzle may have, inverses and powers among them."""


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


def powers(move: Move, moduli: Modulo, most: int = MAX_MOVES) -> list[Move] | None:
    """The powers of a move from the first up to the one before the identity; None where there are more than ``most``.

    They are named as twisty puzzles are: ``R R2 R'``, and of a move of order six ``R R2 R3 R2' R'``.
    """
    found: list[Move] = []
    power = move
    while power.effect != identity(len(move.to)).effect:
        if len(found) == most:
            return None
        found.append(power)
        power = product(power, move, moduli)
    order = len(found) + 1
    return [Move(_name(move.name, k, order), *power.effect) for k, power in enumerate(found, 1)]


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


def closed(moves: Sequence[Move], moduli: Modulo) -> bool:
    """Whether each move can be taken back by a move."""
    effects = {move.effect for move in moves}
    return all(inverse(move, moduli).effect in effects for move in moves)


def odd(to: Sequence[int], slots: Iterable[int]) -> bool:
    """Whether the permutation is odd on these slots, which it permutes."""
    seen, result = set[int](), False
    for start in slots:
        slot, length = start, 0
        while slot not in seen:
            seen.add(slot)
            slot = to[slot]
            length += 1
        result ^= length > 0 and length % 2 == 0
    return result


def _name(name: str, power: int, order: int) -> str:
    back = order - power
    if back < power:
        return f"{name}{back if back > 1 else ''}'"
    return f"{name}{power if power > 1 else ''}"
