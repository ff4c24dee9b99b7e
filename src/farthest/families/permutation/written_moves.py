"""Moves of permutation puzzles as people write them: ``R U' F2 R2' R^-1``, and ``RU'F2`` where names are letters."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from farthest.errors import BoardError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.facelets import cube_of
from farthest.families.permutation.moves import Modulo, Move, identity, inverse, product, repeated
from farthest.puzzles.move_text import POWER, MoveMaker, Step, check_count, power_of
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle


FACES = "UDLRFB"
OPPOSITE = ("UD", "LR", "FB")

_TURNS = {"x": "FUBD", "y": "FLBR", "z": "URDL"}  # each face goes where the next one was

_LAYERS = {
    "r": "L x",
    "l": "R x'",
    "u": "D y",
    "d": "U y'",
    "f": "B z",
    "b": "F z'",
    "M": "L' R x'",
    "E": "D' U y'",
    "S": "F' B z",
}
_WHOLE = {"R": "x", "L": "x'", "U": "y", "D": "y'", "F": "z", "B": "z'"}
_PART = re.compile(rf"(?P<layers>[1-9]?)(?P<base>[{FACES}]w|[A-Za-z])(?:{POWER.pattern})")


def is_cube(named: Mapping[str, Move], moduli: Modulo) -> bool:
    """Whether the moves are those of the six faces of a cube: of these, opposite ones alone can change places."""
    if any(face not in named for face in FACES) or set(named) & {*_TURNS, *_LAYERS}:
        return False
    faces = [named[face] for face in FACES]
    return all(
        (product(one, other, moduli).effect == product(other, one, moduli).effect)
        == ("".join(sorted((one.name, other.name))) in map("".join, map(sorted, OPPOSITE)))
        for i, one in enumerate(faces)
        for other in faces[:i]
    )


def without_whole_turns(steps: Sequence[Step], faces: Collection[str]) -> list[Step]:
    """The steps as moves of the ``faces`` of a cube that is held: ``x U`` is ``F``. A word that is no move stays.

    After ``x``, ``y`` or ``z``, which turn the cube as ``R``, ``U`` and ``F`` turn their faces, a letter means the face
    that is there now. The board is that of the cube turned back. Two layers, ``Rw`` or ``r``, are the opposite face and
    a turn of the cube, and so is one layer of a 2x2x2, which has three of the ``faces`` alone; a middle layer of a
    3x3x3, ``M E S``, which turns as ``L D F``, is both faces beside it and a turn of the cube.
    """
    frame = {face: face for face in FACES}
    found: list[Step] = []
    for step in steps:
        parts = list(_parts(step.word, 3 if len(faces) == 6 else 2))
        if not parts:
            found.append(step)
            continue
        for base, power in reversed(parts) if step.undone else parts:
            found += _held(base, -power if step.undone else power, frame, step.number, faces)
            check_count(len(found))
    return found


def _parts(word: str, size: int) -> Iterator[tuple[str, int]]:
    """The moves that a word is, each with its power; none where it is anything else. ``size``: of the cube."""
    matches = list(_PART.finditer(word))
    bases = [_base(match, size) for match in matches]
    if "".join(match[0] for match in matches) != word:
        return
    known = {*FACES, *_TURNS, *_LAYERS} - ({*"MES"} if size == 2 else set())
    if not {base[0] for base in bases} <= known:
        return
    for base, match in zip(bases, matches, strict=True):
        count, undone = power_of(match)
        yield base[0], -count if undone != base.endswith("'") else count


def _base(match: re.Match[str], size: int) -> str:
    """What is turned: a face, a letter of ``_LAYERS``, or the whole cube; ``?``: nothing of a cube."""
    base, wide = match["base"], match["base"].endswith("w") or match["base"] in "rludfb"
    if not wide:
        return "?" if match["layers"] else base
    layers, face = int(match["layers"] or 2), base[0].upper()
    if layers > size:
        return "?"
    return _WHOLE[face] if layers == size else face if layers == 1 else face.lower()


def _held(
    base: str, power: int, frame: dict[str, str], number: int, faces: Collection[str]
) -> Iterator[Step]:
    """The steps for a part; ``frame``, which is changed: for each place, the face that is there."""
    if base in FACES and frame[base] in faces:
        yield Step(f"{frame[base]}{abs(power)}", power < 0, number)
    elif base in _TURNS:
        cycle = _TURNS[base]
        for _ in range(power % 4):
            here = [frame[face] for face in cycle]
            for face, gone in zip(cycle[1:] + cycle[:1], here, strict=True):
                frame[face] = gone
    else:
        for each in (_LAYERS.get(base) or _LAYERS[base.lower()]).split():
            yield from _held(each[0], -power if each.endswith("'") else power, frame, number, faces)


OF_CUBES = "; or "
"""Before what else may be written of a cube, at the end of a message on a wrong move."""

_LISTED = 24
"""Moves that a message lists at most."""
_DERIVED = re.compile(r"[\d'~]+\Z")
_LETTERS = re.compile(r"[^\W\d_]{4}")


def _stands_at(word: str, at: int, name: str) -> bool:
    """Whether a move's name stands there. In ``R23`` it is ``R``, 23 times, also where ``R2`` is a move."""
    end = at + len(name)
    return word.startswith(name, at) and not (name[-1].isdigit() and word[end : end + 1].isdigit())


