"""Puzzles in the file formats of other programs: twsearch ``.tws``, ksolve ``.def``, generators as GAP writes them
(gap.py), KPuzzle JSON (kpuzzle.py).

docs/puzzles.md says what the commands of twsearch (``.tws``) and ksolve (``.def``) mean. In ``Move`` (and in ksolve)
the turns are indexed by the slot that the content *leaves*, unlike the orientations in ``Solved``, though both are
written alike; in ``MoveTransformation`` they are indexed by the slot that it goes to, and slots are numbered from 0, as
are pieces in ``StartState``. Sources: docs/architecture.md of twsearch, its reader and that of ksolve.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import (
    Block,
    Illegal,
    PieceSet,
    assemble,
    guards_of,
    piece_problem,
)
from farthest.families.permutation.definition import Permutation
from farthest.families.permutation.fields import MAX_MODULUS, MAX_POINTS, name_problem
from farthest.families.permutation.moves import MAX_MOVES, ROTATION, Move, identity, listed, powers, product
from farthest.puzzles.puzzle import MAX_TEXT, Origin, Puzzle
from farthest.safe_text import safe
from farthest.wording import counted, near_match, shown

_METRICS = {".tws": "power", ".def": "power", ".gap": "generator", ".g": "generator", ".json": "power"}
"""The metric of the program that each ending of a file stands for."""


def parse_foreign(data: bytes, place: str) -> Puzzle:
    """The puzzle of a file with one of these endings, in the metric of the program that it was written for.

    It is named for the file. Raises PuzzleError with file, line, what was expected and a mend.
    """
    stem, suffix = os.path.splitext(os.path.basename(place))
    metric = _METRICS[suffix.lower()]
    title, definition = read_foreign(data, place, metric)
    if len(title) > MAX_TEXT:
        raise PuzzleError(
            f"{place}: its title has {len(title):,} characters, expected at most {MAX_TEXT}; write a shorter one"
        )
    stem = re.sub(r"\.(kpuzzle|def)$", "", stem, flags=re.IGNORECASE)
    name = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-")[:48].strip("-")
    return Puzzle(
        name=name if name and not name.isdigit() else f"puzzle-{name}".strip("-"),
        title=safe(title or stem),
        source=f"read from {safe(os.path.basename(place))}",
        family="permutation",
        metric=metric,
        origin=Origin(),
        known=(),
        definition=definition,
    )


def read_foreign(data: bytes, place: str, metric: str) -> tuple[str, Permutation]:
    """The title that a file gives itself, perhaps empty, and its puzzle. Raises PuzzleError."""
    zero = data.find(b"\0")
    if zero >= 0:
        line = data.count(b"\n", 0, zero) + 1
        raise PuzzleError(f"{place}, line {line}: a zero byte, expected a text; is it the right file?")
    try:
        text = data.decode("utf-8-sig")
    except (
        UnicodeDecodeError
    ):  # files of these formats are old enough to hold names in Latin-1 in their comments
        text = data.decode("latin-1")
    ending = os.path.splitext(place)[1].lower()
    if ending in (".gap", ".g"):
        from farthest.families.permutation.gap import read_gap

        return "", read_gap(text, place, metric)
    if ending == ".json":
        from farthest.families.permutation.kpuzzle import read_kpuzzle

        return read_kpuzzle(text, place, metric)
    return _Reader(text, place, metric).read()


_REFUSED = {
    "Ignore": "what scrambles may ignore; give pieces that are alike equal numbers in Solved, and the orientation ?",
    "ForbiddenPairs": "moves that may not follow one another; leave it out to allow all",
    "ForbiddenGroups": "moves that may not follow one another; leave it out to allow all",
    "MoveLimits": "how often a move may be made; leave it out to allow all",
    "Scramble": "a scramble, which belongs into a scramble file; leave it out, and give the board to the command",
    "ScrambleAlg": "a scramble, which belongs into a scramble file; leave it out",
    "RandomScramble": "a scramble, which belongs into a scramble file; leave it out",
    "MaxDepth": "a command of scramble files; leave it out, and use --depth",
    "Slack": "a command of scramble files; leave it out",
    "QTM": 'a command of scramble files; write metric = "generator" in a TOML file that names this one',
    "HTM": "a command of scramble files; leave it out",
}
_SKIPPED = ("Multiplicators", "ParallelMoves")
_READ = (
    "Name",
    "Set",
    "Solved",
    "StartState",
    "Move",
    "MoveTransformation",
    "MoveSequence",
    "MoveAlias",
    "Illegal",
    "Block",
)


_MOST_NAMED = 16 * MAX_MOVES
"""Names that sequences may use."""


class _Set(NamedTuple):
    """Pieces as ``Set`` declares them; ``first``: the slot of the first."""

    name: str
    size: int
    modulus: int
    first: int


@dataclass(slots=True)
class _Rows:
    """What a block says of a set: two rows of words, and the lines they stand in."""

    numbers: list[str]
    line: int
    turns: list[str] | None = None
    turns_line: int = 0


class _Reader:
    def __init__(self, text: str, place: str, metric: str) -> None:
        self.place = place
        self.metric = metric
        self.words = _lines(text)
        self.title = ""
        self.sets: dict[str, _Set] = {}
        self.moduli: list[int] = []
        self.solved: list[PieceSet] = []
        self.moves: dict[str, tuple[Move, int]] = {}
        self.rotations: dict[str, Move] = {}
        self.sequences: list[tuple[str, list[str], int]] = []
        self.first_piece = 1
        self.turned: dict[str, frozenset[int]] = {}
        self.illegal: list[tuple[int, _Set, str, list[str]]] = []
        self.joined: list[dict[str, _Rows]] = []

    def fail(self, line: int, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}{f', line {line}' if line else ''}: {problem}")

    def read(self) -> tuple[str, Permutation]:
        for line, words in self.words:
            self.command(line, words)
        if not self.sets:
            raise self.fail(0, "no set of pieces; write for example Set CORNERS 8 3")
        if not self.solved:
            raise self.fail(0, "no solved state; write Solved and, below it, End")
        named: dict[str, Move] = {}
        for move, line in (*self.moves.values(), *((each, 0) for each in self.rotations.values())):
            self.name_powers(named, move, line)
        for name, words, line in self.sequences:
            self.add_move(name, self.sequence(words, line, named), line)
            self.turned[name] = frozenset().union(*(self.turned.get(word, frozenset()) for word in words))
            self.name_powers(named, (self.rotations.get(name) or self.moves[name][0]), line)
        if not self.moves:
            raise self.fail(0, "no moves; write Move and a name, the sets that it changes, and End")
        moves = self.all_moves()
        try:
            definition = assemble(self.solved, moves)
        except PuzzleError as error:
            raise self.fail(0, str(error)) from None
        if self.illegal or self.joined:
            guards = guards_of(definition, moves, self.illegal_places(), self.blocks(), self.turned_by())
            definition = replace(definition, guards=guards)
        return self.title, definition

    def command(self, line: int, words: list[str]) -> None:
        command, rest = words[0], words[1:]
        if command in _REFUSED:
            raise self.fail(line, f"{command} cannot be read here: it tells {_REFUSED[command]}")
        if command in _SKIPPED:
            if not any(words[0] == "End" for _, words in self.words):
                raise self.fail(line, f"{command} has no End; add it")
        elif command == "Name":
            self.title = " ".join(word for word in rest if word.isprintable())
        elif command == "Set":
            self.read_set(line, rest)
        elif command in ("Solved", "StartState"):
            self.expect(line, rest, 0, command)
            self.read_solved(line, command)
        elif command in ("Move", "MoveTransformation"):
            self.expect(line, rest, 1, f"{command} U")
            self.read_move(line, command, rest[0])
        elif command == "Illegal":
            if len(rest) < 3 or rest[0] not in self.sets:
                raise self.fail(
                    line,
                    "expected a set, a slot and pieces that may not stand there; write Illegal CORNERS 3 7 8",
                )
            self.illegal.append((line, self.sets[rest[0]], rest[1], rest[2:]))
        elif command == "Block":
            self.expect(line, rest, 0, command)
            rows = self.block(line, command)
            if len({(name, word) for name, row in rows.items() for word in row.numbers}) < 2:
                raise self.fail(
                    line, "Block: expected two pieces or more that are joined; add some, or leave it out"
                )
            self.joined.append(rows)
        elif command == "MoveSequence":
            if len(rest) < 2:
                raise self.fail(line, "a name and moves are missing; write for example MoveSequence M R L'")
            self.sequences.append((rest[0], re.split(r"[\s,]+", " ".join(rest[1:]).strip(" ,")), line))
        elif command != "MoveAlias":  # another name for a move, of use in scrambles only
            mend = near_match(command, [*_READ, *_REFUSED]) or f"the commands are {', '.join(_READ)}"
            raise self.fail(line, f"{shown(command)} is not a command; {mend}")

    def expect(self, line: int, rest: list[str], count: int, example: str) -> None:
        if len(rest) != count:
            raise self.fail(
                line, f"{counted(len(rest), 'word')} after the command, expected {count}: {example}"
            )

    # Sets

    def read_set(self, line: int, rest: list[str]) -> None:
        self.expect(
            line, rest, 3, "Set CORNERS 8 3, a name, the number of pieces and that of their orientations"
        )
        name = rest[0]
        if self.solved or self.moves:
            raise self.fail(line, "a Set after Solved or a move; expected all sets first, move it up")
        if name in self.sets:
            raise self.fail(line, f"the set {shown(name)} appears twice; give it another name")
        problem = name_problem(name)
        if problem or name[0].isdigit() or name in ("?", "End"):
            raise self.fail(
                line, f"the set's name {shown(name)} {problem or 'reads as a row'}; choose a word"
            )
        size = self.number(rest[1], line, 1, MAX_POINTS, "pieces")
        modulus = self.number(rest[2], line, 1, 127, "orientations")
        if modulus > MAX_MODULUS:
            raise self.fail(
                line, f"{modulus} orientations; at most {MAX_MODULUS} are possible, leave the set out"
            )
        first = len(self.moduli)
        if first + size > MAX_POINTS:
            raise self.fail(
                line, f"{first + size} pieces up to here; at most {MAX_POINTS} are possible, leave sets out"
            )
        self.sets[name] = _Set(name, size, modulus, first)
        self.moduli += [modulus] * size

    def number(self, word: str, line: int, least: int, most: int, what: str) -> int:
        if not (word.isascii() and word.isdecimal()) or len(word) > 4 or not least <= int(word) <= most:
            raise self.fail(line, f"{shown(word)}: expected {least} to {most} ({what}); correct it")
        return int(word)

    # Blocks

    def block(self, line: int, what: str) -> dict[str, _Rows]:
        """The rows of each set named before the next ``End``."""
        found: dict[str, _Rows] = {}
        name, named = "", line
        for number, words in self.words:
            if words[0][0].isdigit() or words[0] in ("?", "-") or re.fullmatch(r"-\d+", words[0]):
                self.row(found, name, number, words, what)
                continue
            if name and name not in found:
                raise self.fail(
                    named, f"the set {name} has no row in {what}; add its numbers, or leave it out"
                )
            if words[0] == "End":
                self.expect(number, words[1:], 0, "End")
                return found
            if words[0] in (*_READ, *_REFUSED):
                raise self.fail(line, f"{what} has no End before {words[0]} in line {number}; add it")
            self.expect(number, words[1:], 0, "the name of a set")
            name, named = words[0], number
            if name not in self.sets:
                mend = near_match(name, self.sets) or (
                    f"the sets are {', '.join(self.sets)}" if self.sets else "write the sets first"
                )
                raise self.fail(number, f"{what}: there is no set {shown(name)}; {mend}")
            if name in found:
                raise self.fail(number, f"{what} has the set {name} twice; leave one out")
        raise self.fail(line, f"{what} has no End; add it")

    def row(self, found: dict[str, _Rows], name: str, line: int, words: list[str], what: str) -> None:
        if not name:
            raise self.fail(line, f"a row before the name of its set in {what}; write the name above it")
        size = self.sets[name].size
        if what == "Block":
            if name in found:
                raise self.fail(line, f"a second row for {name} in Block; write its pieces in one line")
            found[name] = _Rows(words, line)
            return
        if len(words) != size:
            raise self.fail(
                line, f"{counted(len(words), 'number')}, expected {size}: one for each piece of {name}"
            )
        if name not in found:
            found[name] = _Rows(words, line)
        elif found[name].turns is None:
            found[name].turns, found[name].turns_line = words, line
        else:
            raise self.fail(line, f"a third row for {name}; expected pieces and orientations, leave it out")

    def turns(self, each: _Set, rows: _Rows) -> list[int]:
        if rows.turns is None:
            return [0] * each.size
        # ksolve lets a piece without orientations be turned: nothing changes.
        most = 255 if each.modulus == 1 else each.modulus - 1
        return [
            self.number(word, rows.turns_line, 0, most, f"orientations of {each.name}") % each.modulus
            for word in rows.turns
        ]

    def read_solved(self, line: int, command: str) -> None:
        if self.solved:
            raise self.fail(line, f"{command}, but there is a solved state already; leave one out")
        if not self.sets:
            raise self.fail(line, f"{command} before any set; write the sets first: Set CORNERS 8 3")
        rows = self.block(line, command)
        least = self.first_piece = 0 if command == "StartState" else 1
        for each in self.sets.values():
            said = rows.get(each.name)
            if said is None:
                said = _Rows([str(number + least) for number in range(each.size)], line)
            if "?" in said.numbers:
                raise self.fail(
                    said.line, "? for a piece; expected numbers, give pieces that are alike equal ones"
                )
            tokens = [
                str(self.number(word, said.line, least, MAX_POINTS, f"pieces of {each.name}"))
                for word in said.numbers
            ]
            ignored, fixed = set[str](), set[str]()
            for token, turn in zip(tokens, said.turns or (), strict=False):
                (ignored if turn == "?" else fixed).add(token)
            if ignored & fixed:
                raise self.fail(
                    said.turns_line,
                    f"pieces {min(ignored & fixed)} of {each.name} are identical, but the orientation of only some "
                    "is ?; write it for all of them or none",
                )
            if said.turns is not None:
                said.turns = ["0" if turn == "?" else turn for turn in said.turns]
            pieces = tuple(zip(tokens, self.turns(each, said), strict=True))
            self.solved.append(PieceSet(each.name, each.modulus, pieces, ignored))

    # Moves

    def read_move(self, line: int, command: str, name: str) -> None:
        if not self.sets:
            raise self.fail(line, f"{command} before any set; write the sets first: Set CORNERS 8 3")
        rows = self.block(line, f"{command} {name}")
        to, delta = list(range(len(self.moduli))), [0] * len(self.moduli)
        least = 0 if command == "MoveTransformation" else 1
        for name_of_set, said in rows.items():
            each = self.sets[name_of_set]
            sources = [
                self.number(word, said.line, least, each.size - 1 + least, f"slots of {each.name}") - least
                for word in said.numbers
            ]
            twice = sorted({slot for slot in sources if sources.count(slot) > 1})
            if twice:
                raise self.fail(
                    said.line,
                    f"{twice[0] + least} appears twice: not a permutation; expected each slot once, correct it",
                )
            turns = self.turns(each, said)
            if each.modulus == 1 and said.turns is not None:
                shown = {each.first + slot for slot, turn in enumerate(said.turns) if turn.strip("0")}
                self.turned[name] = self.turned.get(name, frozenset()) | shown
            for target, slot in enumerate(sources):
                to[each.first + slot] = each.first + target
                delta[each.first + slot] = turns[slot if command == "Move" else target]
        self.add_move(name, Move(name, tuple(to), tuple(delta)), line)

    def add_move(self, name: str, move: Move, line: int) -> None:
        if problem := name_problem(name):
            raise self.fail(line, f"the move's name {shown(name)} {problem}; choose a short word")
        if name in self.moves or name in self.rotations:
            raise self.fail(line, f"the move {name} appears twice; give it another name")
        if ROTATION.fullmatch(name):
            self.rotations[name] = move
            return
        if len(self.moves) + len(self.rotations) >= MAX_MOVES:
            raise self.fail(line, f"more than {MAX_MOVES} moves; leave some out")
        if move.effect == identity(len(move.to)).effect:
            raise self.fail(line, f"the move {name} changes nothing; leave it out")
        self.moves[name] = Move(name, *move.effect), line

    def all_moves(self) -> list[Move]:
        for move, line in self.moves.values():
            if self.metric == "power" and powers(move, self.moduli) is None:
                raise self.fail(line, f"the move {move.name} has more than {MAX_MOVES} powers; leave it out")
        distinct = {move.effect: move for move, _ in reversed(self.moves.values())}
        moves = listed(list(reversed(distinct.values())), self.moduli, self.metric, inverses=True)
        if moves is None:
            raise self.fail(0, f"more than {MAX_MOVES} moves with all powers; leave some out")
        return moves

    def name_powers(self, named: dict[str, Move], move: Move, line: int) -> None:
        """Adds a move and its powers to those that sequences may name."""
        if self.sequences:
            found = [Move(move.name, *move.effect), *(powers(move, self.moduli) or ())]
            named.update((power.name, power) for power in found)
            self.turned.update((power.name, self.turned.get(move.name, frozenset())) for power in found)
        if len(named) > _MOST_NAMED:
            raise self.fail(line, f"more than {_MOST_NAMED} moves and powers of moves; leave some out")

    def sequence(self, words: list[str], line: int, named: Mapping[str, Move]) -> Move:
        """The product of moves and rotations, from left to right."""
        result = identity(len(self.moduli))
        for word in words:
            if word not in named:
                mend = near_match(word, named) or "name moves that are defined above it"
                raise self.fail(line, f"MoveSequence: there is no move {shown(word)}; {mend}")
            result = product(result, named[word], self.moduli)
        return result

    # Guards

    def illegal_places(self) -> Iterator[Illegal]:
        for line, each, slot, pieces in self.illegal:
            number = self.number(slot, line, 1, each.size, f"slots of {each.name}") - 1
            for token in self.pieces(each, line, pieces, slot=number):
                yield each.first + number, token

    def blocks(self) -> Iterator[Block]:
        for rows in self.joined:
            yield [
                (range(each.first, each.first + each.size), token)
                for name, row in rows.items()
                for each in [self.sets[name]]
                for token in self.pieces(each, row.line, row.numbers, slot=None)
            ]

    def pieces(self, each: _Set, line: int, words: list[str], *, slot: int | None) -> Iterator[str]:
        """The tokens of pieces, which are counted from 1 in guards, however Solved counts them."""
        solved = next(one for one in self.solved if one.name == each.name)
        for word in words:
            token = str(self.number(word, line, 1, 255, f"pieces of {each.name}") - 1 + self.first_piece)
            if problem := piece_problem([piece for piece, _ in solved.pieces], token, slot=slot):
                raise self.fail(line, f"{each.name}: {problem}")
            yield token

    def turned_by(self) -> dict[object, frozenset[int]]:
        """For the effects of the moves and their powers the slots whose contents turn and have no orientation."""
        found: dict[object, frozenset[int]] = {}
        for move, line in self.moves.values():
            own = self.turned.get(move.name, frozenset())
            for power in powers(move, self.moduli) or ():
                if found.setdefault(power.effect, own) != own:
                    raise self.fail(
                        line,
                        f"{power.name} does what another move does, but turns other pieces without orientations; "
                        "leave one out",
                    )
        return found


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that is not empty, and its number. A word that begins with # begins a comment."""
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        words = line.split()
        comment = next((i for i, word in enumerate(words) if word[0] == "#"), len(words))
        if comment:
            yield number, words[:comment]
