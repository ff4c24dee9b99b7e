"""A puzzle with some of its moves, or sequences of them, as its only moves: ``cube-3x3x3<U,R>``.

Slots that none of the moves touches are left out. Pieces that can be in one orientation only in each slot, such as the
edges of ``<U,R>``, are not turned any more; of their stickers in a net, each is then a ring.

What stands between ``<`` and ``>``, as in ``<U,R>``, ``<U,F2>``, ``<M=L'R,E=D'U>``:

MOVES  MOVE,MOVE...
MOVE   a move of the puzzle, or a power of one: U F2
       NAME=SEQUENCE, moves one after the other as one move
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import gcd

from farthest.errors import BoardError, PuzzleError, SettingError
from farthest.families.permutation.assembly import Held, Kind, permutation_of
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import name_problem
from farthest.families.permutation.groups import orbits as orbits_of
from farthest.families.permutation.moves import MAX_MOVES, Move, identity, inverse, listed, powers
from farthest.families.permutation.net import FIXED, MOST_RINGS, Net, Sticker
from farthest.families.permutation.written_moves import OF_CUBES, WrittenMoves
from farthest.puzzles.definition import Board
from farthest.puzzles.move_text import read_moves
from farthest.puzzles.origin import WORDS
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces.arrangement import sums_along
from farthest.wording import shown

MOST_WRITTEN = 64
"""Moves between ``<`` and ``>``: each may have a thousand powers."""

_MARKS = "@<>=/"
"""What the name of a move cannot hold there."""


@dataclass(frozen=True, slots=True)
class _Generator:
    move: Move
    text: str
    place: tuple[int, int]
    """How generators are sorted, before their text: by the puzzle's move that each is a power of, and the power."""


class _Reader:
    """Reads the moves between ``<`` and ``>``. ``fail`` makes the error of a problem. ``single``: a message advises
    moves of the puzzle alone."""

    def __init__(
        self, puzzle: Puzzle, fail: Callable[[str], PuzzleError | SettingError], *, single: bool
    ) -> None:
        self.definition: Permutation = permutation(puzzle)
        self.metric = puzzle.metric
        self.moduli = self.definition.slot_moduli
        self.maker = WrittenMoves(puzzle)
        self.fail, self.single = fail, single
        self.by_stead: dict[frozenset[object], Move] = {}
        for move in self.definition.generators:
            self.by_stead.setdefault(self.alike(move), move)

    def read(self, text: str) -> tuple[list[Move], str]:
        """All moves of the puzzle's metric, on its slots; and their text, which does not depend on the order given."""
        found: dict[frozenset[object], _Generator] = {}
        parts = text.split(",")
        if len(parts) > MOST_WRITTEN:
            raise self.fail(f"{len(parts)} moves, expected at most {MOST_WRITTEN}; take fewer")
        for part in sorted(parts, key=lambda part: ("=" in part, part.strip())):
            generator = self.generator(part.strip())
            found.setdefault(self.alike(generator.move), generator)
        generators = sorted(found.values(), key=lambda each: (each.place, each.text))
        names = [each.move.name for each in generators]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise self.fail(f"two moves are called {twice}; choose another name")
        if self.metric == "power":
            given = [{power.effect for power in powers(each.move, self.moduli) or ()} for each in generators]
            generators = [
                each
                for each, own in zip(generators, given, strict=True)
                if not any(each.move.effect in other for other in given if other is not own)
            ]
        moves = listed(
            [each.move for each in generators],
            self.moduli,
            self.metric,
            inverses=self.definition.symmetric,
        )
        if moves is None:
            raise self.fail(f"more than {MAX_MOVES} moves with all powers; take fewer")
        return moves, ",".join(each.text for each in generators)

    def generator(self, part: str) -> _Generator:
        name, equals, sequence = part.rpartition("=")
        name, sequence = name.strip(), sequence.strip()
        if not sequence:
            raise self.fail(
                "a move is missing: there is nothing beside a comma or another sign; write moves such as U,R"
                + ("" if self.single else " or M=L'R,E=D'U")
            )
        if equals and (problem := self.name_problem(name)):
            raise self.fail(f"the name of a move {shown(name)} {problem}; choose a short word")
        try:
            steps = read_moves(sequence, spaced=False)
            whole = self.maker.product(steps)
        except BoardError as error:
            problem = self.problem(sequence) or str(error).partition(OF_CUBES)[0]
            raise self.fail(f"{shown(part)}: {problem}") from None
        if whole.effect == identity(len(self.moduli)).effect:
            raise self.fail(f"{shown(part)} changes nothing; leave it out")
        words = [f"{step.word}'" if step.undone else step.word for step in steps]
        written = ("" if self.maker.letters else " ").join(words)
        move, text = Move(name or written, *whole.effect), f"{name}={written}" if equals else written
        alike = None if equals else self.by_stead.get(self.alike(whole))
        if alike is not None:
            move, text = alike, alike.name
        elif not equals and len(words) > 1:
            mend = f"write commas between: {','.join(words)}" if self.single else f"name it: A={sequence}"
            raise self.fail(f"{shown(part)} is several moves one after the other; {mend}")
        if problem := self.name_problem(move.name):
            raise self.fail(
                f"the name of a move {shown(move.name)} {problem}; write another before it: A={text}"
            )
        return _Generator(move, text, self._place(move))

    def problem(self, sequence: str) -> str:
        """Why a sequence is refused that boards given as moves may have."""
        try:
            self.maker.product(self.maker.held(read_moves(sequence, spaced=False)))
        except BoardError:
            return ""
        names = [move.name for move in self.definition.generators]
        mend = f"the moves are {' '.join(names)}"
        if not self.single and {"L", "R"} <= {*names}:
            mend = "write the moves of faces, such as M=L'R"
        return f"it turns the whole puzzle, after which the letters mean other faces; {mend}"

    def name_problem(self, name: str) -> str | None:
        held = [mark for mark in _MARKS if mark in name]
        return f"holds {held[0]}" if held else name_problem(name)

    def _place(self, move: Move) -> tuple[int, int]:
        for number, of in enumerate(self.definition.generators):
            for count, power in enumerate(powers(of, self.moduli) or (), 1):
                if power.effect == move.effect:
                    return number, count
        return len(self.definition.generators), 0

    def alike(self, move: Move) -> frozenset[object]:
        """The moves in whose stead this one may stand: its powers that give it again, or its inverse."""
        own = {move.effect}
        if self.metric == "power":
            every = powers(move, self.moduli) or []
            own |= {each.effect for count, each in enumerate(every, 1) if gcd(count, len(every) + 1) == 1}
        elif self.definition.symmetric:
            own.add(inverse(move, self.moduli).effect)
        return frozenset(own)


