"""Batches of boards whose cosets are enumerated: the boards of one coset share the enumeration.

A board is a position w, what takes the solved board to it; boards are of one coset where moves of the subgroup take
them to each other. A shortest sequence to w is a listed one, which ends with no move of the subgroup, and then some
moves of the subgroup. So the positions around w are watched, those that few moves of the subgroup lead to: at which
distance each is reached, and by which listed sequence, where one is the first to reach it. Where the listed sequence
ends farther away, one of the last of these positions takes the place of w, and the coset is enumerated again, to a
smaller distance.
"""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy

from farthest.coordinator.attempt import memory_errors
from farthest.coordinator.search.settings import SearchOutcome
from farthest.coordinator.search.solve import SearchInterrupted
from farthest.coordinator.search.storage import search_digest
from farthest.cosets import CosetSet
from farthest.errors import ResourceError, SearchError
from farthest.families.permutation.definition import permutation
from farthest.families.permutation.groups import inverse, product
from farthest.machine import cores
from farthest.search.contract import Problem
from farthest.search.deepening import Iteration
from farthest.search.plain import target_test
from farthest.search.solvable import why_unsolvable
from farthest.search.walking import boards_along, successors_of
from farthest.subgroups import own_moves
from farthest.wording import bytes_text, counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from farthest.coordinator.search.settings import SearchReporter
    from farthest.coordinator.search.solve import Solver
    from farthest.families.permutation.groups import Element
    from farthest.puzzles.definition import Board
    from farthest.search.walking import Successors
    from farthest.subgroups import Subgroup

    Word = tuple[int, ...]

MOST_AROUND = 1 << 12
"""Positions around a board that are watched, but for those at one move."""
MOST_WATCHED = 1 << 20
"""Of all boards of a coset together."""
FAR = 1 << 14
"""The distance of what is not reached."""


