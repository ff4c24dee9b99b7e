"""Proof of a stored residue map: the puzzle is enumerated again by its plain model, layer by layer.

Layer 0 are the origins. Let all layers up to d be known, each state's residue in the map be that of its depth, and each
layer's number of states the stored one. Every neighbour of layer d is in layer d - 1, d or d + 1. If each is in layer
d - 1, or in layer d, or has the residue of d + 1, then the latter are layer d + 1. So by induction all residues of
reached states are right. If, besides, as many keys have each number as the layers with that number have states, and all
others the number 0, then no key that is not reached says otherwise. No step of the kernel, and no walk, is used.

In memory are the bits, and three layers of codes.
"""

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.checks import (
    check_facts,
    compare_digest,
    compare_known,
    compare_layers,
    make_check,
)
from farthest.verify.models import Codes, Model, model_of
from farthest.verify.ranking import LayoutError
from farthest.verify.report import Check, Report
from farthest.verify.rows import Facts, Rows, compare_last_rows

BLOCK_STATES = 1 << 15
SECTION_WORDS = 2**20 // 8
WORD_BITS = np.uint64(64)


class Bits(Protocol):
    """The map as its file has it: docs/map-files.md has the fields. ``words``: uint64, all of them."""

    @property
    def fields(self) -> Mapping[str, Any]: ...

    @property
    def words(self) -> NDArray[np.uint64]: ...


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
    threads: int | None = None,
) -> Report:
    """Prove a residue map, or find where it is wrong. The arguments are those of ``verify_generic``.

    Raises BoardError when the origin's text is not a board of the puzzle.
    """
    started = time.perf_counter()
    checks: list[Check] = []
    found = _Layers()
    keys, found_digest = 0, ""

    def report(total: str) -> Report:
        return Report(
            puzzle=puzzle.name,
            origin=f"{origin.direction} {origin.where}",
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
    numbers = _Numbers(bits.fields, bits.words)
    wrong = "" if numbers.keys == keys else f"{numbers.keys:,} keys; the layout has {keys:,}"
    checks.append(make_check("length", keys, int(bool(wrong)), wrong))
    if wrong:
        return report("not counted: the map is of other keys")
    nearest_goal = _enumerate(puzzle, model, numbers, len(layers), depth, found, threads)
    checks += found.checks()
    checks.append(_check_others(numbers, found.counts))
    found_digest = _digest(found.counts, bits)
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


class _Numbers:
    """The numbers of keys, read again as docs/map-files.md has it."""

    def __init__(self, fields: Mapping[str, Any], words: NDArray[np.uint64]) -> None:
        self.keys = int(fields["keys"])
        self.modulus = int(fields["modulus"])
        self.words = words
        self.planes = 1 if self.modulus == 4 else 2
        self._group = int(fields["words_per_group"]) * int(fields["bits"])
        self._group_words = int(fields["words_per_group"])
        self._order = np.array(fields["order"] or range(self._group), dtype=np.uint64)
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
        group, k = np.divmod(codes, np.uint64(self._group))
        at = self._order[k.astype(np.int64)]
        word = (group * np.uint64(self._group_words) + at // WORD_BITS).astype(np.int64) * self.planes
        found = np.zeros(len(codes), dtype=np.int64)
        for plane in range(self.planes):
            found += (self.words[word + plane] >> at % WORD_BITS & np.uint64(1)).astype(np.int64) << plane
        right: NDArray[np.bool_] = found == number
        if self.modulus == 4:
            colour = self._colours[(codes // np.uint64(self.keys // len(self._colours))).astype(np.int64)]
            right &= colour == depth % 2
        return right

    def count(self) -> dict[int, int]:
        """How many keys have each number but 0; bits that belong to no key are counted too."""
        if self.planes == 1:
            return {1: int(np.bitwise_count(self.words).sum(dtype=np.int64))}
        low, high = self.words[0::2], self.words[1::2]
        some = {1: low & ~high, 2: high & ~low, 3: high & low}
        return {number: int(np.bitwise_count(at).sum(dtype=np.int64)) for number, at in some.items()}


class _Layers:
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

    def checks(self) -> list[Check]:
        """All checks of the layers."""
        return [
            make_check(name, self.looked[name], self.wrong[name], self.detail[name]) for name in self.looked
        ]


def _enumerate(
    puzzle: Puzzle,
    model: Model,
    numbers: _Numbers,
    most: int,
    depth: int | None,
    found: _Layers,
    threads: int | None,
) -> int | None:
    """Finds all layers, as many as are stored or one more. Returns the depth of the nearest goal, if known answers ask
    for it."""
    look_for_goal = any(known.goal is not None for known in puzzle.known)
    nearest_goal = None
    before: Codes = np.empty(0, dtype=np.uint64)
    layer: Codes = np.unique(model.codes(model.origins()))
    outside = int((layer >= numbers.keys).sum())
    layer = layer[: len(layer) - outside]
    wrong = outside + int((~numbers.are(layer, 0, numbers.number(0))).sum())
    found.look("origin", len(layer) + outside, wrong, "a state at distance 0 has another residue, or no key")
    with ThreadPoolExecutor(threads or os.cpu_count()) as pool:
        for distance in range(most + 1):
            found.counts.append(len(layer))
            found.last = layer
            if look_for_goal and nearest_goal is None and _has_goal(puzzle, model, layer):
                nearest_goal = distance
            beyond = depth is not None and distance == depth
            number = numbers.beyond(distance + 1) if beyond else numbers.number(distance + 1)
            expand = partial(_expand, model, numbers, before, layer, distance, number)
            blocks = [layer[at : at + BLOCK_STATES] for at in range(0, len(layer), BLOCK_STATES)]
            results = list(pool.map(expand, blocks))
            for _, findings in results:
                for finding in findings:
                    found.look(*finding)
            before, layer = layer, np.unique(np.concatenate([codes for codes, _ in results] or [layer[:0]]))
            if not layer.size or beyond:
                break
    return nearest_goal


Finding = tuple[str, int, int, str]


def _expand(
    model: Model, numbers: _Numbers, before: Codes, layer: Codes, distance: int, number: int, codes: Codes
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


def _check_others(numbers: _Numbers, counts: Sequence[int]) -> Check:
    """No key that is not reached, and no bit that belongs to no key, says otherwise."""
    found = numbers.count()
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


def _digest(counts: Sequence[int], bits: Bits) -> str:
    names = ("keys", "bits", "words_per_group", "order", "modulus", "ones", "colours")
    fields = json.dumps({name: bits.fields[name] for name in names}, sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"farthest residues 1\n{' '.join(map(str, counts))}\n{fields}\n".encode())
    for at in range(0, len(bits.words), SECTION_WORDS):
        digest.update(
            f"{hashlib.sha256(bits.words[at : at + SECTION_WORDS].tobytes()).hexdigest()}\n".encode()
        )
    return digest.hexdigest()


def _unit(layers: int) -> str:
    return "uint8" if layers <= 255 else "uint16"
