"""The states or the layers of a map as columns for pandas and polars, as a graph, and as files."""

from __future__ import annotations

import csv
import io
import zipfile
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

import numpy

from farthest.errors import JobError, MissingLibraryError, ResourceError
from farthest.models.job_reader import JobReader
from farthest.queries.output_files import OutputError, form_of, text_cells, written_file
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import DTypeLike, NDArray
    from typing_extensions import Buffer

    from farthest.models.records import LayerRecord
    from farthest.queries.stored_map import StoredMap
    from farthest.spaces.contract import Boards, Codes, Space


if TYPE_CHECKING:
    What = Literal["states", "layers"]

MOST_STATES = 50_000_000
"""Beyond these the texts of the boards need some gigabytes."""


def optional(library: str, extra: str, what: str) -> Any:
    """The library's module. Raises MissingLibraryError."""
    try:
        return import_module(library)
    except ImportError:
        raise MissingLibraryError(
            f"{what} needs {library}, which is not installed: pip install 'farthest[{extra}]'"
        ) from None


def layer_columns(layers: Sequence[LayerRecord]) -> dict[str, Any]:
    """``depth`` and ``states`` (int64), ``seconds`` (float64, NaN where that was not measured)."""
    seconds = [numpy.nan if layer.seconds is None else layer.seconds for layer in layers]
    return {
        "depth": numpy.array([layer.depth for layer in layers], dtype=numpy.int64),
        "states": numpy.array([layer.states for layer in layers], dtype=numpy.int64),
        "seconds": numpy.array(seconds, dtype=numpy.float64),
    }


def cell_columns(opened: StoredMap, boards: Boards) -> dict[str, NDArray[Any]]:
    """What is in each cell, ``cell_0`` and so on, then of pieces that can be turned how each is, ``turn_0`` and so on:
    uint8, or uint16 where a cell has two bytes."""
    definition = opened.puzzle.definition
    if getattr(definition, "digit_bytes", 1) == 2:  # the high byte first
        boards = boards[:, ::2].astype(numpy.uint16) * 256 + boards[:, 1::2]
    places = getattr(definition, "slots", boards.shape[1])
    cells = {f"cell_{cell}": column for cell, column in enumerate(boards[:, :places].T)}
    return cells | {f"turn_{slot}": column for slot, column in enumerate(boards[:, places:].T)}


def board_columns(opened: StoredMap, boards: Boards, *, cells: bool) -> dict[str, list[Any]]:
    """The texts of boards as ``board``; or with ``cells`` the ``cell_columns``, with tokens as text where the family
    has them."""
    definition = opened.puzzle.definition
    if not cells:
        return {"board": definition.texts(boards)}
    tokens = getattr(definition, "tokens", None)
    return {
        name: (column if tokens is None or name.startswith("turn_") else numpy.array(tokens)[column]).tolist()
        for name, column in cell_columns(opened, boards).items()
    }


def _example(opened: StoredMap, *, cells: bool) -> dict[str, list[Any]]:
    """``board_columns`` of one board."""
    return board_columns(opened, numpy.array(opened.space.origins[:1], dtype=numpy.uint8), cells=cells)


def columns(opened: StoredMap, what: What, depth: int | None, *, cells: bool = False) -> dict[str, Any]:
    """Of ``states`` (at ``depth``; None: all): ``key`` (uint64), in a sparse map ``code``, ``board_columns``,
    ``distance`` (uint8 or uint16). Of ``layers``: ``depth`` and ``states`` (int64), ``seconds`` (float64, perhaps NaN).

    Raises ResourceError for more than ``MOST_STATES`` states, JobError beyond the last layer.
    """
    if what == "layers":
        return layer_columns(list(JobReader(opened.database).layers(opened.job)))
    if what != "states":
        raise ValueError(f"what is {shown(what)}, expected 'states' or 'layers'")
    if depth is not None:
        opened.check_depth(depth)
    states = opened.states if depth is None else opened.layers[depth]
    if states > MOST_STATES:
        raise ResourceError(
            f"job {opened.job}: {states:,} states, a table holds at most {MOST_STATES:,}; name a depth, "
            "or write a file with export"
        )
    keys, codes, distances = [], [], []
    boards: dict[str, list[Any]] = {}
    for block in opened.state_blocks(depth):
        keys.append(block.keys)
        codes.append(block.codes)
        for name, column in board_columns(opened, block.labels, cells=cells).items():
            boards.setdefault(name, []).extend(column)
        distances.append(block.distances)
    found: dict[str, Any] = {"key": numpy.concatenate(keys)}
    if opened.space.keys is None:
        joined = numpy.concatenate(codes)
        found["code"] = joined if opened.space.code_bytes == 8 else joined.astype(object)
    return {**found, **boards, "distance": numpy.concatenate(distances)}


# Graphs

MOST_GRAPH_STATES = 100_000