class WrittenMoves(MoveMaker):
    """A word is a move, or a power of one that the metric need not count as one move."""

    def __init__(self, puzzle: Puzzle) -> None:
        definition = self._definition = permutation(puzzle)
        self._moduli = definition.slot_moduli
        self._named = {move.name: move for move in definition.generators}
        self._words: dict[str, Move] = {}
        self._longest_first = sorted(self._named, key=len, reverse=True)
        # Without a separator only letters can be told apart: 12 may be a name, or 1 squared.
        self._letters = all(len(name) == 1 and name.isalpha() for name in self._stems())

    @cached_property
    def _faces(self) -> str:
        """The faces of a cube that may be turned as a whole; empty where it is none."""
        if is_cube(self._named, self._moduli):
            return FACES
        net, named = self._definition.net, self._named
        cube = None if net is None else cube_of(net)
        if (
            cube is None
            or cube.size != 2
            or any((pair[0] in named) == (pair[1] in named) for pair in OPPOSITE)
        ):
            return ""
        return "".join(face for face in FACES if face in named)  # a corner is held

    def held(self, steps: Sequence[Step]) -> Sequence[Step]:
        plain = all(step.word in self._named for step in steps)
        return steps if plain or not self._faces else without_whole_turns(steps, self._faces)

    def only_moves(self, text: str) -> bool:
        """No word is a piece, and no row of letters may be colours of stickers."""
        words = text.replace(",", " ").split()
        return _LETTERS.search(text) is None and not {*words} & {*self._definition.tokens}

    def check_no_board(self, steps: Sequence[Step]) -> None:
        """Raises BoardError for moves run together that are a piece, or a row of letters that may be colours."""
        for step in steps:
            if _DERIVED.sub("", step.word) not in self._named and not self.only_moves(step.word):
                raise BoardError(
                    f"move {step.number}, {shown(step.word)}: it may be of a board; expected moves, with spaces between"
                )

    def moved(self, board: Board, word: str, *, undone: bool) -> list[Board]:
        definition, move = self._definition, self._move(word)
        if definition.guards:
            number = next((n for n, of in enumerate(definition.generators) if of.effect == move.effect), None)
            if number is None:
                raise BoardError(
                    "it is several moves, each of which may be blocked; write them one after the other"
                )
            guards = definition.guards_of(number)
            if undone:
                guards = tuple(guard.taken_back(move.to) for guard in guards)
            if not all(guard.holds_on(board[: definition.slots]) for guard in guards):
                raise BoardError("it is blocked on this board: pieces are in the way")
        made = inverse(move, self._moduli) if undone else move
        return [definition.after(board, *made.effect)]

    @property
    def letters(self) -> bool:
        """Whether names are single letters, so that moves may be written without spaces."""
        return self._letters

    def product(self, steps: Sequence[Step]) -> Move:
        """The move, without a name, that makes the steps one after the other. Raises BoardError; of several the message
        has the number of the wrong one."""
        whole = identity(self._definition.slots)
        for step in steps:
            try:
                move = self._move(step.word)
            except BoardError as error:
                if len(steps) == 1:
                    raise
                raise BoardError(f"move {step.number}, {shown(step.word)}: {error}") from None
            whole = product(whole, inverse(move, self._moduli) if step.undone else move, self._moduli)
        return whole

    def _move(self, word: str) -> Move:
        found = self._words.get(word)
        if found is None:
            if len(self._words) > 4096:
                self._words.clear()
            found = self._words[word] = self._read(word)
        return found

    def _read(self, word: str) -> Move:
        if word in self._named:
            return self._named[word]
        moduli = self._moduli
        whole = identity(self._definition.slots)
        at = parts = 0
        while at < len(word):
            name = next((name for name in self._longest_first if _stands_at(word, at, name)), None)
            if name is None or (at and not self._letters):
                raise BoardError(self._unknown(word))
            at += len(name)
            parts += 1
            check_count(parts)
            power = POWER.match(word, at)
            assert power is not None, "the empty text matches"
            at = power.end()
            count, undone = power_of(power)
            move = inverse(self._named[name], moduli) if undone else self._named[name]
            whole = repeated(move, count, whole, lambda one, other: product(one, other, moduli))
        return whole

    def _stems(self) -> Iterator[str]:
        """The names of the moves, those left out that are written as powers of others."""
        for name in self._named:
            stem = _DERIVED.sub("", name)
            yield stem if stem in self._named else name

    def _unknown(self, word: str) -> str:
        stems = list(dict.fromkeys(self._stems()))
        listed = " ".join(stems[:_LISTED]) + (" ..." if len(stems) > _LISTED else "")
        guess = near_match(word, self._named)
        expected = f"expected one of {listed}, and after it perhaps a number, ' or both"
        if self._faces:
            others = [face for face in FACES if face not in self._faces]
            layers = [] if others else ["M", "E", "S", "3Rw"]
            return expected + OF_CUBES + " ".join([*others, "x", "y", "z", "r", "Rw", *layers])
        if word.rstrip("2'’") in ("x", "y", "z"):
            return f"it turns the whole puzzle, but this one is held; {expected}"
        return f"{expected}; {guess}" if guess else expected
