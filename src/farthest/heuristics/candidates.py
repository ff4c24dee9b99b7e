"""Which patterns ``auto`` may take for a puzzle, as heuristics; the coordinator judges them (docs/searching.md).

Sliding puzzles with one blank and distinct pieces: partitions into additive patterns. Hanoi: the same, of discs.
Permutation puzzles: for each set of pieces the most that fit the memory, and what is declared for a puzzle. No other
family has patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from math import perm
from typing import TYPE_CHECKING

from farthest.errors import FarthestError, PuzzleError, SettingError
from farthest.heuristics.counts import distinct, is_pancake
from farthest.heuristics.registry import PARTITIONS, SYMMETRIC, goal_symmetries, partitions
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.grid import neighbours_of
from farthest.puzzles.patterns import PLACES, TURNS, Pattern, names_in, pattern_of, pattern_of_labels
from farthest.puzzles.puzzle import MARK, Origin, Puzzle
from farthest.spaces import compile_space

if TYPE_CHECKING:
    from farthest.families.sliding.definition import Sliding


PHASE_ONE = "FR=FL=BL=BR.turns:corners.edges"
DECLARED: dict[str, tuple[str, ...]] = dict.fromkeys(
    ("cube-3x3x3", "cube-3x3x3-qtm"), (f"sym:@{PHASE_ONE},@corners", f"sym:@{PHASE_ONE}")
)
"""Heuristics of puzzles of the catalogue that no rule would find."""

WITH_CORNERS = "FR=FL=BL=BR.URF=UFL=ULB=UBR.turns:corners.edges"
Form = tuple[int, int, int]
BOUNDS: dict[str, tuple[tuple[str, dict[str, Form]], ...]] = {
    "cube-3x3x3": tuple(
        (f"sym:@{WITH_CORNERS},sym:@{PHASE_ONE}", {WITH_CORNERS: form})
        for form in ((2, 9, 1), (2, 8, 2), (2, 8, 4), (2, 8, 8))
    )
}
"""The same with tables of bounds, made without maps: heuristics, and by pattern bits of a number, the base, and how
many entries share a number; the best first."""

MOST_LOOK_UPS = 12
"""A heuristic that looks more up for a board searches fewer boards than it cuts off."""

SMALLEST = 100
"""Patterns with fewer keys tell nothing."""


@dataclass(frozen=True, slots=True)
class Table:
    """One map of a candidate. ``same``: the patterns in whose maps its distances are; the first is made where none is
    stored. ``look_ups``: how many different ones there are of a board. ``pieces``: of each look-up if it is additive,
    else empty. ``bounds``: of a table of bounds, its form, as in ``BOUNDS``."""

    same: tuple[Pattern, ...]
    look_ups: int = 1
    pieces: tuple[tuple[int, ...], ...] = ()
    bounds: Form | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A heuristic as it is written, and its maps. ``added``: their values are added up, else the greatest counts."""

    text: str
    tables: tuple[Table, ...]
    added: bool


def candidates(puzzle: Puzzle, memory: int) -> list[Candidate]:
    """Those for the distance to the goal. ``memory``: of tables, about; those that are declared may take more."""
    definition = puzzle.definition
    if MARK in puzzle.name or not definition.has_moves or not definition.origin_boards[0]:
        return []
    if puzzle.family == "sliding":
        return list(_partitions(puzzle, memory))
    if puzzle.family == "hanoi":
        return list(_discs(puzzle, memory))
    if puzzle.family == "permutation":
        return [*declared(puzzle), *_of_sets(puzzle, memory)]
    return []


def declared(puzzle: Puzzle) -> list[Candidate]:
    """What is declared for the puzzle."""
    found = [candidate_of(puzzle, text) for text in DECLARED.get(puzzle.name, ())]
    return found + [candidate_of(puzzle, text, forms) for text, forms in BOUNDS.get(puzzle.name, ())]


# Sliding puzzles


def _partitions(puzzle: Puzzle, memory: int) -> Iterator[Candidate]:
    """The partitions that have names; then by the rule, the largest groups first."""
    from farthest.families.sliding.definition import sliding

    definition = sliding(puzzle)
    goals = definition.goals
    if puzzle.metric != "step" or definition.counts[0] != 1 or not distinct(definition):
        return
    if len(goals) != 1 or WILDCARD in goals[0]:
        return
    for name in partitions(puzzle):
        text = PARTITIONS[name][1].removeprefix(SYMMETRIC)
        groups = [pattern_of(puzzle, part.removeprefix(MARK)).labels for part in text.split("+")]
        yield partition_of(puzzle, groups, name)
    for size in range(len(definition.tokens) - 2, 1, -1):
        if perm(definition.cells, size) <= memory:
            yield partition_of(puzzle, grown_groups(definition, size))


