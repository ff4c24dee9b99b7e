"""Patterns: a puzzle of which only some pieces matter, ``15-puzzle@1-7``. docs/patterns.md has what they are good for.

An *additive* pattern (of a sliding puzzle) counts the moves of its own pieces alone, all others cost nothing: a state
is where these pieces are. A *plain* one (``15-puzzle@plain:1-7``, and any of a permutation puzzle) makes the other
pieces alike, so it is an ordinary puzzle. They are written after ``@``:

PATTERN  plain:PARTS, or PARTS
PARTS    PART.PART...
PART     PIECES        each told apart from all others
         PIECES=PIECES one class: told apart from all others, not from each other
         places:PART   the orientations of these pieces do not matter; holds for the parts after it too
         turns:SET     the orientations of all pieces of the set matter; holds for the parts after it too
PIECES   a token; a range of numbers, 1-7; a set's name; all
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, cast

from farthest.arrays import np
from farthest.errors import PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, PuzzleDefinition
from farthest.puzzles.puzzle import FAMILIES, MARK, Origin, Puzzle, rules
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray


PLAIN = "plain:"
PLACES = "places:"
TURNS = "turns:"
ALIKE = "="
EVERY = "all"

MAX_GOALS = 1000
"""Goals of a pattern, where the wildcards of the puzzle's goals are filled in."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What a pattern tells of the pieces. ``plain``: all moves are counted.

    ``classes``: labels that are told apart from all others, those of a class alike, ascending; classes in the order of
    their first labels. ``unturned``: labels of these whose orientations do not matter. ``turned``: names of sets in
    which the orientations of all pieces matter.
    """

    plain: bool
    classes: tuple[tuple[int, ...], ...]
    unturned: frozenset[int] = frozenset()
    turned: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[int, ...]:
        """All labels of the classes, ascending."""
        return tuple(sorted(label for one in self.classes for label in one))


@dataclass(frozen=True, slots=True)
class Names:
    """What a pattern can name. Of each label: ``tokens``, how it is written, empty where it cannot be named;
    ``orbits``: labels with different numbers never stand in each other's places; ``turned``: whether it is told how its
    pieces are turned. ``sets``: the labels of each set of pieces; none in families without sets."""

    tokens: Sequence[str]
    orbits: Sequence[int]
    turned: Sequence[bool]
    sets: Mapping[str, Sequence[int]]

    @property
    def pieces(self) -> list[str]:
        """All tokens, none twice."""
        return list(dict.fromkeys(filter(None, self.tokens)))

    def labels(self, token: str) -> list[int]:
        """Those that are written so: one in each of some orbits."""
        return [label for label, written in enumerate(self.tokens) if written == token]


class PatternMaker(Protocol):
    """Makes the definitions of patterns of one family's puzzles. ``adds_up``: whether those that are not plain count
    the moves of their own pieces alone, so that distances of patterns without a common piece may be added up."""

    adds_up: bool

    def names(self, definition: PuzzleDefinition) -> Names:
        """What a pattern of the puzzle can name."""

    def make(
        self, definition: PuzzleDefinition, metric: str, choice: Choice, place: str
    ) -> tuple[PuzzleDefinition, tuple[int, ...]]:
        """The definition of the pattern, and for each label of the puzzle that of the pattern. Raises PuzzleError, the
        message beginning with ``place``."""

    def boards(
        self, pattern: PuzzleDefinition, relabel: NDArray[np.uint8], boards: NDArray[np.uint8]
    ) -> NDArray[np.uint8]:
        """Boards of the puzzle, uint8 (N, cells), as boards of the pattern."""


def goal_boards(goals: Sequence[Board], relabel: Sequence[int]) -> tuple[Board, ...]:
    """Goals with other labels, none twice; ``WILDCARD`` stays."""
    changed = (tuple(WILDCARD if label == WILDCARD else relabel[label] for label in goal) for goal in goals)
    return tuple(dict.fromkeys(changed))


FORM = "PUZZLE@TOKENS"

_LISTED = 12


def chosen(text: str, names: Names, place: str) -> Choice:
    """What the text after ``@`` means. Raises PuzzleError, the message beginning with ``place``."""
    plain = text.startswith(PLAIN)
    text = text.removeprefix(PLAIN)
    if not text:
        raise PuzzleError(
            f"{place}: no pieces after {MARK}; expected {FORM} such as {MARK}{'.'.join(names.pieces[:2])}"
        )
    reader = _Reader(names, place)
    for part in [text] if text in names.tokens else text.split("."):
        reader.read(part)
    return reader.choice(plain=plain)


class _Reader:
    def __init__(self, names: Names, place: str) -> None:
        self._names = names
        self._place = place
        self._mode = ""
        self._classes: list[tuple[int, ...]] = []
        self._unturned: set[int] = set()
        self._turned: dict[str, None] = {}
        self._taken: set[int] = set()

    def read(self, part: str) -> None:
        """Adds a part."""
        if part not in self._names.tokens and self._names.sets:
            for mode in (PLACES, TURNS):
                if part.startswith(mode):
                    self._mode = mode
                    part = part.removeprefix(mode)
        if self._mode == TURNS:
            self._turns(part)
            return
        joined = [part] if part in self._names.tokens else part.split(ALIKE)
        groups = [self._pieces(each) for each in joined]
        for group in groups:
            for label in group:
                if label in self._taken:
                    raise PuzzleError(
                        f"{self._place}: piece {self._names.tokens[label]} appears twice; name each once"
                    )
                self._taken.add(label)
                if self._mode == PLACES:
                    self._unturned.add(label)
        if len(groups) == 1:
            self._classes += [(label,) for label in groups[0]]
        else:
            self._join(joined, groups)

    def choice(self, *, plain: bool) -> Choice:
        """What the parts mean together."""
        names = self._names
        turned = {name: {label for label in names.sets[name] if names.turned[label]} for name in self._turned}
        unturned = {label for label in self._unturned if names.turned[label]}
        unturned = unturned.difference(*turned.values())
        with_turns = self._taken - unturned
        return Choice(
            plain,
            tuple(sorted(self._classes)),
            frozenset(unturned),
            tuple(name for name in names.sets if name in turned and not turned[name] <= with_turns),
        )

    def _join(self, joined: list[str], groups: list[list[int]]) -> None:
        """Adds a class in each orbit that the groups' pieces have in common."""
        orbits = [{self._names.orbits[label] for label in group} for group in groups]
        for part, of in zip(joined, orbits, strict=True):
            if of != orbits[0]:
                raise PuzzleError(
                    f"{self._place}: {joined[0]} and {part} never stand in each other's places, so they cannot be "
                    "alike; write . between them"
                )
        labels = sorted(label for group in groups for label in group)
        for orbit in sorted(orbits[0]):
            self._classes.append(tuple(label for label in labels if self._names.orbits[label] == orbit))

    def _turns(self, part: str) -> None:
        sets = self._names.sets
        named = [name for name in sets if name]
        if part != EVERY and part not in named:
            listed = " ".join([*named, EVERY])
            mend = near_match(part, named) or f"the sets are {listed}"
            raise PuzzleError(
                f"{self._place}: no set of pieces is named {shown(part)}; {TURNS} takes whole sets, because the "
                f"turn of a piece is unknown where it looks like others; {mend}; name pieces before {TURNS}, alike "
                f"ones joined by {ALIKE}"
            )
        turnable = [name for name in sets if any(self._names.turned[label] for label in sets[name])]
        if not turnable or (part != EVERY and part not in turnable):
            mend = f"those that are: {' '.join(turnable)}" if any(turnable) else f"leave out {TURNS}"
            raise PuzzleError(
                f"{self._place}: the pieces of {part} are not turned, or it does not matter how; {mend}"
            )
        self._turned |= dict.fromkeys(turnable if part == EVERY else [part])

    def _pieces(self, part: str) -> list[int]:
        names, place = self._names, self._place
        if part and part in names.tokens:
            return names.labels(part)
        if part in names.sets and part:
            return list(names.sets[part])
        if part == EVERY and names.sets:
            return [label for label, token in enumerate(names.tokens) if token]
        first, dash, last = part.partition("-")
        if dash and _is_number(first) and _is_number(last):
            return self._range(part, int(first), int(last))
        what = (
            f"no piece is written {shown(part)}"
            if part
            else "a piece is missing: there is nothing beside a dot or another sign"
        )
        mend = (near_match(part, [*names.pieces, *names.sets]) if part else "") or _listed(names)
        raise PuzzleError(f"{place}: {what}; expected pieces with . between, or a range such as 1-7; {mend}")

    def _range(self, part: str, first: int, last: int) -> list[int]:
        if first > last:
            raise PuzzleError(f"{self._place}: {part} runs downward; write {last}-{first}")
        kinds = len(self._names.pieces)
        if last - first >= kinds:
            raise PuzzleError(
                f"{self._place}: {part} is more than the {kinds} kinds of piece; {_listed(self._names)}"
            )
        return [label for number in range(first, last + 1) for label in self._pieces(str(number))]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3


