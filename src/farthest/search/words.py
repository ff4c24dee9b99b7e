"""Solutions of permutation puzzles from short words for a chain of stabilisers: an answer to every board, far from the
shortest.

For each base point of the chain, and each point that the elements which fix the base points before can take it to,
there is a word that does it. A board is solved by one such word after the other. The words are the shortest that turn
up while many words are sifted; commutators of short words, which move few pieces, give those of the last base points.
Source: T. Minkwitz, An algorithm for solving the factorization problem in permutation groups, 1998.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy

from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.groups import Group, Points, inverse
from farthest.families.permutation.moves import inverse as inverse_move
from farthest.puzzles.definition import WILDCARD, Board
from farthest.random_source import RandomSource

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.search.contract import Problem, Way

    Word = tuple[int, ...]
    Elements = NDArray[numpy.int16]

BATCH = 1 << 11
"""Words that are sifted at once."""
ROUNDS = 12
MOST_ROUNDS = 60
LONGEST = 4
"""Moves of the words whose commutators are sifted."""
SHORTEST, MORE = 12, 48
"""Words of a level whose products are sifted; more where the level lacks some."""
MOST_POINTS = 256
"""Points of a group at most: slots, each as often as its pieces have orientations."""
REDUCED = 8
"""Of each batch of solutions, the shortest, from which moves that take each other back are left out."""
ASSIGNED = 64
"""Ways in which equal pieces are told apart until one can be solved."""


_FAR = 1 << 20
"""The length of a word that is missing."""


class Words:
    """The words of a puzzle's chain. ``whole``: whether there is one for each point."""

    def __init__(self, definition: Permutation) -> None:
        self._rng = RandomSource(1)
        self._points = Points(definition.slot_moduli)
        moves = self._points.elements(definition.generators)
        group = Group(len(self._points.places), moves)
        self._moves = numpy.array(moves, dtype=numpy.int16)
        effects = {move.effect: number for number, move in enumerate(definition.generators)}
        self._back = [
            effects[inverse_move(move, definition.slot_moduli).effect] for move in definition.generators
        ]
        self._join = cache(self._joined)
        self._base = [level.point for level in group.levels if len(level.ways) > 1]
        self._sizes = [len(level.ways) for level in group.levels if len(level.ways) > 1]
        points = len(self._points.places)
        self._words: list[Word] = [()]
        self._number = numpy.zeros((len(self._base), points), dtype=numpy.intp)  # of the word
        self._length = numpy.full((len(self._base), points), _FAR)
        self._undone = numpy.zeros((len(self._base), points, points), dtype=numpy.int16)
        for level, point in enumerate(self._base):
            self._length[level, point] = 0
            self._undone[level, point] = numpy.arange(points)
        self._learn([(move,) for move in range(len(moves))])
        for number in range(MOST_ROUNDS):
            self._learn(self._commutators())
            self._multiply()
            if number + 1 >= ROUNDS and self.whole:
                break

    @property
    def whole(self) -> bool:
        known = (self._length < _FAR).sum(axis=1)
        return bool((known == numpy.array(self._sizes)).all())

    def solution(self, element: Sequence[int], tries: int, stopped: Callable[[], bool]) -> Word | None:
        """Moves that take an element to the identity: the shortest of those that begin with ``tries`` short words. None
        where a word is missing."""
        best: Word | None = None
        starts = iter([(), *(self._random(1 + i % LONGEST) for i in range(tries))])
        while batch := [start for start, _ in zip(starts, range(BATCH), strict=False)]:
            if stopped():
                break
            elements = self._elements(batch)[:, numpy.array(element)]
            path, lengths = self._sifted(elements)
            order = numpy.argsort(lengths + numpy.array([len(start) for start in batch]), kind="stable")
            for row in (0, *order[:REDUCED].tolist()):
                if lengths[row] < _FAR:
                    word = self._reduced([*batch[row], *self._undoing(path[row])])
                    best = word if best is None or len(word) < len(best) else best
        return best

    def _learn(self, words: Sequence[Word]) -> None:
        self._sifted(self._elements(words), words)

    def _sifted(
        self, elements: Elements, words: Sequence[Word] | None = None, first: int = 0
    ) -> tuple[NDArray[numpy.intp], NDArray[numpy.intp]]:
        """Takes each element, of those that fix the base points before ``first``, down the chain: the numbers of the
        words whose inverses follow it, and their lengths together (``_FAR`` where one is missing). ``words``: those of
        the elements, from which the chain learns."""
        rows = numpy.arange(len(elements))
        path = numpy.zeros((len(elements), len(self._base)), dtype=numpy.intp)
        lengths = numpy.zeros(len(elements), dtype=numpy.intp)
        own = None if words is None else numpy.array([len(word) for word in words])
        for level in range(first, len(self._base)):
            to = elements[rows, self._base[level]]
            if own is not None and words is not None:
                self._keep(level, to, own + lengths, elements, path, words)
            path[:, level] = self._number[level, to]
            lengths = numpy.minimum(lengths + self._length[level, to], _FAR)
            going = self._length[level, to] < _FAR
            elements = numpy.where(
                going[:, None], numpy.take_along_axis(self._undone[level, to], elements, axis=1), elements
            )
        return path, lengths

    def _keep(
        self,
        level: int,
        to: NDArray[numpy.intp],
        lengths: NDArray[numpy.intp],
        elements: Elements,
        path: NDArray[numpy.intp],
        words: Sequence[Word],
    ) -> None:
        """Keeps the words that are shorter than those known, and their inverses."""
        order = numpy.argsort(lengths, kind="stable")
        _, where = numpy.unique(to[order], return_index=True)
        for row in order[where].tolist():
            if lengths[row] >= self._length[level, to[row]]:
                continue
            word = self._reduced([*words[row], *self._undoing(path[row])])
            element = tuple(elements[row].tolist())
            back = tuple(self._back[move] for move in reversed(word))
            for one, made, undone in ((word, element, inverse(element)), (back, inverse(element), element)):
                point = made[self._base[level]]
                if len(one) < self._length[level, point]:
                    self._length[level, point] = len(one)
                    self._number[level, point] = len(self._words)
                    self._undone[level, point] = undone
                    self._words.append(one)

    def _multiply(self) -> None:
        """Sifts the products of any two words of each level."""
        for level in range(len(self._base)):
            known = numpy.flatnonzero(self._length[level] < _FAR)
            numbers = self._number[level, known]
            undone = self._undone[level, known]
            done = numpy.argsort(undone, axis=1).astype(numpy.int16)
            most = SHORTEST if len(known) == self._sizes[level] else MORE
            short = numpy.argsort(self._length[level, known], kind="stable")[:most]
            pairs = [(a, b) for a in short.tolist() for b in short.tolist() if a != b]
            if not pairs:
                continue
            first, second = (numpy.array(column) for column in zip(*pairs, strict=True))
            elements = numpy.take_along_axis(done[second], done[first], axis=1)
            words = [self._words[numbers[a]] + self._words[numbers[b]] for a, b in pairs]
            self._sifted(elements, words, level)

    def _commutators(self) -> list[Word]:
        found = []
        for _ in range(BATCH):
            first, second = (self._random(1 + self._rng.below(LONGEST)) for _ in range(2))
            found.append(self._reduced([*first, *second, *self._inverse(first), *self._inverse(second)]))
        return found

    def _random(self, length: int) -> Word:
        return tuple(self._rng.below(len(self._moves)) for _ in range(length))

    def _inverse(self, word: Word) -> Iterator[int]:
        return (self._back[move] for move in reversed(word))

    def _undoing(self, path: NDArray[numpy.intp]) -> list[int]:
        return [move for number in path.tolist() for move in self._inverse(self._words[number])]

    def _elements(self, words: Sequence[Word]) -> Elements:
        found = numpy.tile(numpy.arange(self._moves.shape[1], dtype=numpy.int16), (len(words), 1))
        for row, word in enumerate(words):
            for move in word:
                found[row] = self._moves[move][found[row]]
        return found

    def _joined(self, first: int, second: int) -> tuple[int | None, bool]:
        """The move that two moves are, -1 for none, None where they are no one move; and whether they commute."""
        moves = self._moves
        both = moves[second][moves[first]]
        one = numpy.flatnonzero((moves == both).all(axis=1))
        joined = int(one[0]) if len(one) else -1 if (both == numpy.arange(len(both))).all() else None
        return joined, bool((both == moves[first][moves[second]]).all())

    def _reduced(self, moves: Sequence[int]) -> Word:
        """The word without moves that take each other back or are one move, also past others that commute with them."""
        found: list[int] = []
        for move in moves:
            for at in range(len(found) - 1, -1, -1):
                joined, commute = self._join(found[at], move)
                if joined is not None:
                    found[at : at + 1] = [] if joined < 0 else [joined]
                    break
                if not commute:
                    found.append(move)
                    break
            else:
                found.append(move)
        return tuple(found)


