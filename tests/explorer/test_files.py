"""Files of a job: what is in them is what the commands write; a reader who leaves or stalls ends the writing."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy
import pytest
from pyarrow import parquet

import farthest
from explorer.conftest import BLOCKS, CUT, KINDS, LAYERS, ONE_WAY, QUEUED, SEARCH, THREE, Client
from explorer.test_events import copied, scope_of, served
from farthest.errors import StorageError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.stored_job import puzzle_of
from farthest.queries.citation import citation_of
from farthest.queries.stored_map import StoredMap
from farthest.web import file_routes as download
from farthest.web.app import application
from farthest.web.gate import Gate
from farthest.web.pages import job as job_files


@pytest.mark.parametrize("form", ["csv", "npz", "parquet"])
@pytest.mark.parametrize("job", [THREE, ONE_WAY, BLOCKS, CUT])
def test_a_map_is_the_file_that_export_writes(
    client: Client, stored: Path, tmp_path: Path, job: int, form: str
) -> None:
    answer = client().get(f"/jobs/{job}/map.{form}", headers={"accept-encoding": "identity"})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="job-{job}-map.{form}"'
    file = tmp_path / f"map.{form}"
    with farthest.open_map(job, database=stored) as opened:
        opened.export(file)
    if form == "npz":  # an archive has times
        given, written = numpy.load(io.BytesIO(answer.content)), numpy.load(file)
        assert given.files == written.files
        assert all((given[name] == written[name]).all() for name in written.files)
    else:
        assert answer.content == file.read_bytes()


def test_layers_as_files(client: Client) -> None:
    asked = client()
    arrays = numpy.load(io.BytesIO(asked.get(f"/jobs/{THREE}/layers.npz").content))
    table = parquet.read_table(io.BytesIO(asked.get(f"/jobs/{THREE}/layers.parquet").content))
    for found in (arrays, table.to_pydict()):
        assert list(found["states"]) == [1, 2, 2, 2, 2, 2, 1]
        assert list(found["depth"]) == list(range(7))
    assert asked.get(f"/jobs/{QUEUED}/layers.npz").status_code == 404


@pytest.mark.slow
def test_the_chart_as_a_picture(client: Client) -> None:
    answer = client().get(f"/jobs/{THREE}/layers.png?scale=linear")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("address", "status"),
    [
        (f"/jobs/{THREE}/map.exe", 404),
        (f"/jobs/{THREE}/layers.exe", 404),
        (f"/jobs/{QUEUED}/map.csv", 404),
        (f"/jobs/{LAYERS}/map.csv", 404),
        (f"/jobs/{SEARCH}/map.csv", 404),
        (f"/jobs/{QUEUED}/cite.bib", 404),
        (f"/jobs/{SEARCH}/cite.bib", 404),
        ("/jobs/99/map.csv", 404),
    ],
)
def test_files_that_are_not_there(client: Client, address: str, status: int) -> None:
    assert client().get(address).status_code == status


def test_a_large_map_is_not_written(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_files, "MOST_STATES", 90_719)
    asked = client()
    answer = asked.get(f"/jobs/{KINDS}/map.csv")
    assert answer.status_code == 413
    assert "farthest export" in answer.text
    assert f"/jobs/{KINDS}/map." not in asked.get(f"/jobs/{KINDS}").text
    assert f"/jobs/{THREE}/map.csv" in asked.get(f"/jobs/{THREE}").text


def test_a_map_is_kept_by_its_digest(client: Client) -> None:
    asked = client()
    head = asked.head(f"/jobs/{KINDS}/map.csv")
    assert (head.status_code, head.content) == (200, b"")
    tag = head.headers["etag"]
    assert asked.get(f"/jobs/{KINDS}/map.csv", headers={"if-none-match": tag}).status_code == 304


def test_few_maps_are_written_at_once(client: Client) -> None:
    asked = client()
    asked.app._app.state.downloads.total_tokens = 0  # type: ignore[attr-defined]
    assert asked.get(f"/jobs/{THREE}/map.csv").status_code == 503


Take = Callable[[dict[str, Any]], Awaitable[None]]


def sent_to(
    stored: Path, tmp_path: Path, take: Callable[[list[Any], asyncio.Event], Take]
) -> list[dict[str, Any]]:
    """What the server sends of a map as CSV. ``take`` gets what was sent, and an event by which the reader leaves."""
    file, settings = copied(stored, tmp_path)
    app = application(open_database(file, create=False), settings)
    sent: list[dict[str, Any]] = []

    async def run(app: Gate) -> None:
        left = asyncio.Event()
        messages = [{"type": "http.request", "body": b"", "more_body": False}]
        took = take(sent, left)

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            await took(message)
            sent.append(message)

        async with served(app):
            await app(scope_of("GET", f"/jobs/{KINDS}/map.csv"), receive, send)  # type: ignore[arg-type]

    asyncio.run(asyncio.wait_for(run(app), 20))
    return sent


def ended(sent: list[dict[str, Any]]) -> bool:
    return not sent[-1].get("more_body", False)


def test_the_writing_ends_when_the_reader_leaves(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "PART_BYTES", 1000)

    def leaves(sent: list[Any], left: asyncio.Event) -> Take:
        async def take(message: dict[str, Any]) -> None:
            if len(sent) == 3:
                left.set()
                await asyncio.sleep(0.05)

        return take

    sent = sent_to(stored, tmp_path, leaves)
    assert 3 < len(sent) < 20
    assert not ended(sent)


def test_a_map_that_turns_out_damaged_is_cut_off(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader notices: the answer has no end."""
    whole = StoredMap.chunks

    def damaged(self: StoredMap, depth: int | None = None) -> Any:
        yield next(iter(whole(self, depth)))
        raise StorageError("the second chunk is damaged")

    monkeypatch.setattr(StoredMap, "chunks", damaged)
    monkeypatch.setattr(StoredMap, "states", 10**6)
    monkeypatch.setattr(download, "PART_BYTES", 1000)

    def takes(sent: list[Any], left: asyncio.Event) -> Take:
        async def take(message: dict[str, Any]) -> None:
            del message

        return take

    sent = sent_to(stored, tmp_path, takes)
    assert len(sent) > 20
    assert not ended(sent)


