"""The family ``hanoi``: discs on pegs, moved one at a time, never onto a smaller one. Its definition, its table in a
puzzle's file, puzzles by name, boards as text and as pictures.

A board is the peg of each disc, the smallest first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from farthest.errors import BoardError, PuzzleError
from farthest.puzzles.definition import WILDCARD, Board, DigitPuzzle, MoveName
from farthest.puzzles.grid import Passages, disconnection, number_in_name
from farthest.puzzles.picture import Area, Hold, Picture, Shape
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.puzzles.tables import BoardsTable, Given, Number, Word
from farthest.wording import counted, shown

MAX_PEGS = 64
MAX_DISCS = 64
VARIANTS = ("standard", "cyclic", "adjacent")
"""Between which pegs discs may move."""


def variant_arcs(variant: str, pegs: int) -> Passages:
    """The ways of the discs in one of VARIANTS, sorted."""
    ways = [(a, b) for a in range(pegs) for b in range(pegs) if a != b]
    if variant == "cyclic":
        ways = [(a, b) for a, b in ways if b == (a + 1) % pegs]
    elif variant == "adjacent":
        ways = [(a, b) for a, b in ways if abs(a - b) == 1]
    return tuple(ways)


@dataclass(frozen=True, slots=True)
class Hanoi(DigitPuzzle):
    """Pegs, discs, and the pegs between which discs may move. ``arcs``: (from, to), sorted; both ways are two arcs."""

    pegs: int
    discs: int
    arcs: Passages
    goals: tuple[Board, ...]
    start: Board | None

    called = "hanoi"
    meaning = "the peg of each disc, the smallest first"
    wrong = "disc {number} is on {digit}, expected a peg from 0 to {most}"

    def problem(self) -> str | None:
        if not 2 <= self.pegs <= MAX_PEGS or not 1 <= self.discs <= MAX_DISCS:
            return f"expected 2 to {MAX_PEGS} pegs and 1 to {MAX_DISCS} discs"
        if list(self.arcs) != sorted(set(self.arcs)):
            return "the arcs are not sorted, or one appears twice"
        for a, b in self.arcs:
            if not (0 <= a < self.pegs and 0 <= b < self.pegs) or a == b:
                return f"arcs hold {[a, b]}; expected two different pegs from 0 to {self.pegs - 1}"
        if not self.goals:
            return "expected at least one goal"
        return self.boards_problem() or disconnection(self.pegs, self.arcs)

    @property
    def radices(self) -> tuple[int, ...]:
        return (self.pegs,) * self.discs

    @property
    def undirected(self) -> bool:
        """Whether each move can be taken back."""
        return all((b, a) in self.arcs for a, b in self.arcs)

    def size(self) -> str:
        return f"{counted(self.pegs, 'peg')}, {counted(self.discs, 'disc')}"

    def facts(self) -> list[tuple[str, str]]:
        variant = next((name for name in VARIANTS if variant_arcs(name, self.pegs) == self.arcs), "graph")
        both = [f"{a}-{b}" for a, b in self.arcs if a < b and (b, a) in self.arcs]
        one = [f"{a}→{b}" for a, b in self.arcs if (b, a) not in self.arcs]
        return [("variant", variant), ("discs move", " ".join(both + one))]

    def parsed(self, text: str, place: str, *, wildcards: bool) -> Board:
        """The pegs of the discs, smallest first; or the discs of each peg, pegs ended by /."""
        pegs, discs = self.pegs, self.discs
        example = ("" if pegs <= 10 else " ").join(["0"] * discs)
        mend = f"write the peg of each disc, the smallest first, such as {example!r}"
        if "/" in text or "|" in text:
            return _parse_stacks(text.replace("|", "/"), pegs, discs, place)
        tokens = text.replace(",", " ").split()
        if pegs <= 10 and len(tokens) == 1:
            tokens = list(tokens[0])
        return self.read_digits(tokens, ("peg", "disc"), place, mend, wildcards=wildcards)

    def format_board(self, board: Sequence[int]) -> str:
        between = "" if self.pegs <= 10 else " "
        return between.join("*" if peg == WILDCARD else str(peg) for peg in board)

    def draw_board(self, board: Sequence[int]) -> list[str]:
        """The discs by number on each peg, the smallest 1, the bottom one first."""
        width = len(str(self.pegs - 1))
        lines = []
        for peg in range(self.pegs):
            discs = [str(disc + 1) for disc in reversed(range(self.discs)) if board[disc] == peg]
            lines.append(f"{peg:>{width}} | {' '.join(discs)}".rstrip())
        free = [str(disc + 1) for disc in reversed(range(self.discs)) if board[disc] == WILDCARD]
        return [*lines, f"{'*':>{width}} | {' '.join(free)}"] if free else lines


def _parse_stacks(text: str, pegs: int, discs: int, place: str) -> Board:
    mend = "write the discs of each peg, 1 the smallest, pegs ended by /, such as " + repr(
        "/".join([" ".join(str(disc) for disc in range(discs, 0, -1)), *["-"] * (pegs - 1)])
    )

    def fail(problem: str) -> BoardError:
        return BoardError(f"{place}: {problem}; {mend}")

    stacks = text.split("/")
    if len(stacks) != pegs:
        raise fail(f"{counted(len(stacks), 'peg')}, expected {pegs}")
    board: dict[int, int] = {}
    for peg, stack in enumerate(stacks):
        tokens = [token for token in stack.replace(",", " ").split() if token != "-"]
        for token in tokens:
            if not (token.isascii() and token.isdigit() and len(token) <= 3 and 1 <= int(token) <= discs):
                raise fail(f"peg {peg} holds {shown(token)}, expected discs from 1 to {discs}")
            if int(token) in board:
                raise fail(f"disc {int(token)} appears twice, expected each disc once")
            board[int(token)] = peg
        if sorted(map(int, tokens)) not in ([*map(int, tokens)], [*map(int, tokens)][::-1]):
            raise fail(f"on peg {peg} a disc lies on a smaller one, expected an order of size")
    missing = [str(disc) for disc in range(1, discs + 1) if disc not in board]
    if missing:
        raise fail(f"{'discs' if len(missing) > 1 else 'disc'} {' '.join(missing)} missing")
    return tuple(board[disc] for disc in range(1, discs + 1))


class HanoiTable(BoardsTable):
    """The ``[hanoi]`` table of a definition: docs/puzzles.md says what its keys mean."""

    header = "hanoi"
    pegs = Number(2, MAX_PEGS, write=3)
    discs = Number(1, MAX_DISCS, write=5)
    variant = Word(VARIANTS, default="standard", instead="edges and arcs")
    edges = Given()
    arcs = Given()

    def read(self) -> Hanoi:
        pegs, discs = self.pegs, self.discs
        return self.with_boards(Hanoi(pegs, discs, self._ways(pegs), ((pegs - 1,) * discs,), (0,) * discs))

    def _ways(self, pegs: int) -> Passages:
        if "edges" not in self and "arcs" not in self:
            return variant_arcs(self.variant, pegs)
        self.only_one("variant", ["edges", "arcs"], "leave the variant out")
        edges, arcs = self.passages(pegs, joined="pegs")
        return tuple(sorted({*edges, *((b, a) for a, b in edges), *arcs}))


_NAME = re.compile(r"hanoi-(?:(cyclic|adjacent)-)?([0-9]+)-([0-9]+)")
_FOUR_PEGS = (0, 1, 3, 5, 9, 13, 17, 25, 33, 41, 49, 65, 81, 97, 113)


def hanoi_by_name(name: str) -> Puzzle | None:
    """The puzzle ``hanoi-4-9`` or ``hanoi-cyclic-3-5``, from all discs on peg 0 to all on the last peg, with published
    answers; None where the name has another form. Raises PuzzleError for a size that cannot be."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    variant, pegs, discs = match[1] or "standard", number_in_name(match[2]), number_in_name(match[3])
    if not 2 <= pegs <= MAX_PEGS or not 1 <= discs <= MAX_DISCS:
        raise PuzzleError(
            f"{shown(name)}: expected 2 to {MAX_PEGS} pegs and 1 to {MAX_DISCS} discs; choose such numbers"
        )
    title = {
        "standard": "",
        "cyclic": ", each disc to the next peg only",
        "adjacent": ", between neighbours only",
    }
    return Puzzle(
        name="-".join(["hanoi", *([] if variant == "standard" else [variant]), str(pegs), str(discs)]),
        title=f"Tower of Hanoi, {counted(pegs, 'peg')} and {counted(discs, 'disc')}{title[variant]}",
        source="É. Lucas 1883; variants as in OEIS A007664, A005665, A160002",
        family="hanoi",
        metric="move",
        origin=Origin(),
        known=_known(variant, pegs, discs),
        definition=Hanoi(pegs, discs, variant_arcs(variant, pegs), ((pegs - 1,) * discs,), (0,) * discs),
    )