class _Around(NamedTuple):
    """Elements of a subgroup, a row each, those that fewest moves make first, and such words of moves."""

    elements: NDArray[numpy.uint16]
    words: list[Word]
    lengths: NDArray[numpy.int32]

    def of(self, boards: int) -> _Around:
        """Those that are watched around each of so many boards: all of so many moves, of one move at least."""
        most, count = max(1, MOST_WATCHED // boards), len(self.words)
        if most < count:
            count = int(numpy.searchsorted(self.lengths, max(2, self.lengths[most])))
        return _Around(self.elements[:count], self.words[:count], self.lengths[:count])


class _Enumerated(NamedTuple):
    """For each board and each position around it the bit and the distance; and of bits the listed sequences."""

    bits: NDArray[numpy.uint64]
    distances: NDArray[numpy.int32]
    caught: Mapping[int, Sequence[int]]


class BoardsByCosets:
    """Boards, each by the number that it has, of which those that are not alone in their coset are solved together when
    the first of them is asked for."""

    def __init__(
        self, solver: Solver, subgroup: str, boards: Mapping[int, Board], reporter: SearchReporter
    ) -> None:
        """Raises SettingError or ResourceError where the subgroup's cosets cannot be enumerated."""
        self._puzzle, self._settings, self._reporter = solver.puzzle, solver.settings, reporter
        if solver.target != "goal":
            raise SearchError("to: with subgroup it is goal, as cosets are counted from the solved board")
        self._cosets = CosetSet(self._puzzle, own_moves(self._puzzle, subgroup)[1], 0, ())
        memory, needed = self._settings.memory, self._cosets.bytes
        if memory is not None and memory < needed:
            raise ResourceError(
                f"{self._cosets.name}: a coset needs {bytes_text(needed)} of memory with its tables, more than "
                f"--memory {bytes_text(memory)}"
            )
        self._boards = boards
        self._coset: dict[int, str] = {}
        self._found: dict[int, SearchOutcome] = {}
        tables = self._cosets.ready()
        of_coset = defaultdict[str, list[int]](list)
        for number, board in boards.items():
            if why_unsolvable(self._puzzle, board, solver.targets) is None:
                of_coset[tables.sequence(inverse(self._element(board)))].append(number)
        self._of_coset = {name: numbers for name, numbers in of_coset.items() if len(numbers) > 1}
        for name, numbers in self._of_coset.items():
            self._coset.update(dict.fromkeys(numbers, name))
        alone = len(of_coset) - len(self._of_coset)
        told = []
        if self._coset:
            told = [f"{counted(len(self._coset), 'board')} of {counted(len(self._of_coset), 'coset')}"]
        if alone:
            told.append(f"{counted(alone, 'board')} alone in a coset")
        if told:
            reporter.notice(f"{self._cosets.subgroup}: {'; '.join(told)}")

    def take(self, number: int) -> SearchOutcome | None:
        """The outcome for a board; None: it is alone in its coset, or cannot be solved. Raises ResourceError,
        SearchInterrupted."""
        coset = self._coset.get(number)
        if coset is None:
            return None
        if number not in self._found:
            try:
                with memory_errors(self._puzzle):
                    self._solve(coset, self._of_coset[coset])
            except KeyboardInterrupt:
                raise SearchInterrupted(None) from None
        return self._found.pop(number)

    @cached_property
    def _of(self) -> Subgroup:
        return self._cosets.of

    @cached_property
    def _successors(self) -> Successors:
        return successors_of(self._puzzle)

    @cached_property
    def _around(self) -> _Around:
        """All elements of so many moves, as long as these are few; those of one move in any case."""
        own = [move for move, inside in enumerate(self._of.inside) if inside]
        words: dict[Element, Word] = {self._of.own.unit: ()}
        layer = words
        while layer and (len(words) == 1 or len(words) + len(layer) <= MOST_AROUND):
            words = words | layer
            layer = {
                after: (*word, move)
                for element, word in layer.items()
                for move in own
                if (after := product(element, self._of.moves[move])) not in words
            }
        spelled = list(words.values())
        lengths = numpy.array(list(map(len, spelled)), dtype=numpy.int32)
        return _Around(numpy.array(list(words), dtype=numpy.uint16), spelled, lengths)

    def _element(self, board: Board) -> Element:
        """What takes the solved board to this one."""
        definition = permutation(self._puzzle)
        slots, (goal, *_) = definition.slots, definition.goals
        home = {label: slot for slot, label in enumerate(goal[:slots])}
        to, turned = [0] * slots, [0] * slots
        for slot, label in enumerate(board[:slots]):
            to[home[label]] = slot
            if definition.oriented:
                turned[home[label]] = board[slots + slot] - goal[slots + home[label]]
        return self._of.points.element(to, turned)

    def _solve(self, coset: str, numbers: list[int]) -> None:
        began = perf_counter()
        r = tuple(self._of.element(coset).tolist())
        places = {number: product(r, self._element(self._boards[number])) for number in numbers}
        starts: dict[int, Word] = dict.fromkeys(numbers, ())
        lengths: dict[int, int] = {}
        ways: dict[int, Word] = {}
        around = self._around.of(len(numbers))
        back = [self._of.moves.index(inverse(move)) for move in self._of.moves]
        self._listed = passes = 0
        while places:
            passes += 1
            found = self._enumerated(coset, list(places.values()), around, passes)
            for row, number in enumerate(list(places)):
                to_here = found.distances[row]
                length = lengths.setdefault(number, int(to_here[0]))
                left = length - len(starts[number])
                on_the_way = numpy.flatnonzero(around.lengths + to_here == left).tolist()
                place, sequence = on_the_way[-1], None
                for at in on_the_way:
                    listed = () if to_here[at] == 0 else found.caught.get(int(found.bits[row, at]))
                    if listed is not None:
                        place, sequence = at, listed
                        break
                starts[number] += around.words[place]
                if sequence is None:
                    places[number] = product(places[number], tuple(around.elements[place].tolist()))
                else:
                    ways[number] = starts[number] + tuple(back[move] for move in reversed(sequence))
                    del places[number]
        seconds = (perf_counter() - began) / len(numbers)
        for number in numbers:
            self._found[number] = self._outcome(number, lengths[number], ways[number], seconds, len(numbers))

    def _enumerated(self, coset: str, places: Sequence[Element], around: _Around, number: int) -> _Enumerated:
        """``places``: for each position what the coset's sequence, and then that position, is. ``number``: of the pass.
        After the first one progress alone is told, with that number."""
        tables = self._cosets.ready()
        run = tables.begin(coset, self._settings.threads or cores())
        bits = numpy.stack(
            [
                numpy.frombuffer(run.bits(tables.rows(around.elements[:, place])), dtype=numpy.uint64)
                for place in places
            ]
        )
        run.watch(numpy.unique(bits))
        distances = numpy.full(bits.shape, FAR, dtype=numpy.int32)
        distance, began = 0, perf_counter()
        while (distances[:, 0] == FAR).any():
            done = run.advance(True)
            left = distances == FAR
            reached = numpy.frombuffer(run.reached(bits[left]), dtype=numpy.bool_)
            distances[left] = numpy.where(reached, distance, FAR)
            self._reporter.progress({"bound": distance} | ({"pass": number} if number > 1 else {}))
            if done is not None:
                self._listed += done[1]
                if number == 1:
                    solved = int((distances[:, 0] == distance).sum())
                    self._reporter.iteration(Iteration(distance, done[1], solved, 1, perf_counter() - began))
                distance, began = distance + 1, perf_counter()
        return _Enumerated(bits, distances, dict(run.caught()))

    def _outcome(self, number: int, length: int, way: Word, seconds: float, boards: int) -> SearchOutcome:
        """A board's, whose moves are made once more. ``seconds``: its share."""
        board = self._boards[number]
        problem = Problem(self._puzzle, board, "goal", self._cosets.subgroup)
        names = permutation(self._puzzle).generators
        moves = tuple(names[move].name for move in way)
        boards_along(self._puzzle, board, moves, target_test(problem), self._successors)
        if len(moves) != length:
            raise AssertionError(f"board {number}: {len(moves)} moves, expected {length}")
        return SearchOutcome(
            job=None,
            puzzle=self._puzzle.name,
            board=self._puzzle.definition.format_board(board),
            target=problem.target,
            heuristic=problem.heuristic,
            algorithm="cosets",
            length=length,
            solutions=1,
            paths=(moves,),
            optimal=True,
            bound=length,
            nodes=self._listed // boards,
            expanded=None,
            iterations=(),
            seconds=seconds,
            digest=search_digest(length, 1, [], (moves,)),
            resumed=None,
            definition=self._puzzle,
        )
