"""Heuristics as they are written: ``manhattan``, ``@1-7+@8-15``, ``linear-conflict,sym:@1-7+@8-15``.

HEURISTIC  TERM,TERM,...   the greatest of the terms
TERM       PART+PART+...   the sum; sym:TERM also the sums of the board's images by symmetries; a name of
                           ``PARTITIONS``
PART       a name of ``SIMPLE``, or @TOKENS: the stored map of the pattern PUZZLE@TOKENS
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from farthest.errors import MissingMapError, PuzzleError, ResourceError, SettingError
from farthest.heuristics import Algorithm, counts
from farthest.heuristics.contract import Heuristic, LoadMap, check_text
from farthest.heuristics.counts import CellSums, GapCounts, distinct, is_pancake, nearest_table
from farthest.heuristics.patterns import (
    AdditivePattern,
    Greatest,
    PlainPattern,
    Sum,
    conjugated,
    mirrored,
    some_boards,
)
from farthest.heuristics.sliding_distances import Conflicts, LeastMatching
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.patterns import Pattern, pattern_of, pattern_of_labels
from farthest.puzzles.puzzle import MARK, Puzzle
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from farthest.families.hanoi.definition import Hanoi
    from farthest.families.lights.definition import Lights
    from farthest.families.permutation.definition import Permutation
    from farthest.families.permutation.symmetries import Conjugation, SlotImages
    from farthest.families.sliding.definition import Sliding
    from farthest.families.sliding.symmetries import Symmetry

    Goals = Sequence[Board]


PARTITIONS = {
    "7-8": (4, "sym:@1-7+@8-15"),
    "6-6-6-6": (5, "sym:@1.2.5-7.12+@3.4.8.9.13.14+@10.11.15.16.20.21+@17-19.22-24"),
}
"""Of each name: the rows and columns of the grid, and the heuristic in full."""


def in_full(text: str, puzzle: Puzzle) -> str:
    """A heuristic's text with what the names of the puzzle's partitions stand for in their places."""
    there = partitions(puzzle)
    return ",".join(PARTITIONS[term][1] if term in there else term for term in text.split(","))


def partitions(puzzle: Puzzle) -> list[str]:
    """The names that mean something for the puzzle: a square of numbered pieces in their order, the blank first."""
    if puzzle.family != "sliding" or puzzle.metric != "step":
        return []
    definition = _sliding(puzzle)
    cells = tuple(range(definition.cells))
    if definition.goals != (cells,) or definition.tokens[1:] != tuple(map(str, cells[1:])):
        return []
    return [
        name
        for name, (side, _) in PARTITIONS.items()
        if definition.rows == tuple(cells[row * side : (row + 1) * side] for row in range(side))
    ]


# A family's modules are imported for its own puzzles alone.


def _sliding(puzzle: Puzzle) -> Sliding:
    return cast("Sliding", puzzle.definition)


def _permutation(puzzle: Puzzle) -> Permutation:
    return cast("Permutation", puzzle.definition)


@dataclass(frozen=True, slots=True)
class Simple:
    """A heuristic by name. ``problem``: why it is not for a puzzle, with a mend, or None; ``make`` then makes it."""

    problem: Callable[[Puzzle], str | None]
    make: Callable[[Puzzle, Goals], Heuristic]


def _of_pieces(puzzle: Puzzle) -> str | None:
    """For heuristics from the distances of single pieces."""
    if puzzle.family != "sliding":
        return f"it measures ways of pieces on the board of a sliding puzzle, this is of the family {puzzle.family}"
    if puzzle.metric != "step":
        return f"in the metric {puzzle.metric} one move takes several pieces; it needs the metric step"
    return None


def _of_distinct_pieces(puzzle: Puzzle) -> str | None:
    if problem := _of_pieces(puzzle):
        return problem
    definition = _sliding(puzzle)
    if not distinct(definition):
        label = max(range(1, len(definition.tokens)), key=lambda label: definition.counts[label])
        return (
            f"it needs distinct pieces, there are {definition.counts[label]} {definition.tokens[label]}; "
            "use 'nearest' or 'matching'"
        )
    return None


def _of_grids(puzzle: Puzzle) -> str | None:
    rows_problem = "it needs the rows and columns of a grid; use 'manhattan'"
    return _of_distinct_pieces(puzzle) or (None if _sliding(puzzle).rows else rows_problem)


def _of_contents(puzzle: Puzzle) -> str | None:
    if puzzle.family in ("sliding", "permutation"):
        return None
    return f"it counts pieces of sliding and permutation puzzles, this is of the family {puzzle.family}"


def _of_pancakes(puzzle: Puzzle) -> str | None:
    if puzzle.family == "permutation" and is_pancake(_permutation(puzzle)):
        return None
    return "it needs moves that all turn over the top of a pile, such as those of pancake-7"


def _counting(
    what: str, family: str, problem: Callable[[Puzzle], str | None] = lambda puzzle: None
) -> Callable[[Puzzle], str | None]:
    """For what counts something of one family's puzzles that have no other ``problem``."""
    wrong = f"it counts the {what} of the family {family}"
    return lambda puzzle: problem(puzzle) if puzzle.family == family else wrong


