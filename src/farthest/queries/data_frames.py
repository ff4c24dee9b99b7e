"""The states or the layers of a map as columns, for pandas and polars."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

import numpy

from farthest.errors import MissingLibraryError, ResourceError
from farthest.models.jobs import Jobs
from farthest.queries.states import state_blocks
from farthest.wording import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.models.records import LayerRecord
    from farthest.queries.stored_map import StoredMap

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


def columns(opened: StoredMap, what: What, depth: int | None) -> dict[str, Any]:
    """Of ``states`` (at ``depth``; None: all): ``key`` (uint64), in a sparse map ``code``, ``board`` (text),
    ``distance`` (uint8 or uint16). Of ``layers``: ``depth`` and ``states`` (int64), ``seconds`` (float64, perhaps NaN).

    Raises ResourceError for more than ``MOST_STATES`` states, JobError beyond the last layer.
    """
    if what == "layers":
        return layer_columns(list(Jobs(opened.database).layers(opened.job)))
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
    keys, codes, boards, distances = [], [], list[str](), []
    for block in state_blocks(opened, depth):
        keys.append(block.keys)
        codes.append(block.codes)
        boards += opened.puzzle.definition.texts(block.labels)
        distances.append(block.distances)
    found: dict[str, Any] = {"key": numpy.concatenate(keys)}
    if opened.space.keys is None:
        joined = numpy.concatenate(codes)
        found["code"] = joined if opened.space.code_bytes == 8 else joined.astype(object)
    return {**found, "board": boards, "distance": numpy.concatenate(distances)}