def state_graph(opened: StoredMap) -> Any:
    """A ``networkx.DiGraph``: a node for each state, the text of its board, with its ``distance``; an edge for each two
    states that a move joins, in the player's direction, with the moves in ``moves``, separated by commas.

    Raises MissingLibraryError, JobError for an additive pattern, ResourceError for more than ``MOST_GRAPH_STATES``
    states.
    """
    if opened.states > MOST_GRAPH_STATES:
        raise ResourceError(
            f"job {opened.job}: {opened.states:,} states, a graph has at most {MOST_GRAPH_STATES:,}; enumerate with a "
            "depth limit, or write the states to a file with export"
        )
    if not opened.puzzle.definition.has_moves:
        raise JobError(
            f"job {opened.job} ({opened.record.name}) is an additive pattern, whose boards no moves join"
        )
    networkx = optional("networkx", "graph", "a graph")
    graph = networkx.DiGraph(name=opened.record.name)
    space, definition = opened.space, opened.puzzle.definition
    played = opened.origin.direction == "to"  # the player moves toward the origin
    for block in opened.state_blocks():
        texts = definition.texts(block.labels)
        graph.add_nodes_from(
            (text, {"distance": distance})
            for text, distance in zip(texts, block.distances.tolist(), strict=True)
        )
    for block in opened.state_blocks():
        texts = definition.texts(block.labels)
        for name, rows, after in space.neighbours(block.labels, toward=played):
            move = name if isinstance(name, str) else f"{name[0]}-{name[1]}"
            known = opened.lookup(space.encode(after)) >= 0
            for row, text, reached in zip(
                rows.tolist(), definition.texts(after), known.tolist(), strict=True
            ):
                if not reached:
                    continue
                here = texts[row]
                if graph.has_edge(here, text):
                    graph[here][text]["moves"] += f", {move}"
                else:
                    graph.add_edge(here, text, moves=move)
    return graph


# Layers


def layers_csv(layers: Sequence[LayerRecord]) -> bytes:
    """Columns ``depth`` and ``states``."""
    return b"depth,states\r\n" + b"".join(b"%d,%d\r\n" % (layer.depth, layer.states) for layer in layers)


def layers_npz(layers: Sequence[LayerRecord]) -> bytes:
    """Arrays ``depth``, ``states``, ``seconds``: see ``layer_columns``."""
    file = io.BytesIO()
    numpy.savez(file, **layer_columns(layers))
    return file.getvalue()


def layers_parquet(layers: Sequence[LayerRecord]) -> bytes:
    """Columns ``depth``, ``states``, ``seconds``. Raises MissingLibraryError without pyarrow."""
    pyarrow = optional("pyarrow", "parquet", "a .parquet file")
    parquet = optional("pyarrow.parquet", "parquet", "a .parquet file")
    file = io.BytesIO()
    parquet.write_table(pyarrow.table(layer_columns(layers)), file)
    return file.getvalue()


# Writes every state of a map to a file or a stream: its key, its board, its distance; in blocks, in key order.
#
# In a sparse map a key is a state's number, and its code is written too: a number, or a byte string, which text
# files have in hexadecimal.


def export_map(
    distance_map: StoredMap,
    file: str | Path | BinaryIO,
    *,
    format: str | None = None,
    force: bool = False,
    cells: bool = False,
) -> int:
    """Write all states of the map to a file, in the format that its ending names; returns the number of states.

    ``.parquet`` and ``.csv``: columns key, code (sparse maps only), board (text), distance; with ``cells`` a column for
    each cell in place of the board (`board_columns`). ``.npz``: arrays ``keys``
    (uint64), ``codes`` (sparse maps only; uint64, or uint8 of shape (states, bytes)), ``distances`` (uint8 or uint16),
    ``labels`` (uint8, a label for each cell) and, where labels are written as tokens, ``tokens`` (the text of each).
    ``.graphml``: the graph of `state_graph`. ``format``: "parquet", "csv", "npz" or "graphml", whatever the ending is.
    ``file`` may be a stream of bytes, such as a pipe, which needs ``format``; after an error a part of it is written.
    Raises OutputError where the file cannot be written, or exists and ``force`` is not given.
    """
    if isinstance(file, str | Path):
        file = Path(file)
        write = _writer(form_of(file, tuple(_WRITERS)) if format is None else f".{format}", cells=cells)
        with written_file(file, force=force) as part, part.open("wb") as stream:
            write(distance_map, stream)
    else:
        write = _writer(f".{format}", cells=cells)
        with io.BufferedWriter(_Unseekable(file)) as stream:
            write(distance_map, stream)
    return distance_map.states


def _writer(form: str, *, cells: bool) -> Callable[..., None]:
    if form not in _WRITERS:
        raise OutputError(f"format {form[1:]}: expected parquet, csv, npz or graphml")
    if not cells:
        return _WRITERS[form]
    if form not in (".csv", ".parquet"):
        raise OutputError(f"format {form[1:]}: it has no columns for cells; expected csv or parquet")
    return partial(_WRITERS[form], cells=True)