def _presses_problem(puzzle: Puzzle) -> str | None:
    from farthest.heuristics.presses import presses_problem

    return presses_problem(cast("Lights", puzzle.definition))


def _jumps_problem(puzzle: Puzzle) -> str | None:
    if puzzle.metric == "jump":
        return None
    return f"in the metric {puzzle.metric} one move takes away any number of pegs; it needs the metric jump"


def _misplaced(puzzle: Puzzle, goals: Goals) -> Heuristic:
    if puzzle.family == "sliding":
        return counts.misplaced_pieces(_sliding(puzzle), goals, puzzle.metric)
    return counts.misplaced_contents(_permutation(puzzle), goals)


def _presses(puzzle: Puzzle, goals: Goals) -> Heuristic:
    from farthest.heuristics.presses import Presses

    return Presses(cast("Lights", puzzle.definition), goals, puzzle.metric)


def _distances(name: str) -> Callable[[Puzzle, Goals], Heuristic]:
    return lambda puzzle, goals: CellSums(name, [nearest_table(_sliding(puzzle), goal) for goal in goals])


SIMPLE: dict[str, Simple] = {
    "zero": Simple(
        lambda puzzle: None,
        lambda puzzle, goals: counts.zero(puzzle.definition.contents, puzzle.definition.cells),
    ),
    "misplaced": Simple(_of_contents, _misplaced),
    "nearest": Simple(_of_pieces, _distances("nearest")),
    "manhattan": Simple(_of_distinct_pieces, _distances("manhattan")),
    "matching": Simple(_of_pieces, lambda puzzle, goals: LeastMatching(_sliding(puzzle), goals)),
    "linear-conflict": Simple(_of_grids, lambda puzzle, goals: Conflicts(_sliding(puzzle), goals)),
    "gap": Simple(_of_pancakes, lambda puzzle, goals: GapCounts(_permutation(puzzle), goals)),
    "discs": Simple(
        _counting("discs", "hanoi"),
        lambda puzzle, goals: counts.misplaced_discs(cast("Hanoi", puzzle.definition), goals),
    ),
    "lamps": Simple(
        _counting("lamps", "lights"),
        lambda puzzle, goals: counts.wrong_lamps(cast("Lights", puzzle.definition), goals, puzzle.metric),
    ),
    "presses": Simple(_counting("presses", "lights", _presses_problem), _presses),
    "pegs": Simple(_counting("pegs", "pegs", _jumps_problem), lambda puzzle, goals: counts.SparePegs(goals)),
}
"""Of those for one puzzle the weakest comes first."""

SYMMETRIC = "sym:"


def open_heuristic(
    text: str, puzzle: Puzzle, targets: Sequence[Board], load_map: LoadMap | None = None
) -> Heuristic:
    """The heuristic that ``text`` names, for the distance to the nearest of ``targets``, boards perhaps with WILDCARD.

    ``load_map`` gives the maps of patterns. Raises SettingError where the text is wrong or a heuristic is not for the
    puzzle, PuzzleError for a wrong pattern, and what ``load_map`` raises.
    """
    check_text(text)
    return _Reader(text, puzzle, targets, load_map).heuristic()


def goal_symmetries(puzzle: Puzzle, goals: Goals) -> list[tuple[Conjugation, SlotImages]]:
    """All symmetries of a permutation puzzle that fix its goal, and what they do slot by slot. Raises SettingError
    where they are not known so."""
    from farthest.families.permutation.symmetries import Conjugation, symmetries

    if len(goals) != 1 or WILDCARD in goals[0]:
        raise SettingError("needs one goal without wildcards")
    try:
        found = symmetries(_permutation(puzzle), goals[0]).maps
    except ResourceError as error:
        raise SettingError(f"cannot be used: {error}") from None
    images = [(each, each.slotwise()) for each in found if isinstance(each, Conjugation)]
    known = [(each, image) for each, image in images if image is not None]
    if len(known) < len(images):
        raise SettingError("needs a puzzle that no piece holds and whose orientations all count")
    return known


def applicable(puzzle: Puzzle) -> list[str]:
    """The plain names that are for the puzzle, all admissible, in a fixed order, ``zero`` first."""
    if not puzzle.definition.has_moves:
        return []
    return [name for name, simple in SIMPLE.items() if simple.problem(puzzle) is None]


def default_heuristic(puzzle: Puzzle, algorithm: Algorithm = "ida") -> str:
    """The strongest of ``applicable`` that the kernel computes fast; it needs no stored map.

    Not `matching` where `manhattan` has the same values. Neither `matching` nor `linear-conflict` with several blanks
    or for A*: the kernel has them for deepening with one blank only. Raises SettingError for the puzzle of an additive
    pattern.
    """
    if not puzzle.definition.has_moves:
        raise SettingError(_pattern_problem(puzzle))
    names = applicable(puzzle)
    left_out = ["matching"] if "manhattan" in names else []
    if puzzle.family == "sliding" and (algorithm == "astar" or _sliding(puzzle).counts[0] > 1):
        left_out = ["linear-conflict", "matching"]
    return [name for name in names if name not in left_out][-1]


