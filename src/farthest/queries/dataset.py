"""States of a map as data for learning: files of columns of integers, divided so that no state to be tested is a turned
state that was learnt from, and a page that says what is in them.

All states that symmetries take to each other are in the same part: a hash of the least of their boards decides, so that
datasets of one puzzle are divided alike, whichever states they have.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy

from farthest.errors import JobError, ResourceError, SettingError
from farthest.machine import cores, memory_limit
from farthest.puzzles.move_text import move_text
from farthest.queries.citation import citation_of
from farthest.queries.exports import cell_columns, optional
from farthest.queries.output_files import written_folder
from farthest.queries.paths import LargeGraphError, SolutionGraph, marks_of, nearer_moves
from farthest.queries.states import class_numbers, sampled_states, symmetries_of
from farthest.random_source import RandomSource
from farthest.safe_text import safe
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from farthest.puzzles.definition import MoveName
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards, Codes

    Numbers = NDArray[numpy.int64]

PARTS = ("train", "validation", "test")
SHARES = (80, 10, 10)
"""Of a hundred classes, about."""

SHARD_ROWS = 2**20
"""Rows of a file at most."""

MASK_BITS = 63
"""Moves of a column of a mask, at most: its numbers are not negative."""

MOST_SOLUTIONS = 2**63 - 1
"""Stands for as many solutions, or more."""

STATE_BYTES = 300
"""Memory for a state, about, besides some copies of its board; and for a board that its solutions pass through."""

MOST_LOOKED_UP = 2**28
"""Keys of a map at most whose distances are held in memory to be looked up."""


@dataclass(frozen=True, slots=True)
class Dataset:
    """What was written: ``rows`` by part (train, validation, test); in so many ``classes`` by ``symmetries``, None
    where these are not known, and ``unknown`` says why; so many ``files`` of ``bytes`` together; the ``moves`` of the
    bits of the mask ``nearer``, the lowest bit first."""

    rows: dict[str, int]
    classes: int
    symmetries: int | None
    unknown: str | None
    moves: list[str]
    files: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Sample:
    """Which states: ``count`` of all, or so many ``per_layer``; else all of them. ``seed``: the same states for the
    same number."""

    count: int | None = None
    per_layer: int | None = None
    seed: int = 1

    def __post_init__(self) -> None:
        if self.count is not None and self.per_layer is not None:
            raise SettingError("give either a sample of all states or so many per layer")
        if any(number is not None and number < 1 for number in (self.count, self.per_layer)):
            raise SettingError("a sample needs 1 state or more")

    def __str__(self) -> str:
        if self.count is not None:
            return f"a uniform sample of {self.count:,} states (seed {self.seed})"
        if self.per_layer is not None:
            return f"{self.per_layer:,} states of each layer, all of smaller layers (seed {self.seed})"
        return "all states"

    def states(self, opened: StoredMap) -> tuple[Boards, Numbers]:
        """The boards, in the order of the map's codes within a layer, and their distances."""
        rng = RandomSource(self.seed)
        if self.count is not None:
            boards = sampled_states(opened, self.count, rng)
            return boards, opened.lookup(opened.space.encode(boards)).astype(numpy.int64)
        if self.per_layer is not None:
            some = [sampled_states(opened, self.per_layer, rng, depth) for depth in range(len(opened.layers))]
            sizes = [len(boards) for boards in some]
            return numpy.concatenate(some), numpy.repeat(numpy.arange(len(some)), sizes)
        blocks = [(block.labels, block.distances) for block in opened.state_blocks()]
        boards, distances = (numpy.concatenate(parts) for parts in zip(*blocks, strict=True))
        return boards, distances.astype(numpy.int64)

    def size(self, layers: Sequence[int]) -> int:
        """How many states that are."""
        if self.per_layer is not None:
            return sum(min(self.per_layer, states) for states in layers)
        return sum(layers) if self.count is None else min(self.count, sum(layers))


