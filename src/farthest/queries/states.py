"""States of a map: what a start leads to, random ones, classes of those that are alike by symmetry."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy

from farthest.errors import JobError
from farthest.machine import cores
from farthest.models.records import BOARDS_KEPT, Answers, ReachedStates
from farthest.puzzles.definition import WILDCARD
from farthest.puzzles.family import Symmetries, family
from farthest.puzzles.origin import origin_patterns
from farthest.puzzles.puzzle import Origin
from farthest.queries.paths import as_bytes
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, scatter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from farthest.queries.stored_map import StoredMap
    from farthest.random_source import RandomSource
    from farthest.spaces.contract import Boards, Codes, Space


# The states of a map to goals that can be reached from the start: goals have others around them too.

STATES_SEARCHED = 5_000_000
"""In larger maps goals with wildcards are not searched for."""

STATES_FLOODED = 2_000_000
"""Of more states it is not found out which can be reached."""

KEYS_MARKED = 2**30
"""Of so many keys at most, those that were reached are marked in an array: pages that nobody writes take no memory."""


def reached_from_start(distance_map: StoredMap) -> ReachedStates | None:
    """Of a map of distances to its origin; None where moves lead from the start to too many states."""
    puzzle = distance_map.puzzle
    space = compile_space(puzzle, Origin("from", "start"), distance_map.record.layout)
    codes = space.encode(numpy.array(space.origins, dtype=numpy.uint8))
    if codes.dtype.kind == "u" and (codes == numpy.uint64(NO_KEY)).any():
        return None  # the map has no key for the start
    keys = 0 if space.keys is None or space.keys > KEYS_MARKED else space.keys
    marked = numpy.zeros(keys, dtype=numpy.bool_)
    seen = codes[:0]  # where none are marked; where moves can be taken back, the layer before
    layers, states = [codes], len(codes)
    while len(codes):
        if states > STATES_FLOODED:
            return None
        found = _successors(space, codes)
        if keys:
            marked[codes] = True
            codes = numpy.unique(found[~marked[found]])
        else:
            seen, before = numpy.concatenate((seen, codes)), codes
            # The indices make it sort: quicker than hashes here.
            codes, _ = numpy.unique(found, return_index=True)
            codes = codes[~numpy.isin(codes, seen, assume_unique=True)]
            seen = before if space.undirected else seen
        layers.append(codes)
        states += len(codes)
    codes = numpy.concatenate(layers)
    distances = distance_map.lookup(codes)
    states, deepest = int((distances >= 0).sum()), int(distances.max())
    found = codes[(distances == deepest) & (distances >= 0)]
    texts = puzzle.definition.texts(space.decode(numpy.sort(found)[:BOARDS_KEPT]))
    return ReachedStates(states, None if deepest < 0 else deepest, len(found), texts)


def _successors(space: Space, codes: Codes) -> Codes:
    """The codes one move away from the origin, perhaps repeated."""
    if space.engine == "scatter":
        found = memoryview(scatter(space).successors(codes.tobytes(), cores()))
        return numpy.frombuffer(found, dtype=codes.dtype)
    moved = space.neighbours(space.decode(codes), toward=False)
    return numpy.concatenate([codes[:0], *(space.encode(boards) for _, _, boards in moved)])


def answers_of(distance_map: StoredMap) -> Answers:
    """What a job keeps of its map to tell at once: where moves are counted from the origin, the nearest goals, else
    what the start reaches. Nothing that takes long to find."""
    if distance_map.origin.direction == "from":
        wild = any(WILDCARD in pattern for pattern in distance_map.puzzle.definition.origin_boards[0])
        return {} if wild and distance_map.states > STATES_SEARCHED else {"goal": distance_map.first_goals()}
    reached = reached_from_start(distance_map) if distance_map.states <= STATES_FLOODED else None
    return {} if reached is None else {"from_start": reached}


# Random states of a stored map: of one layer, or of all layers.

DRAWN_AT_ONCE = 1 << 18

SCANNED_KEYS = 2**24
"""In residue maps of more keys random keys are looked up until enough of them are wanted states, ..."""

WORTH = 256
"""... where there are so many of these for each board that is drawn: reading all distances takes as long as looking one
key of some hundred up."""

LOOKED_UP = 1 << 12
"""Random keys that are looked up together, at least."""


def random_states(
    distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None = None
) -> Iterator[str]:
    """The boards of ``count`` states at ``depth`` (None: of all states): each is drawn with the same chance and
    independently of the others, so a board may occur twice. In the order in which they were drawn.

    Where each key is a state and no depth is given, the map is not read; in a large residue map random keys are
    looked up; else the map is read once for each ``DRAWN_AT_ONCE`` boards, some states at a time, up to the last state
    that was drawn. Raises JobError beyond the last layer.
    """
    if depth is not None:
        distance_map.check_depth(depth)
    return (
        board
        for first in range(0, count, DRAWN_AT_ONCE)
        for board in _drawn(distance_map, min(count - first, DRAWN_AT_ONCE), rng, depth)
    )


def sampled_states(
    distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None = None
) -> Boards:
    """Different states at ``depth`` (None: of all), each choice of so many with the same chance: uint8, shape
    (states, cells). All, if there are no more. The map is read as by ``random_states``."""
    states = distance_map.states if depth is None else distance_map.layers[depth]
    if count >= states:
        blocks = distance_map.state_blocks(depth)
        return numpy.concatenate([block.labels for block in blocks])
    if not _sparsely(distance_map, count, depth):
        numbers = numpy.array(rng.different(states, count), dtype=numpy.int64)
        return _numbered(distance_map, numbers, depth)
    found: dict[bytes, None] = {}
    while missing := count - len(found):
        found |= dict.fromkeys(map(bytes, _met(distance_map, missing, rng, depth)))
    boards = numpy.frombuffer(b"".join(found), dtype=numpy.uint8).reshape(count, -1)
    return boards[numpy.argsort(distance_map.space.encode(boards))]  # a copy, in the order of the map


def _sparsely(distance_map: StoredMap, count: int, depth: int | None) -> bool:
    """Whether states are sooner found by looking random keys up than by reading the map."""
    states = distance_map.states if depth is None else distance_map.layers[depth]
    keys, most = distance_map.space.keys, _most(distance_map)
    large = keys is not None and keys > SCANNED_KEYS and distance_map.record.keeps_residues
    return large and most is not None and states < most and count * WORTH <= states


def _most(distance_map: StoredMap) -> int | None:
    """How many states all keys have."""
    kept = distance_map.reduced
    return distance_map.space.keys if kept is None else kept.kernel.states


def _drawn(distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None) -> list[str]:
    texts = distance_map.puzzle.definition.texts
    if _sparsely(distance_map, count, depth):
        return texts(_met(distance_map, count, rng, depth))
    states = distance_map.states if depth is None else distance_map.layers[depth]
    drawn = numpy.array([rng.below(states) for _ in range(count)], dtype=numpy.int64)
    order = numpy.argsort(drawn, kind="stable")
    boards = numpy.empty((count, distance_map.space.cells), dtype=numpy.uint8)
    boards[order] = _numbered(distance_map, drawn[order], depth)
    return texts(boards)


def _numbered(distance_map: StoredMap, numbers: NDArray[numpy.int64], depth: int | None) -> Boards:
    """The states of ascending numbers, from 0, among those at ``depth``, or among all."""
    states = distance_map.states if depth is None else distance_map.layers[depth]
    if states == _most(distance_map):  # each state of a key is one of those that are numbered
        return _boards(distance_map, *_of_all_keys(distance_map, numbers))
    boards = numpy.empty((len(numbers), distance_map.space.cells), dtype=numpy.uint8)
    first = at = 0
    for block in distance_map.code_blocks(depth):
        if at == len(numbers):
            break
        weights = distance_map.weights(block.codes)
        ends = first + numpy.cumsum(weights)
        end = int(numpy.searchsorted(numbers, ends[-1]))
        if end > at:
            some = numbers[at:end]
            places = numpy.searchsorted(ends, some, side="right")
            boards[at:end] = _boards(distance_map, block.codes[places], some - (ends - weights)[places])
        first, at = int(ends[-1]), end
    return boards


def _of_all_keys(
    distance_map: StoredMap, numbers: NDArray[numpy.int64]
) -> tuple[NDArray[numpy.uint64], NDArray[numpy.int64]]:
    """Of numbers below that of the states of all keys the keys, and which of a key's states."""
    kept = distance_map.reduced
    if kept is None:
        return numbers.astype(numpy.uint64), numpy.zeros(len(numbers), dtype=numpy.int64)
    each = kept.keys // len(kept.weights)
    ends = numpy.cumsum(kept.weights * each)
    shards = numpy.searchsorted(ends, numbers, side="right")
    of_shard, which = numpy.divmod(numbers - (ends - kept.weights * each)[shards], kept.weights[shards])
    return (shards * each + of_shard).astype(numpy.uint64), which


