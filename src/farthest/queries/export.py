"""Every state of a map written to a file: its key, its board, its distance; streamed, in key order."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy

from farthest.puzzles.sliding import sliding
from farthest.queries.output_file import OutputError, form_of, written_file
from farthest.queries.states import key_blocks, state_blocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import DTypeLike, NDArray

    from farthest.queries.distance_map import DistanceMap

FORMS = (".parquet", ".csv", ".npz")


def export_map(distance_map: DistanceMap, file: str | Path, *, force: bool = False) -> int:
    """Write all states of the map to a file, in the form that its ending names; how many there are.

    ``.parquet`` and ``.csv``: columns key, board (text), distance. ``.npz``: arrays ``keys`` (uint64),
    ``distances`` (uint8 or uint16), ``labels`` (uint8, a label for each cell) and ``tokens`` (text of each
    label). Raises OutputError where the file cannot be written, or is there already and ``force`` is not
    given.
    """
    file = Path(file)
    form = form_of(file, FORMS)
    write = {".parquet": _write_parquet, ".csv": _write_csv, ".npz": _write_npz}[form]
    with written_file(file, force=force) as part:
        write(distance_map, part)
    return distance_map.states


def _write_csv(distance_map: DistanceMap, file: Path) -> None:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(("key", "board", "distance"))
        for block in state_blocks(distance_map):
            texts = distance_map.puzzle.body.texts(block.labels)
            writer.writerows(zip(block.keys.tolist(), texts, block.distances.tolist(), strict=True))


def _write_parquet(distance_map: DistanceMap, file: Path) -> None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise OutputError(
            "a .parquet file needs pyarrow, which is not installed: pip install 'farthest[parquet]'"
        ) from None
    unit = pyarrow.from_numpy_dtype(distance_map.unit)
    schema = pyarrow.schema(
        [
            pyarrow.field("key", pyarrow.uint64(), nullable=False),
            pyarrow.field("board", pyarrow.string(), nullable=False),
            pyarrow.field("distance", unit, nullable=False),
        ],
        metadata={"farthest.puzzle": distance_map.puzzle.name, "farthest.digest": distance_map.digest},
    )
    with parquet.ParquetWriter(file, schema, compression="zstd", use_dictionary=["distance"]) as writer:
        for block in state_blocks(distance_map):
            texts = distance_map.puzzle.body.texts(block.labels)
            columns = [pyarrow.array(block.keys), pyarrow.array(texts), pyarrow.array(block.distances)]
            writer.write_batch(pyarrow.record_batch(columns, schema=schema))


def _write_npz(distance_map: DistanceMap, file: Path) -> None:
    states = distance_map.states
    cells = distance_map.puzzle.body.cells
    tokens = numpy.array(sliding(distance_map.puzzle).tokens)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        keys = (keys for keys, _ in key_blocks(distance_map))
        _write_member(archive, "keys", numpy.uint64, (states,), keys)
        distances = (distances for _, distances in key_blocks(distance_map))
        _write_member(archive, "distances", distance_map.unit, (states,), distances)
        labels = (block.labels for block in state_blocks(distance_map))
        _write_member(archive, "labels", numpy.uint8, (states, cells), labels)
        _write_member(archive, "tokens", tokens.dtype, tokens.shape, [tokens])


def _write_member(
    archive: zipfile.ZipFile,
    name: str,
    dtype: DTypeLike,
    shape: tuple[int, ...],
    blocks: Iterable[NDArray[numpy.generic]],
) -> None:
    """Write an array of known shape that comes in blocks of rows, as `numpy.savez` would write it whole."""
    header = {
        "descr": numpy.lib.format.dtype_to_descr(numpy.dtype(dtype)),
        "fortran_order": False,
        "shape": shape,
    }
    with archive.open(f"{name}.npy", "w", force_zip64=True) as stream:
        numpy.lib.format.write_array_header_1_0(stream, header)
        for block in blocks:
            stream.write(block.astype(dtype, copy=False).tobytes())
