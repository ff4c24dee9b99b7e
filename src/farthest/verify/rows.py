"""Compares with the map the other rows that are stored of it: readable rows of states, facts of the job.

A row is right when its board is the canonical text of the board of its key and its distance is the map's. The
rows together are all reached states, or, where those are too many, states of the last layer from its first
key on.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import islice
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthest.wording import shown

Distances = NDArray[np.unsignedinteger[Any]]
Mask = NDArray[np.bool_]

Row = tuple[int, int, str]
"""Key, distance, board."""

Rows = Iterable[Row]

Texts = Callable[[NDArray[np.int64]], list[str]]
"""Keys to the canonical texts of their boards."""

CodeTexts = Callable[[NDArray[np.uint64]], list[str]]

_BLOCK_ROWS = 1 << 14
_SEGMENT_KEYS = 1 << 20


@dataclass(frozen=True, slots=True)
class Facts:
    """What a job's record says of its map. ``eccentricity`` is None where a depth limit ended the search."""

    states: int | None
    eccentricity: int | None
    depth: int | None
    unit: str | None


@dataclass(frozen=True, slots=True)
class RowsFinding:
    """How many rows there are, how many are wrong or missing, and what was found, in words.

    ``key``: that of the first wrong row, else of the first missing one; None where all is right or where the wrong row
    has no valid key.
    """

    checked: int
    failed: int
    detail: str
    key: int | None = None


def compare_facts(facts: Facts, counts: Sequence[int], unit: str, complete: bool) -> list[str]:
    """Where the facts differ from the map: ``counts`` states at each distance, stored as ``unit``."""
    last = len(counts) - 1
    found = Facts(states=sum(counts), eccentricity=last if complete else None, depth=last, unit=unit)
    return [
        f"{field.name}: stored {_word(getattr(facts, field.name))}, found {_word(getattr(found, field.name))}"
        for field in fields(Facts)
        if getattr(facts, field.name) != getattr(found, field.name)
    ]


def compare_rows(rows: Rows, texts: Texts, distances: Distances, counts: Sequence[int]) -> RowsFinding:
    """Compare all rows, which come in key order, with the map. ``counts``: its states at each distance.

    ``texts``: the canonical texts of the boards of keys, which are places in ``distances``. The values of a row may be
    of any type, as in an SQLite file. One block of rows is in memory at a time.
    """
    comparison = _Comparison(texts, distances, counts)
    stream = iter(rows)
    while block := list(islice(stream, _BLOCK_ROWS)):
        comparison.look(block)
    return comparison.finish()


def compare_last_rows(rows: Rows, layer: NDArray[np.uint64], texts: CodeTexts, depth: int) -> RowsFinding:
    """Compare all rows with the states of the last layer, ascending codes: they are the first of them, in order."""
    stream, at = iter(rows), 0
    while block := list(islice(stream, _BLOCK_ROWS)):
        expected = layer[at : at + len(block)]
        keys = expected.tolist()
        right = list(zip(keys, [depth] * len(keys), texts(expected), strict=True)) if keys else []
        for number, row in enumerate(block):
            if number >= len(right) or tuple(row) != right[number]:
                what = f"row {at + number} is {shown(row)}; expected that of the last layer's state of this number"
                return RowsFinding(at + len(block), 1, what)
        at += len(block)
    if not at:
        return RowsFinding(0, 1, "there are no rows of the last layer")
    return RowsFinding(at, 0, f"{at:,} of the {len(layer):,} states of the last layer")


class _Missing:
    """The states of a kind that have no row: ``count`` of them, ``first`` the smallest key."""

    def __init__(self, distances: Distances, wanted: Callable[[Distances], Mask]) -> None:
        self._distances = distances
        self._wanted = wanted
        self.count = 0
        self.first: int | None = None

    def look(self, first: int, end: int, present: NDArray[np.int64]) -> None:
        """Check keys first <= key < end; ``present``: those with rows, ascending."""
        for start in range(first, end, _SEGMENT_KEYS):
            stop = min(start + _SEGMENT_KEYS, end)
            missing = self._wanted(self._distances[start:stop])
            here = slice(*np.searchsorted(present, (start, stop)))
            missing[present[here] - start] = False
            count = int(np.count_nonzero(missing))
            if count and self.first is None:
                self.first = start + int(missing.argmax())
            self.count += count