def _boards(distance_map: StoredMap, codes: Codes, which: NDArray[numpy.int64]) -> Boards:
    """The boards of states: of each ``which`` of those that its code stands for."""
    if distance_map.reduced is None:
        return distance_map.space.decode(codes)
    different, rows = numpy.unique(codes, return_inverse=True)
    boards = numpy.empty((len(codes), distance_map.space.cells), dtype=numpy.uint8)
    for of_codes, some in distance_map.members(different):
        here = numpy.flatnonzero((rows >= of_codes[0]) & (rows <= of_codes[-1]))
        boards[here] = some[numpy.searchsorted(of_codes, rows[here]) + which[here]]
    return boards


def _met(distance_map: StoredMap, count: int, rng: RandomSource, depth: int | None) -> Boards:
    """States that are found by looking random keys up."""
    most = _most(distance_map)
    assert most is not None, "only dense maps have random keys"
    found = numpy.empty((0, distance_map.space.cells), dtype=numpy.uint8)
    while missing := count - len(found):
        drawn = numpy.array([rng.below(most) for _ in range(max(missing, LOOKED_UP))], dtype=numpy.int64)
        keys, which = _of_all_keys(distance_map, drawn)
        distances = distance_map.lookup(keys)
        wanted = numpy.flatnonzero(distances >= 0 if depth is None else distances == depth)[:missing]
        found = numpy.concatenate([found, _boards(distance_map, keys[wanted], which[wanted])])
    return found


