"""How many states a space has that is given by its successors, where nobody knows: counted where they are few, else
estimated from random walks.

The estimate counts how often independent walks meet: of boards that are drawn as often as they have moves, n states
give (mean of d) (mean of 1/d) pairs / n meetings, d the number of moves of a board (L. Katzir, E. Liberty, O. Somekh,
"Estimating sizes of social networks via biased sampling", WWW 2011). Walks draw so in the end where moves can be
taken back. It counts only once twice as many steps give about the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.executors import ThreadsExecutor, next_layer
from farthest.errors import MemoryUsedUpError
from farthest.machine import cores
from farthest.stores.memory.line_store import store_in_memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import NDArray

    from farthest.spaces.contract import ScatterSpace, Space

COUNTED_SECONDS = 1.0
MOST_COUNTED = 4_000_000
"""States that are counted: some tens of megabytes."""
COUNTED_BYTES = 2**30

WALKS = 1024
WALK_SECONDS = 3.0
FIRST_STEPS = 64
LEAST_MEETINGS = 50
"""Fewer give a number that may be wrong by a third and more."""
ALIKE = 1.25
"""Two estimates are about the same where one is at most so many times the other."""

COUNTED = "a count just now"
SAMPLED = "random walks, to within some tens of per cent"


@dataclass(frozen=True, slots=True)
class Guess:
    """``states``: how many there are, or where there is no ``source`` at least."""

    states: int
    source: str | None


def guessed_states(space: ScatterSpace) -> Guess:
    """The number of states of a space without a depth limit: exact where they are few. Takes some seconds."""
    counted, whole = _counted(space)
    if whole:
        return Guess(counted, COUNTED)
    if space.undirected and not space.puzzle.definition.module:
        sampled = _sampled(space)
        if sampled is not None and sampled > counted:
            return Guess(sampled, SAMPLED)
    return Guess(counted, None)


def _counted(space: ScatterSpace) -> tuple[int, bool]:
    """The states of the layers that are found in time, and whether these are all."""
    store = store_in_memory(space, distances=False, memory=COUNTED_BYTES)
    executor, until = ThreadsExecutor(cores()), monotonic() + COUNTED_SECONDS
    total, depth = sum(store.counts(0).values()), 1
    try:
        while total <= MOST_COUNTED and monotonic() < until:
            states = next_layer(store, executor, depth)
            if not states:
                return total, True
            total, depth = total + states, depth + 1
    except MemoryUsedUpError:
        pass
    finally:
        executor.close()
        store.drop()
    return total, False


def _sampled(space: Space) -> int | None:
    """The estimate of the first number of steps that agrees with that of half as many; None where none does in time."""
    import numpy

    walks, until = _walk(space), monotonic() + WALK_SECONDS
    seen, moves = list[object](), list[object]()
    last: float | None = None
    steps = FIRST_STEPS
    while True:
        for _ in range(steps):
            codes, degrees = next(walks)
            seen.append(codes)
            moves.append(degrees)
            if monotonic() > until:
                return None
        # The first half is left out: the walks begin together.
        half = len(seen) // 2
        found = _estimate(numpy.array(seen[half:]), numpy.array(moves[half:], dtype=float))
        if found is not None and last is not None and max(found, last) <= ALIKE * min(found, last):
            return round(found)
        last, steps = found, len(seen)


def _walk(space: Space) -> Iterator[tuple[NDArray[np.generic], NDArray[np.int64]]]:
    """Of each step of all walks the codes of their boards, and the numbers of moves of these; always the same."""
    import numpy

    random = numpy.random.default_rng(1)
    boards = numpy.array(space.origins, dtype=numpy.uint8)
    boards = boards[random.integers(len(boards), size=WALKS)]
    while True:
        degrees, after = numpy.zeros(WALKS, dtype=numpy.int64), boards.copy()
        for _, rows, reached in space.neighbours(boards, toward=False):
            degrees[rows] += 1
            taken = random.random(len(rows)) * degrees[rows] < 1
            after[rows[taken]] = reached[taken]
        yield space.encode(boards), numpy.maximum(degrees, 1)
        boards = after


def _estimate(codes: NDArray[np.generic], degrees: NDArray[np.float64]) -> float | None:
    """From the codes and moves at each step of each walk, shape (steps, walks); None: too few meetings."""
    import numpy

    steps, walks = codes.shape
    _, states = numpy.unique(codes, return_inverse=True)
    states = states.reshape(steps, walks)
    visits = numpy.bincount(states.ravel())
    _, own = numpy.unique(states + visits.size * numpy.arange(walks), return_counts=True)
    meetings = (int((visits * (visits - 1)).sum()) - int((own * (own - 1)).sum())) / 2
    if meetings < LEAST_MEETINGS:
        return None
    pairs = walks * (walks - 1) / 2 * steps * steps
    return float(degrees.mean() * (1 / degrees).mean() * pairs / meetings)
