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
    symmetries = [_symmetry(sets, rng) for _ in range(rng.choice([1, 2]))]
    return _puzzle(sets, symmetries, rng, inverses=seed % 3 != 2)


def other_symmetric_puzzle(seed: int) -> Puzzle | None:
    """Pieces that are not turned, or some of them, or that one of several symmetries takes to those of another set."""
    rng = random.Random(seed)
    texts = {
        0: [("abcdefgh", 1, "")],
        1: [("aabbcdefg", 1, "")],
        2: [("abcdee", 3, "e")],
        3: [("abcdeff", 2, "ef")],
        4: [("abcd", 3, ""), ("abcd", 3, "")],
        5: [("abcc", 2, "c"), ("abcc", 2, "c")],
        6: [("abcde", 1, ""), ("abcde", 1, ""), ("xy", 4, "")],
        7: [("aabb", 3, ""), ("aabb", 3, ""), ("xyz", 2, "")],
    }[seed % 8]
    sets = [replace(pieces(*each), name=f"set{number}") for number, each in enumerate(texts)]
    symmetries = [_symmetry(sets, rng) for _ in range(rng.choice([1, 2]))]
    if seed % 8 > 3:
        count = len(sets[0].pieces)
        slots = sum(len(each.pieces) for each in sets)
        to = [*range(count, 2 * count), *range(count), *range(2 * count, slots)]
        symmetries = [Move("", tuple(to), (0,) * slots), *symmetries[1:]]
    return _puzzle(sets, symmetries, rng, inverses=seed % 3 != 2)


def _puzzle(
    sets: Sequence[PieceSet], symmetries: Sequence[Move], rng: random.Random, *, inverses: bool
) -> Puzzle | None:
    """A puzzle of a move or two and all that the symmetries make of them; None where these are many."""
    moduli = [each.modulus for each in sets for _ in each.pieces]
    moves: list[Move] = []
    for _ in range(rng.choice([1, 2])):
        to, delta = list(range(len(moduli))), [0] * len(moduli)
        first = 0
        for each in sets:
            slots = rng.sample(
                range(first, first + len(each.pieces)), rng.choice([2, min(3, len(each.pieces))])
            )
            for slot, there in zip(slots, slots[1:] + slots[:1], strict=True):
                to[slot] = there
                delta[slot] = rng.randrange(each.modulus)
            first += len(each.pieces)
        moves.append(Move("", tuple(to), tuple(delta)))
    queue = moves
    effects = {move.effect for move in queue}
    for move in queue:
        for made in ([inverse(move, moduli)] if inverses else []) + [
            after(after(inverse(each, moduli), move, moduli), each, moduli) for each in symmetries
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
