"""Proof of a stored residue map: the puzzle is enumerated again by its plain model, layer by layer.

Layer 0 are the origins. Let all layers up to d be known, each state's residue in the map be that of its depth, and each
layer's number of states the stored one. Every neighbour of layer d is in layer d - 1, d or d + 1. If each is in layer
d - 1, or in layer d, or has the residue of d + 1, then the latter are layer d + 1. So by induction all residues of
reached states are right. If, besides, as many keys have each number as the layers with that number have states, and all
others the number 0, then no key that is not reached says otherwise. No step of the kernel, and no walk, is used.

Small maps are proved by the plain model alone, with layers of codes; large ones with layers of bits and tables of
the moves of whole blocks of keys, which the model makes (``residue_layers``).
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.models import BlockModel, Codes, Model, model_of
from farthest.verify.ranking import LayoutError
from farthest.verify.recount import (
    WORD_BITS,
    BitOrder,
    BlockTables,
    MapWords,
    NoTablesError,
    Recount,
    block_size,
    block_tables,
)
from farthest.verify.report import (
    Check,
    Report,
    check_facts,
    compare_digest,
    compare_known,
    compare_layers,
    make_check,
)
from farthest.verify.rows import Facts, Rows, compare_last_rows

# --- The layers of a space, found again and compared with its residue map: as codes, by the plain model alone, or
# as bits, by the moves of whole blocks of keys.

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


class Bits(MapWords, Protocol):
    """The map as its file has it: docs/map-files.md has the fields."""

    def load_all(self) -> NDArray[np.uint64]:
        """All words, in memory."""

    def sections(self, threads: int) -> Iterator[bytes]:
        """All words in sections of 2**20 bytes, each checked."""


def verify_residues(
    puzzle: Puzzle,
    layout: Mapping[str, Any],
    origin: Origin,
    bits: Bits,
    *,
    layers: Sequence[int],
    digest: str,
    depth: int | None,
    facts: Facts,
    rows: Rows,
    means: Means,
) -> Report:
    """Prove a residue map, or find where it is wrong. The arguments are those of ``verify_generic``.

    Raises BoardError when the origin's text is not a board of the puzzle, ResourceError and NoRoomError where memory or
    disk are too small.
    """
    started = time.perf_counter()
    checks: list[Check] = []
    found = Layers()
    keys, found_digest = 0, ""

    def report(total: str) -> Report:
        return Report(
            puzzle=puzzle.name,
            origin=str(origin),
            keys=keys,
            arrangements=puzzle.definition.arrangements(),
            states=sum(found.counts),
            layers=tuple(found.counts),
            total=total,
            digest=found_digest,
            seconds=time.perf_counter() - started,
            checks=tuple(checks),
        )

    try:
        model = model_of(puzzle, origin, layout)
    except LayoutError as error:
        checks.append(make_check("layout", 1, 1, str(error)))
        return report("not counted: the key layout is wrong")
    keys = model.keys or 0
    numbers = Numbers(bits.fields)
    wrong = "" if numbers.keys == keys else f"{numbers.keys:,} keys; the layout has {keys:,}"
    checks.append(make_check("length", keys, int(bool(wrong)), wrong))
    if wrong:
        return report("not counted: the map is of other keys")
    search = Search(puzzle, origin, layout, model, numbers, len(layers), depth, found, means)
    summed = _Sums(numbers, bits.sections(means.threads))  # first: a damaged file is refused at once
    blocks = search.blocks(bits)
    if blocks is None:
        numbers.words = bits.load_all()
        nearest_goal = search.by_boards()
    else:
        checks.append(
            make_check("blocks", blocks.sampled, 0, f"{blocks.blocks:,} blocks of {blocks.size:,} keys")
        )
        nearest_goal = search.by_blocks(blocks, bits)
    checks += found.checks(by_blocks=blocks is not None)
    checks.append(_check_others(numbers, summed, found.counts))
    found_digest = _digest(found.counts, bits.fields, summed)
    checks.append(compare_layers(tuple(found.counts), tuple(layers)))
    checks.append(compare_digest(found_digest, digest))
    checks.append(check_facts(facts, found.counts, _unit(len(found.counts)), complete=depth is None))

    def texts(codes: Codes) -> list[str]:
        return puzzle.definition.texts(model.boards(codes))

    compared = compare_last_rows(rows, found.last, texts, len(found.counts) - 1)
    checks.append(make_check("rows", compared.checked, compared.failed, compared.detail))
    if depth is None and origin == puzzle.origin and puzzle.known:
        last = found.last
        counts = tuple(found.counts)
        checks.append(compare_known(puzzle, counts, lambda most: texts(last[:most]), lambda: nearest_goal))
    return report(f"{sum(found.counts):,} states; at most {puzzle.definition.arrangements():,} are possible")


class _Sums:
    """What is known of all words: how many keys have each number but 0 (bits that belong to no key are counted too),
    and the SHA-256 of each section."""

    def __init__(self, numbers: Numbers, sections: Iterable[bytes]) -> None:
        self.digests: list[str] = []
        self.counts = dict.fromkeys((1,) if numbers.planes == 1 else (1, 2, 3), 0)
        for section in sections:
            self.digests.append(hashlib.sha256(section).hexdigest())
            words = np.frombuffer(section, dtype="<u8")
            if numbers.planes == 1:
                self.counts[1] += int(np.bitwise_count(words).sum(dtype=np.int64))
                continue
            low, high = words[0::2], words[1::2]
            for number, at in (1, low & ~high), (2, high & ~low), (3, high & low):
                self.counts[number] += int(np.bitwise_count(at).sum(dtype=np.int64))


def _check_others(numbers: Numbers, summed: _Sums, counts: Sequence[int]) -> Check:
    """No key that is not reached, and no bit that belongs to no key, says otherwise."""
    found = summed.counts
    expected = dict.fromkeys(found, 0)
    for depth, states in enumerate(counts):
        number = numbers.number(depth)
        if number:
            expected[number] += states
    wrong = {
        number: found[number] - expected[number] for number in found if found[number] != expected[number]
    }
    detail = "; ".join(
        f"{found[number]:,} keys have the number {number}, expected {expected[number]:,}" for number in wrong
    )
    return make_check("unreached", numbers.keys, sum(map(abs, wrong.values())), detail)


def _digest(counts: Sequence[int], fields: Mapping[str, Any], summed: _Sums) -> str:
    names = ("keys", "bits", "words_per_group", "order", "modulus", "ones", "colours")
    text = json.dumps({name: fields[name] for name in names}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"farthest residues 1\n{' '.join(map(str, counts))}\n{text}\n".encode())
    for section in summed.digests:
        digest.update(f"{section}\n".encode())
    return digest.hexdigest()


def _unit(layers: int) -> str:
    return "uint8" if layers <= 255 else "uint16"
