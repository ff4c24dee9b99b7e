"""Proof of a stored residue map: the puzzle is enumerated again by its plain model, layer by layer.

Layer 0 are the origins. Let all layers up to d be known, each state's residue in the map be that of its depth, and each
layer's number of states the stored one. Every neighbour of layer d is in layer d - 1, d or d + 1. If each is in layer
d - 1, or in layer d, or has the residue of d + 1, then the latter are layer d + 1. So by induction all residues of
reached states are right. If, besides, as many keys have each number as the layers with that number have states, and all
others the number 0, then no key that is not reached says otherwise. No step of the kernel, and no walk, is used.

Of large maps of representatives a sample of keys is proved: each by itself, where the distance of a key is the length
of a walk to nearer keys (``Walks``, ``representatives``). Small maps are proved by the plain model alone, with layers
of codes; large ones with layers of bits and tables of the moves of whole blocks of keys, which the model makes
(``recount``).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.verify.local import Finding as ProofFinding
from farthest.verify.local import Means
from farthest.verify.models import Boards, Codes, LayoutError, Model, model_of
from farthest.verify.models.representatives import Representatives
from farthest.verify.recount import (
    WORD_BITS,
    BitOrder,
    BlockTables,
    Finding,
    MapWords,
    NoTablesError,
    Recount,
    block_size,
    block_tables,
)
from farthest.verify.report import Proof, Report, Stored
from farthest.verify.representatives import (
    add_checks,
    check_keys,
    nearest,
    prove_codes,
    sample,
    sample_size,
)
from farthest.verify.rows import compare_last_rows, compare_members

NO_END = 2**31
"""The distance of a key whose residue is that of a reached one, from which no walk leads to the origin."""


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

    def residues(self, codes: Codes) -> NDArray[np.int64]:
        """The residues of the distances of codes, -1 where there is none."""
        inside = codes < self.keys
        keys = np.where(inside, codes, np.uint64(0))
        found = np.full(len(codes), -1)
        for depth in range(self.modulus):
            found[inside & self.are(keys, depth, self.number(depth))] = depth
        return found

    def counts(self, words: NDArray[np.uint64]) -> dict[int, int]:
        """How many keys of words have each number but 0; bits that belong to no key are counted too."""
        if self.planes == 1:
            return {1: int(np.bitwise_count(words).sum(dtype=np.int64))}
        low, high = words[0::2], words[1::2]
        numbers = (low & ~high, high & ~low, low & high)
        return {n: int(np.bitwise_count(at).sum(dtype=np.int64)) for n, at in enumerate(numbers, 1)}

    def weighed(self, weights: Sequence[int] | NDArray[np.int64]) -> dict[int, int]:
        """How many states have each number but 0, where each key of a shard stands for so many. ``weights``: of each
        shard; a shard is whole groups of words."""
        found = self.counts(self.words[:0])
        size = self.keys // max(len(weights), 1) // self.order.group * self.order.group_words * self.planes
        for shard, weight in enumerate(weights):
            for number, count in self.counts(self.words[shard * size : (shard + 1) * size]).items():
                found[number] += count * int(weight)
        return found


class Walks:
    """The length of a walk from each of some codes, -1 where the map does not reach them. ``most``: the last layer;
    ``every``: whether the map reaches all keys. ``coded``: boards that are coded for a distance, at the most."""

    def __init__(self, model: Representatives, numbers: Numbers, most: int, *, every: bool) -> None:
        self._model, self._numbers, self._most = model, numbers, most
        # A key without a distance may have a number that others have, where numbers have one bit.
        self._no_end = NO_END if every or numbers.modulus == 3 else -1
        self._origins = np.unique(model.codes(model.origins()))
        self.coded = max(1, most * model.moves)

    def __call__(self, codes: Codes) -> NDArray[np.int64]:
        at, back = np.unique(codes, return_inverse=True)
        residues = self._numbers.residues(at)
        lengths = np.where(residues < 0, -1, self._no_end)
        left = np.flatnonzero(residues >= 0)
        at, residues = at[left], residues[left]
        for length in range(self._most + 1):
            ends = (residues == 0) & among(at, self._origins)
            lengths[left[ends]] = length
            left, at, residues = left[~ends], at[~ends], residues[~ends]
            rows, boards = self._model.predecessors(self._model.boards(at))
            reached = self._model.codes(boards)
            wanted = (residues - 1) % self._numbers.modulus
            nearer = np.flatnonzero(self._numbers.residues(reached) == wanted[rows])
            some, first = np.unique(rows[nearer], return_index=True)
            left, at, residues = left[some], reached[nearer[first]], wanted[some]
        return lengths[back]


def first_layers(model: Representatives, most: int) -> list[Codes]:
    """The codes of the first layers, which are at most so many."""
    layer: Codes = np.unique(model.codes(model.origins()))
    layers = [layer]
    before = layer[:0]
    while len(layer) and sum(map(len, layers)) <= most:
        found = model.alike(np.unique(model.codes(model.successors(model.boards(layer))[1])))
        before, layer = layer, found[~among(found, before) & ~among(found, layer)]
        layers.append(layer)
    return layers[:-1]


def among(codes: Codes, ascending: Codes) -> NDArray[np.bool_]:
    """Which codes are among others."""
    if not len(ascending):
        return np.zeros(len(codes), dtype=np.bool_)
    places = np.searchsorted(ascending, codes)
    places[places == len(ascending)] = 0
    found: NDArray[np.bool_] = ascending[places] == codes
    return found


BLOCK_STATES = 1 << 15


class Bits(MapWords, Protocol):
    """The map as its file has it: docs/map-files.md has the fields."""

    def load_all(self) -> NDArray[np.uint64]:
        """All words, in memory."""

    def sections(self, threads: int) -> Iterator[bytes]:
        """All words in sections of 2**20 bytes, each checked."""


def verify_residues(stored: Stored, bits: Bits, means: Means) -> Report:
    """Prove a residue map, or find where it is wrong. Layers, digest, facts and rows must be stored.

    Raises BoardError when the origin's text is not a board of the puzzle, ResourceError and NoRoomError where memory or
    disk are too small.
    """
    assert stored.layers is not None
    assert stored.rows is not None
    puzzle = stored.puzzle
    proof = Proof(puzzle.name, str(stored.origin))
    proof.arrangements = puzzle.definition.arrangements()
    try:
        model = model_of(puzzle, stored.origin, stored.layout)
    except LayoutError as error:
        return proof.wrong_layout(str(error))
    proof.keys = model.keys or 0
    numbers = Numbers(bits.fields)
    wrong = "" if numbers.keys == proof.keys else f"{numbers.keys:,} keys; the layout has {proof.keys:,}"
    if not proof.check("length", proof.keys, int(bool(wrong)), wrong):
        return proof.report("not counted: the map is of other keys")
    summed = _Sums(numbers, bits.sections(means.threads))  # first: a damaged file is refused at once
    if isinstance(model, Representatives) and model.keys > sample_size(model):
        numbers.words = bits.load_all()
        return _sampled(stored, proof, model, numbers, _digest(stored.layers, bits.fields, summed))
    tables = _block_tables(model, numbers, bits, means)
    findings = Findings()
    origins = _origins(model, numbers, findings)
    layers = _layers(tables, model, numbers, bits, origins, means, findings)
    counts, keys = list[int](), list[int]()
    nearest_goal = None
    if layers is not None:
        at_origin = numbers.are(origins, 0, numbers.number(0))
        findings.add(("origin", 0, int((~at_origin).sum()), "a state at distance 0 has another residue"))
        goals = _goals(stored, model) if any(known.goal is not None for known in puzzle.known) else None
        for distance in range(len(stored.layers) + 1):
            counts.append(layers.states)
            keys.append(layers.keys)
            if goals is not None and nearest_goal is None and layers.holds(goals):
                nearest_goal = distance
            is_beyond = stored.depth is not None and distance == stored.depth
            number = numbers.beyond(distance + 1) if is_beyond else numbers.number(distance + 1)
            for finding in layers.step(distance, number, partial(means.progress, distance + 1)):
                findings.add(finding)
            if not layers.states or is_beyond:
                break
    if tables is not None:
        proof.check("blocks", tables.sampled, detail=f"{tables.blocks:,} blocks of {tables.size:,} keys")
    proof.counts = tuple(counts)
    for name, (checked, failed, detail) in findings.found.items():
        if tables is None or name in ("origin", "residues"):  # "blocks" and "residues" say the others
            proof.check(name, checked, failed, detail)
    _check_others(proof, numbers, summed, keys)
    if isinstance(model, Representatives):
        prove_codes(proof, model, stored.depth)
    proof.digest = _digest(counts, bits.fields, summed)
    proof.compare(stored, "uint8" if len(counts) <= 255 else "uint16")
    last = np.empty(0, dtype=np.uint64) if layers is None else layers.before()

    def texts(codes: Codes) -> list[str]:
        boards = model.members(codes) if isinstance(model, Representatives) else model.boards(codes)
        return puzzle.definition.texts(boards)

    def at_the_end(boards: Boards) -> NDArray[np.int64]:
        return np.where(among(model.codes(boards), last), len(counts) - 1, -1)

    if isinstance(model, Representatives):
        proof.rows(compare_members(stored.rows, puzzle.definition, at_the_end, counts))
    else:
        proof.rows(compare_last_rows(stored.rows, last, texts, len(counts) - 1))
    proof.compare_known(stored, lambda most: texts(last[:most]), lambda: nearest_goal)
    return proof.report(f"{sum(counts):,} states; at most {proof.arrangements:,} are possible")


def _sampled(stored: Stored, proof: Proof, model: Representatives, numbers: Numbers, digest: str) -> Report:
    """The report of a map of representatives too large to enumerate again; ``digest``: with the job's layers."""
    assert stored.layers is not None
    assert stored.rows is not None
    rows = list(stored.rows)
    proof.counts, proof.digest = tuple(stored.layers), digest
    walks = Walks(model, numbers, len(stored.layers) - 1, every=sum(stored.layers) == model.states)
    most = sample_size(model, walks.coded)
    first = first_layers(model, most // 4)
    found = check_keys(model, sample(model, most, np.concatenate(first)), walks, stored.depth)
    at_origin = walks(np.unique(model.codes(model.origins())))
    found["origin"] = ProofFinding.at(len(at_origin), np.flatnonzero(at_origin))
    add_checks(proof, model, found, found["codes"].checked, lambda code: None)
    prove_codes(proof, model, stored.depth)
    _check_layers(proof, model, numbers, first)
    proof.compare(replace(stored, layers=None), "uint8" if len(stored.layers) <= 255 else "uint16")
    definition = stored.puzzle.definition
    proof.rows(compare_members(rows, definition, lambda boards: walks(model.codes(boards)), stored.layers))
    proof.compare_known(
        stored, lambda most: [text for *_, text in rows[:most]], lambda: nearest(walks(model.goals()))
    )
    return proof.report(f"{sum(stored.layers):,} states; at most {proof.arrangements:,} are possible")


def _check_layers(proof: Proof, model: Representatives, numbers: Numbers, first: Sequence[Codes]) -> None:
    """Compares the stored layers with the first ones, and with the states that have each number."""
    found = numbers.weighed(model.shard_weights)
    wrong = [
        f"{found[number]:,} states have the number {number}, expected {of_layers:,}"
        for number, of_layers in _by_number(numbers, proof.counts).items()
        if found[number] != of_layers
    ]
    for depth, layer in enumerate(first):
        states = int(model.weights(layer).sum())
        if proof.counts[depth : depth + 1] != (states,):
            wrong.append(f"depth {depth}: found {states:,} states")
    proves = (
        f"all layers of a residue have as many states as it has; the first {len(first)} are counted again"
    )
    proof.check("layers", len(proof.counts), len(wrong), "; ".join(wrong), proves=proves)


class Findings:
    """What was found of the layers: by check, how many states were checked, how many are wrong, the first in words."""

    def __init__(self) -> None:
        self.found = dict.fromkeys(("origin", "codes", "nearer", "residues"), (0, 0, ""))

    def add(self, finding: Finding) -> None:
        """Adds to a check."""
        name, checked, wrong, detail = finding
        before, failed, first = self.found[name]
        self.found[name] = (before + checked, failed + wrong, first or (detail if wrong else ""))


def _block_tables(model: Model, numbers: Numbers, bits: Bits, means: Means) -> BlockTables | None:
    """The moves of blocks of keys, where the map is large and the space has such moves."""
    if numbers.keys <= means.plain_keys or not model.block_sizes:
        return None
    size = block_size(model.block_sizes, numbers.order, max(1, len(bits.fields["colours"])))
    if size is None:
        return None
    try:
        return block_tables(
            model, numbers.order, size, means.threads, lambda done, blocks: means.progress(0, done / blocks)
        )
    except NoTablesError:
        return None


def _origins(model: Model, numbers: Numbers, findings: Findings) -> Codes:
    origins: Codes = np.unique(model.codes(model.origins()))
    outside = int((origins >= numbers.keys).sum())
    findings.add(("origin", len(origins), outside, "an origin has no key"))
    return origins[: len(origins) - outside]


def _goals(stored: Stored, model: Model) -> Codes:
    """The codes of all goals, ascending, and perhaps one that is none."""
    if isinstance(model, Representatives):
        return np.unique(model.goals())
    model = model_of(stored.puzzle, replace(stored.origin, where="goal"), stored.layout)
    goals: Codes = np.unique(model.codes(model.origins()))
    return goals[goals < model.keys]


def _layers(
    tables: BlockTables | None,
    model: Model,
    numbers: Numbers,
    bits: Bits,
    origins: Codes,
    means: Means,
    findings: Findings,
) -> CodeLayers | Recount | None:
    """The layers, one after another, which begin with the origins; None where the map cannot be one of the space."""
    if tables is None:
        numbers.words = bits.load_all()
        return CodeLayers(model, numbers, origins, means.threads)
    try:
        recount = Recount(
            tables, bits, origins, memory=means.memory, scratch=means.scratch, threads=means.threads
        )
    except NoTablesError:
        findings.add(("residues", len(origins), len(origins), "moves join keys whose colours are the same"))
        return None
    numbers.words = recount.words
    return recount


class CodeLayers:
    """Layers of codes, by the model alone."""

    def __init__(self, model: Model, numbers: Numbers, origins: Codes, threads: int) -> None:
        self._model = model
        self._numbers = numbers
        self._threads = threads
        self._before: Codes = origins[:0]
        self._layer = origins

    @property
    def states(self) -> int:
        """How many states the last layer has."""
        if isinstance(self._model, Representatives):
            return int(self._model.weights(self._layer).sum())
        return len(self._layer)

    @property
    def keys(self) -> int:
        """How many keys the last layer has."""
        return len(self._layer)

    def before(self) -> Codes:
        """The last layer but one."""
        return self._before

    def holds(self, codes: Codes) -> bool:
        """As in Recount."""
        return bool(among(codes, self._layer).any())

    def step(self, distance: int, number: int, progress: Callable[[float], None]) -> list[Finding]:
        """As in Recount."""
        expand = partial(self._expand, distance, number)
        blocks = [self._layer[at : at + BLOCK_STATES] for at in range(0, len(self._layer), BLOCK_STATES)]
        with ThreadPoolExecutor(self._threads) as pool:
            results = list(pool.map(expand, blocks))
        found = np.unique(np.concatenate([codes for codes, _ in results] or [self._layer[:0]]))
        findings = [finding for _, findings in results for finding in findings]
        if isinstance(self._model, Representatives):
            found = self._model.alike(found)
            wrong = int((~self._numbers.are(found, distance + 1, number)).sum())
            findings.append(("residues", 0, wrong, "a key's residue is not that of one that is alike"))
        self._before, self._layer = self._layer, found
        progress(1.0)
        return findings

    def _expand(self, distance: int, number: int, codes: Codes) -> tuple[Codes, list[Finding]]:
        """The neighbours of some states that are in the next layer, which must have a number, and what is wrong."""
        boards = self._model.boards(codes)
        rows, after = self._model.successors(boards)
        reached = self._model.codes(after)
        inside = reached < self._numbers.keys
        rows, reached = rows[inside], reached[inside]
        nearer, same = among(reached, self._before), among(reached, self._layer)
        farther = ~nearer & ~same
        right = self._numbers.are(reached, distance + 1, number)
        misread = np.unique(reached[farther & ~right])
        rising = np.zeros(len(codes), dtype=bool)
        rising[rows[nearer]] = True
        lonely = 0 if distance == 0 else int((~rising).sum())
        where = (
            ""
            if not misread.size
            else f"key {misread[0]}: its residue is not that of distance {distance + 1}"
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
                int((self._model.codes(boards) != codes).sum() + (~inside).sum()),
                "a state has no key",
            ),
            ("nearer", 0 if distance == 0 else len(codes), lonely, first),
            ("residues", len(reached), len(misread), where),
        ]


