"""The ``[permutation]`` table of a definition: pieces, orientations and generators, or another puzzle or file, and what
may stand beside these. docs/puzzles.md says what its keys mean."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

from farthest.errors import PuzzleError
from farthest.families.permutation import FAMILY
from farthest.families.permutation.assembly import (
    Block,
    Illegal,
    PieceSet,
    assemble,
    guards_of,
    piece_problem,
    slot_moduli,
)
from farthest.families.permutation.colours import recoloured
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import MAX_MODULUS, MAX_POINTS, name_problem, tables
from farthest.families.permutation.groups import Turns
from farthest.families.permutation.guards import MoveGuards
from farthest.families.permutation.moves import (
    MAX_MOVES,
    Move,
    identity,
    listed,
    read_cycles,
    read_images,
)
from farthest.families.permutation.net import NetTable
from farthest.families.permutation.solid import body
from farthest.puzzles.catalogue import find_or_refuse
from farthest.puzzles.definition import Board
from farthest.puzzles.grid import token_problem
from farthest.puzzles.picture import NAMED_COLOURS
from farthest.puzzles.reader import MOST_BYTES, read_bytes
from farthest.puzzles.tables import BoardsTable, Flag, Given, GivenBoard, Number, Table, Text
from farthest.wording import near_match, shown

_IMAGES_AND_TURNS = {"to", "twist"}
"""Keys of a generator that is written as images and turns; no set may be called so."""


class _PiecesTable(Table):
    """The keys that tell a set of pieces, in ``[permutation]`` and in each ``[[permutation.orbits]]``."""

    goal = Given()
    slots = Number(1, MAX_POINTS, write=3)
    modulus = Number(1, MAX_MODULUS, write=3, default=1, what="orientations")
    ignore = Text(write="1 2", default="", what="the pieces in one text")

    def piece_set(self, name: str = "") -> PieceSet:
        """The set of pieces."""
        modulus = self.modulus
        self.only_one("slots", ["goal"])
        if "slots" in self:
            pieces = tuple((str(number), 0) for number in range(1, self.slots + 1))
        else:
            key, goal = self.first_goal()
            if not isinstance(goal, str) or not goal.strip():
                found = "no pieces" if goal in (None, "", []) else f"expected a text, got {shown(goal)}"
                raise self.fail(key if key in self else "", f'{found}; write goal = "1 2 3" or slots = 3')
            pieces = tuple(self._piece(key, token, modulus) for token in goal.replace(",", " ").split())
        return PieceSet(name, modulus, pieces, self._ignored(pieces, modulus))

    def first_goal(self) -> tuple[str, Any]:
        """The key that tells the pieces, and the text of its first goal, or another wrong value."""
        return "goal", self.goal

    def _piece(self, key: str, token: str, modulus: int) -> tuple[str, int]:
        piece, plus, turn = token.partition("+")
        problem = token_problem(piece)
        if problem is None and plus and (not turn.isdecimal() or len(turn) > 2 or int(turn) >= modulus):
            problem = f"has the orientation {turn}; this set has {modulus}"
        if problem:
            raise self.fail(
                key, f"the piece {shown(token)} {problem}; expected a token, or one turned such as 2+1"
            )
        return piece, int(turn or 0)

    def _ignored(self, pieces: tuple[tuple[str, int], ...], modulus: int) -> frozenset[str]:
        tokens = self.ignore.replace(",", " ").split()
        for token in tokens:
            if token not in dict(pieces):
                raise self.fail(
                    "ignore", f"there is no piece {shown(token)}; expected pieces of the goal, leave it out"
                )
        if tokens and modulus == 1:
            raise self.fail(
                "ignore", "the pieces have no orientation to ignore; add modulus, or leave ignore out"
            )
        return frozenset(tokens)


class _OrbitTable(_PiecesTable):
    """A set of pieces with a name."""

    header = "permutation.orbits"
    name = Given()

    def named_set(self, others: Sequence[PieceSet]) -> PieceSet:
        """The set of pieces, whose name must differ from those of the others."""
        name = self.name
        problem = (
            "has no name"
            if name is None
            else "is not text"
            if not isinstance(name, str)
            else name_problem(name)
            or ("has a meaning of its own in generators" if name in _IMAGES_AND_TURNS else None)
            or ("is that of two sets" if any(name == each.name for each in others) else None)
        )
        if problem:
            raise self.fail("name", f'the name {problem}; expected a word for the set: name = "corners"')
        return self.piece_set(name)


class _GeneratorsTable(Table):
    """The generators by name: cycles, images, or images and turns."""

    header = "permutation.generators"
    any_key = True

    def fail(self, key: str, problem: str, *, row: int = 0) -> PuzzleError:
        """The error of a generator; of a table in braces, at the key ``generators``."""
        if f"[{self.header}]" in self.source.text:
            return super().fail(key, problem, row=row)
        return self.source.error("permutation", "generators", f"{key}: {problem}")

    def moves(self, sets: Sequence[PieceSet], first: int) -> list[Move]:
        """The generators, their turns reduced. ``first``: the number of the first slot."""
        same_as: dict[Any, str] = {identity(len(slot_moduli(sets))).effect: ""}
        moves = []
        for name, value in self.fields.items():
            if problem := name_problem(name):
                raise self.fail(name, f"the name {problem}; choose a short word")
            move = self._move(name, value, sets, first)
            same = same_as.setdefault(move.effect, name)
            if same != name:
                what = f"is the same move as {same}" if same else "changes nothing"
                raise self.fail(name, f"{what}; expected moves that differ, leave it out")
            moves.append(move)
        return moves

    def _move(self, name: str, value: object, sets: Sequence[PieceSet], first: int) -> Move:
        moduli = slot_moduli(sets)
        to, delta = list(range(len(moduli))), [0] * len(moduli)
        if isinstance(value, dict) and value and not set(value) & _IMAGES_AND_TURNS:
            ends = accumulate(len(each.pieces) for each in sets)
            slots_of = {
                each.name: slice(end - len(each.pieces), end) for each, end in zip(sets, ends, strict=True)
            }
            for part, inner in value.items():
                if part not in slots_of:
                    mend = near_match(part, slots_of) or f"the sets are {', '.join(slots_of)}"
                    raise self.fail(name, f"there is no set {shown(part)}; {mend}")
                own = slots_of[part]
                images, delta[own] = self._images(name, inner, own.stop - own.start, first)
                to[own] = [own.start + image for image in images]
        else:
            to, delta = self._images(name, value, len(moduli), first)
        self._check(name, to, delta, sets, first)
        return Move(
            name, tuple(to), tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
        )

    def _images(self, name: str, value: object, slots: int, first: int) -> tuple[list[int], list[int]]:
        with self.at(name):
            if isinstance(value, str):
                return read_cycles(value, slots, first)
            if isinstance(value, list):
                return read_images(value, slots, first), [0] * slots
            if isinstance(value, dict) and value and set(value) <= _IMAGES_AND_TURNS:
                to = value.get("to", list(range(first, slots + first)))
                twist = value.get("twist", [0] * slots)
                if isinstance(to, list) and isinstance(twist, list):
                    if len(twist) != slots or any(type(turn) is not int for turn in twist):
                        raise PuzzleError(
                            f"twist: expected {slots} whole numbers, one per slot; correct the array"
                        )
                    return read_images(to, slots, first), list(twist)
        raise self.fail(
            name,
            f'expected cycles or images, got {shown(value)}; write {name} = "(1 2 3)" or {name} = [2, 3, 1]',
        )

    def _check(
        self, name: str, to: list[int], delta: list[int], sets: Sequence[PieceSet], first: int
    ) -> None:
        """Refuses a move that joins sets, or turns pieces further than they can be."""
        set_of = [each for each in sets for _ in each.pieces]
        for slot, image in enumerate(to):
            here, there = set_of[slot], set_of[image]
            if here is not there:
                raise self.fail(
                    name,
                    f"slot {slot + first} of {here.name} goes to slot {image + first} of {there.name}; expected moves "
                    "within each set, correct the slots or make one set of both",
                )
            if abs(delta[slot]) >= here.modulus and delta[slot]:
                expected = (
                    f"less than {here.modulus}" if here.modulus > 1 else "no turn: the pieces are not turned"
                )
                raise self.fail(
                    name,
                    f"the content of slot {slot + first} turns by {delta[slot]}, expected {expected}; "
                    "correct it, or set modulus",
                )


class _TurnsTable(Table):
    """How a puzzle that a piece holds may be turned as a whole."""

    header = "permutation.turns"
    any_key = True
    held = Given()

    def read(self, slot_moduli: Sequence[int], first: int) -> Turns:
        """The turns of a puzzle with these moduli of the slots. ``first``: the number of the first slot."""
        held = self.held
        if (
            not isinstance(held, list)
            or not 1 <= len(held) <= MAX_POINTS
            or any(type(modulus) is not int or not 1 <= modulus <= MAX_MODULUS for modulus in held)
        ):
            raise self.fail(
                "held",
                f"expected the number of orientations of each held piece, got {shown(held)}; write held = [3]",
            )
        moduli = (*slot_moduli, *held)
        moves = []
        for name, value in self.fields.items():
            if name == "held":
                continue
            if not isinstance(value, str):
                raise self.fail(name, f'expected cycles, got {shown(value)}; write {name} = "(1 2 3 4)"')
            with self.at(name):
                to, delta = read_cycles(value, len(moduli), first)
            turned = tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
            moves.append(Move(name, tuple(to), turned))
        if not moves:
            raise self.fail("", "no turns; correct the turns")
        return Turns(tuple(held), tuple(moves))


class _IllegalTable(Table):
    """Pieces that may not stand in some slots."""

    header = "permutation.illegal"
    orbit = Text(write="corners", default="", what="the name of a set")
    slots = Given()
    pieces = Text(write="7 8", what="the pieces in one text")

    def places(self, sets: Mapping[str, Sequence[int]], held: Sequence[str], first: int) -> Iterator[Illegal]:
        """``sets``: the slots of each; ``held``: the pieces in all slots of the solved state. ``first``: the number of
        the first slot of a set."""
        if self.orbit not in sets:
            mend = near_match(self.orbit, sets) or f"the sets are {', '.join(sets)}"
            raise self.fail("orbit" if self.orbit else "", f"there is no set {shown(self.orbit)}; {mend}")
        own, slots = sets[self.orbit], self.slots
        numbers = range(first, first + len(own))
        if (
            not isinstance(slots, list)
            or not slots
            or any(type(n) is not int or n not in numbers for n in slots)
        ):
            raise self.fail(
                "slots",
                f"expected slots from {first} to {numbers[-1]}, got {shown(slots)}; write slots = [{first}]",
            )
        for token in _tokens(self, "pieces", self.pieces):
            for number in slots:
                problem = piece_problem([held[slot] for slot in own], token, slot=number - first)
                if problem:
                    raise self.fail("pieces", f"slot {number}: {problem}")
                yield own[number - first], token


class _BlockTable(Table):
    """Pieces that are joined, by the names of their sets."""

    header = "permutation.blocks"
    any_key = True

    def block(self, sets: Mapping[str, Sequence[int]], held: Sequence[str]) -> Block:
        """See ``_IllegalTable.places``."""
        found: dict[tuple[str, str], tuple[Sequence[int], str]] = {}
        named = {name or "pieces": slots for name, slots in sets.items()}
        for name, pieces in self.fields.items():
            if name not in named:
                mend = near_match(name, named) or f'write for example {next(iter(named))} = "1 2"'
                raise self.fail(name, f"there is no set {shown(name)}; {mend}")
            for token in _tokens(self, name, pieces):
                problem = piece_problem([held[slot] for slot in named[name]], token, slot=None)
                if problem:
                    raise self.fail(name, problem)
                found[name, token] = (named[name], token)
        if len(found) < 2:
            raise self.fail(
                "", "expected two pieces or more that are joined; add some, or leave the block out"
            )
        return list(found.values())


def _tokens(table: Table, key: str, pieces: object) -> list[str]:
    tokens = pieces.replace(",", " ").split() if isinstance(pieces, str) else []
    if not tokens:
        raise table.fail(key, f'expected pieces, got {shown(pieces)}; write {key} = "1 2"')
    return tokens


class PermutationTable(BoardsTable, _PiecesTable):
    """The table ``[permutation]``."""

    header = "permutation"
    _listed: Sequence[Move] = ()
    """The moves of generators, before what does not count of their turns is left out."""
    file = Given()
    of = Text(write="cube-3x3x3", what="the name of a puzzle")
    colours = Given()
    numbering = Number(0, 1, write=1, default=1, what="the number of the first slot")
    inverses = Flag(default=True)
    generators = Given()
    orbits = Given()
    illegal = Given()
    blocks = Given()
    net = Given()
    turns = Given()

    def read(self) -> Permutation:
        """The definition. Raises PuzzleError naming key, line, what was expected and a mend."""
        if "colours" in self and "of" not in self:
            raise self.fail(
                "colours", "expected beside of, the name of a puzzle; write the colours into its net"
            )
        definition = (
            self._from_file()
            if "file" in self
            else self._from_other()
            if "of" in self
            else self._from_pieces()
        )
        own = self._listed or definition.generators
        goals: tuple[Board, ...] = ()
        if "goals" in self:
            given = self.given_goals(definition.example())
            goals = self.each_once((each, self._board(each, definition)) for each in given)
        start = GivenBoard("start", "start", self.start)
        goals = goals or definition.goals
        fields: dict[str, Any] = {"goals": goals}
        fields["start"] = self._board(start, definition) if "start" in self else None
        if "illegal" in self or "blocks" in self:
            fields["guards"] = self._guards(replace(definition, **fields), own)
        if "net" in self:
            net = self.inner("net", NetTable)
            fields["net"] = net.read(definition.slot_moduli, goals[0], self.numbering)
            if "faces" in net and body(fields["net"]) is None:
                expected = "expected one for each sign, four or more, flat, with 0,0,0 in their middle"
                raise net.fail("faces", f"the faces do not make a body; {expected}")
        if "turns" not in self:
            return replace(definition, **fields)
        turns = self.inner("turns", _TurnsTable)
        fields["turns"] = turns.read(definition.slot_moduli, self.numbering)
        try:
            return replace(definition, **fields)
        except PuzzleError as error:
            problem = str(error).removeprefix("permutation puzzle: ")
            raise turns.fail("", f"{problem}; correct the turns") from None

    def _guards(self, definition: Permutation, moves: Sequence[Move]) -> tuple[MoveGuards, ...]:
        if definition.guards:
            key = "illegal" if "illegal" in self else "blocks"
            raise self.fail(key, "the other puzzle has such already; leave it out, or write the puzzle alone")
        held = [definition.tokens[label] for label in definition.goals[0][: definition.slots]]
        sets = {row.name: row.slots for row in tables(definition).rows}
        every = {"": range(definition.slots), **sets} if len(sets) == 1 else sets
        illegal = [
            place
            for each in (self.inners("illegal", _IllegalTable) if "illegal" in self else ())
            for place in each.places(every, held, self.numbering)
        ]
        blocks = [
            each.block(sets, held)
            for each in (self.inners("blocks", _BlockTable) if "blocks" in self else ())
        ]
        for name, board in definition.named_boards:
            for slot, token in illegal:
                if definition.tokens[board[slot]] == token:
                    raise self.fail(
                        "illegal",
                        f"{name} has {token} in slot {slot + self.numbering}; leave one of them out",
                    )
        return guards_of(definition, moves, illegal, blocks, {})

    def first_goal(self) -> tuple[str, Any]:
        """The first goal of one set, or of ``goals``."""
        if "goal" in self or not self.goals:
            return super().first_goal()
        return "goals", self.goals[0] if isinstance(self.goals, list) else self.goals

    def _board(self, given: GivenBoard, definition: Permutation) -> Board:
        if not isinstance(given.value, str):
            raise self.fail(
                given.key,
                f"expected a board, got {shown(given.value)}; write it as a text: {definition.example()!r}",
            )
        with self.at(given.key):
            return definition.parse_board(given.value)

    # Another puzzle, or a file of another program

    def _check_alone(self, *instead: str) -> None:
        for key in self.fields:
            if key not in (*instead, "goals", "start", "net", "turns", "illegal", "blocks"):
                raise self.fail(
                    key, f"{key} and {instead[0]} are both given; expected one of them, leave one out"
                )

    def _from_other(self) -> Permutation:
        self._check_alone("of", "colours")
        name = self.of
        with self.at("of"):
            other = find_or_refuse(name)
        if other.family != FAMILY.name:
            raise self.fail(
                "of",
                f"{other.name} is of the family {other.family}, expected {FAMILY.name}; name another puzzle",
            )
        if other.metric != self.metric:
            raise self.fail(
                "of", f'{other.name} has the metric {other.metric}; write metric = "{other.metric}" above'
            )
        definition = permutation(other)
        return self._recoloured(definition) if "colours" in self else definition

    def _recoloured(self, definition: Permutation) -> Permutation:
        """The puzzle whose net has the colours of the key ``colours``."""
        colours = self.colours
        had = [] if definition.net is None else sorted({each.colour for each in definition.net.stickers})
        if not had:
            raise self.fail(
                "colours", f"{self.of} has no net, so that its faces have no colours; leave it out"
            )
        if not isinstance(colours, dict) or not colours:
            raise self.fail(
                "colours",
                f'expected colours, got {shown(colours)}; write colours = {{ {had[0]} = "{had[-1]}" }}',
            )
        for old, new in colours.items():
            if old not in had:
                raise self.fail("colours", f"{self.of} has no {shown(old)}; its colours are {', '.join(had)}")
            if not isinstance(new, str) or new not in NAMED_COLOURS:
                known = ", ".join(NAMED_COLOURS)
                raise self.fail("colours", f"{old} becomes {shown(new)}; expected one of {known}")
        with self.at("colours", "; choose other colours"):
            return recoloured(definition, colours)

    def _from_file(self) -> Permutation:
        from farthest.families.permutation.foreign import read_foreign

        self._check_alone("file")
        name = self.file
        if not isinstance(name, str) or not name.lower().endswith(FAMILY.files):
            raise self.fail(
                "file",
                f"expected a name that ends in {', '.join(FAMILY.files)}, got {shown(name)}; correct it",
            )
        if os.path.isabs(name) or ".." in name.replace("\\", "/").split("/"):
            raise self.fail(
                "file", f"{shown(name)} leads elsewhere, expected a file beside this one; copy it here"
            )
        path = os.path.join(os.path.dirname(self.source.place), name)
        try:
            data = read_bytes(path)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            raise self.fail(
                "file", f"{path} cannot be read ({reason}); name a file beside this one"
            ) from None
        if len(data) > MOST_BYTES:
            raise self.fail("file", f"{path} has more than {MOST_BYTES} bytes; name a file with one puzzle")
        return read_foreign(data, path, self.metric)[1]

    # Pieces and generators

    def _from_pieces(self) -> Permutation:
        sets = self._sets()
        if not self.generators:
            raise self.fail(
                "generators",
                f'no generators; write [{_GeneratorsTable.header}] and below it R = "(1 2 3)"',
            )
        generators = self.inner("generators", _GeneratorsTable).moves(sets, self.numbering)
        if self.metric == "power" and not self.inverses:
            raise self.fail(
                "inverses",
                "false, but in the metric power the inverse of a generator is one of its powers; "
                'leave inverses out, or set metric = "generator"',
            )
        moves = listed(generators, slot_moduli(sets), self.metric, self.inverses)
        if moves is None:
            raise self.fail(
                "generators",
                f'more than {MAX_MOVES} moves with all powers; leave some out, or set metric = "generator"',
            )
        self._listed = moves
        with self.at(""):
            return assemble(sets, moves)

    def _sets(self) -> list[PieceSet]:
        sets: list[PieceSet] = []
        if "orbits" in self:
            orbits = self.inners("orbits", _OrbitTable)
            for key in _PiecesTable.keys:
                if key in self:
                    raise self.fail(
                        key,
                        f"{key} and orbits are both given; expected {key} in each [[{_OrbitTable.header}]], move it "
                        "there",
                    )
            for each in orbits:
                sets.append(each.named_set(sets))
        else:
            sets.append(self.piece_set())
        slots = sum(len(each.pieces) for each in sets)
        if not 2 <= slots <= MAX_POINTS:
            key = "orbits" if "orbits" in self else "slots" if "slots" in self else "goal"
            mend = "leave out pieces that do not matter" if slots > MAX_POINTS else "add pieces"
            raise self.fail(key, f"{slots} slots, expected 2 to {MAX_POINTS}; {mend}")
        return sets