def moves_named(
    parent: Puzzle, text: str, fail: Callable[[str], PuzzleError | SettingError], *, single: bool = False
) -> tuple[list[Move], str]:
    """What ``text`` stands for, as moves on the puzzle's slots, all powers among them that its metric counts; and the
    text that all such texts are kept as. Raises what ``fail`` makes of a problem."""
    return _Reader(parent, fail, single=single).read(text)


def with_moves(parent: Puzzle, text: str, fail: Callable[[str], PuzzleError]) -> Puzzle:
    """The puzzle with these moves alone. Raises what ``fail`` makes of a problem."""
    if permutation(parent).guards:
        raise fail(f"some moves of {parent.name} cannot be made on every board; write the puzzle alone")
    moves, text = moves_named(parent, text, fail)
    definition = _reduced(permutation(parent), moves, fail)
    return replace(
        parent,
        name=f"{parent.name}<{text}>",
        title=f"{parent.title}: the moves {text.replace(',', ', ')} alone",
        source=f"moves of {parent.name}",
        origin=parent.origin if parent.origin.where in WORDS else Origin(),
        known=(),
        definition=definition,
    )


@dataclass(frozen=True, slots=True)
class _Orbit:
    """``slots`` of the parent; ``turned``: of each, the orientation that a piece has there which has 0 in the first of
    them, where that is always the same; else None."""

    slots: tuple[int, ...]
    modulus: int
    turned: tuple[int, ...] | None


