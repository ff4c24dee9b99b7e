"""The JSON below /api/: right answers, in the forms that the OpenAPI document tells."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import farthest
from explorer.conftest import (
    BLOCKS,
    COSETS,
    CUT,
    DRAWN,
    KINDS,
    LAYERS,
    ONE_WAY,
    QUEUED,
    SEARCH,
    SURVEY,
    THREE,
    TOKEN,
    Client,
)
from farthest.cli.app import cli
from farthest.web.api_routes import API
from farthest.web.change_routes import CHANGES

BEARER = {"authorization": f"Bearer {TOKEN}"}

CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("get", "/api/jobs", {}),
    ("post", "/api/jobs", {"json": {"puzzle": "8-puzzle"}}),
    ("get", f"/api/jobs/{KINDS}", {}),
    ("get", f"/api/jobs/{LAYERS}", {}),
    ("get", f"/api/jobs/{QUEUED}", {}),
    ("get", f"/api/jobs/{SEARCH}", {}),
    ("post", f"/api/jobs/{QUEUED}/cancel", {}),
    ("post", f"/api/jobs/{QUEUED}/resume", {}),
    ("get", f"/api/jobs/{KINDS}/state?board=goal", {}),
    ("get", f"/api/jobs/{BLOCKS}/state?board=start", {}),
    ("get", f"/api/jobs/{ONE_WAY}/state?board=start", {}),
    ("get", f"/api/jobs/{CUT}/state?board=867254301", {}),
    ("get", f"/api/jobs/{KINDS}/path?board=┘│└/─□─/┐│┌&limit=3", {}),
    ("get", f"/api/jobs/{KINDS}/layers/29?limit=5", {}),
    ("get", f"/api/jobs/{KINDS}/random?count=3&depth=9", {}),
    ("post", f"/api/jobs/{CUT}/distances", {"json": {"boards": ["goal", "867254301"]}}),
    ("get", "/api/puzzles?q=puzzle", {}),
    ("get", "/api/puzzles/klotski", {}),
    ("get", "/api/puzzles/cube-3x3x3", {}),
    ("get", "/api/puzzles/sliding-3x4/estimate", {}),
    ("get", f"/api/surveys/{SURVEY}", {}),
    ("get", f"/api/surveys/{COSETS}", {}),
    ("get", f"/api/surveys/{DRAWN}/estimate", {}),
    ("get", f"/api/surveys/{COSETS}/estimate", {}),
    ("get", "/api/surveys/77", {}),
    ("get", "/api/jobs/77", {}),
    ("get", f"/api/jobs/{KINDS}/state?board=nonsense", {}),
    ("post", f"/api/jobs/{KINDS}/distances", {"content": b"[]"}),
]


@pytest.mark.slow
def test_every_answer_has_the_form_that_the_document_tells(client: Client) -> None:
    asked = client(token=TOKEN, allow_jobs=True)
    document = asked.get("/api/openapi.json", headers=BEARER).json()
    assert document["openapi"].startswith("3.1")
    told = set()
    for method, address, keywords in CALLS:
        answer = asked.request(method, address, headers=BEARER, **keywords)
        path = _path_of(document, address)
        told.add((method, path))
        responses = document["paths"][path][method]["responses"]
        response = responses.get(str(answer.status_code), responses["default"])
        assert answer.status_code in (200, 201) or response is responses["default"]
        schema = {
            **response["content"]["application/json"]["schema"],
            "components": document["components"],
        }
        Draft202012Validator(schema).validate(answer.json())
    missing = {(method, path) for path, calls in document["paths"].items() for method in calls} - told
    assert missing == {("get", "/api/workers"), ("get", "/api/jobs/{number}/events")}


def _path_of(document: dict[str, Any], address: str) -> str:
    plain = address.partition("?")[0]
    fits: list[str] = [
        path for path in document["paths"] if re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), plain)
    ]
    assert len(fits) == 1, (address, fits)
    return fits[0]


def test_the_document_names_every_address(client: Client) -> None:
    paths = client().get("/api/openapi.json").json()["paths"]
    routes = {
        (method.lower(), route.path)
        for route in [*API, *CHANGES]
        if route.path.startswith("/api/")
        for method in route.methods or ()
        if method != "HEAD"
    }
    told = {(method, path) for path, calls in paths.items() for method in calls}
    assert routes - {("get", "/api/openapi.json")} == told


@pytest.mark.parametrize("job", [KINDS, BLOCKS, ONE_WAY])
def test_a_state_with_its_neighbours(client: Client, stored: Path, job: int) -> None:
    """The moves of random states lead to distances that the map has, and one of them is nearer."""
    asked = client()
    with farthest.open_map(job, database=stored) as opened:
        for board in asked.get(f"/api/jobs/{job}/random?count=8").json()["boards"]:
            found = asked.get(f"/api/jobs/{job}/state", params={"board": board}).json()
            assert found["distance"] == opened.distance(board)
            assert found["solutions"] == opened.count_solutions(board)
            moves = found["moves"]
            distances = [each["distance"] for each in moves]
            assert (
                distances == opened.distances([each["board"] for each in moves]).tolist() == sorted(distances)
            )
            if opened.origin.direction == "to" and found["distance"]:
                assert distances[0] == found["distance"] - 1
                assert moves[0]["board"] == opened.path(board)[1]


def test_many_boards_at_once(client: Client, stored: Path) -> None:
    asked = client()
    with farthest.open_map(KINDS, database=stored) as opened:
        boards = [board for depth in (3, 30) for board in opened.states_at(depth)] * 100
        answers = asked.post(f"/api/jobs/{KINDS}/distances", json={"boards": boards}).json()["distances"]
        assert [each["distance"] for each in answers] == opened.distances(boards).tolist()
        assert [each["board"] for each in answers] == boards


def test_a_wrong_board_among_many_is_named(client: Client) -> None:
    answer = client().post(f"/api/jobs/{THREE}/distances", json={"boards": ["0312", "031"]})
    assert answer.status_code == 400
    assert "line 2" in answer.json()["error"]


@pytest.mark.parametrize(
    ("address", "body", "told"),
    [
        ("/api/jobs", {"puzzle": "8-puzzle", "max_depth": 3}, "unknown field `max_depth`"),
        ("/api/jobs", {"puzzle": 8}, "Expected `str`"),
        ("/api/jobs", {}, "missing required field `puzzle`"),
        ("/api/jobs", [], "not a JSON object"),
        (f"/api/jobs/{THREE}/distances", {"boards": ["goal"], "limit": 1}, "unknown field `limit`"),
        (f"/api/jobs/{THREE}/distances", {"boards": ["goal", 1]}, "Expected `str`"),
    ],
)
def test_another_body_than_the_declared_one_is_refused(
    client: Client, address: str, body: object, told: str
) -> None:
    answer = client(token=TOKEN, allow_jobs=True).post(address, json=body, headers=BEARER)
    assert answer.status_code == 400
    assert told in answer.json()["error"]
    assert "expected JSON such as" in answer.json()["error"]


def test_an_answer_of_a_map_is_kept_for_ever_under_its_digest(client: Client) -> None:
    asked = client()
    digest = asked.get(f"/api/jobs/{KINDS}").json()["digest"]
    address = f"/api/jobs/{KINDS}/state?board=goal"
    answer = asked.get(address)
    assert digest in answer.headers["etag"]
    assert "max-age=31536000" in answer.headers["cache-control"]
    again = asked.get(address, headers={"if-none-match": answer.headers["etag"]})
    assert again.status_code == 304
    assert not again.content
    assert asked.get(address, headers={"if-none-match": '"another"'}).status_code == 200
    assert asked.get(f"/api/jobs/{KINDS}").headers["cache-control"] == "no-store"


def test_json_of_a_job_is_that_of_the_command_line(client: Client, stored: Path) -> None:
    asked = client()
    for job in (KINDS, QUEUED, SEARCH):
        said = CliRunner().invoke(cli, ["show", str(job), "--json", "--database", str(stored)])
        assert {**asked.get(f"/api/jobs/{job}").json(), "database": str(stored)} == json.loads(said.stdout)
