"""Random permutation puzzles with symmetries, small enough to enumerate."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from farthest.families.permutation.assembly import PieceSet, assemble
from farthest.families.permutation.moves import Move, inverse
from farthest.families.permutation.moves import product as after
from farthest.puzzles.puzzle import Origin, Puzzle
from permutations import pieces


def symmetric_puzzle(seed: int) -> Puzzle | None:
    """Moves on six or seven slots of two orientations, and perhaps on a few others, and all that some symmetries
    make of them, mostly with inverses."""
    rng = random.Random(seed)
    sets = [pieces(rng.choice(["abcdefg", "aabbccd", "abcdefg", "aaabbbc"]), 2)]
    if rng.random() < 0.6:
        sets.append(pieces(rng.choice(["wxx", "xyz"]), rng.choice([1, 3])))
    moduli = [each.modulus for each in sets for _ in each.pieces]
    generators = [_symmetry(sets, rng) for _ in range(rng.choice([1, 2]))]
    moves: list[Move] = []
    first = 0
    for _ in range(rng.choice([1, 2])):
        to, delta = list(range(len(moduli))), [0] * len(moduli)
        for each in sets:
            slots = rng.sample(range(first, first + len(each.pieces)), rng.choice([2, 3]))
            for slot, there in zip(slots, slots[1:] + slots[:1], strict=True):
                to[slot] = there
                delta[slot] = rng.randrange(each.modulus)
            first += len(each.pieces)
        first = 0
        moves.append(Move("", tuple(to), tuple(delta)))
    queue = moves
    effects = {move.effect for move in queue}
    for move in queue:
        for made in ([] if seed % 3 == 2 else [inverse(move, moduli)]) + [
            after(after(inverse(each, moduli), move, moduli), each, moduli) for each in generators
        ]:
            if made.effect not in effects:
                effects.add(made.effect)
                queue.append(made)
                if len(queue) > 24:
                    return None
    definition = assemble(sets, [replace(move, name=f"m{number}") for number, move in enumerate(queue)])
    return Puzzle("sample", "", "", "permutation", "generator", Origin("to", "goal"), (), definition)


def _symmetry(sets: Sequence[PieceSet], rng: random.Random) -> Move:
    """A permutation of order two that takes alike pieces to alike pieces."""
    to: list[int] = []
    for each in sets:
        tokens = [token for token, _ in each.pieces]
        first, count = len(to), len(tokens)
        while True:
            order = list(range(count))
            rng.shuffle(order)
            image = [order[count - 1 - order.index(slot)] for slot in range(count)]
            kinds = {(tokens[slot], tokens[there]) for slot, there in enumerate(image)}
            if len({a for a, _ in kinds}) == len(kinds) == len({b for _, b in kinds}):
                break
        to += [first + there for there in image]
    return Move("", tuple(to), (0,) * len(to))