def _known(variant: str, pegs: int, discs: int) -> tuple[KnownAnswer, ...]:
    if variant == "standard" and pegs == 3:
        layers = tuple(2 ** distance.bit_count() for distance in range(2**discs)) if discs <= 16 else None
        source = "A. M. Hinz, The Tower of Hanoi (1989): 2^b states at distance d, b the ones of d in binary"
        return (KnownAnswer(3**discs, 2**discs - 1, layers, None, source),)
    if variant == "standard" and pegs == 4 and discs < len(_FOUR_PEGS):
        source = (
            "OEIS A007664, proven by T. Bousch 2014; up to 14 discs no state is farther (R. E. Korf 2004)"
        )
        return (KnownAnswer(4**discs, _FOUR_PEGS[discs], None, None, source),)
    if variant == "adjacent" and pegs == 3:
        layers = (1,) * 3**discs if discs <= 9 else None
        source = "R. S. Scorer, P. M. Grundy, C. A. B. Smith 1944: all states in one line, 3^n - 1 moves"
        return (KnownAnswer(3**discs, 3**discs - 1, layers, None, source),)
    return ()


_DISC = 0.45  # height
_BETWEEN = 0.4  # the widest discs on two pegs


def picture(definition: Hanoi, board: Sequence[int]) -> Picture:
    """Discs on their pegs, those that may be on any peg on one of their own."""
    widest, height = _sizes(definition)
    pegs = [*range(definition.pegs), *([WILDCARD] if WILDCARD in board else [])]
    shapes = []
    for place, peg in enumerate(pegs):
        middle = place * (widest + _BETWEEN) + widest / 2
        shapes.append(Shape(middle - 0.06, 0, 0.12, height, -1))
        stack = [disc for disc in reversed(range(definition.discs)) if board[disc] == peg]
        for level, disc in enumerate(stack, 1):
            width = 1 + 0.5 * disc
            corner = middle - width / 2, height - level * _DISC
            shapes.append(Shape(*corner, width, _DISC, disc, str(disc + 1), glides=True))
        shapes.append(
            Shape(middle - 0.5, height, 1, 0.5, None, "*" if peg == WILDCARD else str(peg), bare=True)
        )
    return Picture(len(pegs) * (widest + _BETWEEN) - _BETWEEN, height + 0.5, tuple(shapes))


def hold(definition: Hanoi, board: Sequence[int], move: MoveName, after: Sequence[int]) -> Hold:
    """The uppermost disc of a peg, taken anywhere on the peg."""
    widest, height = _sizes(definition)
    source, target = (int(peg) for peg in str(move).split("→"))
    area, target_area = (Area(peg * (widest + _BETWEEN), 0.0, widest, height) for peg in (source, target))
    # Of each peg the picture has the peg, its discs from the lowest up, and its number.
    shape = sum(list(board).count(peg) + 2 for peg in range(source)) + list(board).count(source)
    return Hold(
        area, target_area, (shape,), said=f"disc {list(board).index(source) + 1} to peg {target}", chosen=True
    )


def _sizes(definition: Hanoi) -> tuple[float, float]:
    """The width of the widest disc, and the height of a peg."""
    return 1 + 0.5 * (definition.discs - 1), _DISC * (definition.discs + 1)