def holds_the_solvable(distance_map: StoredMap, target: str = "goal") -> bool:
    """Whether the states of the map are the boards from which moves lead to the target (``goal``, ``start`` or a
    board's text): either it has all distances to the target; or the target is the goal, moves can be taken back, and
    the map, counted from the start, reaches the goal (then its states are those that moves join to the start)."""
    if not distance_map.complete:
        return False
    if distance_map.origin.direction == "to":
        return _place(distance_map, distance_map.origin.where) == _place(distance_map, target)
    space = distance_map.space
    undirected = space.engine == "scatter" and scatter(space).undirected
    from_start = distance_map.origin.where == "start"
    return target == "goal" and from_start and undirected and distance_map.first_goals() is not None


def _place(distance_map: StoredMap, where: str) -> str:
    return where if where in ("goal", "start") else distance_map.text(where)


# Classes of states that are alike by symmetry: how many there are at each distance, and one state of each.
#
# A class is an orbit of the group S of symmetries that fix the origin. It is counted at its least state. A state that
# is more than one of its images is left out at once, so that some log |S| images of a state are made and not |S|. A
# state that s of the symmetries leave unchanged is in an orbit of |S| / s states; with inverses in one of twice as
# many, unless the orbit contains the inverse of each of its states.

BOARDS_AT_ONCE = 16_384
"""Images of so many boards are made together: a few megabytes."""


