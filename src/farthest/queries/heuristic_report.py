"""Heuristics compared with a stored map: the value of every state, or of a sample, against its distance, and the change
with every move. What is judged is a heuristic of this program or any function of a user, such as a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy

from farthest.errors import JobError, SettingError
from farthest.machine import memory_limit
from farthest.puzzles.move_text import move_text
from farthest.queries.paths import as_bytes
from farthest.queries.states import sampled_states
from farthest.random_source import RandomSource
from farthest.search.expansion import MoveNumbers, MoveSource, children, forward_space
from farthest.wording import counted

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from farthest.heuristics.contract import Component, Heuristic
    from farthest.puzzles.definition import Board, MoveName
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards

    Values = NDArray[numpy.int32] | NDArray[numpy.float64]
    Judged = Callable[[Boards], Any]
    """From boards, uint8 (N, cells), to a number for each."""


STUDENTS = "misplaced+manhattan"
"""A sum that teaching programs use as an A* heuristic; it is not admissible, which the report shows."""
MOST_VALUE = 2**30
"""Of a function that is judged, and the least below 0: differences of values fit in int32."""


@dataclass(frozen=True, slots=True)
class TooLarge:
    """A proof that a heuristic is not admissible: its value for the board is more than the distance."""

    board: str
    value: float
    distance: int

    @property
    def excess(self) -> float:
        """How much more than the distance the value is."""
        return self.value - self.distance

    def __str__(self) -> str:
        return f"{self.board}: {_number(self.value)}, distance {self.distance}"


@dataclass(frozen=True, slots=True)
class Drop:
    """A proof that a heuristic is not consistent: the move takes away more than 1 of its value."""

    board: str
    value: float
    move: MoveName
    next_board: str
    next_value: float

    @property
    def excess(self) -> float:
        """By how much the value falls beyond 1."""
        return self.value - self.next_value - 1

    def __str__(self) -> str:
        after = f"after {move_text(self.move)} {self.next_board}: {_number(self.next_value)}"
        return f"{self.board}: {_number(self.value)}; {after}"


Proof = TypeVar("Proof", TooLarge, Drop)


@dataclass(frozen=True, slots=True)
class LayerErrors:
    """Of so many ``states`` at ``depth`` the mean of the values, the mean and the largest of their errors, the
    differences to the distance without their sign."""

    depth: int
    states: int
    mean: float
    error: float
    largest: float


@dataclass(slots=True, repr=False)
class Findings:
    """The results for one heuristic.

    ``where``: the map, in words; ``whole``: whether all states were looked at, and the map is complete; ``states``: how
    many were checked; ``exact``: those where the value is the distance; ``too_large``: where it is more. ``moves``: how
    many were checked, all of the player's from those states; ``drops``: those that reduce the value by more than 1.
    ``mean``, ``largest``: of the values; ``ratio``: the mean of value / distance over the states that are not at
    distance 0. ``layers``: the errors by distance. ``too_large_first``, ``drops_first``: counterexamples in key order;
    ``too_large_worst``, ``drop_worst``: the first with the largest excess. ``tree``: of the tree of all moves from a
    state, the mean number of boards at each depth.
    """

    heuristic: Heuristic
    where: str = ""
    whole: bool = False
    tree: list[float] = field(default_factory=list)
    states: int = 0
    exact: int = 0
    too_large: int = 0
    moves: int = 0
    drops: int = 0
    largest: float = -inf
    too_large_first: list[TooLarge] = field(default_factory=list)
    too_large_worst: TooLarge | None = None
    drops_first: list[Drop] = field(default_factory=list)
    drop_worst: Drop | None = None
    _ratios: float = 0.0
    _apart: int = 0
    _layers: dict[int, LayerErrors] = field(default_factory=dict)
    _counts: dict[int, int] = field(default_factory=dict)  # of values, rounded up

    @property
    def admissible(self) -> bool:
        """Whether no value is too large."""
        return self.too_large == 0

    @property
    def proved(self) -> bool:
        """Whether it is proved that no value is too large, as all states were looked at."""
        return self.admissible and self.whole

    @property
    def consistent(self) -> bool:
        """Whether no move reduces the value by more than 1, and the values of goals are at most 0."""
        return self.drops == 0 and self.admissible

    @property
    def refuted(self) -> bool:
        """Whether the map disproves what the heuristic claims."""
        return (self.heuristic.admissible and not self.admissible) or (
            self.heuristic.consistent and not self.consistent
        )

    @property
    def share(self) -> float:
        """The part of the states whose value is too large."""
        return self.too_large / self.states if self.states else 0.0

    @property
    def mean(self) -> float:
        """The mean of the values."""
        return sum(layer.mean * layer.states for layer in self.layers) / max(self.states, 1)

    @property
    def ratio(self) -> float:
        """The mean of value / distance; 0 where all states are at distance 0."""
        return self._ratios / self._apart if self._apart else 0.0

    @property
    def layers(self) -> list[LayerErrors]:
        """The errors at each distance."""
        return [self._layers[depth] for depth in sorted(self._layers)]

    @property
    def nodes(self) -> list[float]:
        """For each bound up to the last layer, about how many boards an iteration of IDA* with that bound expands from
        a state like most: the sum over depths i of the boards at depth i of the tree, times the part of all states
        whose value is at most the bound less i. Source: R. E. Korf, M. Reid, S. Edelkamp, Time complexity of
        iterative-deepening-A*, Artificial Intelligence 129 (2001). From states that are farther than most it expands
        fewer than for others with the same bound, and the last iteration ends at the first solution."""
        bounds = range(len(self.tree))
        within = [sum(count for value, count in self._counts.items() if value <= bound) for bound in bounds]
        return [
            sum(self.tree[depth] * within[bound - depth] for depth in range(bound + 1)) / max(self.states, 1)
            for bound in bounds
        ]

    @property
    def mean_nodes(self) -> float:
        """The mean of ``nodes`` over the states, each with its distance as the bound."""
        nodes = self.nodes
        return sum(nodes[layer.depth] * layer.states for layer in self.layers) / max(self.states, 1)

    def to_dict(self) -> dict[str, Any]:
        """As `farthest heuristic --json` writes it."""
        import msgspec

        claims = self.heuristic
        named = (
            *(
                "admissible",
                "proved",
                "consistent",
                "states",
                "mean",
                "ratio",
                "largest",
                "exact",
                "too_large",
            ),
            *("share", "moves", "drops", "layers", "nodes", "mean_nodes"),
        )
        found = {
            "heuristic": claims.name,
            "claims": {"admissible": claims.admissible, "consistent": claims.consistent},
            **{name: getattr(self, name) for name in named},
            "counterexamples": self.too_large_first,
            "worst": self.too_large_worst,
            "drop_counterexamples": self.drops_first,
            "worst_drop": self.drop_worst,
        }
        plain: dict[str, Any] = msgspec.to_builtins(found)
        return plain

    def __repr__(self) -> str:
        looked_at = f"all {self.states:,} states" if self.whole else counted(self.states, "state")
        lines = [f"{self.heuristic.name} at {looked_at} of {self.where}"]
        if self.too_large_worst is not None:
            many = f"{counted(self.too_large, 'value')} ({self.share:.2%})"
            lines.append(f"not admissible: {many} more than the distance")
            lines += [f"  the first: {self.too_large_first[0]}"] if self.too_large_first else []
            lines.append(f"  the worst: {self.too_large_worst}")
        else:
            lines.append(
                "admissible: proved" if self.whole else "no value of these is more than the distance"
            )
        if self.drop_worst is not None:
            lines.append(
                f"not consistent: {self.drops:,} of {counted(self.moves, 'move')} lower the value by more than 1"
            )
            lines.append(f"  the worst: {self.drop_worst}")
        else:
            lines.append(f"no move of {self.moves:,} lowers the value by more than 1")
        lines.append(
            f"values: mean {self.mean:.3f}, largest {_number(self.largest)}, mean of value / distance {self.ratio:.3f}"
        )
        lines.append(
            f"IDA* would expand about {self.mean_nodes:,.0f} boards in its last iteration (Korf, Reid, Edelkamp 2001)"
        )
        lines += [
            "",
            f"{'depth':>5} {'states':>13} {'mean value':>11} {'mean error':>11} {'largest error':>14}",
        ]
        lines += [
            f"{each.depth:>5} {each.states:>13,} {each.mean:>11.3f} {each.error:>11.3f} {each.largest:>14.3f}"
            for each in self.layers
        ]
        return "\n".join(lines)

    def count_values(self, values: Values, distances: NDArray[numpy.int32]) -> None:
        """Adds the values of some states."""
        apart = distances > 0
        self.states += len(values)
        self.exact += int((values == distances).sum())
        self.largest = max(self.largest, values.max().item())
        self._ratios += float((values[apart] / distances[apart]).sum())
        self._apart += int(apart.sum())
        for value, count in zip(*numpy.unique(numpy.ceil(values), return_counts=True), strict=True):
            self._counts[int(value)] = self._counts.get(int(value), 0) + int(count)
        for depth in numpy.unique(distances).tolist():
            here = values[distances == depth]
            errors = numpy.abs(here - depth)
            before = self._layers.get(depth, LayerErrors(depth, 0, 0.0, 0.0, 0.0))
            states = before.states + len(here)
            self._layers[depth] = LayerErrors(
                depth,
                states,
                (before.mean * before.states + float(here.sum(dtype=numpy.float64))) / states,
                (before.error * before.states + float(errors.sum(dtype=numpy.float64))) / states,
                max(before.largest, errors.max().item()),
            )


def _number(value: float) -> str:
    return f"{value:.7g}"


class Function:
    """A function of a user as a heuristic that claims nothing. It gets ``batch`` boards at most."""

    admissible = consistent = False

    def __init__(self, function: Judged, batch: int) -> None:
        if batch < 1:
            raise SettingError(f"batch {batch}: expected 1 or more")
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self._function, self._batch = function, batch

    def values(self, boards: Boards) -> NDArray[Any]:
        """The values: float64, or int32 where the function gives integers. Raises SettingError unless they are one
        finite number for each board."""
        starts = range(0, len(boards), self._batch)
        some = [self._some(boards[at : at + self._batch]) for at in starts]
        return numpy.concatenate([numpy.empty(0, dtype=numpy.int32), *some])

    def _some(self, boards: Boards) -> NDArray[Any]:
        values = numpy.asarray(self._function(boards))
        if values.shape != (len(boards),) or values.dtype.kind not in "iuf":
            raise SettingError(
                f"{self.name}: expected {len(boards)} numbers, one for each board, got {values.dtype} of shape "
                f"{values.shape}"
            )
        if not numpy.isfinite(values).all():
            raise SettingError(f"{self.name}: {values[~numpy.isfinite(values)][0]} is no value of a board")
        if ((values < -MOST_VALUE) | (values > MOST_VALUE)).any():
            raise SettingError(f"{self.name}: values are expected from -{MOST_VALUE:,} to {MOST_VALUE:,}")
        return values.astype(numpy.float64 if values.dtype.kind == "f" else numpy.int32)

    def terms(self) -> list[list[Component]] | None:
        """None: the kernel cannot call it."""
        return None


def goals_of(distance_map: StoredMap) -> tuple[Board, ...]:
    """The boards that the distances of a map lead to, perhaps with ``WILDCARD``.

    Raises JobError where the distances are from an origin, and moves cannot be taken back.
    """
    from farthest.search.contract import targets

    origin, puzzle = distance_map.origin, distance_map.puzzle
    if origin.direction == "from" and not distance_map.space.undirected:
        raise JobError(
            f"job {distance_map.job} ({distance_map.record.name}) counts moves from {origin.where}, and not every move "
            f"can be taken back; heuristics estimate distances to a goal: run "
            f"`farthest enumerate {puzzle.name} --to goal`"
        )
    return targets(puzzle, origin.where)


def open_heuristics(distance_map: StoredMap, texts: Sequence[str] = ()) -> list[Heuristic]:
    """The heuristics that ``texts`` name, of the distance to ``goals_of`` the map. Without texts: all with a plain name
    that are for the puzzle, ``STUDENTS`` where it can be made, and the patterns whose maps are in the same database.
    Raises as ``goals_of`` and ``open_heuristic`` do."""
    from farthest.heuristics.registry import applicable, open_heuristic
    from farthest.queries.pattern_maps import PatternMaps, stored_patterns

    goals, puzzle = goals_of(distance_map), distance_map.puzzle
    names = list(texts) or applicable(puzzle)
    if not texts and "manhattan" in names:
        names.append(STUDENTS)
    if not texts and goals == puzzle.definition.origin_boards[0]:
        names += stored_patterns(distance_map.database, puzzle)
    load_map = PatternMaps(distance_map.database)
    return [open_heuristic(name, puzzle, goals, load_map) for name in names]


def compare_heuristics(
    distance_map: StoredMap, heuristics: Sequence[Heuristic], *, limit: int = 3, sample: Boards | None = None
) -> list[Findings]:
    """The results for each heuristic, which are of the distance to ``goals_of`` the map.

    ``limit``: most counterexamples kept of each kind besides the worst. ``sample``: states, instead of all.
    """
    space = forward_space(distance_map.puzzle, distance_map.space.origins[0])
    where = f"job {distance_map.job} ({distance_map.record.name}, {distance_map.origin})"
    whole = sample is None and distance_map.complete
    tree = _tree_sizes(distance_map, space)
    findings = [Findings(heuristic, where, whole, tree) for heuristic in heuristics]
    tables = [_Values(distance_map, each, len(heuristics), keep=sample is None) for each in heuristics]
    for boards, distances in _blocks(distance_map, sample):
        for found, table in zip(findings, tables, strict=True):
            values = table.of_states(boards)
            found.count_values(values, distances)
            _note_too_large(distance_map, found, boards, values, distances, limit)
    for boards, _ in _blocks(distance_map, sample):
        _note_drops(space, findings, tables, boards, limit)
    return findings


def _blocks(distance_map: StoredMap, sample: Boards | None) -> Iterator[tuple[Boards, NDArray[numpy.int32]]]:
    """States with their distances, some at a time, in the order of keys."""
    if sample is None:
        for block in distance_map.state_blocks():
            yield block.labels, block.distances.astype(numpy.int32)
    elif len(sample):
        yield sample, distance_map.lookup(distance_map.space.encode(sample))


class _Values:
    """The values of one heuristic; those of all states are kept by key where the map is dense and there is memory, so
    that no state's value is worked out again for each move that leads to it."""

    def __init__(self, distance_map: StoredMap, heuristic: Heuristic, among: int, *, keep: bool) -> None:
        self._heuristic, self._encode = heuristic, distance_map.space.encode
        keys = distance_map.space.keys
        kept = keep and keys is not None and distance_map.reduced is None
        # The last one is of no key.
        self._by_key = (
            numpy.full(keys + 1, numpy.nan)
            if kept and keys is not None and 8 * keys * among <= memory_limit(None) // 2
            else None
        )

    def of_states(self, boards: Boards) -> Values:
        """Works the values of states out, and keeps them."""
        values = self._heuristic.values(boards)
        if self._by_key is not None:
            self._by_key[self._encode(boards).astype(numpy.intp)] = values
        return values

    def of(self, boards: Boards) -> NDArray[Any]:
        """The values of any boards, those of states as they are kept."""
        if self._by_key is None:
            return self._heuristic.values(boards)
        keys = numpy.minimum(self._encode(boards), numpy.uint64(len(self._by_key) - 1)).astype(numpy.intp)
        values = self._by_key[keys]
        unknown = numpy.flatnonzero(numpy.isnan(values))
        if unknown.size:
            values[unknown] = self._heuristic.values(boards[unknown])
        return values


