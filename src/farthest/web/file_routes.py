"""Files to take along: the layers, the chart, the puzzle, how to cite the job, and maps that are not too large."""

from __future__ import annotations

import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

import farthest
from farthest.documents.citation import citation_of
from farthest.models.stored_job import puzzle_of
from farthest.queries.export import export_map
from farthest.queries.layer_files import layers_csv, layers_npz, layers_parquet
from farthest.queries.plot import plot_layers
from farthest.safe_text import safe
from farthest.web.asking import ask
from farthest.web.download import Download
from farthest.web.pages.job import layers_svg
from farthest.web.pages.job_files import MOST_STATES, map_forms, why_no_map
from farthest.web.refusals import RefusalError
from farthest.web.requests import job_found, number_in, scale_asked, shelf_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.types import ASGIApp

    from farthest.models.records import LayerRecord
    from farthest.web.pages.job import JobFound

KINDS = {
    "csv": "text/csv; charset=utf-8",
    "npz": "application/zip",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
    "bib": "text/plain; charset=utf-8",
}
NOT_SMALLER = ("text/csv", "application/vnd.apache.parquet")
"""Kinds that are not compressed on the way: that would take the server longer than reading the map."""

FOR_EVER = "private, max-age=31536000"
LAYERS = {"csv": layers_csv, "npz": layers_npz, "parquet": layers_parquet}


async def _layers(request: Request) -> Response:
    shelf, number, form = shelf_of(request), number_in(request), request.path_params["form"]
    if form not in (*LAYERS, "svg", "png"):
        raise RefusalError(404, f"layers.{form}: expected csv, npz, parquet, svg or png")
    scale = scale_asked(request)

    def found() -> bytes:
        if form in LAYERS:
            return LAYERS[form](_known(shelf.layers(shelf.job(number)), number))
        shown = job_found(shelf, number)
        _known(shown.layers, number)
        return layers_svg(shown, scale).encode() if form == "svg" else _png(shown, scale)

    return _file(await ask(request, found), form, f"job-{number}-layers")


def _known(layers: Sequence[LayerRecord], number: int) -> Sequence[LayerRecord]:
    if not layers:
        raise RefusalError(404, f"job {number} has no layers yet")
    return layers


def _png(found: JobFound, scale: str) -> bytes:
    if find_spec("matplotlib") is None:
        raise RefusalError(404, "layers.png: matplotlib is not installed on the server; take layers.svg")
    layers = [layer.states for layer in found.layers]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "layers.png"
        plot_layers(layers, file, title=found.puzzle.title or found.record.name, log=scale != "linear")
        return file.read_bytes()


async def _definition(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)
    record = await ask(request, lambda: shelf.job(number))
    return _file(record.puzzle_json.encode(), "json", f"job-{number}-puzzle")


async def _citation(request: Request) -> Response:
    shelf, number = shelf_of(request), number_in(request)

    def found() -> str:
        record = shelf.job(number)
        if record.digest is None or record.states is None:
            raise RefusalError(404, f"job {number} has no result to be cited")
        return citation_of(record, puzzle_of(record)).bibtex

    return _file((await ask(request, found)).encode(), "bib", f"job-{number}")


async def _map(request: Request) -> Response | ASGIApp:
    shelf, number, form = shelf_of(request), number_in(request), request.path_params["form"]
    asked = request.headers.get("if-none-match", "")
    if form not in map_forms():
        raise RefusalError(404, f"map.{form}: expected {', '.join(map_forms())}")

    def found() -> str:
        with shelf.asked(number) as opened:
            refused = why_no_map(opened.record, opened.puzzle)
            if refused:
                raise RefusalError(413, f"{refused}; up to {MOST_STATES:,} states are written here")
            return f'"{opened.digest}-{farthest.__version__}"'

    tag = await ask(request, found)
    headers = {"etag": tag, "cache-control": FOR_EVER}
    if tag in asked:
        return Response(status_code=304, headers=headers)
    name = f'attachment; filename="job-{number}-map.{form}"'
    headers |= {"content-type": KINDS[form], "content-disposition": name}
    with shelf.asked(number) as opened:
        return Download(request, partial(export_map, opened, format=form), headers)


def _file(content: bytes, form: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{safe(name)}.{form}"'}
    return Response(content, headers=headers, media_type=KINDS[form])


FILES = [
    Route("/jobs/{number}/layers.{form}", _layers),
    Route("/jobs/{number}/map.{form}", _map),
    Route("/jobs/{number}/puzzle.json", _definition),
    Route("/jobs/{number}/cite.bib", _citation),
]
