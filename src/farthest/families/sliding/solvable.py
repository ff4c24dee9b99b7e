"""Sliding puzzles: which boards can be solved. The metric does not matter: a slide is a row of steps.

Where every passage is both ways, or one-way passages can be gone round (each cell can be reached from each other), each
move can be taken back, and boards fall into classes that moves join. On a ring or a line the order of the pieces never
changes. On other graphs with one blank Wilson's theorem decides, block by block (families/sliding/wilson.py); with
several blanks, where no single cell cuts the graph in two, all boards are one class.

Where several blanks and single cells that cut the graph make classes hard to tell, the blanks walk about and come back,
and have permuted the pieces; two boards are joined where such a walk makes one of the other. What is left is not
decided here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from functools import cached_property
from itertools import chain, islice, pairwise
from math import comb, factorial, prod
from typing import TYPE_CHECKING

from farthest.families.sliding.definition import Sliding, filled, sliding
from farthest.families.sliding.wilson import LINE, RING, THETA, ListedBlock, blocks_of, ring_order, row_block
from farthest.puzzles.family import undecided, why_none
from farthest.puzzles.grid import neighbours_of, round_trips

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from farthest.families.permutation.solvable import MovedPieces
    from farthest.families.sliding.wilson import Block
    from farthest.puzzles.definition import Board
    from farthest.puzzles.puzzle import Puzzle
    from farthest.random_source import RandomSource


def classes_of(definition: Sliding) -> Classes | None:
    """The classes of boards, where moves can be taken back; None: several blanks, and single cells cut the graph."""
    beside = neighbours_of(definition.cells, definition.edges + definition.arcs)
    ends = [cell for cell, others in enumerate(beside) if len(others) == 1]
    if all(len(others) <= 2 for others in beside):
        return InOrder(definition, ring_order(ends[0] if ends else 0, beside), LINE if ends else RING)
    blocks = blocks_of(definition.cells, definition.edges + definition.arcs)
    if definition.counts[0] == 1:
        return OneBlank(definition, blocks)
    return AllJoined(definition) if len(blocks) == 1 else None


class Classes(ABC):
    """The classes of boards that moves join: the blanks are brought to cells of their own, and there the pieces of each
    block are permuted among themselves."""

    def __init__(self, definition: Sliding, blocks: Sequence[Block]) -> None:
        self._body = definition
        self._blocks = blocks

    @abstractmethod
    def home(self, board: Board) -> list[int]:
        """The board after the blanks have walked to cells of their own."""

    @abstractmethod
    def away(self, held: list[int], rng: RandomSource) -> Board:
        """Such a board after the blanks have walked to any cells, all with the same chance."""

    def class_of(self, board: Board) -> Hashable:
        """Equal for the boards of one class, and only for those."""
        held = self.home(board)
        return tuple(block.class_of(_on(block, held)) for block in self._blocks)

    def size(self, board: Board) -> int:
        """How many boards are in the class of this one: the blanks may be on all sets of cells."""
        held = self.home(board)
        places = comb(self._body.cells, self._body.counts[0])
        return places * prod(block.size(_on(block, held)) for block in self._blocks)

    def drawn(self, board: Board, rng: RandomSource) -> Board:
        """A board of its class, each with the same chance."""
        held = self.home(board)
        for block in self._blocks:
            for cell, label in zip(block.cells, block.drawn(_on(block, held), rng), strict=True):
                held[cell] = label
        return self.away(held, rng)

    def why_apart(self, board: Board, target: Board) -> str:
        """Why the two are not in one class."""
        here, there = self.home(board), self.home(target)
        block = next(
            block
            for block in self._blocks
            if block.class_of(_on(block, here)) != block.class_of(_on(block, there))
        )
        mine, wanted = _on(block, here), _on(block, there)
        whole = len(self._blocks) == 1
        place = "" if whole else f" on the cells {_listed(sorted((*block.cells, block.root)))}"
        brought = self._brought(board, target)
        if Counter(mine) != Counter(wanted):
            return (
                f"pieces: {brought}{'cell' if len(mine) == 1 else 'the cells'} {_listed(block.cells)} "
                f"{'holds' if len(mine) == 1 else 'hold'} {self._tokens(sorted(mine))}, and at the target "
                f"{self._tokens(sorted(wanted))}; no piece comes past cell {block.root}, so put these pieces there"
            )
        if not isinstance(block, ListedBlock):
            return (
                f"parity: where all pieces{place} are distinct, only half of the boards can be reached, and this one "
                "is in the other half; exchange any two of these pieces to get one that can be reached"
            )
        if block.name == THETA:
            return (
                f"Wilson's theta graph: {len(block.group)} of its permutations of six pieces can be made, and none of "
                f"them takes {self._tokens(mine)} to {self._tokens(wanted)} on the cells {_listed(block.cells)}"
            )
        can = "can only go round" if block.name == RING else "cannot pass each other on the line"
        return (
            f"order: the pieces{place} {can}, {brought}from cell {block.cells[0]} on in the order "
            f"{self._tokens(mine)}, and at the target {self._tokens(wanted)}; put them in that order"
        )

    def _brought(self, board: Board, target: Board) -> str:
        """What messages say before the pieces of a block are told."""
        del board, target
        return ""

    def _tokens(self, labels: Sequence[int]) -> str:
        return " ".join(self._body.tokens[label] for label in labels)


class OneBlank(Classes):
    """One blank, which walks to cell 0."""

    def __init__(self, definition: Sliding, blocks: Sequence[Block]) -> None:
        super().__init__(definition, blocks)
        beside = neighbours_of(definition.cells, definition.edges + definition.arcs)
        self._before, queue = {0: -1}, [0]
        """For each cell the next one on a way to cell 0; -1 for cell 0."""
        for cell in queue:
            new = [other for other in beside[cell] if other not in self._before]
            self._before.update(dict.fromkeys(new, cell))
            queue += new

    def home(self, board: Board) -> list[int]:
        held = list(board)
        blank = held.index(0)
        while blank:
            after = self._before[blank]
            held[blank], held[after] = held[after], 0
            blank = after
        return held

    def away(self, held: list[int], rng: RandomSource) -> Board:
        way = [rng.below(self._body.cells)]
        while way[-1]:
            way.append(self._before[way[-1]])
        for before, cell in pairwise(reversed(way)):
            held[before], held[cell] = held[cell], 0
        return tuple(held)

    def _brought(self, board: Board, target: Board) -> str:
        return "" if board[0] == target[0] == 0 else "with the blank brought to cell 0, "


class InOrder(Classes):
    """Any number of blanks, which walk to the last cells of ``order``: the pieces keep their order along it."""

    def __init__(self, definition: Sliding, order: Sequence[int], name: str) -> None:
        pieces = order[: -definition.counts[0]]
        super().__init__(definition, [row_block(order[-1], pieces, name)])
        self._order = order

    def home(self, board: Board) -> list[int]:
        pieces = [board[cell] for cell in self._order if board[cell]]
        return self._placed(pieces, range(len(board)))

    def away(self, held: list[int], rng: RandomSource) -> Board:
        cells = list(range(len(held)))
        rng.shuffle(cells)
        pieces = [held[cell] for cell in self._order if held[cell]]
        free = set(cells[: len(pieces)])
        return tuple(self._placed(pieces, [i for i, cell in enumerate(self._order) if cell in free]))

    def _placed(self, pieces: Sequence[int], places: Iterable[int]) -> list[int]:
        """The board with the pieces at these places of the order."""
        held = [0] * self._body.cells
        for piece, place in zip(pieces, places, strict=False):
            held[self._order[place]] = piece
        return held


class AllJoined(Classes):
    """Every board can be reached from every board."""

    def __init__(self, definition: Sliding) -> None:
        super().__init__(definition, [])

    def home(self, board: Board) -> list[int]:
        return list(board)

    def away(self, held: list[int], rng: RandomSource) -> Board:
        rng.shuffle(held)
        return tuple(held)

    def size(self, board: Board) -> int:
        del board
        return self._body.arrangements()


def _on(block: Block, held: list[int]) -> tuple[int, ...]:
    return tuple(held[cell] for cell in block.cells)


def _listed(cells: list[int] | tuple[int, ...]) -> str:
    return " ".join(map(str, cells))


MOST_PLACES = 4_000
"""Sets of cells that the blanks may fill: more would take seconds."""


class BlankWalks:
    """What walks of the blanks do. The pieces are told by slots: where they are while the first cells are blank.

    ``walks``: generators of all permutations of the slots that walks make.
    """

    def __init__(self, puzzle: Puzzle) -> None:
        """Raises UndecidedError where the blanks have too many places."""
        self.definition = sliding(puzzle)
        cells, blanks = self.definition.cells, self.definition.counts[0]
        if comb(cells, blanks) > MOST_PLACES:
            raise undecided(puzzle)
        beside = neighbours_of(cells, self.definition.edges + self.definition.arcs)
        first = tuple(range(blanks, cells))
        self._places = {frozenset(range(blanks)): first}  # blanks -> where the piece of each slot is
        found = set[tuple[int, ...]]()
        queue = [first]
        for held in queue:
            blank = frozenset(range(cells)).difference(held)
            for slot, cell in enumerate(held):
                for to in blank.intersection(beside[cell]):
                    after = (*held[:slot], to, *held[slot + 1 :])
                    held_there = self._places.setdefault(blank - {to} | {cell}, after)
                    if held_there is after:
                        queue.append(after)
                    elif held_there != after:
                        found.add(tuple(map(held_there.index, after)))
        self.walks = _generators(len(first), sorted(found))

    def slots(self, board: Board) -> tuple[int, ...]:
        """The pieces of a board by slots, after its blanks have walked to the first cells."""
        held = self._places[frozenset(cell for cell, label in enumerate(board) if not label)]
        return tuple(board[cell] for cell in held)

    def tokens(self, pieces: Sequence[int]) -> str:
        """The pieces for messages."""
        return " ".join(self.definition.tokens[label] for label in pieces)

    def said(self, orbit: Sequence[int], pieces: Sequence[int]) -> str:
        """Which pieces some slots hold, for messages."""
        cells = " ".join(str(self.definition.counts[0] + slot) for slot in orbit)
        one = len(orbit) == 1
        return f"{'cell' if one else 'the cells'} {cells} {'holds' if one else 'hold'} {self.tokens(pieces)}"

    def board(self, pieces: Sequence[int], rng: RandomSource) -> Board:
        """The board after the blanks have walked from the first cells to any others, all with the same chance."""
        held = rng.chosen(list(self._places.values()))
        board = [0] * self.definition.cells
        for cell, label in zip(held, pieces, strict=True):
            board[cell] = label
        return tuple(board)


class Joined:
    """The boards that walks join to one board."""

    def __init__(self, walks: BlankWalks, board: Board) -> None:
        # Boards with one blank, as most are, need nothing of permutation puzzles.
        from farthest.families.permutation.assembly import PieceSet, assemble
        from farthest.families.permutation.groups import orbits
        from farthest.families.permutation.moves import Move
        from farthest.families.permutation.solvable import MovedPieces

        self._walks = walks
        self._pieces = walks.slots(board)
        moves = [Move(str(i), walk, (0,) * len(walk)) for i, walk in enumerate(walks.walks)]
        self._orbits = orbits(len(self._pieces), walks.walks)
        self._moved: MovedPieces | None = None
        if moves:
            definition = assemble([PieceSet("", 1, tuple((str(label), 0) for label in self._pieces))], moves)
            labels = list(map(int, definition.tokens))
            self._moved, (self._goal,), self._piece_of = MovedPieces(definition), definition.goals, labels
            self._label_of = {
                key: label for label, key in enumerate(zip(definition.label_orbit, labels, strict=True))
            }

    def why_not(self, board: Board) -> str | None:
        """Why the board is not one of them; None: it is. Raises UndecidedError."""
        pieces = self._walks.slots(board)
        blanks = " ".join(map(str, range(self._walks.definition.counts[0])))
        labels_of = [0] * len(pieces)
        for number, orbit in enumerate(self._orbits):
            here, there = (sorted(held[slot] for slot in orbit) for held in (pieces, self._pieces))
            if here != there:
                return (
                    f"pieces: with the blanks brought to the cells {blanks}, {self._walks.said(orbit, here)}, and at "
                    f"the target {self._walks.tokens(there)}; no piece comes there from other cells, so put these "
                    "pieces there"
                )
            for slot in orbit if self._moved else ():
                labels_of[slot] = self._label_of[number, pieces[slot]]
        if self._moved is None or self._moved.joined(tuple(labels_of), self._goal):
            return None
        return (
            f"order: the blanks, brought to the cells {blanks} and walking from there, make {self._moved.order:,} "
            f"permutations of the pieces, and none of them takes {self._walks.tokens(pieces)} to "
            f"{self._walks.tokens(self._pieces)}"
        )

    def drawn(self, rng: RandomSource) -> Board:
        """One of them, each with the same chance. Raises UndecidedError."""
        pieces = self._pieces
        if self._moved is not None:
            pieces = tuple(self._piece_of[label] for label in self._moved.drawn(self._goal, rng))
        return self._walks.board(pieces, rng)


def _generators(slots: int, permutations: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """A few of the permutations that generate all of them."""
    from farthest.families.permutation.groups import Group, orbits

    most = prod(factorial(len(orbit)) for orbit in orbits(slots, permutations))
    chosen: list[tuple[int, ...]] = []
    group = Group(slots, chosen)
    for permutation in permutations:
        if group.order == most:
            break
        if not group.knows(permutation):
            chosen.append(permutation)
            group = Group(slots, chosen)
    return chosen


MOST_FILLINGS = 20_000
"""Boards that the wildcards of targets may stand for, where these are not soon seen to be of every class."""
MOST_WALKED = 30
"""The same, where each needs a group of its own."""


class SlidingBoards:
    """The boards of the targets' classes; see Solvable."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...], classes: Classes) -> None:
        self._puzzle = puzzle
        self._body = sliding(puzzle)
        self._classes = classes
        self._targets = targets

    def why_not(self, board: Board) -> str | None:
        found = self._found
        if self._classes.class_of(board) in found:
            return None
        reason = self._classes.why_apart(board, next(iter(found.values())))
        return reason if len(found) == 1 else f"{reason}; no other target can be reached either"

    def draw(self, rng: RandomSource) -> Board:
        boards = list(self._found.values())
        sizes = [self._classes.size(board) for board in boards]
        return self._classes.drawn(boards[rng.weighed(sizes)], rng)

    @cached_property
    def _found(self) -> dict[Hashable, Board]:
        """A board of each class that has a target. Raises UndecidedError."""
        found: dict[Hashable, Board] = {}
        missing = self._body.arrangements()
        fillings = chain.from_iterable(filled(self._body, target) for target in self._targets)
        for board in islice(fillings, MOST_FILLINGS):
            key = self._classes.class_of(board)
            if key not in found:
                found[key] = board
                missing -= self._classes.size(board)
                if not missing:
                    return found
        if next(fillings, None) is not None:
            raise undecided(self._puzzle)
        return found


