"""KPuzzle JSON, the format of cubing.js and twips: ``2x2x2.kpuzzle.json``, ``3x3x3.def.json``.

    {"name": "2x2x2",
     "orbits": [{"orbitName": "CORNERS", "numPieces": 8, "numOrientations": 3}],
     "defaultPattern": {"CORNERS": {"pieces": [0, ...], "orientation": [0, ...], "orientationMod": [0, ...]}},
     "moves": {"U": {"CORNERS": {"permutation": [1, 2, 3, 0, ...], "orientationDelta": [0, ...]}}},
     "derivedMoves": {"z": "[x: y]", "R": "[z': U]"}}

Entry i of ``permutation`` is the slot whose content comes to slot i, entry i of ``orientationDelta`` the turn of what
comes there. Equal pieces are alike. ``orientationMod`` tells of each piece how much of its orientation counts: 0 all of
it, 1 nothing. An orbit that a move does not name stays; one that ``orbits`` does not list is left out. Older files have
other names for the same (``_OLDER``), and objects in place of the list of orbits. Sources: cubing.js, its
KPuzzleDefinition.schema.json and kpuzzle/combine.ts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from farthest.errors import PuzzleError
from farthest.families.permutation.assembly import PieceSet, assemble, slot_moduli
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.fields import MAX_MODULUS, MAX_POINTS, name_problem, tables
from farthest.families.permutation.moves import (
    MAX_MOVES,
    ROTATION,
    Move,
    identity,
    inverse,
    listed,
    powers,
    product,
    repeated,
)
from farthest.puzzles.puzzle import Puzzle
from farthest.untrusted_json import read_json_object
from farthest.wording import near_match, shown

_OLDER = {
    "defaultPattern": ("startStateData", "startPieces"),
    "pieces": ("permutation",),
    "numOrientations": ("orientations",),
    "orientationDelta": ("orientation",),
}
_EXAMPLE = {
    "orbits": '[{"orbitName": "CORNERS", "numPieces": 8, "numOrientations": 3}]',
    "defaultPattern": '{"CORNERS": {"pieces": [0, 1, 2], "orientation": [0, 0, 0]}}',
    "moves": '{"U": {"CORNERS": {"permutation": [1, 2, 0], "orientationDelta": [0, 0, 0]}}}',
}
_MOST_PRODUCTS = 20_000
"""Of moves, in all derived moves together."""

_DEEPEST = 50

Json = dict[str, Any]


def read_kpuzzle(text: str, place: str, metric: str) -> tuple[str, Permutation]:
    """The name that the file gives the puzzle, and the puzzle. Raises PuzzleError naming the key, what was expected and
    a mend."""
    try:
        document = read_json_object(text)
    except ValueError as error:
        raise PuzzleError(f"{place}: {error}; expected a puzzle as cubing.js writes it") from None
    return _Reader(document, place, metric).read()


def _given(parent: Json, key: str) -> Any:
    """The value of a key, or of an older name of it."""
    return next((parent[each] for each in (key, *_OLDER.get(key, ())) if each in parent), None)


class _Reader:
    def __init__(self, document: Json, place: str, metric: str) -> None:
        self.document = document
        self.place = place
        self.metric = metric
        self.sets: dict[str, tuple[int, int, int]] = {}
        """First slot, pieces and orientations of each orbit."""
        self.solved: list[PieceSet] = []
        self.moduli: list[int] = []
        self.named: dict[str, Move] = {}
        self.derived: dict[str, str] = {}
        self.products = 0

    def fail(self, key: str, problem: str) -> PuzzleError:
        return PuzzleError(f"{self.place}{f', {key}' if key else ''}: {problem}")

    def read(self) -> tuple[str, Permutation]:
        for number, orbit in enumerate(self.orbits()):
            self.read_orbit(orbit, f"orbits, number {number + 1}")
        pattern = self.inner(self.document, "defaultPattern", "")
        for name in self.sets:
            self.solved.append(self.solved_set(name, self.inner(pattern, name, "defaultPattern")))
        self.moduli = slot_moduli(self.solved)
        moves = self.inner(self.document, "moves", "")
        for name in moves:
            self.named[name] = self.move(name, self.inner(moves, name, "moves"))
        given = self.document.get("derivedMoves") is not None
        derived = self.inner(self.document, "derivedMoves", "") if given else {}
        for name, alg in derived.items():
            if not isinstance(alg, str):
                raise self.fail(f"derivedMoves, {name}", f'got {shown(alg)}, expected moves: "[x: U]"')
        self.derived = {name: alg for name, alg in derived.items() if name not in self.named}
        for name in self.derived:
            self.derive(name)
        title, every = self.document.get("name"), self.all_moves()
        try:
            return title if isinstance(title, str) else "", assemble(self.solved, every)
        except PuzzleError as error:
            raise self.fail("defaultPattern", str(error)) from None

    def inner(self, parent: Json, key: str, where: str) -> Json:
        """The object of a key, or of an older name of it."""
        found = _given(parent, key)
        if not isinstance(found, dict):
            what = "there is none" if found is None else f"got {shown(found)}, expected an object"
            mend = f"write {_EXAMPLE[key]}" if key in _EXAMPLE else "add it, as the other orbits have it"
            raise self.fail(f"{where}, {key}" if where else key, f"{what}; {mend}")
        return found

    # Orbits

    def orbits(self) -> Iterable[Json]:
        found = self.document.get("orbits")
        if isinstance(found, dict):
            found = [{"orbitName": name, **orbit} for name, orbit in found.items() if isinstance(orbit, dict)]
        if not isinstance(found, list) or not found or not all(isinstance(orbit, dict) for orbit in found):
            raise self.fail("orbits", f"expected a list of orbits; write {_EXAMPLE['orbits']}")
        return found

    def read_orbit(self, orbit: Json, where: str) -> None:
        name = orbit.get("orbitName")
        if not isinstance(name, str) or name_problem(name) or name in self.sets:
            raise self.fail(where, f"orbitName is {shown(name)}, expected a word, each once; write another")
        pieces, orientations = (
            self.whole(_given(orbit, key), 1, most)
            for key, most in (("numPieces", 9999), ("numOrientations", MAX_MODULUS))
        )
        if pieces is None or orientations is None:
            raise self.fail(
                f"{where} ({name})",
                f"numPieces and numOrientations are whole numbers of at least 1, at most {MAX_MODULUS} orientations; "
                "correct them, or leave the orbit out",
            )
        first = sum(each[1] for each in self.sets.values())
        if first + pieces > MAX_POINTS:
            raise self.fail(
                where,
                f"{first + pieces} pieces up to here; at most {MAX_POINTS} are possible, leave orbits out",
            )
        self.sets[name] = first, pieces, orientations

    @staticmethod
    def whole(value: object, least: int, most: int) -> int | None:
        return value if type(value) is int and least <= value <= most else None

    def numbers(self, parent: Json, key: str, where: str, count: int, most: int) -> list[int]:
        """The numbers of a key, ``count`` from 0 to ``most``."""
        value = _given(parent, key)
        if not isinstance(value, list) or len(value) != count:
            what = (
                f"{len(value)} numbers"
                if isinstance(value, list)
                else "no list"
                if key in parent
                else "missing"
            )
            raise self.fail(f"{where}, {key}", f"{what}, expected {count} numbers, one for each slot")
        for slot, each in enumerate(value):
            if self.whole(each, 0, most) is None:
                raise self.fail(
                    f"{where}, {key}", f"entry {slot} is {shown(each)}, expected 0 to {most}; correct it"
                )
        return value

    def solved_set(self, name: str, orbit: Json) -> PieceSet:
        _, count, modulus = self.sets[name]
        where = f"defaultPattern, {name}"
        pieces = [str(piece) for piece in self.numbers(orbit, "pieces", where, count, count - 1)]
        turns = self.numbers(orbit, "orientation", where, count, modulus - 1)
        mods = [0] * count
        if "orientationMod" in orbit:
            mods = self.numbers(orbit, "orientationMod", where, count, modulus)
        counts = {piece: mod or modulus for piece, mod in zip(pieces, mods, strict=True)}
        wrong = next((i for i in range(count) if counts[pieces[i]] != (mods[i] or modulus)), None)
        if wrong is not None:
            raise self.fail(
                f"{where}, orientationMod",
                f"pieces {pieces[wrong]} are alike, but have different values; write one for all of them",
            )
        told = set(counts.values())
        if told <= {1, modulus}:
            ignored = {piece for piece, mod in counts.items() if mod == 1 < modulus}
            return PieceSet(name, modulus, tuple(zip(pieces, turns, strict=True)), ignored)
        smaller = min(told)
        if len(told) > 1 or modulus % smaller:
            raise self.fail(
                f"{where}, orientationMod",
                f"{smaller} for some pieces of {modulus} orientations; expected 0 or 1, or one divisor of it for all "
                "pieces of the orbit",
            )
        return PieceSet(
            name, smaller, tuple((piece, turn % smaller) for piece, turn in zip(pieces, turns, strict=True))
        )

    # Moves

    def move(self, name: str, orbits: Json) -> Move:
        to, delta = list(range(len(self.moduli))), [0] * len(self.moduli)
        for orbit, said in orbits.items():
            where = f"moves, {name}, {orbit}"
            if orbit not in self.sets:
                continue
            if not isinstance(said, dict):
                raise self.fail(where, f"got {shown(said)}, expected an object; write {_EXAMPLE['moves']}")
            first, count, modulus = self.sets[orbit]
            sources = self.numbers(said, "permutation", where, count, count - 1)
            turns = self.numbers(said, "orientationDelta", where, count, modulus - 1)
            twice = next((slot for slot in sources if sources.count(slot) > 1), None)
            if twice is not None:
                raise self.fail(f"{where}, permutation", f"{twice} is there twice; expected each slot once")
            for target, slot in enumerate(sources):
                to[first + slot] = first + target
                delta[first + slot] = turns[target] % self.moduli[first]
        return Move(name, tuple(to), tuple(delta))

    def all_moves(self) -> list[Move]:
        """Of moves with the same effect the first."""
        distinct = {identity(len(self.moduli)).effect: Move("", (), ())}
        for name, move in self.named.items():
            if problem := name_problem(name):
                raise self.fail("moves", f"the name {shown(name)} {problem}; choose a short word")
            if not ROTATION.fullmatch(name):
                distinct.setdefault(move.effect, Move(name, *move.effect))
        moves = list(distinct.values())[1:]
        if not moves:
            raise self.fail("moves", f"there are none; write {_EXAMPLE['moves']}")
        every = listed(moves, self.moduli, self.metric, inverses=True)
        if every is None:
            raise self.fail("moves", f"more than {MAX_MOVES} moves with all powers; leave some out")
        return every

    def derive(self, name: str, within: tuple[str, ...] = ()) -> None:
        """Makes the moves that derived moves are made of into one move, where that has not been done."""
        if name in self.named:
            return
        where = f"derivedMoves, {name}"
        if name in within:
            raise self.fail(where, f"it is made of itself, by way of {within[-1]}; correct one of them")
        if len(within) > _DEEPEST:
            raise self.fail(where, f"more than {_DEEPEST} derived moves are made of each other; write it out")
        alg = _Alg(self, where, self.derived[name], (*within, name))
        self.named[name] = Move(name, *alg.product("").effect)

    def found(self, family: str, amount: str, where: str, within: tuple[str, ...]) -> Move:
        """The move that a word is: a power of a move, or a move that is called so with its amount."""
        for name, count in ((family, amount), (family + amount, ""), (_undone(family + amount), "'")):
            if name in self.derived:
                self.derive(name, within)
            if name in self.named:
                return self.power(self.named[name], count)
        mend = near_match(family, [*self.named, *self.derived]) or "name moves of this file"
        raise self.fail(where, f"there is no move {shown(family + amount)}; {mend}")

    def power(self, move: Move, amount: str) -> Move:
        count = int(amount.rstrip("'") or 1)
        base = inverse(move, self.moduli) if amount.endswith("'") else move
        return repeated(base, count, identity(len(self.moduli)), self.then)

    def then(self, first: Move, second: Move) -> Move:
        self.products += 1
        if self.products > _MOST_PRODUCTS:
            raise self.fail("derivedMoves", f"more than {_MOST_PRODUCTS:,} products of moves; leave some out")
        return product(first, second, self.moduli)


def _undone(word: str) -> str:
    return word[:-1] if word.endswith("'") else f"{word}'"


_TOKEN = re.compile(
    r"(?:\s|//[^\n]*(?:\n|$))*+(?:(?P<mark>[\[(,:.])|(?P<end>[\])])(?P<times>\d{0,4}'?)|"
    r"(?P<family>(?:\d+(?:-\d+)?)?[A-Za-z_]+)(?P<amount>\d{0,4}'?)|(?P<wrong>\S)|$)"
)


class _Alg:
    """Moves as cubing.js writes them: ``R2' (U F)3 [x: U] [R, U]``, a conjugate and a commutator."""

    def __init__(self, reader: _Reader, where: str, text: str, within: tuple[str, ...]) -> None:
        self.reader = reader
        self.where = where
        self.text = text
        self.within = within
        self.at = 0
        self.depth = 0
        self.last = ""
        self.times = ""

    def product(self, ends: str) -> Move:
        """The moves up to one of the marks ``ends``; empty: to the end of the text."""
        reader = self.reader
        whole = identity(len(reader.moduli))
        self.depth += 1
        if self.depth > _DEEPEST:
            raise reader.fail(self.where, f"more than {_DEEPEST} brackets in each other; leave out some")
        while True:
            found = _TOKEN.match(self.text, self.at)
            assert found is not None, "any text matches"
            self.at = found.end()
            mark = found["mark"] or found["end"] or ""
            if found["family"]:
                part = reader.found(found["family"], found["amount"], self.where, self.within)
            elif mark and mark == ".":
                continue
            elif mark == "(":
                part = self.product(")")
                part = reader.power(part, self.times)
            elif mark == "[":
                part = self.pair()
            elif not found["wrong"] and (mark in ends if mark else not ends):
                self.depth -= 1
                self.last, self.times = mark, found["times"] or ""
                return whole
            else:
                what = shown(found["wrong"] or mark) if found["wrong"] or mark else "the end"
                raise reader.fail(
                    self.where,
                    f"{what} after {shown(self.text[: found.start()])}; expected moves: [x: U] R2' (U F)3",
                )
            whole = reader.then(whole, part)

    def pair(self) -> Move:
        reader = self.reader
        first = self.product(":,")
        mark = self.last
        second = self.product("]")
        back = inverse(first, reader.moduli)
        made = reader.then(reader.then(first, second), back)
        if mark == ",":
            made = reader.then(made, inverse(second, reader.moduli))
        return reader.power(made, self.times)