def _note_too_large(
    distance_map: StoredMap,
    found: Findings,
    boards: Boards,
    values: Values,
    distances: NDArray[numpy.int32],
    limit: int,
) -> None:
    excess = values - distances
    found.too_large += int((excess > 0).sum())
    rows = _counterexamples(excess, limit - len(found.too_large_first))
    texts = distance_map.puzzle.definition.texts(boards[rows])
    noted = [
        TooLarge(text, values[row].item(), int(distances[row])) for row, text in zip(rows, texts, strict=True)
    ]
    found.too_large_worst = _keep(found.too_large_first, found.too_large_worst, noted, limit)


def _note_drops(
    space: MoveSource, findings: Sequence[Findings], tables: Sequence[_Values], boards: Boards, limit: int
) -> None:
    """``space``: its neighbours farther from the origin are the boards that the player reaches."""
    noted: list[list[tuple[int, Drop]]] = [[] for _ in findings]  # with the row of the board, by move
    before = [table.of(boards) for table in tables]
    for move, rows, reached in space.neighbours(boards, toward=False):
        for found, table, value, drops in zip(findings, tables, before, noted, strict=True):
            after = table.of(reached)
            excess = value[rows] - after - 1
            found.moves += len(rows)
            found.drops += int((excess > 0).sum())
            for at in _counterexamples(excess, limit - len(found.drops_first)):
                row = int(rows[at])
                texts = space.puzzle.definition.texts(numpy.stack([boards[row], reached[at]]))
                drop = Drop(texts[0], _exact(value[row]), move, texts[1], _exact(after[at]))
                drops.append((row, drop))
    for found, drops in zip(findings, noted, strict=True):
        drops.sort(key=lambda drop: drop[0])
        in_order = [drop for _, drop in drops]
        found.drop_worst = _keep(found.drops_first, found.drop_worst, in_order, limit)