class _Unseekable(io.RawIOBase):
    """Passes what is written on to ``stream``, and leaves it open.

    It cannot seek: in a file that is opened for appending zipfile would write to other places than it records.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        self._stream.write(data)
        return memoryview(data).nbytes

    def flush(self) -> None:
        self._stream.flush()


def _write_csv(distance_map: StoredMap, file: BinaryIO, *, cells: bool = False) -> None:
    sparse = distance_map.space.keys is None
    with io.TextIOWrapper(file, encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        names = _example(distance_map, cells=cells)
        writer.writerow(("key", *(["code"] if sparse else []), *names, "distance"))
        for block in distance_map.state_blocks():
            boards = board_columns(distance_map, block.labels, cells=cells).values()
            codes = [_code_texts(distance_map.space, block.codes)] if sparse else []
            texts = (text_cells(each) if isinstance(each[0], str) else each for each in boards)
            columns: list[Iterable[Any]] = [block.keys.tolist(), *codes, *texts, block.distances.tolist()]
            writer.writerows(zip(*columns, strict=True))


def _code_texts(space: Space, codes: Codes) -> list[Any]:
    if space.code_bytes == 8:
        return list(codes.tolist())
    return [row.tobytes().hex() for row in _code_bytes(space, codes)]


def _code_bytes(space: Space, codes: Codes) -> NDArray[numpy.uint8]:
    """Byte strings as uint8, shape (states, bytes), with the zero bytes at their ends, which numpy drops from byte
    strings."""
    return numpy.ascontiguousarray(codes).view(numpy.uint8).reshape(-1, space.code_bytes)


def _write_parquet(distance_map: StoredMap, file: BinaryIO, *, cells: bool = False) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise OutputError(
            "a .parquet file needs pyarrow, which is not installed: pip install 'farthest[parquet]'"
        ) from None
    space = distance_map.space
    code = pyarrow.uint64() if space.code_bytes == 8 else pyarrow.binary(space.code_bytes)
    kinds = {
        name: pyarrow.string() if isinstance(column[0], str) else pyarrow.uint16()
        for name, column in _example(distance_map, cells=cells).items()
    }
    columns = {"key": pyarrow.uint64()}
    if space.keys is None:
        columns["code"] = code
    columns |= kinds
    columns["distance"] = pyarrow.from_numpy_dtype(distance_map.unit)
    schema = pyarrow.schema(
        [pyarrow.field(name, kind, nullable=False) for name, kind in columns.items()],
        metadata={"farthest.puzzle": distance_map.puzzle.name, "farthest.digest": distance_map.digest},
    )
    with parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=["distance"]) as writer:
        for block in distance_map.state_blocks():
            boards = board_columns(distance_map, block.labels, cells=cells)
            texts = (pyarrow.array(column, type=kinds[name]) for name, column in boards.items())
            arrays = [pyarrow.array(block.keys), *texts, pyarrow.array(block.distances)]
            if space.keys is None:
                plain = space.code_bytes == 8
                codes = block.codes if plain else [row.tobytes() for row in _code_bytes(space, block.codes)]
                arrays.insert(1, pyarrow.array(codes, type=code))
            writer.write_batch(pyarrow.record_batch(arrays, schema=schema))


def _write_graphml(distance_map: StoredMap, file: BinaryIO) -> None:
    networkx = optional("networkx", "graph", "a .graphml file")
    networkx.write_graphml(state_graph(distance_map), file)


def _write_npz(distance_map: StoredMap, file: BinaryIO) -> None:
    states, space = distance_map.states, distance_map.space
    tokens = getattr(distance_map.puzzle.definition, "tokens", None)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        keys = (block.keys for block in distance_map.state_blocks())
        _write_member(archive, "keys", numpy.uint64, (states,), keys)
        if space.keys is None and space.code_bytes == 8:
            codes = (block.codes for block in distance_map.state_blocks())
            _write_member(archive, "codes", numpy.uint64, (states,), codes)
        elif space.keys is None:
            strings = (_code_bytes(space, block.codes) for block in distance_map.state_blocks())
            _write_member(archive, "codes", numpy.uint8, (states, space.code_bytes), strings)
        distances = (block.distances for block in distance_map.state_blocks())
        _write_member(archive, "distances", distance_map.unit, (states,), distances)
        labels = (block.labels for block in distance_map.state_blocks())
        _write_member(archive, "labels", numpy.uint8, (states, space.cells), labels)
        if tokens is not None:
            texts = numpy.array(tokens)
            _write_member(archive, "tokens", texts.dtype, texts.shape, [texts])


def _write_member(
    archive: zipfile.ZipFile,
    name: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
    blocks: Iterable[NDArray[numpy.generic]],
) -> None:
    """Write an array of known shape, given in blocks of rows, in the format of `numpy.savez`."""
    header = {
        "descr": numpy.lib.format.dtype_to_descr(numpy.dtype(dtype)),
        "fortran_order": False,
        "shape": shape,
    }
    with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
        numpy.lib.format.write_array_header_1_0(stream, header)
        for block in blocks:
            stream.write(block.astype(dtype, copy=False).tobytes())


_WRITERS: dict[str, Callable[..., None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_csv,
    ".npz": _write_npz,
    ".graphml": _write_graphml,
}