def _listed(names: Names) -> str:
    pieces = names.pieces
    more = " ..." if len(pieces) > _LISTED else ""
    sets = [name for name in names.sets if name]
    return f"the pieces are {' '.join(pieces[:_LISTED])}{more}" + (
        f", the sets {' '.join(sets)}" if sets else ""
    )


def written(choice: Choice, names: Names) -> str:
    """The text that means the choice, without ``@``: whatever way it was written, the same."""
    turned = [one for one in choice.classes if not set(one) & choice.unturned]
    places = [one for one in choice.classes if set(one) & choice.unturned]
    parts = [
        *_written(turned, names),
        *_headed(PLACES, _written(places, names)),
        *_headed(TURNS, list(choice.turned) if all(choice.turned) else [EVERY]),
    ]
    return (PLAIN if choice.plain else "") + ".".join(parts)


def _headed(word: str, parts: list[str]) -> list[str]:
    return [word + parts[0], *parts[1:]] if parts else []


def _written(classes: Iterable[tuple[int, ...]], names: Names) -> list[str]:
    """Single pieces first: whole sets by their names, three and more numbers in a row as a range."""
    classes = list(classes)
    single = [one[0] for one in classes if len(one) == 1]
    parts = []
    for name, labels in names.sets.items():
        several = len(labels) > 1 or len(names.labels(names.tokens[labels[0]])) > 1
        if name and name not in names.tokens and several and set(labels) <= set(single):
            parts.append(name)
            single = [label for label in single if label not in labels]
    parts += _runs(list(dict.fromkeys(names.tokens[label] for label in single)))
    joined = [ALIKE.join(names.tokens[label] for label in one) for one in classes if len(one) > 1]
    return parts + list(dict.fromkeys(joined))