@dataclass(frozen=True, slots=True)
class LayerClasses:
    """``states`` at ``depth`` are in so many ``classes``; ``fixed`` of them are left unchanged by every symmetry."""

    depth: int
    states: int
    classes: int
    fixed: int


@dataclass(frozen=True, slots=True)
class SymmetryClasses:
    """The classes of a map by so many ``symmetries``; ``inverses``: a state and its inverse are alike too."""

    symmetries: int
    inverses: bool
    layers: tuple[LayerClasses, ...]

    @property
    def classes(self) -> int:
        """Those of all layers."""
        return sum(layer.classes for layer in self.layers)


def symmetries_of(distance_map: StoredMap, *, inverses: bool = False) -> Symmetries:
    """The symmetries that fix the map's origin. Raises JobError where there is none that is known, or no inverses."""
    puzzle, origin = distance_map.puzzle, distance_map.origin
    fixed = origin_patterns(puzzle.definition, origin.where, puzzle.name)
    place = f"job {distance_map.job} ({distance_map.record.name})"
    if len(fixed) != 1 or WILDCARD in fixed[0]:
        raise JobError(
            f"{place}: its origin is a set of boards; symmetries are counted only for one board: run `farthest "
            f"enumerate {puzzle.name} --to BOARD`"
        )
    found = family(puzzle.family).symmetries(puzzle.definition, fixed[0])
    if found is None:
        raise JobError(f"{place}: symmetries of the family {puzzle.family} are not known; ask without them")
    if inverses and found.inversion is None:
        raise JobError(
            f"{place}: its boards have no inverses, as pieces are alike or moves cannot be taken back; leave "
            "--inverse out"
        )
    return found


def symmetry_classes(distance_map: StoredMap, *, inverses: bool = False) -> SymmetryClasses:
    """Counts the classes of each layer; reads the whole map. Raises as ``symmetries_of``."""
    found = symmetries_of(distance_map, inverses=inverses)
    order = len(found.maps)
    layers = len(distance_map.layers)
    sums = numpy.zeros((3, layers), dtype=numpy.int64)  # of classes, of the states in them, of fixed states
    # What is compared: boards, or in a map of representatives keys, of a class all that stand for states of it.
    kept = distance_map.reduced
    names: Callable[[Boards], NDArray[Any]] = as_bytes if kept is None else kept.encode
    for block in distance_map.code_blocks():
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            least = _least_of_orbits(found, boards, names, inverses=inverses)
            distances = block.distances[at : at + BOARDS_AT_ONCE][least.rows].astype(numpy.intp)
            in_fixed = numpy.where(least.unchanged == order, least.sizes, 0)
            for row, weights in enumerate((numpy.ones_like(least.sizes), least.sizes, in_fixed)):
                sums[row] += numpy.bincount(distances, weights, minlength=layers).astype(numpy.int64)
    assert sums[1].tolist() == list(distance_map.layers), "orbits are whole in their layers"
    return SymmetryClasses(
        order,
        inverses,
        tuple(
            LayerClasses(depth, states, int(sums[0, depth]), int(sums[2, depth]))
            for depth, states in enumerate(distance_map.layers)
        ),
    )


@dataclass(frozen=True, slots=True)
class _Least:
    """The boards that are the least of their orbits: their ``rows``; how many symmetries leave each ``unchanged``; the
    ``sizes`` of the orbits."""

    rows: NDArray[numpy.intp]
    unchanged: NDArray[numpy.int64]
    sizes: NDArray[numpy.int64]


