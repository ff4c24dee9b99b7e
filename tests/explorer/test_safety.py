"""Each promise of docs/explorer.md, Safety: who may read and change, and what no request can do."""

from __future__ import annotations

import json
import logging
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import farthest
from cases import for_each
from explorer.conftest import CUT, KINDS, LAYERS, QUEUED, THREE, TOKEN, Client
from farthest.cli.app import cli
from farthest.errors import SettingError
from farthest.models.database import open_database
from farthest.models.tables import job, puzzle
from farthest.web.app import application
from farthest.web.gate import WebSettings
from integration.conftest import forge_digests

BEARER = {"authorization": f"Bearer {TOKEN}"}
HERE = "http://127.0.0.1:8080"


@for_each(
    ("keywords", "said"),
    [
        ({"host": "0.0.0.0"}, "set FARTHEST_WEB_TOKEN"),
        ({"host": "maps.example.org"}, "reached from other machines"),
        ({"allow_jobs": True}, "--allow-jobs needs a token"),
        ({"allow_jobs": True, "public": True, "token": TOKEN}, "leave out --allow-jobs"),
        ({"token": "short"}, "16 or more"),
        ({"token": "with a space in the middle"}, "without spaces"),
    ],
)
def test_what_would_let_strangers_in_is_refused(keywords: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingError, match=said):
        WebSettings(**keywords)


@for_each(
    "keywords",
    [
        {},
        {"host": "localhost"},
        {"host": "::1"},
        {"host": "0.0.0.0", "public": True},
        {"host": "0.0.0.0", "token": TOKEN},
        {"allow_jobs": True, "token": TOKEN},
    ],
)
def test_what_is_allowed(keywords: dict[str, Any]) -> None:
    WebSettings(**keywords)


@for_each(
    ("origin", "public"),
    [
        ("*", False),
        ("example.org", True),
        ("https://example.org/", True),
        ("https://example.org/maps", True),
        ("https://Example.org", True),
        ("ftp://example.org", True),
        ("https://", True),
        ("null", True),
        ("", True),
    ],
)
def test_what_is_no_origin_is_refused(origin: str, public: bool) -> None:
    with pytest.raises(SettingError, match="--cors-origin"):
        WebSettings(cors_origins=(origin,), public=public)


# --- pages of other servers -----------------------------------------------------------------------------------

FRIEND = "https://friend.example"
ALLOWED = "access-control-allow-origin"


def test_without_being_asked_for_no_page_elsewhere_reads(client: Client) -> None:
    asked = client()
    assert ALLOWED not in asked.get("/api/jobs", headers={"origin": FRIEND}).headers
    preflight = {"origin": FRIEND, "access-control-request-method": "GET"}
    answer = asked.options("/api/jobs", headers=preflight)
    assert ALLOWED not in answer.headers
    assert answer.status_code >= 400


def test_named_origins_read_and_change_nothing(client: Client) -> None:
    asked = client(cors_origins=(FRIEND, "http://localhost:3000"), token=TOKEN, allow_jobs=True)
    question = f"/api/jobs/{CUT}/distances"
    for origin in (FRIEND, "http://localhost:3000"):
        headers = {"origin": origin}
        for method, address in (("GET", "/api/jobs"), ("POST", question)):
            preflight = {
                **headers,
                "access-control-request-method": method,
                "access-control-request-headers": "authorization, content-type",
            }
            answer = asked.options(address, headers=preflight)
            assert (answer.status_code, answer.headers[ALLOWED]) == (200, origin)
            assert "access-control-allow-credentials" not in answer.headers
        answer = asked.get("/api/jobs", headers={**headers, **BEARER})
        assert (answer.status_code, answer.headers[ALLOWED]) == (200, origin)
        assert "origin" in answer.headers["vary"].lower()
        answer = asked.post(question, json={"boards": ["goal"]}, headers={**headers, **BEARER})
        assert (answer.status_code, answer.headers[ALLOWED]) == (200, origin)
        refused = asked.get("/api/jobs", headers=headers)  # why is told to its page as well
        assert (refused.status_code, refused.headers[ALLOWED]) == (401, origin)
        for address in ("/api/jobs", f"/api/jobs/{QUEUED}/cancel"):
            assert asked.post(address, json={}, headers={**headers, **BEARER}).status_code == 403
    assert asked.get(f"/api/jobs/{QUEUED}", headers=BEARER).json()["status"] == "queued"
    for address, origin in (
        ("/api/jobs", "https://evil.example"),
        ("/api/jobs", f"{FRIEND}.evil.example"),
        ("/", FRIEND),
    ):
        assert ALLOWED not in asked.get(address, headers={"origin": origin, **BEARER}).headers