def grown_groups(definition: Sliding, size: int) -> list[tuple[int, ...]]:
    """The pieces in connected groups of ``size``, and one of the rest: a group begins at the cell that is farthest from
    the blank's goal, and takes the neighbour whose passages to its cells are fewest in all; of equal ones the first."""
    cells, goal = range(definition.cells), definition.goals[0]
    beside = neighbours_of(definition.cells, definition.edges + definition.arcs)
    apart = {cell: _passages(beside, cell) for cell in cells}
    blank = goal.index(0)
    left = set(cells) - {blank}
    groups: list[tuple[int, ...]] = []
    while left:
        group = [max(left, key=lambda cell: (apart[blank].get(cell, 0), -cell))]
        while len(group) < size:
            near = left & set().union(*(beside[cell] for cell in group)) - set(group)
            if not near:
                break
            group.append(min(near, key=lambda cell: (sum(apart[cell][other] for other in group), cell)))
        left -= set(group)
        groups.append(tuple(sorted(goal[cell] for cell in group)))
    return groups


def _passages(beside: Sequence[Sequence[int]], cell: int) -> dict[int, int]:
    """Passages from a cell to each that it is joined with."""
    found, queue = {cell: 0}, [cell]
    for here in queue:
        for there in beside[here]:
            if there not in found:
                found[there] = found[here] + 1
                queue.append(there)
    return found


def partition_of_stored(puzzle: Puzzle, stored: Sequence[Pattern]) -> Candidate | None:
    """Additive patterns that are stored, and those in whose places these can stand, as far as they have no piece in
    common: the largest first."""
    from farthest.families.sliding.definition import sliding
    from farthest.families.sliding.symmetries import pattern_images

    images = {image.labels for each in stored for image in pattern_images(sliding(puzzle), each.labels)}
    groups: list[tuple[int, ...]] = []
    for labels in sorted(images, key=lambda labels: (-len(labels), labels)):
        if not any(set(labels) & set(group) for group in groups):
            groups.append(labels)
    return partition_of(puzzle, groups) if groups else None


def partition_of(puzzle: Puzzle, groups: Sequence[tuple[int, ...]], name: str = "") -> Candidate:
    """The sum of the additive patterns of groups of pieces. ``name``: what stands for it."""
    from farthest.families.sliding.definition import sliding
    from farthest.families.sliding.symmetries import pattern_images, symmetries

    definition = sliding(puzzle)
    tables: list[Table] = []
    for labels in groups:
        images = [image.labels for image in pattern_images(definition, labels)]
        for number, table in enumerate(tables):
            if table.same[0].labels in images:
                tables[number] = Table(table.same, pieces=(*table.pieces, labels))
                break
        else:
            same = [labels, *(image for image in images if image != labels)]
            tables.append(Table(tuple(pattern_of_labels(puzzle, one) for one in same), pieces=(labels,)))
    parts = "+".join(MARK + pattern_of_labels(puzzle, labels).text for labels in groups)
    mirrored = SYMMETRIC if symmetries(definition, definition.goals) else ""
    return Candidate(name or mirrored + parts, tuple(tables), added=True)


# Hanoi


def _discs(puzzle: Puzzle, memory: int) -> Iterator[Candidate]:
    """For each size of groups, the largest first, the greater of two sums: groups from the largest disc on, and from
    the smallest. Groups of one size mostly have one map."""
    from farthest.families.hanoi.definition import Hanoi

    hanoi = puzzle.defined_as(Hanoi)
    for size in range(hanoi.discs - 1, 0, -1):
        if not SMALLEST <= hanoi.pegs**size <= memory:
            continue
        from_smallest = [
            range(first, min(first + size, hanoi.discs)) for first in range(0, hanoi.discs, size)
        ]
        from_largest = [range(max(0, end - size), end) for end in range(hanoi.discs, 0, -size)]
        splits = {frozenset(groups): groups for groups in (from_largest, from_smallest)}
        sums = [[pattern_of_labels(puzzle, group) for group in groups] for groups in splits.values()]
        first: dict[str, Pattern] = {}
        for pattern in chain(*sums):
            first.setdefault(pattern.puzzle.digest, pattern)
        tables = tuple(
            Table((pattern,), pieces=tuple(each.labels for each in sums[0] if each.puzzle.digest == digest))
            for digest, pattern in first.items()
        )
        texts = ("+".join(MARK + pattern.text for pattern in patterns) for patterns in sums)
        yield Candidate(",".join(texts), tables, added=True)