# Writing

_FAMILY = re.compile(r"(?:\d+(?:-\d+)?)?[A-Za-z_]+")


def kpuzzle(puzzle: Puzzle) -> str:
    """The puzzle in this format: its first goal, and of its moves those that are no powers of others. Names that
    cubing.js cannot read become ``M_a``, ``M_b`` and so on. Raises PuzzleError where a move has no inverse,
    or guards."""
    definition = permutation(puzzle)
    if not definition.symmetric:
        raise PuzzleError(
            f"puzzle {puzzle.name}: not every move of it can be taken back by one, and in KPuzzle JSON every move can; "
            "leave out inverses = false"
        )
    if definition.guards:
        raise PuzzleError(
            f"puzzle {puzzle.name}: some of its moves cannot be made on every board, which KPuzzle JSON cannot tell; "
            "export another puzzle"
        )
    goal = definition.goals[0]
    parts: list[tuple[str, Sequence[int]]] = []
    for row in tables(
        definition
    ).rows:  # a set whose pieces have different numbers of orientations is several orbits
        one = len({definition.slot_moduli[slot] for slot in row.slots}) == 1
        orbits_of_row = [row.slots] if one else [own for own in definition.orbits if own[0] in row.slots]
        parts += [(row.name, own) for own in orbits_of_row]
    names = _unique([name or "PIECES" for name, _ in parts])
    slots_of = dict(zip(names, [slots for _, slots in parts], strict=True))
    orbits: list[Json] = []
    pattern: Json = {}
    for name, slots in slots_of.items():
        labels = [goal[slot] for slot in slots]
        modulus = definition.slot_moduli[slots[0]]
        orbits.append({"orbitName": name, "numPieces": len(slots), "numOrientations": modulus})
        turns = [goal[definition.slots + slot] if definition.oriented else 0 for slot in slots]
        pattern[name] = {"pieces": [labels.index(label) for label in labels], "orientation": turns}
        if any(definition.ignore[label] for label in labels):
            pattern[name]["orientationMod"] = [int(definition.ignore[label]) for label in labels]
    moves = {
        name: {orbit: _on_orbit(move, slots) for orbit, slots in slots_of.items()}
        for name, move in _bases(definition)
    }
    document = {"name": puzzle.name, "orbits": orbits, "defaultPattern": pattern, "moves": moves}
    return re.sub(
        r"\[[\d,\s]*\]",
        lambda numbers: re.sub(r"\s+", " ", numbers[0]).replace("[ ", "[").replace(" ]", "]"),
        json.dumps(document, indent=2, ensure_ascii=False),
    )


