"""Patterns: a puzzle of which only some pieces matter, ``15-puzzle@1-7``. docs/patterns.md has what they are good for.

An *additive* pattern (of a sliding puzzle) counts the moves of its own pieces alone, all others cost nothing: a state
is where these pieces are. A *plain* one (``15-puzzle@plain:1-7``, and any of a permutation puzzle) makes the other
pieces alike, so it is an ordinary puzzle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations
from math import perm
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.families.permutation.definition import Permutation
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.wording import near_match, shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

MARK = "@"
PLAIN = "plain:"
FORM = "PUZZLE@TOKENS"

MAX_GOALS = 1000
"""Goals of a pattern, where the wildcards of the puzzle's goals are filled in."""

_OTHERS = "·∙◦×"
"""How the pieces outside the pattern are written: the first of these that is no piece."""

_LISTED = 12

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

    def boards(self, boards: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Boards of the parent, uint8 (N, cells), as boards of the pattern's puzzle, uint8 (N, its cells)."""
        import numpy

        relabel = numpy.array(self.relabel, dtype=numpy.uint8)
        definition = self.parent.definition
        if not isinstance(definition, Permutation):
            return relabel[boards]
        from farthest.families.permutation.patterns import pattern_boards

        return pattern_boards(self.puzzle, relabel, boards, definition.slots)


def split_name(name: str) -> tuple[str, str]:
    """The puzzle's name or path, and the pattern's text. Raises PuzzleError where one of them is missing."""
    parent, _, tokens = name.rpartition(MARK)
    if not parent:
        raise PuzzleError(f"{shown(name)}: no puzzle before {MARK}; expected {FORM} such as 15-puzzle@1-7")
    return parent, tokens


def pattern_of(parent: Puzzle, text: str) -> Pattern:
    """The pattern that ``text`` (``1-7``, ``1.5.6``, ``plain:1-7``) means. Raises PuzzleError naming the wrong part."""
    place = f"{parent.name}{MARK}{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}"
    definition = parent.definition
    if MARK in parent.name:
        raise PuzzleError(
            f"{place}: {parent.name} is a pattern already; name all its pieces after one {MARK}"
        )
    if not isinstance(definition, Sliding | Permutation):
        raise PuzzleError(
            f"{place}: patterns are of sliding and permutation puzzles, and this is of the family {parent.family}; "
            "enumerate the puzzle itself"
        )
    plain = text.startswith(PLAIN)
    spoken = dict.fromkeys(definition.tokens[1:] if isinstance(definition, Sliding) else definition.tokens)
    chosen = _chosen(text.removeprefix(PLAIN), list(spoken), place)
    labels = tuple(label for label, token in enumerate(definition.tokens) if token in chosen)
    made: Sliding | Permutation
    if isinstance(definition, Permutation):
        from farthest.families.permutation.patterns import derived

        made, relabel = derived(definition, labels, others_token(definition.tokens), place)
    elif plain:
        made, relabel = _plain(definition, labels, place)
    else:
        made, relabel = _additive(definition, parent.metric, labels, place)
    additive = not made.has_moves
    return _pattern(parent, made, chosen, labels, relabel, plain=plain, additive=additive)


def _pattern(
    parent: Puzzle,
    definition: Sliding | Permutation,
    chosen: Sequence[str],
    labels: tuple[int, ...],
    relabel: tuple[int, ...],
    *,
    plain: bool,
    additive: bool,
) -> Pattern:
    written = _written(chosen)
    kind = "moves of others free" if additive else "other pieces alike"
    puzzle = replace(
        parent,
        name=f"{parent.name}{MARK}{PLAIN if plain else ''}{written}",
        title=f"{parent.title}: pieces {written}, {kind}",
        source=f"a pattern of {parent.name}",
        origin=Origin(),
        known=(),
        definition=definition,
    )
    return Pattern(puzzle, parent, additive, labels, relabel)


def others_token(tokens: Sequence[str]) -> str:
    """How the pieces outside the pattern are written."""
    written: list[str] = [*_OTHERS, *(f"others{number}" for number in range(len(tokens)))]
    return next(token for token in written if token not in tokens)


def goal_boards(goals: Sequence[Board], relabel: Sequence[int]) -> tuple[Board, ...]:
    """Goals with other labels, none twice; ``WILDCARD`` stays."""
    changed = (tuple(WILDCARD if label == WILDCARD else relabel[label] for label in goal) for goal in goals)
    return tuple(dict.fromkeys(changed))


# --- sliding puzzles -------------------------------------------------------------------------------------------


def _plain(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[Sliding, tuple[int, ...]]:
    """The body with all pieces alike but those in the pattern."""
    relabel = _relabel(definition, labels, place)
    kept = [0, *labels]
    others = sum(definition.counts) - sum(definition.counts[label] for label in kept)
    start = None if definition.start is None else tuple(relabel[label] for label in definition.start)
    made = replace(
        definition,
        tokens=(*(definition.tokens[label] for label in kept), others_token(definition.tokens)),
        counts=(*(definition.counts[label] for label in kept), others),
        goals=goal_boards(definition.goals, relabel),
        start=start,
    )
    return made, relabel


def _relabel(definition: Sliding, labels: tuple[int, ...], place: str) -> tuple[int, ...]:
    if len(labels) == len(definition.tokens) - 1:
        raise PuzzleError(
            f"{place}: the pattern has all pieces, so none are alike; leave some out, or enumerate the puzzle itself"
        )
    return tuple(
        0 if label == 0 else labels.index(label) + 1 if label in labels else len(labels) + 1
        for label in range(len(definition.tokens))
    )


def _additive(
    definition: Sliding, metric: str, labels: tuple[int, ...], place: str
) -> tuple[Sliding, tuple[int, ...]]:
    """The body in which label 0 is every cell without a piece of the pattern."""
    mend = f"write {PLAIN} after {MARK}, which makes the other pieces alike and counts all moves"
    if definition.counts[0] != 1:
        raise PuzzleError(
            f"{place}: {definition.counts[0]} blanks; additive patterns need exactly one; {mend}"
        )
    if metric != "step":
        raise PuzzleError(f"{place}: the metric is {metric}; additive patterns need step; {mend}")
    for label in labels:
        if definition.counts[label] != 1:
            raise PuzzleError(
                f"{place}: there are {definition.counts[label]} pieces {definition.tokens[label]}; those of an additive pattern "
                f"must all be distinct; leave them out, or {mend}"
            )
    relabel = tuple(
        labels.index(label) + 1 if label in labels else 0 for label in range(len(definition.tokens))
    )
    goals = list(dict.fromkeys(_placements(definition, labels, relabel, place)))
    made = replace(
        definition,
        tokens=(others_token(definition.tokens), *(definition.tokens[label] for label in labels)),
        counts=(definition.cells - len(labels), *(1 for _ in labels)),
        goals=tuple(goal for goal, _ in goals),
        start=None,
        blanks=tuple(blank for _, blank in goals),
    )
    return made, relabel


def _placements(
    definition: Sliding, labels: tuple[int, ...], relabel: tuple[int, ...], place: str
) -> list[tuple[Board, int]]:
    """The goals as boards of the pattern, and the blank's cell in each. Pieces of the pattern that a goal leaves open
    are in any of its open cells."""
    found: list[tuple[Board, int]] = []
    for goal in definition.goals:
        blank = goal.index(0)
        fixed = [0 if label == WILDCARD else relabel[label] for label in goal]
        open_cells = [cell for cell, label in enumerate(goal) if label == WILDCARD]
        missing = [relabel[label] for label in labels if label not in goal]
        if len(found) + perm(len(open_cells), len(missing)) > MAX_GOALS:
            raise PuzzleError(
                f"{place}: its goals stand for more than {MAX_GOALS:,} places of its pieces; take pieces that the "
                "goals name"
            )
        for cells in permutations(open_cells, len(missing)):
            board = list(fixed)
            for label, cell in zip(missing, cells, strict=True):
                board[cell] = label
            found.append((tuple(board), blank))
    return found


# --- tokens ----------------------------------------------------------------------------------------------------


def _chosen(text: str, tokens: list[str], place: str) -> list[str]:
    """The tokens that the text names, in the puzzle's order."""
    if not text:
        raise PuzzleError(
            f"{place}: no pieces after {MARK}; expected {FORM} such as {MARK}{'.'.join(tokens[:2])}"
        )
    named: list[str] = []
    for part in [text] if text in tokens else text.split("."):
        for token in _range(part, tokens, place):
            if token in named:
                raise PuzzleError(f"{place}: piece {token} is there twice; name each once")
            named.append(token)
    return [token for token in tokens if token in named]


def _range(part: str, tokens: list[str], place: str) -> list[str]:
    if part in tokens:
        return [part]
    first, dash, last = part.partition("-")
    if dash and _is_number(first) and _is_number(last):
        if int(first) > int(last):
            raise PuzzleError(f"{place}: {part} runs downward; write {last}-{first}")
        if int(last) - int(first) >= len(tokens):
            raise PuzzleError(
                f"{place}: {part} is more than the {len(tokens)} kinds of piece; {_listed(tokens)}"
            )
        return [
            token
            for number in range(int(first), int(last) + 1)
            for token in _range(str(number), tokens, place)
        ]
    what = (
        f"no piece is written {shown(part)}" if part else "a piece is missing: there is nothing beside a dot"
    )
    mend = (near_match(part, tokens) if part else "") or _listed(tokens)
    raise PuzzleError(f"{place}: {what}; expected pieces with . between, or a range such as 1-7; {mend}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= 3


def _listed(tokens: Sequence[str]) -> str:
    more = " ..." if len(tokens) > _LISTED else ""
    return f"the pieces are {' '.join(tokens[:_LISTED])}{more}"


def _written(tokens: Sequence[str]) -> str:
    """The text of a pattern: three and more numbers in a row as a range."""
    runs: list[list[str]] = []
    for token in tokens:
        if runs and _is_number(token) and _is_number(runs[-1][-1]) and int(runs[-1][-1]) + 1 == int(token):
            runs[-1].append(token)
        else:
            runs.append([token])
    return ".".join(f"{run[0]}-{run[-1]}" if len(run) > 2 else ".".join(run) for run in runs)