# Permutation puzzles


def _of_sets(puzzle: Puzzle, memory: int) -> Iterator[Candidate]:
    """Of each set of pieces the pattern with the most keys, alone and together; the sets that take the least come
    first, and each gets its share of what is left. And all orientations, or all places, where these fit."""
    from farthest.families.permutation.definition import permutation

    if is_pancake(permutation(puzzle)):
        return  # `gap` is mostly the distance already
    names = names_in(puzzle)
    sized: list[list[tuple[int, str]]] = []
    for name, labels in names.sets.items():
        pieces = list(dict.fromkeys(names.tokens[label] for label in labels if names.tokens[label]))
        wanted = [name, f"{PLACES}{name}", f"{TURNS}{name}"] if name else []
        counts = (count for count in range(len(pieces), 0, -1) if perm(len(pieces), count) <= 2 * memory)
        wanted += [".".join(pieces[:count]) for count in counts]
        keys = [(_keys(puzzle, text), text) for text in wanted]
        sized.append([one for one in keys if SMALLEST <= one[0] <= memory])
    best: list[str] = []
    left = memory
    for number, found in enumerate(sorted(filter(None, sized), key=lambda found: max(found)[0])):
        fitting = [one for one in found if one[0] <= left // (len(sized) - number)]
        if fitting:
            keys_taken, text = max(fitting, key=lambda one: one[0])
            best.append(text)
            left -= keys_taken
    texts = [
        *best,
        *(text for text in ("turns:all", "places:all") if SMALLEST <= _keys(puzzle, text) <= memory),
    ]
    written = {text: mirrored(puzzle, text) for text in texts}
    if len(best) > 1:
        yield candidate_of(puzzle, ",".join(written[text] for text in best))
    for text in written.values():
        yield candidate_of(puzzle, text)


def _keys(puzzle: Puzzle, text: str) -> int:
    """The keys of a pattern; 0 where there is no such pattern, or too many keys."""
    try:
        return compile_space(pattern_of(puzzle, text).puzzle, Origin()).keys or 0
    except FarthestError:
        return 0


def mirrored(puzzle: Puzzle, text: str) -> str:
    """The pattern as a heuristic: of all images where these are not too many."""
    images = look_ups(puzzle, pattern_of(puzzle, text))
    return f"{SYMMETRIC if 1 < images <= MOST_LOOK_UPS else ''}{MARK}{text}"


def look_ups(puzzle: Puzzle, pattern: Pattern) -> int:
    """How many different patterns the symmetries that fix the goal make of one; 1 where they are not known."""
    seen = set()
    for image in _label_images(puzzle):
        numbers: dict[int, int] = {}
        seen.add(tuple(numbers.setdefault(pattern.relabel[label], len(numbers)) for label in image))
    return max(1, len(seen))


@lru_cache(maxsize=1)
def _label_images(puzzle: Puzzle) -> tuple[tuple[int, ...], ...]:
    """What each symmetry of a permutation puzzle that fixes the goal makes of the labels; none: they are not known."""
    if puzzle.family != "permutation":
        return ()
    try:
        found = goal_symmetries(puzzle, puzzle.definition.origin_boards[0])
    except SettingError:
        return ()
    return tuple(image.labels for _, image in found)


def candidate_of(puzzle: Puzzle, text: str, bounds: Mapping[str, Form] | None = None) -> Candidate:
    """The candidate of a heuristic of plain patterns, the greatest of which counts. Raises PuzzleError."""
    tables = []
    for term in text.split(","):
        pieces = term.removeprefix(SYMMETRIC).removeprefix(MARK)
        pattern = pattern_of(puzzle, pieces)
        if pattern.additive:
            raise PuzzleError(f"{puzzle.name}{term}: an additive pattern is no candidate by itself")
        images = look_ups(puzzle, pattern) if term.startswith(SYMMETRIC) else 1
        tables.append(Table((pattern,), images, bounds=(bounds or {}).get(pieces)))
    return Candidate(text, tuple(tables), added=False)