class WalkedBoards:
    """Several blanks where single cells cut the graph: the boards that walks of the blanks join to targets."""

    def __init__(self, puzzle: Puzzle, targets: tuple[Board, ...]) -> None:
        fillings = chain.from_iterable(filled(sliding(puzzle), target) for target in targets)
        boards = list(islice(fillings, MOST_WALKED + 1))
        if len(boards) > MOST_WALKED:
            raise undecided(puzzle)
        self._puzzle = puzzle
        walks = BlankWalks(puzzle)
        self._joined: list[Joined] = []
        for board in boards:
            if all(other.why_not(board) for other in self._joined):
                self._joined.append(Joined(walks, board))

    def why_not(self, board: Board) -> str | None:
        return why_none([joined.why_not(board) for joined in self._joined])

    def draw(self, rng: RandomSource) -> Board:
        if len(self._joined) > 1:  # of different sizes, perhaps
            raise undecided(self._puzzle)
        return self._joined[0].drawn(rng)


def solvable(puzzle: Puzzle, targets: tuple[Board, ...]) -> SlidingBoards | WalkedBoards:
    """See Family. UndecidedError for additive patterns, one-way moves, too many places of blanks or targets."""
    definition = sliding(puzzle)
    # An additive pattern forgets its blank. Where one-way passages can be gone round, a move can be taken back by going
    # round often enough, since the pieces have finitely many arrangements.
    if definition.blanks or not round_trips(definition.cells, definition.ways):
        raise undecided(puzzle)
    classes = classes_of(definition)
    return WalkedBoards(puzzle, targets) if classes is None else SlidingBoards(puzzle, targets, classes)