def _reduced(parent: Permutation, moves: Sequence[Move], fail: Callable[[str], PuzzleError]) -> Permutation:
    boards = [*parent.goals, *([] if parent.start is None else [parent.start])]
    touched = _touched(parent, moves, boards)
    orbits = [
        _orbit(parent, slots, moves, boards)
        for slots in orbits_of(parent.slots, [move.to for move in moves])
        if {*slots} <= {*touched}
    ]
    place = {slot: number for number, slot in enumerate(touched)}
    moduli = [1 if orbit.turned is not None else orbit.modulus for orbit in orbits]
    label_of: dict[tuple[int, int], int] = {}
    kinds: list[Kind] = []
    for number, orbit in enumerate(orbits):
        held = Counter(boards[0][slot] for slot in orbit.slots)
        if any(Counter(board[slot] for slot in orbit.slots) != held for board in boards[1:]):
            raise fail(
                "its boards need pieces to go between places that these moves do not join; take more moves"
            )
        for label, count in sorted(held.items()):
            label_of[number, label] = len(kinds)
            kinds.append(Kind(parent.tokens[label], count, number, parent.ignore[label]))
    orbit_of = {slot: number for number, orbit in enumerate(orbits) for slot in orbit.slots}

    def changed(board: Board) -> Held:
        turns = board[parent.slots :] or (0,) * parent.slots
        return [label_of[orbit_of[slot], board[slot]] for slot in touched], [turns[slot] for slot in touched]

    definition = permutation_of(
        [parent.orbit_names[parent.slot_orbits[orbit.slots[0]]] for orbit in orbits],
        [tuple(place[slot] for slot in orbit.slots) for orbit in orbits],
        moduli,
        kinds,
        [
            Move(
                move.name,
                tuple(place[move.to[slot]] for slot in touched),
                tuple(move.delta[slot] for slot in touched),
            )
            for move in moves
        ],
        [changed(goal) for goal in parent.goals],
        None if parent.start is None else changed(parent.start),
    )
    return definition if parent.net is None else replace(definition, net=_net(parent.net, place, orbits))


def _touched(parent: Permutation, moves: Sequence[Move], boards: Sequence[Board]) -> list[int]:
    """The slots that a move changes, or in which boards differ; all if these are too few for a puzzle."""
    slots = parent.slots
    touched = [
        slot
        for slot in range(slots)
        if any(move.to[slot] != slot or move.delta[slot] for move in moves)
        or len({(board[slot], board[slots + slot] if parent.oriented else 0) for board in boards}) > 1
    ]
    return touched if len(touched) > 1 else list(range(slots))


def _orbit(
    parent: Permutation, slots: tuple[int, ...], moves: Sequence[Move], boards: Sequence[Board]
) -> _Orbit:
    modulus = parent.slot_moduli[slots[0]]
    if modulus == 1:
        return _Orbit(slots, 1, None)
    turned = sums_along(
        [(slots[0], 0)], lambda slot: ((move.to[slot], move.delta[slot]) for move in moves), modulus
    )
    if turned is None:
        return _Orbit(slots, modulus, None)
    first: dict[int, int] = {}
    for board in boards:
        for slot in slots:
            label, turn = board[slot], (board[parent.slots + slot] - turned[slot]) % modulus
            if not parent.ignore[label] and first.setdefault(label, turn) != turn:
                return _Orbit(slots, modulus, None)
    stickers = parent.net.stickers if parent.net is not None else ()
    rings = max((each.ring for each in stickers if each.slot in slots), default=0) + 1
    fixed = rings * modulus <= MOST_RINGS
    return _Orbit(slots, modulus, tuple(turned[slot] for slot in slots) if fixed else None)


def _net(net: Net, place: dict[int, int], orbits: Sequence[_Orbit]) -> Net:
    """The net with other slots. Stickers that no move touches stay as they are on the goal."""
    unturned = {
        slot: (turn, orbit.modulus)
        for orbit in orbits
        for slot, turn in zip(orbit.slots, orbit.turned or (), strict=False)
    }

    def changed(sticker: Sticker) -> Sticker:
        slot = place.get(sticker.slot, FIXED)
        if slot == FIXED:
            return replace(sticker, slot=FIXED, place=0, ring=0)
        if sticker.slot not in unturned:
            return replace(sticker, slot=slot)
        turn, modulus = unturned[sticker.slot]
        ring = sticker.ring * modulus + (sticker.place - turn) % modulus
        return replace(sticker, slot=slot, place=0, ring=ring)

    return Net(tuple(map(changed, net.stickers)))
