"""The layers of a job as a file: comma-separated values, parquet, or arrays."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy

from farthest.queries.data_frames import layer_columns, optional

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.models.records import LayerRecord


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