def write_dataset(opened: StoredMap, folder: str | Path, sample: Sample) -> Dataset:
    """Write states of the map into a new folder: ``data/train-00000-of-00003.parquet`` and so on, and ``README.md``.

    Columns: ``cell_columns``, ``distance``, the moves that come nearer as bits of ``nearer`` (the moves from the 64th
    on of ``nearer_1`` and so on), ``solutions`` (the number of optimal ones), ``class``. Raises OutputError where the
    folder exists or cannot be written, MissingLibraryError without pyarrow, JobError for an additive pattern,
    ResourceError where it takes more than the memory.
    """
    pyarrow = optional("pyarrow", "parquet", "a dataset")
    parquet = optional("pyarrow.parquet", "parquet", "a dataset")
    place = f"job {opened.job} ({opened.record.name})"
    if not opened.puzzle.definition.has_moves:
        raise JobError(f"{place} is an additive pattern, whose boards are not joined by moves")
    size, memory, each = sample.size(opened.layers), memory_limit(None), STATE_BYTES + 4 * opened.space.cells
    if size * each > memory:
        raise ResourceError(
            f"{place}: a dataset of {size:,} states takes about {bytes_text(size * each)} of memory, and "
            f"{bytes_text(memory)} may be used; take fewer: --sample N, or --per-layer N"
        )
    with written_folder(Path(folder)) as part:
        boards, distances = sample.states(opened)
        try:
            graph = _graph(opened, boards, distances, memory // each)
        except LargeGraphError:
            raise ResourceError(
                f"{place}: the optimal solutions of these states pass through more boards than memory holds; take "
                "fewer states"
            ) from None
        names, masks = _nearer(graph)
        order, unknown, classes, least = None, None, numpy.arange(len(boards)), boards
        try:
            found = symmetries_of(opened)
        except (JobError, ResourceError) as error:
            unknown = str(error).partition(": ")[2].partition(";")[0]
        else:
            order = len(found.maps)
            classes, least = class_numbers(found, boards, lambda some: marks_of(opened.space, some))
        columns: dict[str, NDArray[Any]] = {
            name: column.astype(numpy.int32) if column.dtype == numpy.uint16 else column
            for name, column in cell_columns(opened, boards).items()
        }
        columns["distance"] = distances.astype(numpy.uint8 if opened.unit.itemsize == 1 else numpy.int32)
        columns |= {f"nearer_{i}" if i else "nearer": mask for i, mask in enumerate(masks)}
        columns |= {"solutions": numpy.minimum(graph.counts(), MOST_SOLUTIONS).astype(numpy.int64)}
        columns["class"] = classes
        parts, rows, files = _parts(least)[classes], {}, list[Path]()
        (part / "data").mkdir()
        for number, name in enumerate(PARTS):
            chosen = numpy.flatnonzero(parts == number)
            rows[name], shards = len(chosen), -(-len(chosen) // SHARD_ROWS)
            for shard in range(shards):
                here = chosen[shard * SHARD_ROWS : (shard + 1) * SHARD_ROWS]
                files.append(part / "data" / f"{name}-{shard:05}-of-{shards:05}.parquet")
                table = pyarrow.table({each: column[here] for each, column in columns.items()})
                with files[-1].open("wb") as stream:
                    parquet.write_table(table, stream, compression="zstd")
        written = sum(file.stat().st_size for file in files)
        moves = [move_text(name) for name in names]
        dataset = Dataset(rows, len(least), order, unknown, moves, len(files), written)
        (part / "README.md").write_text(_card(opened, sample, dataset, columns), encoding="utf-8")
    return dataset


def _graph(opened: StoredMap, boards: Boards, distances: Numbers, limit: int) -> SolutionGraph:
    """The solutions of the boards; through distances in memory, by as many threads as there are processors, where the
    map is dense and not too large."""
    keys, lookup, threads = opened.space.keys, opened.lookup, 1
    if keys is not None and keys <= MOST_LOOKED_UP:
        none = numpy.full(1, numpy.iinfo(opened.unit).max, dtype=opened.unit)
        whole, threads = numpy.concatenate([opened.array(), none]), cores()

        def lookup(codes: Codes) -> NDArray[numpy.int32]:
            return whole[numpy.minimum(codes, numpy.uint64(keys))].astype(numpy.int32)

    def layer(depth: int) -> Iterator[Boards]:
        return (block.labels for block in opened.state_blocks(depth))

    nearer = nearer_moves(opened.space, lookup, layer, threads)
    return SolutionGraph(opened.space, nearer, boards, distances, limit)


def _nearer(graph: SolutionGraph) -> tuple[list[MoveName], list[Numbers]]:
    """The names of the moves of all optimal solutions, sorted, and for each board those that come nearer as bits: of
    the first 63 moves, of the next, and so on."""

    def by_text(name: Any) -> Any:
        return name if isinstance(name, tuple) else (name,)

    names = sorted({name for level in graph.levels for name in level.names}, key=by_text)
    number = {name: place for place, name in enumerate(names)}
    masks = numpy.zeros((-(-len(names) // MASK_BITS) or 1, len(graph.places)), dtype=numpy.int64)
    for depth, level in enumerate(reversed(graph.levels), 1):
        own = numpy.flatnonzero(graph.distances == depth)
        column, bit = numpy.divmod(
            numpy.array([number[name] for name in level.names])[level.moves], MASK_BITS
        )
        for which, mask in enumerate(masks):
            bits = numpy.where(column == which, numpy.int64(1) << bit, 0)
            mask[own] = numpy.bitwise_or.reduceat(bits, level.first_edge[:-1])[graph.places[own]]
    return names, list(masks)


def _parts(boards: Boards) -> NDArray[numpy.uint8]:
    """To which of ``PARTS`` a class goes, whose least board is this: by FNV-1a of 64 bits over the board's bytes, then
    the finalizer of SplitMix64, modulo 100."""
    mixed = numpy.full(len(boards), 0xCBF29CE484222325, dtype=numpy.uint64)
    for column in boards.T:
        mixed = (mixed ^ column) * numpy.uint64(0x100000001B3)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ mixed >> numpy.uint64(shift)) * numpy.uint64(factor)
    mixed ^= mixed >> numpy.uint64(31)
    ends = numpy.cumsum(SHARES).astype(numpy.uint64)
    return numpy.searchsorted(ends, mixed % numpy.uint64(100), side="right").astype(numpy.uint8)


# The data card

SIZES = ["1K", "10K", "100K", "1M", "10M", "100M", "1B", "10B"]
"""How Hugging Face writes the powers of ten."""

READERS = """```python
pandas.read_parquet("data")                        # all parts; or the name of a file
polars.read_parquet("data/train-*.parquet")
datasets.load_dataset("FOLDER").with_format("torch")
```"""


def _text(text: str) -> str:
    """Text of others within the page: one line, which neither a browser nor Markdown takes for more than text."""
    return escape(" ".join(safe(text).split()), quote=False).replace("`", "'").replace("|", "\\|")


def _card(opened: StoredMap, sample: Sample, dataset: Dataset, columns: dict[str, NDArray[Any]]) -> str:
    """The README.md: what Hugging Face reads, then a page for people."""
    puzzle, total = opened.puzzle, sum(dataset.rows.values())
    power = max(0, len(str(total)) - 3)
    size = f"{SIZES[power - 1]}<n<{SIZES[power]}" if 0 < power < len(SIZES) else "n<1K"
    splits = "".join(
        f"\n  - split: {part}\n    path: data/{part}-*.parquet" for part, rows in dataset.rows.items() if rows
    )
    cells = [name for name in columns if name.startswith("cell_")]
    turns = [name for name in columns if name.startswith("turn_")]
    ends = "a shortest way from there can end with move i"
    means = {
        "distance": f"the least number of moves {opened.origin}",
        "nearer": f"bit i: {ends if opened.origin.direction == 'from' else 'move i comes one nearer'}",
        "solutions": "the number of shortest solutions; those with different moves are counted apart",
        "class": "the number of its class: states that symmetries take to each other have the same",
    }
    table = [f"| `cell_0` to `{cells[-1]}` | {columns['cell_0'].dtype} | what is in each cell, as a number |"]
    if turns:
        table += [f"| `turn_0` to `{turns[-1]}` | uint8 | how the piece in each cell is turned |"]
    for name in [name for name in columns if name not in cells and name not in turns]:
        table.append(
            f"| `{name}` | {columns[name].dtype} | {means.get(name, 'the same of the next 63 moves')} |"
        )
    moves = ", ".join(f"{bit} `{_text(move)}`" for bit, move in enumerate(dataset.moves))
    tokens: Sequence[str] = getattr(puzzle.definition, "tokens", ())
    held = ", ".join(f"{number} `{_text(token)}`" for number, token in enumerate(tokens))
    alike = (
        f"The {dataset.symmetries} symmetries that fix the origin make {dataset.classes:,} classes of these states. "
        "All states of a class are in the same part: no state of `test` is a turned or mirrored state of `train`."
        if dataset.symmetries is not None
        else f"Symmetries are not known ({_text(dataset.unknown or '')}): each state is a class of its own."
    )
    return f"""---
license: mit
pretty_name: {json.dumps(f"{puzzle.name}: states and distances")}
size_categories: ["{size}"]
configs:
- config_name: default
  data_files:{splits}
---

# {_text(puzzle.name)}: states and distances

{_text(puzzle.title)}: {sample}, each with its exact distance.

| part | states |
|---|---|
{chr(10).join(f"| `{part}` | {rows:,} |" for part, rows in dataset.rows.items())}

| column | type | |
|---|---|---|
{chr(10).join(table)}

Moves by bit: {moves or "none"}. Bits are of the moves that the optimal solutions of these states have: those of another
dataset may be others.

{f"Numbers in cells: {held}." if held else "Cells hold the numbers of which the puzzle's boards consist."}

{alike}
A hash of the least board of a class decides: other datasets of this puzzle and origin are divided in the same way.
States are in the order of the map: shuffle them before you train.

{READERS}

## Where it comes from

* Puzzle: {_text(puzzle.source) or "no source is given"}
* Map: {opened.states:,} states, of which {total:,} are here. SHA-256 of the result `{opened.digest}`, of the puzzle
  `{opened.record.puzzle_digest}`
* Licence: MIT, like the program. If you publish it under another one, change the line at the top

```bibtex
{citation_of(opened.record, puzzle).bibtex.rstrip().replace("`", "'")}
```
"""
