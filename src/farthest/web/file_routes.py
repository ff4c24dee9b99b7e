"""Files to take along: the layers, the chart, the puzzle, how to cite the job, maps that are not too large, the rows of
surveys.

Maps and rows are streamed: what a thread writes goes to the reader at once, and nothing of it is kept. The thread waits
until the reader has taken what was written. When the reader leaves, or is too slow (``web.server``), the writing ends.
A file that cannot be written to its end is cut off where the browser notices: the last part of the answer never comes.
"""

from __future__ import annotations

import io
import logging
import tempfile
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

import anyio.from_thread
import anyio.to_thread
from starlette.responses import Response
from starlette.routing import Route

import farthest
from farthest.documents.surveys import exported
from farthest.errors import FarthestError
from farthest.models.stored_job import puzzle_of
from farthest.models.surveys import Surveys
from farthest.queries.citation import citation_of
from farthest.queries.exports import export_map, layers_csv, layers_npz, layers_parquet
from farthest.queries.output_files import plot_layers
from farthest.safe_text import safe
from farthest.web.asking import ReaderLeftError, RefusalError, answered, ask, check_wanted, wanted
from farthest.web.pages.box import FILE as BOX_FILE
from farthest.web.pages.box import Drawn
from farthest.web.pages.job import MOST_STATES, JobFound, layers_svg, map_forms, why_no_map
from farthest.web.shelf import job_found, number_in, scale_asked, shelf_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send
    from typing_extensions import Buffer


_LOG = logging.getLogger(__name__)

AT_ONCE = 2
"""Files that are written at the same time."""

PART_BYTES = 256 * 2**10
DOWNLOAD_SECONDS = 3600.0


class Parts(io.RawIOBase):
    """What is written is given in parts of ``PART_BYTES`` or a little more."""

    def __init__(self, give: Callable[[bytes], None]) -> None:
        self._give = give
        self._held = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, data: Buffer) -> int:
        """Raises ReaderLeftError where nobody waits for it any more."""
        check_wanted()
        self._held += memoryview(data).cast("B")
        if len(self._held) >= PART_BYTES:
            self.end()
        return memoryview(data).nbytes

    def end(self) -> None:
        """Gives what is held."""
        data = bytes(self._held)
        self._held.clear()
        self._give(data)


class Download:
    """An answer that is a file. ``write`` gets the stream, in a thread. Raises RefusalError where ``AT_ONCE`` others
    are written already."""

    def __init__(
        self, request: Request, write: Callable[[BinaryIO], object], headers: dict[str, str]
    ) -> None:
        self._request = request
        self._write = write
        self._headers = [(name.encode(), value.encode()) for name, value in headers.items()]
        self._limiter: anyio.CapacityLimiter = request.app.state.downloads
        if self._limiter.available_tokens < 1:
            raise RefusalError(503, f"{AT_ONCE} files are written already; try again later")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        start = {"type": "http.response.start", "status": 200, "headers": self._headers}
        if scope["method"] == "HEAD":
            await send(start)
            await send({"type": "http.response.body", "body": b""})
            return
        begun = False

        async def give(data: bytes) -> None:
            nonlocal begun
            if not begun:
                begun = True
                await send(start)
            await send({"type": "http.response.body", "body": data, "more_body": True})

        def written() -> None:
            parts = Parts(lambda data: anyio.from_thread.run(give, data))
            self._write(cast("BinaryIO", parts))
            parts.end()

        try:
            async with wanted(self._request, DOWNLOAD_SECONDS):
                await anyio.to_thread.run_sync(written, limiter=self._limiter)
        except (FarthestError, ReaderLeftError) as error:
            if not begun:
                raise
            _LOG.info("%s was not written completely: %s", scope["path"], str(error) or type(error).__name__)
            return
        await send({"type": "http.response.body", "body": b""})


KINDS = {
    "csv": "text/csv; charset=utf-8",
    "jsonl": "application/jsonl; charset=utf-8",
    "npz": "application/zip",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "png": "image/png",
    "json": "application/json",
    "bib": "text/plain; charset=utf-8",
    "toml": "application/toml",
}
NOT_SMALLER = ("text/csv", "application/vnd.apache.parquet")
"""Kinds that are not compressed on the way: that would take the server longer than reading the map."""

FOR_EVER = "private, max-age=31536000"
LAYERS = {"csv": layers_csv, "npz": layers_npz, "parquet": layers_parquet}


def _layers(request: Request) -> Response:
    shelf, number, form = shelf_of(request), number_in(request), request.path_params["form"]
    if form not in (*LAYERS, "svg", "png"):
        raise RefusalError(404, f"layers.{form}: expected csv, npz, parquet, svg or png")
    layers, scale = shelf.layers(shelf.job(number)), scale_asked(request)
    if not layers:
        raise RefusalError(404, f"job {number} has no layers yet")
    if form in LAYERS:
        content = LAYERS[form](layers)
    else:
        shown = job_found(shelf, number)
        content = layers_svg(shown, scale).encode() if form == "svg" else _png(shown, scale)
    return _file(content, form, f"job-{number}-layers")


def _png(found: JobFound, scale: str) -> bytes:
    if find_spec("matplotlib") is None:
        raise RefusalError(404, "layers.png: matplotlib is not installed on the server; take layers.svg")
    layers = [layer.states for layer in found.layers]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "layers.png"
        plot_layers(layers, file, title=found.puzzle.title or found.record.name, log=scale != "linear")
        return file.read_bytes()


def _definition(request: Request) -> Response:
    record = shelf_of(request).job(number_in(request))
    return _file(record.puzzle_json.encode(), "json", f"job-{record.id}-puzzle")


def _box(request: Request) -> Response:
    drawn = Drawn.of(request.query_params)
    drawn.puzzle()  # one that cannot be read is no puzzle
    return _file(drawn.toml().encode(), "toml", drawn.name)


def _citation(request: Request) -> Response:
    record = shelf_of(request).job(number_in(request))
    if record.digest is None or record.states is None:
        raise RefusalError(404, f"job {record.id} has no result to cite")
    return _file(citation_of(record, puzzle_of(record)).bibtex.encode(), "bib", f"job-{record.id}")


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


async def _rows(request: Request) -> Response | ASGIApp:
    known, number, form = Surveys(shelf_of(request).database), number_in(request), request.path_params["form"]
    if form not in ("csv", "jsonl"):
        raise RefusalError(404, f"rows.{form}: expected csv or jsonl")
    stored = await ask(request, lambda: known.get(number))

    def write(stream: BinaryIO) -> None:
        stream.writelines(row.encode() for row in exported(known, stored, f".{form}"))

    name = f'attachment; filename="survey-{number}.{form}"'
    return Download(request, write, {"content-type": KINDS[form], "content-disposition": name})


def _file(content: bytes, form: str, name: str) -> Response:
    headers = {"content-disposition": f'attachment; filename="{safe(name)}.{form}"'}
    return Response(content, headers=headers, media_type=KINDS[form])


FILES = [
    Route(BOX_FILE, answered(_box)),
    Route("/jobs/{number}/layers.{form}", answered(_layers)),
    Route("/jobs/{number}/map.{form}", _map),
    Route("/jobs/{number}/puzzle.json", answered(_definition)),
    Route("/jobs/{number}/cite.bib", answered(_citation)),
    Route("/surveys/{number}/rows.{form}", _rows),
]