def _exact(value: Any) -> float:
    number: float = value.item()
    return int(number) if number == int(number) else number


def _counterexamples(excess: NDArray[Any], limit: int) -> list[int]:
    """The first ``limit`` places with an excess, and the first with the largest, ascending."""
    places = numpy.flatnonzero(excess > 0)
    if not places.size:
        return []
    return sorted({*places[:limit].tolist(), int(excess.argmax())})


def _keep(first: list[Proof], worst: Proof | None, noted: Sequence[Proof], limit: int) -> Proof | None:
    """Adds those of a block to the ``first`` ones; gives the first with the largest excess until now."""
    first += noted[: limit - len(first)]
    for one in noted:
        if worst is None or one.excess > worst.excess:
            worst = one
    return worst


WALKERS = 1_000
"""Boards from which the tree of all moves is followed at each depth."""


def _tree_sizes(distance_map: StoredMap, space: MoveSource) -> list[float]:
    """The mean number of boards at each depth of the tree of all moves from a state, to the depth of the last layer. A
    move is left out where it leads back, or to where one move would have led from the board before: so IDA* leaves it
    out. Of each depth ``WALKERS`` boards are followed, which are drawn from all that those before lead to.
    """
    rng, numbers = RandomSource(1), MoveNumbers()
    boards = sampled_states(distance_map, WALKERS, rng)
    before: Boards | None = None
    sizes = [1.0]
    for _ in range(distance_map.depth):
        after = children(space, boards, numbers)
        if before is not None:
            shorter = children(space, before, numbers)
            rows = numpy.concatenate([numpy.arange(len(before)), shorter.rows])
            near = _with_rows(rows, numpy.concatenate([before, shorter.boards]))
            after = after.only(~numpy.isin(_with_rows(after.rows, after.boards), near))
        sizes.append(sizes[-1] * len(after.rows) / max(len(boards), 1))
        chosen = rng.different(len(after.rows), min(WALKERS, len(after.rows)))
        before, boards = boards[after.rows[chosen]], after.boards[chosen]
    return sizes


def _with_rows(rows: NDArray[numpy.intp], boards: Boards) -> NDArray[Any]:
    """Boards as bytes, with the rows that they belong to."""
    numbered = rows.astype(">u4").view(numpy.uint8).reshape(-1, 4)
    return as_bytes(numpy.concatenate([numbered, boards], axis=1))