class WordAnswers:
    """Answers for one board by the words of its puzzle."""

    def __init__(self, problem: Problem, target: Board, words: Words) -> None:
        self._definition = permutation(problem.puzzle)
        self._board = problem.board
        self._target = target
        self._words = words

    def search(self, tries: int, stopped: Callable[[], bool]) -> Way | None:
        """The moves of the shortest solution of so many tries; None where none was found."""
        rng = RandomSource(1)
        for number in range(ASSIGNED):
            found = self._words.solution(self._element(rng if number else None), tries, stopped)
            if found is not None:
                return tuple(self._definition.generators[move].name for move in found)
        return None

    def _element(self, rng: RandomSource | None) -> tuple[int, ...]:
        """What takes the target to the board; of equal pieces and turns that do not count any, drawn by ``rng``."""
        definition, slots = self._definition, self._definition.slots
        board, target = self._board, self._target
        to, delta = [0] * slots, [0] * slots
        for label in range(len(definition.tokens)):
            homes = [slot for slot in range(slots) if target[slot] == label]
            places = [slot for slot in range(slots) if board[slot] == label]
            if rng is not None:
                rng.shuffle(places)
            for home, place in zip(homes, places, strict=True):
                to[home] = place
                if definition.ignore[label] and rng is not None:
                    delta[home] = rng.below(definition.slot_moduli[home])
                elif definition.oriented:
                    turned = board[slots + place] - target[slots + home]
                    delta[home] = turned % definition.slot_moduli[home]
        return Points(definition.slot_moduli).element(to, delta)


def word_answers(problem: Problem) -> WordAnswers | None:
    """None where some move has no inverse, there is more than one target, or the puzzle is too large for a moment."""
    if problem.puzzle.family != "permutation":
        return None
    targets = problem.targets()
    definition = permutation(problem.puzzle)
    if len(targets) != 1 or WILDCARD in targets[0] or not definition.symmetric:
        return None
    if sum(definition.slot_moduli) > MOST_POINTS or definition.guards:
        return None
    return WordAnswers(problem, targets[0], _words(definition))


@lru_cache(maxsize=4)
def _words(definition: Permutation) -> Words:
    return Words(definition)