def test_how_to_cite(client: Client, stored: Path) -> None:
    asked = client()
    page = asked.get(f"/jobs/{KINDS}").text
    entry = asked.get(f"/jobs/{KINDS}/cite.bib").text
    with open_database(stored, create=False) as database:
        record = Jobs(database).get(KINDS)
    for text in (page, entry):
        assert str(record.digest) in text
        assert record.puzzle_digest in text
        assert f"farthest {farthest.__version__} on {record.finished:%Y-%m-%d}" in text
        assert "90,720 states, eccentricity 30" in text
    strange = replace(puzzle_of(record), title="50% of {x} & $y_1$ \\ 2\n^~#")
    entry = citation_of(record, strange).bibtex
    assert r"50\% of \{x\} \& \$y\_1\$ \textbackslash{} 2 \textasciicircum{}\textasciitilde{}\#" in entry
    plain = entry.replace(r"\{", "").replace(r"\}", "")
    assert plain.count("{") == plain.count("}")
    assert entry.startswith(f"@misc{{farthest-eight-kinds-{(record.digest or '')[:12]},\n")


def test_a_proof_is_told(client: Client, stored: Path, tmp_path: Path) -> None:
    assert "farthest verify" in client().get(f"/jobs/{THREE}").text
    with farthest.open_map(THREE, database=stored) as opened:
        checks = opened.verify().checks
    try:
        page = client().get(f"/jobs/{THREE}").text
        assert f"UTC by farthest {farthest.__version__}" in page
        assert all(check.proves in unescape(page) for check in checks if not check.note)
    finally:
        with open_database(stored, create=False) as database:
            from farthest.models.jobs import Jobs

            Jobs(database).remove_mark(THREE)