class _Comparison:
    """The rows compared with the map so far."""

    def __init__(self, texts: Texts, distances: Distances, counts: Sequence[int]) -> None:
        self._texts = texts
        self._distances = distances
        self._unreachable = int(np.iinfo(distances.dtype).max)
        self._counts = counts
        self._last_layer = len(counts) - 1
        self._rows = self._wrong = 0
        self._problem = ""
        self._problem_key: int | None = None
        self._end = 0  # above the keys of all rows so far
        self._of_all = _Missing(distances, lambda part: part != self._unreachable)
        self._of_last = _Missing(distances, lambda part: part == self._last_layer)
        self._others = 0
        self._first_other: int | None = None

    def look(self, block: Sequence[Row]) -> None:
        """Compare the next rows."""
        raw_keys, raw_distances, texts = zip(*block, strict=True)
        keys = _numbers(raw_keys)
        valid = (keys >= 0) & (keys < len(self._distances))
        before = np.maximum.accumulate(np.concatenate(([self._end - 1], np.where(valid, keys, -1))))[:-1]
        ascending = valid & (keys > before)
        keys[~valid] = 0
        found = self._distances[keys]
        expected = self._texts(keys)
        right = (
            ascending
            & (found != self._unreachable)
            & (found == _numbers(raw_distances))
            & np.fromiter(map(eq, texts, expected), dtype=np.bool_, count=len(block))
        )
        wrong = len(block) - int(np.count_nonzero(right))
        if wrong and not self._problem:
            i = int(right.argmin())
            self._problem_key = int(keys[i]) if valid[i] else None
            self._problem = self._explain(
                block[i], bool(valid[i]), bool(ascending[i]), expected[i], int(found[i])
            )
        self._rows += len(block)
        self._wrong += wrong
        self._look_for_missing(keys[ascending], found[ascending])

    def _look_for_missing(self, present: NDArray[np.int64], found: Distances) -> None:
        if not present.size:
            return
        end = int(present[-1]) + 1
        for missing in (self._of_all, self._of_last):
            missing.look(self._end, end, present)
        self._end = end
        others = (found != self._last_layer) & (found != self._unreachable)
        if self._first_other is None and others.any():
            self._first_other = int(present[others.argmax()])
        self._others += int(np.count_nonzero(others))

    def finish(self) -> RowsFinding:
        """What was found, after the last row."""
        # States of the last layer above the last row may be missing: how many rows are stored is a setting.
        self._of_all.look(self._end, len(self._distances), np.empty(0, dtype=np.int64))
        incomplete, key, problem = self._of_all.count, self._of_all.first, ""
        what = f"all {sum(self._counts):,} reached states"
        outside_last = self._of_last.count + self._others
        # The one that the rows are nearer to: all states, or the first states of the last layer.
        if self._end and outside_last < incomplete:
            incomplete, key = outside_last, self._of_last.first
            what = f"{self._rows:,} of the {self._counts[-1]:,} states of the last layer"
            if self._first_other is not None and (key is None or self._first_other < key):
                key = self._first_other
                problem = (
                    f"the row of key {key} is of layer {self._distances[key]}; expected rows of all states, or of "
                    f"the last layer, {self._last_layer}, alone"
                )
        if not incomplete and not self._wrong:
            return RowsFinding(self._rows, 0, what)
        if key is not None and not problem:
            (text,) = self._texts(np.array([key]))
            problem = f"there is no row of key {key}, board {text} at distance {self._distances[key]}"
        if self._problem:
            key, problem = self._problem_key, self._problem
        return RowsFinding(self._rows, self._wrong + incomplete, problem, key)

    def _explain(self, row: Row, valid: bool, ascending: bool, expected: str, found: int) -> str:
        key, distance, text = row
        if not valid:
            return f"the row of key {key!r}: keys are 0 to {len(self._distances) - 1}"
        if not ascending:
            return f"a second row of key {key}, or one out of order"
        if text != expected:
            return f"the row of key {key}: board {shown(text)}; the board of that key is {expected!r}"
        if found == self._unreachable:
            return f"the row of key {key}: distance {distance!r}; the map does not reach that state"
        return f"the row of key {key}: distance {distance!r}; the map has {found}"


def _numbers(values: Sequence[Any]) -> NDArray[np.int64]:
    """The values as integers; -1 for a value that is not an integer or does not fit."""
    if not set(map(type, values)) <= {int}:
        values = [value if isinstance(value, int) else -1 for value in values]
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array([value if abs(value) < 2**63 else -1 for value in values], dtype=np.int64)


def _word(value: object) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return "none" if value is None else str(value)
