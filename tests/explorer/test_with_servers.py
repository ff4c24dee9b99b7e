"""The explorer with PostgreSQL and Redis."""

from __future__ import annotations

from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

import farthest
from farthest.models.database import open_database
from farthest.web.app import application
from farthest.web.gate import WebSettings
from farthest.web.openapi import openapi

pytestmark = pytest.mark.slow
HERE = "http://127.0.0.1:8080"


def test_postgresql(postgres_empty_url: str) -> None:
    farthest.enumerate("eight-kinds", database=postgres_empty_url).close()
    app = application(
        open_database(postgres_empty_url, create=False), WebSettings(database=postgres_empty_url)
    )
    with TestClient(app, base_url=HERE) as asked:
        assert "90,720" in asked.get("/jobs/1").text
        assert "16 optimal solutions" in asked.get("/jobs/1/state", params={"board": "┘│└/─□─/┐│┌"}).text
        many = asked.post("/api/jobs/1/distances", json={"boards": ["goal", "┘│└/─□─/┐│┌"]}).json()[
            "distances"
        ]
        assert [each["distance"] for each in many] == [0, 30]
        told = asked.get("/api/jobs/77").json()["error"]
    assert told.startswith("the database: there is no job 77")
    assert "postgres" not in told


def test_workers_as_redis_tells(redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    file = str(tmp_path / "maps.db")
    for known in (True, False):
        app = application(open_database(file, create=True), WebSettings(database=file, redis=known))
        with TestClient(app, base_url=HERE) as asked:
            page, answer = asked.get("/workers"), asked.get("/api/workers")
        assert page.status_code == 200
        assert ("No worker is alive" in page.text) == known
        assert answer.status_code == (200 if known else 404)
        document = openapi()
        schema = document["components"]["schemas"]["Workers" if known else "Error"]
        Draft202012Validator({**schema, "components": document["components"]}).validate(answer.json())
