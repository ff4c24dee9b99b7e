"""A database with jobs of several kinds, and the application round it, asked by starlette's client."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import farthest
from farthest.coordinator.survey import survey_by_threads
from farthest.cosets import Drawn, cosets_named
from farthest.models.database import open_database
from farthest.models.surveys import Surveys
from farthest.starts import starts_named
from farthest.web.app import application
from farthest.web.gate import WebSettings
from farthest.web.server import CrossOrigin

TOKEN = "0123456789abcdef-token"
THREE, KINDS, BLOCKS, ONE_WAY, CUT, LAYERS, QUEUED, SEARCH = range(1, 9)
"""The jobs, by number."""
SURVEY, SURVEYED_BLOCKS, BEGUN, COSETS, DRAWN = range(1, 6)
"""The surveys."""

Client = Callable[..., TestClient]

BLOCKS_FILE = """
name = "slots"
title = "Two bars that swap their names"
family = "blocks"
metric = "step"
[blocks]
start = ["aa.", "bb.", "..c"]
goals = ["*** / *** / c**"]
"""


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database file."""
    folder = tmp_path_factory.mktemp("explorer")
    file = folder / "maps.db"
    (folder / "slots.toml").write_text(BLOCKS_FILE, encoding="utf-8")
    farthest.enumerate("3-puzzle", database=file).close()
    farthest.enumerate("eight-kinds", database=file).close()
    farthest.enumerate(folder / "slots.toml", database=file, origin="from start").close()
    farthest.enumerate("die-hard-jugs", database=file).close()
    farthest.enumerate("8-puzzle", database=file, max_depth=6).close()
    from farthest.coordinator.enumeration.job import enumerate_puzzle
    from farthest.coordinator.settings import Settings

    with open_database(file, create=False) as database:
        enumerate_puzzle(farthest.load_puzzle("8-puzzle"), database, Settings(histogram_only=True))
    farthest.submit("3-puzzle", database=file)
    farthest.solve("8-puzzle", "123456078", all_solutions=True, database=file, store=True)
    farthest.survey("rush-hour-4x4", database=file).close()
    farthest.survey("pennant", boards=["start"], database=file).close()
    with open_database(file, create=False) as database:
        surveys, begun = Surveys(database), starts_named("rush-hour-3x3", keep="solvable")
        surveys.store(surveys.begin(begun, 3).id, [(1, begun.survey(1, 3), 0.5)])
        cosets = cosets_named("pyraminx<U,L>", "<U>", 3, ("L",))
        survey_by_threads(cosets, database, threads=1, watch=lambda _: None)
        drawn = cosets_named("pyraminx<U,L,R>", "<U,L>", 6, Drawn(30, 7))
        survey_by_threads(drawn, database, threads=1, watch=lambda _: None)
    return file


@pytest.fixture
def client(stored: Path, tmp_path: Path) -> Iterator[Client]:
    """Makes clients of servers with their own copies of the database; keywords are those of WebSettings."""
    with ExitStack() as stack:

        def made(
            *, base_url: str = "http://127.0.0.1:8080", body_seconds: float = 5.0, **keywords: object
        ) -> TestClient:
            file = tmp_path / f"copy-{len(list(tmp_path.glob('copy-*.db')))}.db"
            shutil.copy(stored, file)
            settings = WebSettings(database=str(file), **keywords)  # type: ignore[arg-type]
            app = application(
                open_database(file, create=False), settings, look_seconds=0.02, body_seconds=body_seconds
            )
            open_app = CrossOrigin(app, settings.cors_origins) if settings.cors_origins else app
            return stack.enter_context(
                TestClient(open_app, base_url=base_url, raise_server_exceptions=False, follow_redirects=False)
            )

        yield made