def _on_orbit(move: Move, slots: Sequence[int]) -> dict[str, list[int]]:
    place = {slot: i for i, slot in enumerate(slots)}
    sources, turns = [0] * len(slots), [0] * len(slots)
    for i, slot in enumerate(slots):
        there = place[move.to[slot]]
        sources[there], turns[there] = i, move.delta[slot]
    return {"permutation": sources, "orientationDelta": turns}


def _bases(definition: Permutation) -> list[tuple[str, Move]]:
    """The moves that are no powers of earlier ones, by names that cubing.js can read."""
    moduli = definition.slot_moduli
    known = set[tuple[tuple[int, ...], tuple[int, ...]]]()
    found: list[tuple[str, Move]] = []
    for move in definition.generators:
        if move.effect not in known:
            known.update(power.effect for power in powers(move, moduli) or [move, inverse(move, moduli)])
            name = move.name if _FAMILY.fullmatch(move.name) else f"M_{_letters(len(found))}"
            found.append((name, move))
    return found


def _letters(number: int) -> str:
    """a to z, ba, bb and so on."""
    return (_letters(number // 26) if number >= 26 else "") + chr(ord("a") + number % 26)


def _unique(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        number, made = 1, name
        while made in found:
            number += 1
            made = f"{name}_{number}"
        found.append(made)
    return found
