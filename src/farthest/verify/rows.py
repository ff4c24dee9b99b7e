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

from farthest.errors import BoardError
from farthest.puzzles.definition import Board, PuzzleDefinition
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
    unreachable, last_layer = int(np.iinfo(distances.dtype).max), len(counts) - 1
    checked = wrong = end = 0  # end: above the keys of all rows so far
    key: int | None = None
    problem = ""
    parts: list[NDArray[np.int64]] = [np.empty(0, dtype=np.int64)]
    stream = iter(rows)
    while block := list(islice(stream, _BLOCK_ROWS)):
        raw_keys, raw_distances, boards = zip(*block, strict=True)
        keys = _numbers(raw_keys)
        valid = (keys >= 0) & (keys < len(distances))
        before = np.maximum.accumulate(np.concatenate(([end - 1], np.where(valid, keys, -1))))[:-1]
        ascending = valid & (keys > before)
        keys[~valid] = 0
        found, expected = distances[keys], texts(keys)
        right = (
            ascending
            & (found != unreachable)
            & (found == _numbers(raw_distances))
            & np.fromiter(map(eq, boards, expected), dtype=np.bool_, count=len(block))
        )
        if not right.all() and not wrong:
            i = int(right.argmin())
            key = int(keys[i]) if valid[i] else None
            if not valid[i]:
                problem = f"the row of key {raw_keys[i]!r}: keys are 0 to {len(distances) - 1}"
            elif not ascending[i]:
                problem = f"a second row of key {raw_keys[i]}, or one out of order"
            else:
                problem = _problem(block[i], expected[i], int(found[i]), unreachable)
        checked += len(block)
        wrong += len(block) - int(np.count_nonzero(right))
        parts.append(keys[ascending])
        end = max(end, int(parts[-1][-1]) + 1 if parts[-1].size else 0)
    present = np.concatenate(parts)
    incomplete, missing = _missing(distances, present, len(distances), lambda part: part != unreachable)
    what = f"all {sum(counts):,} reached states"
    # States of the last layer above the last row may be missing: how many rows are stored is a setting.
    of_last, first_of_last = _missing(distances, present, end, lambda part: part == last_layer)
    others = present[(distances[present] != last_layer) & (distances[present] != unreachable)]
    other = int(others[0]) if others.size else None
    is_last = end and of_last + len(others) < incomplete  # the rows are nearer to these than to all states
    if is_last:
        incomplete, missing = of_last + len(others), first_of_last
        what = f"{checked:,} of the {counts[-1]:,} states of the last layer"
    if not incomplete and not wrong:
        return RowsFinding(checked, 0, what)
    if not problem:
        if is_last and other is not None and (missing is None or other < missing):
            key = other
            problem = (
                f"the row of key {key} is of layer {distances[key]}; expected rows of all states, or of the last "
                f"layer, {last_layer}, alone"
            )
        elif missing is not None:
            key = missing
            (text,) = texts(np.array([key]))
            problem = f"there is no row of key {key}, board {text} at distance {distances[key]}"
    return RowsFinding(checked, wrong + incomplete, problem, key)


def _missing(
    distances: Distances, present: NDArray[np.int64], end: int, wanted: Callable[[Distances], Mask]
) -> tuple[int, int | None]:
    """How many states of a kind below ``end`` have no row, and the smallest key. ``present``: those with rows."""
    count, first = 0, None
    for start in range(0, end, _SEGMENT_KEYS):
        stop = min(start + _SEGMENT_KEYS, end)
        missing = wanted(distances[start:stop])
        here = slice(*np.searchsorted(present, (start, stop)))
        missing[present[here] - start] = False
        if first is None and missing.any():
            first = start + int(missing.argmax())
        count += int(np.count_nonzero(missing))
    return count, first


def _problem(row: Row, expected: str, found: int, unreachable: int) -> str:
    key, distance, text = row
    if text != expected:
        return f"the row of key {key}: board {shown(text)}; the board of that key is {expected!r}"
    if found == unreachable:
        return f"the row of key {key}: distance {distance!r}; the map does not reach that state"
    return f"the row of key {key}: distance {distance!r}; the map has {found}"


def compare_members(
    rows: Rows,
    definition: PuzzleDefinition,
    distances: Callable[[NDArray[np.uint8]], NDArray[np.int64]],
    counts: Sequence[int],
) -> RowsFinding:
    """Compare all rows of a map of representatives, which are numbered from 0: each is another state, and all states
    have one, or they are states of the last layer. ``distances``: of boards, -1 where there is none."""
    seen: set[str] = set()
    number = of_last = 0
    stream = iter(rows)
    while block := list(islice(stream, _BLOCK_ROWS)):
        boards: list[Board] = []
        unread = ""
        for _, _, text in block:
            try:
                boards.append(definition.parse_board(text))
            except (BoardError, AttributeError, TypeError) as error:
                unread = str(error)
                break
        found = distances(np.array(boards, dtype=np.uint8)).tolist() if boards else []
        for row, board, at in zip(block, boards, found, strict=False):
            key, distance, text = row
            problem = ""
            if key != number or text in seen or text != definition.format_board(board):
                problem = f"expected key {number} and the text of a board without a row"
            elif distance != at or at < 0:
                problem = f"the map has {_word(at if at >= 0 else None)}"
            number += 1
            if problem:
                return RowsFinding(number, 1, f"row {number - 1} is {shown(row)}; {problem}")
            seen.add(text)
            of_last += at == len(counts) - 1
        if unread:
            return RowsFinding(number + 1, 1, f"row {number} is {shown(block[len(boards)])}; {unread}")
    if number == sum(counts):
        return RowsFinding(number, 0, f"all {number:,} reached states")
    if number != of_last or not number:
        return RowsFinding(
            number, 1, f"{number:,} rows; expected those of all states, or of states of the last layer"
        )
    return RowsFinding(number, 0, f"{number:,} of the {counts[-1]:,} states of the last layer")


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