class _Sums:
    """What is known of all words: how many keys have each number but 0 (bits that belong to no key are counted too),
    and the SHA-256 of each section."""

    def __init__(self, numbers: Numbers, sections: Iterable[bytes]) -> None:
        self.digests: list[str] = []
        self.counts = numbers.counts(np.empty(0, dtype=np.uint64))
        for section in sections:
            self.digests.append(hashlib.sha256(section).hexdigest())
            for number, count in numbers.counts(np.frombuffer(section, dtype="<u8")).items():
                self.counts[number] += count


def _check_others(proof: Proof, numbers: Numbers, summed: _Sums, keys: Sequence[int]) -> None:
    """No key that is not reached, and no bit that belongs to no key, says otherwise. ``keys``: of each layer."""
    found, wrong, details = summed.counts, 0, []
    for number, of_layers in _by_number(numbers, keys).items():
        if found[number] != of_layers:
            wrong += abs(found[number] - of_layers)
            details.append(f"{found[number]:,} keys have the number {number}, expected {of_layers:,}")
    proof.check("unreached", numbers.keys, wrong, "; ".join(details))


def _by_number(numbers: Numbers, of_layers: Sequence[int]) -> dict[int, int]:
    """How many have each number but 0, by how many each layer has."""
    found = dict.fromkeys(numbers.counts(np.empty(0, dtype=np.uint64)), 0)
    for depth, of_layer in enumerate(of_layers):
        if numbers.number(depth):
            found[numbers.number(depth)] += of_layer
    return found


def _digest(counts: Sequence[int], fields: Mapping[str, Any], summed: _Sums) -> str:
    names = ("keys", "bits", "words_per_group", "order", "modulus", "ones", "colours")
    text = json.dumps({name: fields[name] for name in names}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"farthest residues 1\n{' '.join(map(str, counts))}\n{text}\n".encode())
    for section in summed.digests:
        digest.update(f"{section}\n".encode())
    return digest.hexdigest()