def _least_of_orbits(
    found: Symmetries, boards: Boards, names: Callable[[Boards], NDArray[Any]], *, inverses: bool
) -> _Least:
    """``names``: what boards are compared by; perhaps equal for boards that are alike."""
    rows = numpy.arange(len(boards))
    own, bytes_of = names(boards), as_bytes(boards)
    unchanged = numpy.zeros(len(boards), dtype=numpy.int64)
    for each in found.maps:
        images = each.images(boards[rows])
        unchanged[rows] += as_bytes(images) == bytes_of[rows]
        rows = rows[names(images) >= own[rows]]
    sizes = len(found.maps) // numpy.maximum(unchanged, 1)
    if inverses and found.inversion is not None:
        # Whether the inverse is in another orbit of the symmetries.
        other = numpy.ones(len(boards), dtype=numpy.bool_)
        inverse = found.inversion.images(boards[rows])
        for each in found.maps:
            images = each.images(inverse)
            other[rows] &= as_bytes(images) != bytes_of[rows]
            least = names(images) >= own[rows]
            rows, inverse = rows[least], inverse[least]
        sizes <<= other
    return _Least(rows, unchanged[rows], sizes[rows])


def representatives(distance_map: StoredMap, depth: int, *, inverses: bool = False) -> Iterator[str]:
    """The boards of a layer, one of each class: the one with the least code. Raises as ``symmetries_of``."""
    found = symmetries_of(distance_map, inverses=inverses)
    distance_map.check_depth(depth)
    for block in distance_map.code_blocks(depth):
        for at in range(0, len(block.labels), BOARDS_AT_ONCE):
            boards = block.labels[at : at + BOARDS_AT_ONCE]
            least = _least_of_orbits(found, boards, distance_map.space.encode, inverses=inverses)
            yield from distance_map.puzzle.definition.texts(boards[least.rows])


def class_numbers(
    found: Symmetries, boards: Boards, names: Callable[[Boards], NDArray[Any]]
) -> tuple[NDArray[numpy.int64], Boards]:
    """The number of each board's class, from 0, and of each class the board whose bytes are the least, be it one of
    these or not. ``boards``: different ones; ``names``: what is different for different boards.

    All images are made of the first board of each class alone: they tell which other boards are in it.
    """
    own = names(boards)
    order = numpy.argsort(own)
    ascending = own[order]
    numbers = numpy.full(len(boards), -1, dtype=numpy.int64)
    least, classes, at = [boards[:0]], 0, 0

    def members(images: Boards) -> tuple[NDArray[numpy.intp], NDArray[numpy.bool_]]:
        """The places of images in the order of names, and which of them are there."""
        wanted = names(images)
        places = numpy.searchsorted(ascending, wanted)
        places[places == len(ascending)] = 0
        return places, ascending[places] == wanted

    with ThreadPoolExecutor(cores()) as pool:
        while (rows := _first_without(numbers, at)).size:
            at = int(rows[-1]) + 1
            some = boards[rows]
            images = list(pool.map(lambda each, some=some: each.images(some), found.maps))
            first = as_bytes(images[0])
            for others in map(as_bytes, images[1:]):
                first = numpy.where(others < first, others, first)
            different, which = numpy.unique(first, return_inverse=True)
            least.append(different.view(numpy.uint8).reshape(-1, boards.shape[1]))
            for places, there in pool.map(members, images):
                numbers[order[places[there]]] = classes + which[there]
            classes += len(different)
    return numbers, numpy.concatenate(least)


def _first_without(numbers: NDArray[numpy.int64], at: int) -> NDArray[numpy.intp]:
    """The first rows from ``at`` on that have no number, ``BOARDS_AT_ONCE`` at most."""
    found: list[NDArray[numpy.intp]] = [numpy.empty(0, dtype=numpy.intp)]
    missing = BOARDS_AT_ONCE
    while missing and at < len(numbers):
        here = at + numpy.flatnonzero(numbers[at : at + DRAWN_AT_ONCE] < 0)[:missing]
        found.append(here)
        missing -= len(here)
        at += DRAWN_AT_ONCE
    return numpy.concatenate(found)
