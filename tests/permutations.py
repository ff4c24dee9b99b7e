"""Small permutation puzzles of every kind, and a plain model of them."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from farthest.families.permutation.assembly import PieceSet, assemble
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.moves import Move
from farthest.puzzles.puzzle import Origin, Puzzle

Board = tuple[int, ...]


def pieces(text: str, modulus: int = 1, ignore: str = "") -> PieceSet:
    """A set of pieces, a letter each, in the goal's order and unturned."""
    return PieceSet("", modulus, tuple((token, 0) for token in text), frozenset(ignore))


def puzzle_of(
    sets: Sequence[PieceSet], moves: Iterable[tuple[Sequence[int], Sequence[int]]], direction: str = "to"
) -> Puzzle:
    """A puzzle with these moves only, each (to, delta), named a, b, c ..."""
    named = [Move(chr(97 + i), tuple(to), tuple(delta)) for i, (to, delta) in enumerate(moves)]
    origin = Origin("to" if direction == "to" else "from", "goal")
    return Puzzle("sample", "", "", "permutation", "generator", origin, (), assemble(sets, named))


def random_moves(sets: Sequence[PieceSet], count: int, seed: int) -> Iterator[tuple[list[int], list[int]]]:
    """Moves that permute and turn each set at random; the first takes each piece round all slots of its set."""
    rng = random.Random(seed)
    for number in range(count):
        to: list[int] = []
        delta: list[int] = []
        for each in sets:
            slots = list(range(len(to), len(to) + len(each.pieces)))
            if number:
                rng.shuffle(slots)
            else:
                slots = [*slots[1:], slots[0]]
            to += slots
            delta += [rng.randrange(each.modulus) for _ in each.pieces]
        yield to, delta


def cycles(slots: int) -> Iterator[tuple[list[int], list[int]]]:
    """Moves that each cycle three neighbouring slots."""
    for a in range(slots - 2):
        to = list(range(slots))
        to[a : a + 3] = a + 1, a + 2, a
        yield to, [0] * slots


def moved(definition: Permutation, move: Move, board: Board) -> Board:
    """The board after the move, slot by slot."""
    slots, out = definition.slots, list(board)
    for slot, to in enumerate(move.to):
        label = board[slot]
        out[to] = label
        if definition.oriented:
            turn = board[slots + slot] + move.delta[slot]
            ignored = definition.ignore[label]
            out[slots + to] = 0 if ignored else turn % definition.moduli[definition.label_orbit[label]]
    return tuple(out)


def unmoved(definition: Permutation, move: Move, board: Board) -> Board:
    """The board that the move leads from to this one."""
    slots, out = definition.slots, list(board)
    for slot, to in enumerate(move.to):
        label = board[to]
        out[slot] = label
        if definition.oriented:
            turn = board[slots + to] - move.delta[slot]
            ignored = definition.ignore[label]
            out[slots + slot] = 0 if ignored else turn % definition.moduli[definition.label_orbit[label]]
    return tuple(out)


def distances(puzzle: Puzzle) -> dict[Board, int]:
    """Of all boards that moves join to (or reach from) the goals."""
    definition = puzzle.definition
    assert isinstance(definition, Permutation)
    step = unmoved if puzzle.origin.direction == "to" else moved
    found = dict.fromkeys(definition.goals, 0)
    queue = list(definition.goals)
    for board in queue:
        for move in definition.generators:
            after = step(definition, move, board)
            if after not in found:
                found[after] = found[board] + 1
                queue.append(after)
    return found


def turned_first(text: str, modulus: int) -> PieceSet:
    """Pieces of which the goal turns the first."""
    return PieceSet("", modulus, tuple((token, int(i == 0)) for i, token in enumerate(text)))


