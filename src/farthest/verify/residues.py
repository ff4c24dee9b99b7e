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
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from farthest.verify.models import Codes, model_of
from farthest.verify.ranking import LayoutError
from farthest.verify.recount import MapWords
from farthest.verify.report import Check, Report
from farthest.verify.residue_layers import Layers, Means, Numbers, Search
from farthest.verify.rows import Facts, Rows, compare_last_rows


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