def _runs(tokens: Sequence[str]) -> list[str]:
    runs: list[list[str]] = []
    for token in tokens:
        if runs and _is_number(token) and _is_number(runs[-1][-1]) and int(runs[-1][-1]) + 1 == int(token):
            runs[-1].append(token)
        else:
            runs.append([token])
    return [f"{run[0]}-{run[-1]}" if len(run) > 2 else ".".join(run) for run in runs]


_MOST_SHOWN = 80
"""Characters of a pattern's text in messages."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern of a puzzle. ``puzzle``: what is enumerated; ``parent``: the puzzle itself.

    ``labels``: of the parent's pieces in the pattern, ascending; of an additive pattern, in the order of the rank.
    ``relabel``: for each label of the parent that of the pattern's puzzle.
    """

    puzzle: Puzzle
    parent: Puzzle
    additive: bool
    labels: tuple[int, ...]
    relabel: tuple[int, ...]

    @property
    def text(self) -> str:
        """What stands after ``@``."""
        return self.puzzle.name.rpartition(MARK)[2]

    def boards(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Boards of the parent, uint8 (N, cells), as boards of the pattern's puzzle, uint8 (N, its cells)."""
        relabel = np.array(self.relabel, dtype=np.uint8)
        return _maker(self.parent, self.parent.name).boards(self.puzzle.definition, relabel, boards)


def split_name(name: str) -> tuple[str, str]:
    """The puzzle's name or path, and the pattern's text. Raises PuzzleError where one of them is missing."""
    parent, _, tokens = name.rpartition(MARK)
    if not parent:
        raise PuzzleError(f"{shown(name)}: no puzzle before {MARK}; expected {FORM} such as 15-puzzle@1-7")
    return parent, tokens


def pattern_of(parent: Puzzle, text: str) -> Pattern:
    """The pattern that ``text`` (``1-7``, ``plain:1-7``, ``UF=UB.turns:edges``) means. Raises PuzzleError."""
    place = f"{parent.name}{MARK}{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}"
    definition = parent.definition
    if MARK in parent.name:
        raise PuzzleError(
            f"{place}: {parent.name} is a pattern already; name all its pieces after one {MARK}"
        )
    return _pattern(parent, chosen(text, _maker(parent, place).names(definition), place), place)


def names_in(parent: Puzzle) -> Names:
    """What a pattern of the puzzle can name. Raises PuzzleError for a family without patterns."""
    return _maker(parent, parent.name).names(parent.definition)


def pattern_of_labels(parent: Puzzle, labels: Sequence[int]) -> Pattern:
    """The pattern of pieces with these labels, ascending, as if they were named one by one. Raises PuzzleError."""
    return _pattern(parent, Choice(False, tuple((label,) for label in labels)), parent.name)


@lru_cache(maxsize=64)
def _pattern(parent: Puzzle, choice: Choice, place: str) -> Pattern:
    maker = _maker(parent, place)
    made, relabel = maker.make(parent.definition, parent.metric, choice, place)
    name = written(choice, maker.names(parent.definition))
    additive = maker.adds_up and not choice.plain
    puzzle = replace(
        parent,
        name=f"{parent.name}{MARK}{name}",
        title=f"{parent.title}: pieces {name.removeprefix(PLAIN)}, "
        f"{'moves of others free' if additive else 'other pieces alike'}",
        source=f"a pattern of {parent.name}",
        origin=Origin(),
        known=(),
        definition=made,
    )
    return Pattern(puzzle, parent, additive, choice.labels, relabel)


def _maker(parent: Puzzle, place: str) -> PatternMaker:
    found = rules(parent.family).call("patterns")
    if found is None:
        able = " and ".join(name for name in FAMILIES if "patterns" in rules(name).functions)
        raise PuzzleError(
            f"{place}: only {able} puzzles have patterns, and this one is of the family {parent.family}; "
            "enumerate the puzzle itself"
        )
    return cast(PatternMaker, found)