class _Reader:
    def __init__(self, text: str, puzzle: Puzzle, targets: Sequence[Board], load_map: LoadMap | None) -> None:
        self.text = "".join(text.split())
        self.puzzle = puzzle
        self.targets = tuple(targets)
        self.load_map = load_map

    def heuristic(self) -> Heuristic:
        if not self.puzzle.definition.has_moves:
            raise SettingError(_pattern_problem(self.puzzle))
        terms = [self._term(term) for term in in_full(self.text, self.puzzle).split(",")]
        return terms[0] if len(terms) == 1 else Greatest(self.text, terms)

    def _term(self, text: str) -> Heuristic:
        if text.startswith(SYMMETRIC):
            return self._mirrored(text)
        parts = [self._part(part) for part in text.split("+")]
        return parts[0] if len(parts) == 1 else Sum(text, parts)

    def _mirrored(self, text: str) -> Heuristic:
        if text.startswith(SYMMETRIC * 2):
            raise self._error(text, f"has {SYMMETRIC} twice; leave one out")
        if self.puzzle.family == "permutation":
            images = self._conjugations(text)
            term = self._term(text.removeprefix(SYMMETRIC))
            return conjugated(text, term, images, some_boards(self.puzzle, self.targets[0]))
        found: list[Symmetry] = []
        if self.puzzle.family == "sliding":
            from farthest.families.sliding.symmetries import symmetries

            found = symmetries(_sliding(self.puzzle), self.targets)
        if not found:
            raise self._error(
                text,
                "needs a grid of a sliding puzzle with one goal that a mirror image or a turn leaves unchanged "
                f"except for the names of pieces, or a permutation puzzle; leave out {SYMMETRIC}",
            )
        return mirrored(text, self._term(text.removeprefix(SYMMETRIC)), found)

    def _conjugations(self, text: str) -> list[tuple[Conjugation, SlotImages]]:
        if any(not part.startswith(MARK) for part in text.removeprefix(SYMMETRIC).split("+")):
            raise self._error(
                text, f"needs patterns ({MARK}PIECES) of a permutation puzzle; leave out {SYMMETRIC}"
            )
        try:
            return goal_symmetries(self.puzzle, self.targets)
        except SettingError as error:
            raise self._error(text, f"{error}; leave out {SYMMETRIC}") from None

    def _part(self, name: str) -> Heuristic:
        if name.startswith(MARK):
            return self._pattern(name)
        names = applicable(self.puzzle)
        if not name:
            raise SettingError(
                f"heuristic {shown(self.text)}: a name is missing; those for {self.puzzle.name} are {', '.join(names)}"
            )
        if name not in SIMPLE:
            mend = near_match(name, SIMPLE) or f"those for {self.puzzle.name} are {', '.join(names)}"
            raise self._error(name, f"is not known; {mend}")
        if problem := SIMPLE[name].problem(self.puzzle):
            mend = "" if "; use " in problem else f"; those for it are {', '.join(names)}"
            raise self._error(name, f"is not for {self.puzzle.name}: {problem}{mend}")
        return SIMPLE[name].make(self.puzzle, self.targets)

    def _pattern(self, name: str) -> Heuristic:
        try:
            pattern = pattern_of(self.puzzle, name.removeprefix(MARK))
        except PuzzleError as error:
            raise self._error(name, f"is not a pattern: {error}") from None
        if self.targets != self.puzzle.definition.origin_boards[0]:
            raise self._error(
                name,
                f"is a map of distances to the goal of {self.puzzle.name}, and another board is asked for; "
                f"use {default_heuristic(self.puzzle)!r}",
            )
        if self.load_map is None:
            raise self._error(
                name, f"is a stored map, and no database is open; use {default_heuristic(self.puzzle)!r}"
            )
        if not pattern.puzzle.definition.has_moves:
            return self._additive(name, pattern, self.load_map)
        return PlainPattern(name, pattern, self.load_map(pattern.puzzle))

    def _additive(self, name: str, pattern: Pattern, load_map: LoadMap) -> Heuristic:
        """The first stored map in which the pattern's distances are: so all patterns that could share a map do."""
        from farthest.families.sliding.symmetries import pattern_images

        missing: dict[tuple[int, ...], MissingMapError] = {}
        for image in pattern_images(_sliding(self.puzzle), pattern.labels):
            same = pattern_of_labels(self.puzzle, image.labels).puzzle
            try:
                return AdditivePattern(name, image, load_map(same))
            except MissingMapError as error:
                missing[image.labels] = error
        raise missing[pattern.labels]

    def _error(self, part: str, problem: str) -> SettingError:
        place = f"heuristic {shown(self.text)}"
        return SettingError(
            f"{place}: {problem}" if part == self.text else f"{place}: {shown(part)} {problem}"
        )


def _pattern_problem(puzzle: Puzzle) -> str:
    parent = puzzle.name.rpartition(MARK)[0]
    return f"puzzle {puzzle.name} is a pattern, which serves as a heuristic itself; name {parent} instead"