@cache
def samples() -> dict[str, Puzzle]:
    """Puzzles by what is special about them."""
    out: dict[str, Puzzle] = {}

    def add(
        name: str, sets: Sequence[PieceSet], count: int = 2, seed: int = 1, *, even: bool = False
    ) -> None:
        for direction in ("to", "from"):
            moves = random_moves(sets, count, seed)
            out[f"{name}, {direction}"] = puzzle_of(sets, moves, direction)

    add("distinct", [pieces("abcdef")])
    add("few kinds", [pieces("aabbbcc")])
    for direction in ("to", "from"):
        out[f"even moves, {direction}"] = puzzle_of([pieces("abcdef")], cycles(6), direction)
    add("two orbits", [pieces("abc"), pieces("wxyz")])
    add("two orbits of equal pieces", [pieces("aabb"), pieces("xxy")])
    add("turned", [pieces("abcd", 3)])
    add("turned in the goal", [turned_first("abc", 5)], seed=2)
    add("moduli mixed", [pieces("abc", 2), pieces("xy", 3)])
    add("turned and not", [pieces("abc", 2), pieces("xxyy")])
    add("some ignored", [pieces("abcd", 3, ignore="bd")])
    add("equal ones ignored", [pieces("abccc", 3, ignore="c")])
    add("all ignored", [pieces("aabc", 3, ignore="abc"), pieces("xy", 2)])
    add("equal pieces turned", [pieces("aab", 3), pieces("xyy", 2)])
    add("equal pieces turned, some ignored", [pieces("aabb", 3, ignore="b")])
    add("one kind turned", [pieces("aaaa", 2)])
    # Sums of orientations that never change, with cycles that turn there and back.
    wheel = [([1, 2, 0, 3], [1, 2, 0, 0]), ([0, 2, 3, 1], [0, 0, 1, 2])]
    out["sums, by piece"] = puzzle_of([pieces("abcd", 3)], wheel)
    out["sums, by slot"] = puzzle_of([pieces("abbb", 3)], wheel)
    out["sums, even moves"] = puzzle_of(
        [pieces("abcd", 3), pieces("xyz")], [([*to, 5, 6, 4], [*d, 0, 0, 0]) for to, d in wheel]
    )
    out["slots apart"] = puzzle_of(
        [pieces("abcd", 3), pieces("x", 4)], [([*to, 4], [*d, 1]) for to, d in wheel]
    )
    out["equal pieces turned, beside one that stays turned"] = puzzle_of(
        [pieces("aa", 3), turned_first("b", 3)], [([1, 0, 2], [1, 2, 0])]
    )
    # Groups that are small beside all arrangements: of the maps x -> ax + b modulo 11; orbits that move as one.
    affine = [[(x + 1) % 11 for x in range(11)], [2 * x % 11 for x in range(11)]]
    as_one = [([s + 4 * k for k in range(3) for s in to], [*delta, *delta, *delta]) for to, delta in wheel]
    for direction in ("to", "from"):
        out[f"few in reach, {direction}"] = puzzle_of(
            [pieces("abcdefghijk")], [(to, [0] * 11) for to in affine], direction
        )
        sets = [turned_first("abcd", 3), pieces("efgh", 3), pieces("ijkl", 3, ignore="i")]
        out[f"few in reach, turned, {direction}"] = puzzle_of(sets, as_one, direction)
    out["few in reach, some equal"] = puzzle_of(
        [pieces("abcd", 3), pieces("efgh", 3), pieces("iijj"), pieces("mnop", 3)],
        [([*to, *(s + 12 for s in to[:4])], [*d[:4], *[0] * 8, *d[:4]]) for to, d in as_one],
    )
    # More slots than a mask has bits: turned over, and turned round.
    turns = [([*range(1, 66), 0], [0] * 66), ([*range(65, -1, -1)], [0] * 66)]
    many = [(chr(0x4E00 + number), 0) for number in range(66)]
    for direction in ("to", "from"):
        out[f"many slots, {direction}"] = puzzle_of([PieceSet("", 1, tuple(many))], turns, direction)
        turned = [(to, [int(to[0] == 1)] * 66) for to, _ in turns]
        out[f"many slots, turned, {direction}"] = puzzle_of([PieceSet("", 4, tuple(many))], turned, direction)
    out["one turning"] = puzzle_of([pieces("ab", 7)], [([0, 1], [1, 2])])
    return out