def test_all_origins_read_what_is_public(client: Client) -> None:
    answer = client(cors_origins=("*",), public=True).get("/api/jobs", headers={"origin": FRIEND})
    assert answer.headers[ALLOWED] == "*"


# --- the name of the server -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example", "", "localhost.evil"]
)
def test_another_name_is_refused(client: Client, host: str) -> None:
    """A page of another server whose name was led to this one (DNS rebinding) reads nothing."""
    answer = client().get("/api/jobs", headers={"host": host})
    assert answer.status_code == 421
    assert "jobs" not in answer.json()


@pytest.mark.parametrize(
    "host", ["localhost:8080", "127.0.0.1", "[::1]:8080", "192.168.1.7:80", "Maps.Example.org"]
)
def test_its_own_names_are_known(client: Client, host: str) -> None:
    assert client(names=("maps.example.org",)).get("/api/jobs", headers={"host": host}).status_code == 200


# --- the token ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/", f"/jobs/{KINDS}", f"/jobs/{KINDS}/state?board=goal", "/nosuch"])
def test_without_the_token_pages_lead_to_its_form(client: Client, address: str) -> None:
    answer = client(token=TOKEN).get(address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer "},
        {"cookie": f"farthest={TOKEN}"},
        {"cookie": "farthest="},
    ],
)
def test_without_the_token_nothing_is_told(client: Client, headers: dict[str, str]) -> None:
    answer = client(token=TOKEN).get("/api/jobs", headers=headers)
    assert answer.status_code == 401
    assert answer.json().keys() == {"error", "status"}
    assert answer.headers["www-authenticate"] == "Bearer"


def test_the_token_lets_in(client: Client) -> None:
    asked = client(token=TOKEN)
    assert asked.get("/api/jobs", headers=BEARER).status_code == 200
    assert asked.post("/sign-in", data={"token": "wrong"}, headers={"origin": HERE}).status_code == 403
    answer = asked.post("/sign-in", data={"token": TOKEN}, headers={"origin": HERE})
    assert answer.status_code == 303
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    assert asked.get("/").status_code == 200  # the client keeps the cookie


def test_the_public_reads_without_a_token(client: Client) -> None:
    asked = client(public=True, token=TOKEN, host="0.0.0.0")
    assert asked.get("/").status_code == 200
    assert asked.post(f"/api/jobs/{THREE}/distances", json={"boards": ["goal"]}).status_code == 200


# --- changes --------------------------------------------------------------------------------------------------

CHANGES = [
    "/jobs",
    f"/jobs/{QUEUED}/cancel",
    f"/jobs/{QUEUED}/resume",
    "/box",
    "/own",
    "/puzzles/8-puzzle/solve",
    "/puzzles/8-puzzle/solve/stop",
    "/puzzles/8-puzzle/compare",
    "/api/jobs",
    f"/api/jobs/{QUEUED}/cancel",
    f"/api/jobs/{QUEUED}/resume",
]


@pytest.mark.parametrize("address", CHANGES)
def test_nothing_changes_where_jobs_are_not_allowed(client: Client, address: str) -> None:
    for keywords in ({}, {"public": True, "token": TOKEN}, {"token": TOKEN}):
        asked = client(**keywords)
        before = asked.get("/api/jobs", headers=BEARER).json()
        answer = asked.post(address, headers={**BEARER, "origin": HERE}, json={"puzzle": "8-puzzle"})
        assert answer.status_code == 403
        assert asked.get("/api/jobs", headers=BEARER).json() == before


@pytest.mark.parametrize("address", CHANGES)
def test_no_change_by_get(client: Client, address: str) -> None:
    asked = client(token=TOKEN, allow_jobs=True)
    before = asked.get("/api/jobs", headers=BEARER).json()
    for method in ("GET", "HEAD"):
        asked.request(method, address, headers=BEARER)
    assert asked.get("/api/jobs", headers=BEARER).json() == before


@pytest.mark.parametrize(
    "origin", [None, "http://evil.example", "null", "http://127.0.0.1:8081", "http://evil.example:8080"]
)
def test_a_change_comes_from_a_page_of_this_server(client: Client, origin: str | None) -> None:
    """A browser sends the cookie with requests that pages of others make; it also says whose page it is."""
    asked = client(token=TOKEN, allow_jobs=True)
    asked.post("/sign-in", data={"token": TOKEN}, headers={"origin": HERE})
    headers = {} if origin is None else {"origin": origin}
    assert asked.post(f"/jobs/{QUEUED}/cancel", headers=headers).status_code == 403
    assert asked.get(f"/api/jobs/{QUEUED}").json()["status"] == "queued"
    assert asked.post(f"/jobs/{QUEUED}/cancel", headers={"origin": HERE}).status_code == 303
    assert asked.get(f"/api/jobs/{QUEUED}").json()["status"] == "cancelled"


