"""The ``[permutation]`` table of a definition: pieces, orientations and generators.

goal      = "1 2 3 4"                 # or slots = 4: pieces 1 to 4; equal tokens are identical pieces
goals     = ["1 2 3 4", "2 1 4 3"]    # a set of goals, the first tells the pieces where goal and slots do not
start     = "4 3 2 1"                 # optional
modulus   = 3                         # orientations of a piece; 1, not turned, if not given; 2+1: piece 2 turned by 1
ignore    = "1 2"                     # pieces whose orientation does not matter
numbering = 1                         # the number of the first slot in generators; 1 if not given
inverses  = true                      # whether the inverse of each generator is a move; true if not given

file      = "2x2x2.def"               # instead of all but goals and start: a file of another program, beside this one
of        = "cube-3x3x3<U,R>"         # or: another puzzle by its name, some of its moves, a pattern

[permutation.generators]              # name = cycles, images, or images and turns
R = "(1 2+1 3+2)(4+1)"                # 1 goes to 2, 2 to 3 turned by 1, 3 to 1 turned by 2; 4 stays, turned by 1
S = [2, 1, 3, 4]                      # the content of slot 1 goes to 2, that of 2 to 1
T = { to = [2, 1, 3, 4], twist = [1, 2, 0, 0] }

[permutation.net]                     # how the puzzle looks, optional: net_reader.py

[permutation.turns]                   # how it may be turned as a whole, where a piece holds it: turns_reader.py

[[permutation.orbits]]                # several sets instead of goal, slots, modulus and ignore above, which stand here
name  = "corners"                     # slots are numbered through all sets; { corners = "(1 2)", edges = ... } in each
slots = 8
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from farthest.errors import BoardError, PuzzleError
from farthest.families.permutation.assembly import PieceSet, assemble, slot_moduli
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import MAX_MODULUS, MAX_SLOTS, name_problem
from farthest.families.permutation.foreign import SUFFIXES, read_foreign
from farthest.families.permutation.moves import (
    MAX_MOVES,
    Move,
    NotationError,
    identity,
    listed,
    read_cycles,
    read_images,
)
from farthest.families.permutation.net_reader import read_net, with_turns
from farthest.puzzles.catalogue import named
from farthest.puzzles.definition import Board
from farthest.puzzles.grid import token_problem
from farthest.puzzles.reader import MOST_BYTES, read_bytes
from farthest.puzzles.tables import Source
from farthest.wording import near_match, shown

# --- The generators of a ``[permutation]`` table: cycles, images, or images and turns, and the list of all moves.

TABLE = "permutation"
RESERVED = ("to", "twist")
"""Keys of a generator that is written as images and turns; no set may be called so."""

_GENERATORS = f"{TABLE}.generators"


def read_moves(table: Mapping[str, Any], source: Source, metric: str, sets: Sequence[PieceSet]) -> list[Move]:
    """All moves of the metric. Raises PuzzleError naming generator, line, what was expected and a mend."""
    return _GeneratorReader(table, source, metric, sets).read()


class _GeneratorReader:
    def __init__(
        self, table: Mapping[str, Any], source: Source, metric: str, sets: Sequence[PieceSet]
    ) -> None:
        self.table = table
        self.source = source
        self.metric = metric
        self.sets = sets

    def read(self) -> list[Move]:
        first = self.table.get("numbering", 1)
        if type(first) is not int or first not in (0, 1):
            raise self.fail(
                "numbering", f"expected 0 or 1, the number of the first slot, got {shown(first)}; correct it"
            )
        return self.moves(self.generators(first))

    def fail(self, key: str, problem: str) -> PuzzleError:
        return self.source.error(TABLE, key, problem)

    def generator_error(self, name: str, problem: str) -> PuzzleError:
        if f"[{_GENERATORS}]" in self.source.text:
            return self.source.error(_GENERATORS, name, problem)
        return self.fail("generators", f"{name}: {problem}")

    def generators(self, first: int) -> list[Move]:
        table = self.table.get("generators")
        if not isinstance(table, dict) or not table:
            found = "no generators" if not table else f"expected a table, got {shown(table)}"
            raise self.fail("generators", f'{found}; write [{_GENERATORS}] and below it R = "(1 2 3)"')
        found_moves: dict[Any, str] = {identity(len(slot_moduli(self.sets))).effect: ""}
        moves = []
        for name, value in table.items():
            problem = name_problem(name)
            if problem:
                raise self.generator_error(name, f"the name {problem}; choose a short word")
            move = self.move(name, value, first)
            same = found_moves.setdefault(move.effect, name)
            if same != name:
                what = f"is the same move as {same}" if same else "changes nothing"
                raise self.generator_error(name, f"{what}; expected moves that differ, leave it out")
            moves.append(move)
        return moves

    def move(self, name: str, value: object, first: int) -> Move:
        """A generator, its turns reduced."""
        sizes = [len(each.pieces) for each in self.sets]
        to, delta = list(range(sum(sizes))), [0] * sum(sizes)
        if isinstance(value, dict) and value and not set(value) & set(RESERVED):
            offsets = {each.name: sum(sizes[:i]) for i, each in enumerate(self.sets)}
            for part, inner in value.items():
                if part not in offsets:
                    mend = near_match(part, offsets) or f"the sets are {', '.join(offsets)}"
                    raise self.generator_error(name, f"there is no set {shown(part)}; {mend}")
                start = offsets[part]
                size = sizes[list(offsets).index(part)]
                images, turns = self.images(name, inner, size, first)
                to[start : start + size] = [start + image for image in images]
                delta[start : start + size] = turns
        else:
            to, delta = self.images(name, value, sum(sizes), first)
        self.check_move(name, to, delta, first)
        moduli = slot_moduli(self.sets)
        return Move(
            name, tuple(to), tuple(turn % modulus for turn, modulus in zip(delta, moduli, strict=True))
        )

    def images(self, name: str, value: object, slots: int, first: int) -> tuple[list[int], list[int]]:
        try:
            if isinstance(value, str):
                return read_cycles(value, slots, first)
            if isinstance(value, list):
                return read_images(value, slots, first), [0] * slots
            if isinstance(value, dict) and value and set(value) <= set(RESERVED):
                to, twist = (
                    value.get("to", list(range(first, slots + first))),
                    value.get("twist", [0] * slots),
                )
                if isinstance(to, list) and isinstance(twist, list):
                    if len(twist) != slots or any(type(turn) is not int for turn in twist):
                        raise NotationError(
                            f"twist: expected {slots} whole numbers, one a slot; correct the array"
                        )
                    return read_images(to, slots, first), list(twist)
        except NotationError as error:
            raise self.generator_error(name, str(error)) from None
        raise self.generator_error(
            name,
            f'expected cycles or images, got {shown(value)}; write {name} = "(1 2 3)" or {name} = [2, 3, 1]',
        )

    def check_move(self, name: str, to: list[int], delta: list[int], first: int) -> None:
        set_of = [each for each in self.sets for _ in each.pieces]
        for slot, image in enumerate(to):
            here, there = set_of[slot], set_of[image]
            if here is not there:
                raise self.generator_error(
                    name,
                    f"slot {slot + first} of {here.name} goes to slot {image + first} of {there.name}; expected moves "
                    "within each set, correct the slots or make one set of both",
                )
            if abs(delta[slot]) >= here.modulus and delta[slot]:
                expected = (
                    f"less than {here.modulus}" if here.modulus > 1 else "no turn: the pieces are not turned"
                )
                raise self.generator_error(
                    name,
                    f"the content of slot {slot + first} turns by {delta[slot]}, expected {expected}; "
                    "correct it, or set modulus",
                )

    def moves(self, generators: list[Move]) -> list[Move]:
        inverses = self.table.get("inverses", True)
        if not isinstance(inverses, bool):
            raise self.fail("inverses", f"expected true or false, got {shown(inverses)}; correct it")
        if self.metric == "power" and not inverses:
            raise self.fail(
                "inverses",
                "false, but in the metric power the inverse of a generator is one of its powers; "
                'leave inverses out, or set metric = "generator"',
            )
        moves = listed(generators, slot_moduli(self.sets), self.metric, inverses)
        if moves is None:
            raise self.fail(
                "generators",
                f'more than {MAX_MOVES} moves with all powers; leave some out, or set metric = "generator"',
            )
        return moves


_ORBITS = f"{TABLE}.orbits"
_SET_KEYS = ("goal", "slots", "modulus", "ignore")
_FILE_KEYS = ("goals", "start", "net", "turns")
_KEYS = ("file", "of", *_FILE_KEYS, *_SET_KEYS, "numbering", "inverses", "generators", "orbits")


def read_permutation(table: Mapping[str, Any], source: Source, metric: str) -> Permutation:
    """The definition of family ``permutation``. Raises PuzzleError naming key, line, what was expected and a mend."""
    return _Reader(table, source, metric).read()


class _Reader:
    def __init__(self, table: Mapping[str, Any], source: Source, metric: str) -> None:
        self.table = table
        self.source = source
        self.metric = metric
        self.sets: list[PieceSet] = []

    def fail(self, key: str, problem: str) -> PuzzleError:
        return self.source.error(TABLE, key, problem)

    def read(self) -> Permutation:
        self.check_keys(self.table, _KEYS, TABLE, 0)
        definition = (
            self.from_file()
            if "file" in self.table
            else self.from_other()
            if "of" in self.table
            else self.from_table()
        )
        goals = self.boards("goals", definition)
        start = self.table.get("start")
        definition = replace(
            definition,
            goals=goals or definition.goals,
            start=None if start is None else self.board("start", start, definition),
        )
        if "net" in self.table:
            definition = replace(definition, net=read_net(self.table, self.source, definition))
        if "turns" in self.table:
            definition = with_turns(self.table, self.source, definition)
        return definition

    def from_table(self) -> Permutation:
        self.read_sets()
        return assemble(self.sets, read_moves(self.table, self.source, self.metric, self.sets))

    def check_alone(self, instead: str) -> None:
        for key in self.table:
            if key not in (instead, *_FILE_KEYS):
                raise self.fail(
                    key, f"{key} and {instead} are both given; expected one of them, leave one out"
                )

    def from_other(self) -> Permutation:
        """The definition of another puzzle."""
        self.check_alone("of")
        name = self.table["of"]
        if not isinstance(name, str):
            raise self.fail("of", f"expected the name of a puzzle, got {shown(name)}; write it in quotes")
        try:
            other = named(name)
        except PuzzleError as error:
            raise self.fail("of", str(error)) from None
        if other.family != TABLE:
            raise self.fail(
                "of", f"{other.name} is of the family {other.family}, expected {TABLE}; name another puzzle"
            )
        if other.metric != self.metric:
            raise self.fail(
                "of", f'{other.name} has the metric {other.metric}; write metric = "{other.metric}" above'
            )
        return permutation(other)

    def from_file(self) -> Permutation:
        self.check_alone("file")
        name = self.table["file"]
        if not isinstance(name, str) or not name.lower().endswith(SUFFIXES):
            raise self.fail(
                "file", f"expected a name that ends in {', '.join(SUFFIXES)}, got {shown(name)}; correct it"
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

    def check_keys(self, table: Mapping[str, Any], keys: tuple[str, ...], name: str, index: int) -> None:
        for key in table:
            if key not in keys:
                mend = near_match(key, keys) or f"the keys are {', '.join(keys)}"
                raise self.source.error(name, key, f"key {shown(key)} is not known; {mend}", index)

    # Pieces

    def read_sets(self) -> None:
        orbits = self.table.get("orbits")
        if orbits is None:
            self.sets = [self.piece_set(self.table, "", TABLE, 0)]
        else:
            if (
                not isinstance(orbits, list)
                or not orbits
                or not all(isinstance(each, dict) for each in orbits)
            ):
                raise self.fail(
                    "orbits", f"expected tables, got {shown(orbits)}; write [[{_ORBITS}]] and keys below"
                )
            for key in _SET_KEYS:
                if key in self.table:
                    raise self.fail(
                        key,
                        f"{key} and orbits are both given; expected {key} in each [[{_ORBITS}]], move it there",
                    )
            for index, each in enumerate(orbits):
                self.check_keys(each, ("name", *_SET_KEYS), _ORBITS, index)
                self.sets.append(self.piece_set(each, self.set_name(each, index), _ORBITS, index))
        slots = sum(len(each.pieces) for each in self.sets)
        if not 2 <= slots <= MAX_SLOTS:
            key = "orbits" if orbits is not None else "slots" if "slots" in self.table else "goal"
            mend = "leave out pieces that do not matter" if slots > MAX_SLOTS else "add pieces"
            raise self.fail(key, f"{slots} slots, expected 2 to {MAX_SLOTS}; {mend}")

    def set_name(self, table: Mapping[str, Any], index: int) -> str:
        name = table.get("name")
        problem = (
            "has no name"
            if name is None
            else "is not text"
            if not isinstance(name, str)
            else name_problem(name)
        )
        if problem is None and name in RESERVED:
            problem = "has a meaning of its own in generators"
        if problem is None and any(name == each.name for each in self.sets):
            problem = "is that of two sets"
        if problem:
            raise self.source.error(
                _ORBITS, "name", f'the name {problem}; expected a word for the set: name = "corners"', index
            )
        assert isinstance(name, str)
        return name

    def piece_set(self, table: Mapping[str, Any], name: str, where: str, index: int) -> PieceSet:
        def fail(key: str, problem: str) -> PuzzleError:
            return self.source.error(where, key, problem, index)

        modulus = table.get("modulus", 1)
        if type(modulus) is not int or not 1 <= modulus <= MAX_MODULUS:
            raise fail(
                "modulus", f"expected 1 to {MAX_MODULUS} orientations, got {shown(modulus)}; correct it"
            )
        if "goal" in table and "slots" in table:
            raise fail("slots", "both goal and slots are given; expected one of them, leave one out")
        if "slots" in table:
            slots = table["slots"]
            if type(slots) is not int or not 1 <= slots <= MAX_SLOTS:
                raise fail("slots", f"expected 1 to {MAX_SLOTS} slots, got {shown(slots)}; correct it")
            pieces = tuple((str(number), 0) for number in range(1, slots + 1))
        else:
            key, goal = ("goal", table["goal"]) if "goal" in table else ("goals", table.get("goals"))
            if key == "goals" and isinstance(goal, list) and goal and where == TABLE:
                goal = goal[0]
            if not isinstance(goal, str) or not goal.strip():
                found = "no pieces" if goal in (None, "", []) else f"expected a text, got {shown(goal)}"
                raise fail(key if goal is not None else "", f'{found}; write goal = "1 2 3" or slots = 3')
            pieces = tuple(self.piece(token, modulus, fail, key) for token in goal.replace(",", " ").split())
        return PieceSet(name, modulus, pieces, self.ignored(table, pieces, modulus, fail))

    def piece(self, token: str, modulus: int, fail: Any, key: str) -> tuple[str, int]:
        piece, plus, turn = token.partition("+")
        problem = token_problem(piece)
        if problem is None and plus and (not turn.isdecimal() or len(turn) > 2 or int(turn) >= modulus):
            problem = f"has the orientation {turn}; this set has {modulus}"
        if problem:
            raise fail(
                key, f"the piece {shown(token)} {problem}; expected a token, or one turned such as 2+1"
            )
        return piece, int(turn or 0)

    def ignored(
        self, table: Mapping[str, Any], pieces: tuple[tuple[str, int], ...], modulus: int, fail: Any
    ) -> frozenset[str]:
        ignore = table.get("ignore", "")
        if not isinstance(ignore, str):
            raise fail(
                "ignore", f'expected the pieces in one text, got {shown(ignore)}; write ignore = "1 2"'
            )
        tokens = ignore.replace(",", " ").split()
        for token in tokens:
            if token not in dict(pieces):
                raise fail(
                    "ignore", f"there is no piece {shown(token)}; expected pieces of the goal, leave it out"
                )
        if tokens and modulus == 1:
            raise fail("ignore", "the pieces have no orientation to ignore; add modulus, or leave ignore out")
        return frozenset(tokens)

    # Boards

    def boards(self, key: str, definition: Permutation) -> tuple[Board, ...]:
        texts = self.table.get(key)
        if texts is None:
            return ()
        if "goal" in self.table:
            raise self.fail(
                key, "both goal and goals are given; expected one of them, move the goal into goals"
            )
        if not isinstance(texts, list) or not texts:
            raise self.fail(
                key, f"expected an array of boards, got {shown(texts)}; write each board as a text"
            )
        read: dict[Board, int] = {}
        for number, text in enumerate(texts, 1):
            board = self.board(key, text, definition)
            if board in read:
                raise self.fail(key, f"goal {number} is the same board as goal {read[board]}; leave one out")
            read[board] = number
        return tuple(read)

    def board(self, key: str, text: object, definition: Permutation) -> Board:
        if not isinstance(text, str):
            raise self.fail(
                key, f"expected a board, got {shown(text)}; write it as a text: {definition.example()!r}"
            )
        try:
            return definition.parse_board(text)
        except BoardError as error:
            raise self.fail(key, str(error)) from None
