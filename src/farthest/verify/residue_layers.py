"""The layers of a space, found again and compared with its residue map: as codes, by the plain model alone, or as bits,
by the moves of whole blocks of keys."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.bit_order import WORD_BITS, BitOrder
from farthest.verify.block_moves import BlockTables, NoTablesError, block_size, block_tables
from farthest.verify.checks import make_check
from farthest.verify.models import BlockModel, Codes, Model, model_of
from farthest.verify.recount import MapWords, Recount
from farthest.verify.report import Check

BLOCK_STATES = 1 << 15

PLAIN_KEYS = 2**26
"""Most keys of a map that is proved by the plain model alone: it takes some minutes on two cores."""


@dataclass(frozen=True, slots=True)
class Means:
    """What a proof may use. ``memory``: bytes; ``scratch``: the folder for what is more. ``plain_keys``: maps of more
    keys are proved by the moves of blocks. ``told``: called with (depth, share of the step to it that is done), and may
    raise an exception; the depth is 0 while these moves are worked out."""

    memory: int
    scratch: Path
    threads: int
    plain_keys: int = PLAIN_KEYS
    told: Callable[[int, float], None] = lambda depth, share: None


class Numbers:
    """The numbers of keys in ``words``, of a map in memory."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.order = BitOrder(fields)
        self.keys = self.order.keys
        self.modulus = int(fields["modulus"])
        self.planes = 1 if self.modulus == 4 else 2
        self.words: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)
        self._ones = tuple(fields["ones"])
        self._colours = np.array([int(digit) for digit in fields["colours"]], dtype=np.int64)

    def number(self, depth: int) -> int:
        """That of the states of a layer."""
        return int(depth % 4 in self._ones) if self.modulus == 4 else depth % 3 + 1

    def beyond(self, depth: int) -> int:
        """That of keys at a depth that the map does not reach any more."""
        return self.number(depth) if self.modulus == 4 else 0

    def are(self, codes: Codes, depth: int, number: int) -> NDArray[np.bool_]:
        """Which keys have a number, and the colour of states of a depth."""
        word, bit = np.divmod(self.order.places(codes), WORD_BITS)
        found = np.zeros(len(codes), dtype=np.int64)
        for plane in range(self.planes):
            part = self.words[word * self.planes + plane] >> bit.astype(np.uint64) & np.uint64(1)
            found += part.astype(np.int64) << plane
        right: NDArray[np.bool_] = found == number
        if self.modulus == 4:
            colour = self._colours[(codes // np.uint64(self.keys // len(self._colours))).astype(np.int64)]
            right &= colour == depth % 2
        return right


class Layers:
    """What was found: the states of each layer, the codes of the last one, and what was wrong."""

    def __init__(self) -> None:
        self.counts: list[int] = []
        self.last: Codes = np.empty(0, dtype=np.uint64)
        self.looked = {"origin": 0, "codes": 0, "nearer": 0, "residues": 0}
        self.wrong = dict.fromkeys(self.looked, 0)
        self.detail = dict.fromkeys(self.looked, "")

    def look(self, name: str, looked: int, wrong: int, detail: str) -> None:
        """Adds to a check."""
        self.looked[name] += looked
        self.wrong[name] += wrong
        if wrong and not self.detail[name]:
            self.detail[name] = detail

    def checks(self, *, by_blocks: bool) -> list[Check]:
        """All checks of the layers."""
        return [
            make_check(name, self.looked[name], self.wrong[name], self.detail[name])
            for name in self.looked
            if not (by_blocks and name in ("codes", "nearer"))  # "blocks" and "residues" say that
        ]


@dataclass(frozen=True, slots=True)
class Search:
    """The layers of a puzzle, as many as are stored (``most``) or one more; ``found`` says what is wrong with them."""

    puzzle: Puzzle
    origin: Origin
    layout: Mapping[str, Any]
    model: Model
    numbers: Numbers
    most: int
    depth: int | None
    found: Layers
    means: Means

    def blocks(self, bits: MapWords) -> BlockTables | None:
        """The moves of blocks of keys, where the map is large and the space has such moves."""
        if self.numbers.keys <= self.means.plain_keys or not isinstance(self.model, BlockModel):
            return None
        ranges = max(1, len(bits.fields["colours"]))
        size = block_size(self.model.block_sizes, self.numbers.order, ranges)
        if size is None:
            return None

        def told(done: int, blocks: int) -> None:
            self.means.told(0, done / blocks)

        try:
            return block_tables(self.model, self.numbers.order, size, self.means.threads, told)
        except NoTablesError:
            return None

    def _origins(self) -> Codes:
        layer: Codes = np.unique(self.model.codes(self.model.origins()))
        outside = int((layer >= self.numbers.keys).sum())
        layer = layer[: len(layer) - outside]
        self.found.look("origin", len(layer) + outside, outside, "an origin has no key")
        return layer

    def _number(self, depth: int) -> tuple[int, bool]:
        """Of the states of a layer, and whether it is beyond the map."""
        beyond = self.depth is not None and depth == self.depth + 1
        return self.numbers.beyond(depth) if beyond else self.numbers.number(depth), beyond

    def by_boards(self) -> int | None:
        """Finds all layers as codes, by the model alone. Returns the depth of the nearest goal, if known answers ask
        for it."""
        puzzle, model, found = self.puzzle, self.model, self.found
        nearest_goal = None
        before: Codes = np.empty(0, dtype=np.uint64)
        layer = self._origins()
        wrong = int((~self.numbers.are(layer, 0, self.numbers.number(0))).sum())
        found.look("origin", 0, wrong, "a state at distance 0 has another residue")
        with ThreadPoolExecutor(self.means.threads) as pool:
            for distance in range(self.most + 1):
                found.counts.append(len(layer))
                found.last = layer
                if self._asks_for_goal and nearest_goal is None and _has_goal(puzzle, model, layer):
                    nearest_goal = distance
                number, beyond = self._number(distance + 1)
                expand = partial(_expand, model, self.numbers, before, layer, distance, number)
                blocks = [layer[at : at + BLOCK_STATES] for at in range(0, len(layer), BLOCK_STATES)]
                results = list(pool.map(expand, blocks))
                for _, findings in results:
                    for finding in findings:
                        found.look(*finding)
                before, layer = (
                    layer,
                    np.unique(np.concatenate([codes for codes, _ in results] or [layer[:0]])),
                )
                if not layer.size or beyond:
                    break
                self.means.told(distance + 1, 1.0)
        return nearest_goal

    @property
    def _asks_for_goal(self) -> bool:
        return any(known.goal is not None for known in self.puzzle.known)

    def by_blocks(self, tables: BlockTables, bits: MapWords) -> int | None:
        """The same as bits, by the moves of blocks."""
        means, found = self.means, self.found
        goals = self._goals() if self._asks_for_goal else None
        nearest_goal = None
        origins = self._origins()
        try:
            recount = Recount(
                tables, bits, origins, memory=means.memory, scratch=means.scratch, threads=means.threads
            )
        except NoTablesError:
            found.look("residues", len(origins), len(origins), "moves join keys whose colours are the same")
            return None
        wrong = recount.compare_origins(origins, self.numbers.number(0))
        found.look("origin", 0, wrong, "a state at distance 0 has another residue")
        for distance in range(self.most + 1):
            found.counts.append(recount.states)
            if goals is not None and nearest_goal is None and recount.holds(goals):
                nearest_goal = distance
            number, beyond = self._number(distance + 1)
            wrong, first = recount.step(number, partial(means.told, distance + 1))
            detail = (
                "" if first is None else f"key {first}: its residue is not that of distance {distance + 1}"
            )
            found.look("residues", recount.states, wrong, detail)
            if not recount.states or beyond:
                break
        found.last = recount.before()
        return nearest_goal

    def _goals(self) -> Codes:
        goal = replace(self.origin, where="goal")
        model = model_of(self.puzzle, goal, self.layout)
        goals: Codes = np.unique(model.codes(model.origins()))
        return goals[goals < self.numbers.keys]


Finding = tuple[str, int, int, str]


def _expand(
    model: Model, numbers: Numbers, before: Codes, layer: Codes, distance: int, number: int, codes: Codes
) -> tuple[Codes, list[Finding]]:
    """The neighbours of some states of a layer that are in the next, whose states have a number, and what is wrong with
    them. ``before``: the codes of the layer before."""
    boards = model.boards(codes)
    rows, after = model.successors(boards)
    reached = model.codes(after)
    inside = reached < numbers.keys
    rows, reached = rows[inside], reached[inside]
    nearer, same = _among(reached, before), _among(reached, layer)
    farther = ~nearer & ~same
    right = numbers.are(reached, distance + 1, number)
    misread = np.unique(reached[farther & ~right])
    rising = np.zeros(len(codes), dtype=bool)
    rising[rows[nearer]] = True
    lonely = 0 if distance == 0 else int((~rising).sum())
    where = (
        "" if not misread.size else f"key {misread[0]}: its residue is not that of distance {distance + 1}"
    )
    first = (
        ""
        if not lonely
        else f"key {codes[int((~rising).argmax())]}: no neighbour is at distance {distance - 1}"
    )
    return np.unique(reached[farther & right]), [
        (
            "codes",
            len(codes),
            int((model.codes(boards) != codes).sum() + (~inside).sum()),
            "a state has no key",
        ),
        ("nearer", 0 if distance == 0 else len(codes), lonely, first),
        ("residues", len(reached), len(misread), where),
    ]


def _among(codes: Codes, ascending: Codes) -> NDArray[np.bool_]:
    if not len(ascending):
        return np.zeros(len(codes), dtype=np.bool_)
    places = np.searchsorted(ascending, codes)
    places[places == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[places] == codes
    return found


def _has_goal(puzzle: Puzzle, model: Model, layer: Codes) -> bool:
    return any(
        bool(puzzle.definition.at_goal(model.boards(layer[at : at + BLOCK_STATES])).any())
        for at in range(0, len(layer), BLOCK_STATES)
    )