def test_a_change_needs_the_token(client: Client) -> None:
    asked = client(token=TOKEN, allow_jobs=True)
    assert asked.post(f"/api/jobs/{QUEUED}/cancel", headers={"origin": HERE}).status_code == 401
    assert asked.post(f"/api/jobs/{QUEUED}/cancel", headers=BEARER).status_code == 200


def test_a_form_for_the_token_of_another_page_is_refused(client: Client) -> None:
    answer = client(token=TOKEN).post(
        "/sign-in", data={"token": TOKEN}, headers={"origin": "http://evil.example"}
    )
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


# --- what is shown --------------------------------------------------------------------------------------------

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>&lt;\x1b[2J\u202eb"


@pytest.fixture
def evil(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A database in which all texts are markup: names, titles, sources, errors, owners."""
    file = str(tmp_path / "evil.db")
    farthest.enumerate("3-puzzle", database=file).close()
    farthest.submit("3-puzzle", database=file)
    with open_database(file, create=False) as database, database.write() as connection:
        definition = json.loads(connection.execute(puzzle.select()).one().definition)
        changed = json.dumps({**definition, "title": EVIL, "source": EVIL})
        connection.execute(puzzle.update().values(definition=changed, name=EVIL))
        connection.execute(job.update().values(name=EVIL))
        connection.execute(job.update().where(job.c.id == 2).values(error=EVIL, status="failed", owner=EVIL))
    monkeypatch.setenv("FARTHEST_DATABASE_URL", file)
    forge_digests()
    return file


def test_no_text_of_others_is_markup(evil: str) -> None:
    app = application(open_database(evil, create=False), WebSettings(database=evil))
    with TestClient(app, base_url=HERE, raise_server_exceptions=False) as asked:
        addresses = [
            "/jobs",
            "/jobs/1",
            "/jobs/2",
            "/jobs/1/state?board=goal",
            "/jobs/1/layers/2",
            "/jobs/1/layers.svg",
        ]
        for address in addresses:
            answer = asked.get(address)
            assert answer.status_code == 200, answer.text
            assert EVIL[:8] not in answer.text
            assert "onerror=" not in re.sub(r'"[^"]*"|>[^<]*<', "", answer.text), address
            assert "\x1b" not in answer.text
            assert "\u202e" not in answer.text
            assert "&lt;script&gt;" in answer.text, address
        for address in (
            "/jobs?q=",
            "/puzzles?q=",
            "/jobs/1/state?board=",
            "/puzzles/",
            "/puzzles/8-puzzle/",
            "/",
        ):
            answer = asked.get(address + EVIL.replace("/", "").replace("\x1b", ""))
            assert "<script>alert" not in answer.text
            assert "<img" not in answer.text


def test_every_answer_forbids_scripts_of_others(client: Client) -> None:
    asked = client()
    for address in ("/", "/nosuch", "/api/jobs", "/api/jobs/77", f"/jobs/{KINDS}/layers.svg"):
        headers = asked.get(address).headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == "'self'"
        assert policy["frame-ancestors"] == policy["base-uri"] == "'none'"
        assert headers["x-content-type-options"] == "nosniff"
        assert "access-control-allow-origin" not in headers


# --- sizes, times and files -----------------------------------------------------------------------------------


def test_bodies_are_bounded(client: Client) -> None:
    asked = client(token=TOKEN, allow_jobs=True)
    large = b'{"boards": ["' + b"1" * (17 * 2**20) + b'"]}'
    answer = asked.post(f"/api/jobs/{THREE}/distances", content=large, headers=BEARER)
    assert answer.status_code == 413

    def parts() -> Any:  # of no length that is told
        for _ in range(20):
            yield b"1" * 2**20

    assert asked.post(f"/api/jobs/{THREE}/distances", content=parts(), headers=BEARER).status_code == 413
    assert asked.post("/api/jobs", content=b" " * 2**17, headers=BEARER).status_code == 413


def test_batches_and_lists_are_bounded(client: Client) -> None:
    asked = client()
    answer = asked.post(f"/api/jobs/{THREE}/distances", json={"boards": ["goal"] * 100_001})
    assert answer.status_code == 413
    assert "100,000" in answer.json()["error"]
    assert asked.get(f"/api/jobs/{KINDS}/random?count=1001").status_code == 400
    assert asked.get(f"/api/jobs/{KINDS}/layers/20?limit=1001").status_code == 400
    assert asked.get(f"/api/jobs/{KINDS}/path?board=goal&limit=1001").status_code == 400


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{",
        b'{"boards": 3}',
        b'{"boards": [3]}',
        b"\xff",
        b"[" * 10_000,
        b'{"boards": ["\\ud800"]}',
    ],
)
def test_bodies_that_are_nothing_are_told(client: Client, body: bytes) -> None:
    answer = client().post(f"/api/jobs/{THREE}/distances", content=body)
    assert answer.status_code == 400
    assert answer.json()["error"]


@pytest.mark.parametrize(
    "address",
    [
        "/static/../app.py",
        "/static/x/..%2f..%2fapp.py",
        "/static/x//etc/passwd",
        "/puzzles/..%2f..%2fetc%2fpasswd",
        "/puzzles/%2Fetc%2Fpasswd.toml",
        "/puzzles/8-puzzle.toml",
        "/api/puzzles/.%2fsecret.toml",
    ],
)
def test_no_file_is_reached(
    client: Client, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.toml").write_text('name = "secret"\n', encoding="utf-8")
    answer = client().get(address)
    assert answer.status_code == 404
    assert "secret.toml:" not in answer.text


def test_the_log_has_neither_token_nor_questions(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        asked = client(token=TOKEN)
        asked.get("/?q=wordsofmine", headers=BEARER)
        asked.post("/sign-in", data={"token": TOKEN}, headers={"origin": HERE})
        asked.get(f"/jobs/{KINDS}/state?board=goal")
    said = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("farthest"))
    assert "GET /jobs/2/state 303" in said or "GET /jobs/2/state 200" in said
    assert not [secret for secret in (TOKEN, "wordsofmine", "board=goal") if secret in said]


def test_messages_do_not_name_the_place_of_the_database(client: Client, tmp_path: Path) -> None:
    answer = client().get("/api/jobs/77")
    assert answer.json()["error"].startswith("the database: there is no job 77")
    assert str(tmp_path) not in answer.text


def test_an_error_of_the_program_shows_no_traceback(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object) -> None:
        raise ZeroDivisionError("of an inner secret")

    monkeypatch.setattr("farthest.web.page_routes.home.home", broken)
    answer = client().get("/")
    assert answer.status_code == 500
    assert "an internal error of the server" in answer.text
    assert "secret" not in answer.text


@pytest.mark.parametrize("job", [KINDS, CUT, LAYERS])
def test_a_damaged_job_is_told_and_the_others_are_listed(client: Client, job: int) -> None:
    asked = client()
    database = asked.app._app.state.shelf.database  # type: ignore[attr-defined]
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE job SET states = states + 1 WHERE id = {job}")
    for address in ("/jobs", "/api/jobs"):
        assert asked.get(address).status_code == 200
    assert asked.get("/api/jobs").json()["damaged"]
    answer = asked.get(f"/jobs/{job}")
    assert answer.status_code == 500
    assert "digest differs" in answer.text


def test_a_class_that_may_not_run_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its job is shown; its map is not asked."""
    (tmp_path / "words.toml").write_text(
        'name = "words"\nfamily = "python"\n[python]\nclass = "python_spaces:Words"\n', encoding="utf-8"
    )
    file = str(tmp_path / "words.db")
    farthest.enumerate(tmp_path / "words.toml", database=file).close()
    for allowed in (True, False):
        monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces" if allowed else "")
        app = application(open_database(file, create=False), WebSettings(database=file))
        with TestClient(app, base_url=HERE, raise_server_exceptions=False) as asked:
            assert asked.get("/jobs/1").status_code == 200
            answer = asked.get("/api/jobs/1/state?board=start")
            assert answer.status_code == (200 if allowed else 403), answer.text
            assert allowed or "`farthest serve --allow-module python_spaces`" in answer.json()["error"]


def test_more_readers_than_the_server_has_room_for_are_told(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farthest.web.api_routes.MOST_READERS", 0)
    answer = client().get(f"/api/jobs/{QUEUED}/events")
    assert answer.status_code == 503
    assert "too many readers" in answer.json()["error"]


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "starlette", None)
    result = CliRunner().invoke(cli, ["serve"])
    assert result.exit_code == 1
    assert "pip install 'farthest[web]'" in result.output
