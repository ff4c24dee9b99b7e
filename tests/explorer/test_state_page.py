"""The page of a state beside the JSON of the state, for maps of every kind."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from starlette.testclient import TestClient

import farthest
from explorer.conftest import BLOCKS, KINDS, ONE_WAY, THREE, Client
from farthest.models.database import open_database
from farthest.puzzles.move_text import move_text
from farthest.puzzles.reader import parse_puzzle
from farthest.web.app import application
from farthest.web.gate import WebSettings
from farthest.web.page import state_page


def board_in(address: str | None) -> str:
    return parse_qs(urlsplit(address or "").query)["board"][0]


@pytest.mark.parametrize("job", [THREE, KINDS, BLOCKS, ONE_WAY])
def test_the_page_says_what_the_json_says(client: Client, job: int) -> None:
    """In the list of moves, and in the links on the board, of which each move of these puzzles has one."""
    asked = client()
    for board in asked.get(f"/api/jobs/{job}/random?count=5").json()["boards"]:
        found = asked.get(f"/api/jobs/{job}/state", params={"board": board}).json()
        page = asked.get(state_page(job, board)).text
        assert f"<h1>{found['puzzle']}: distance {found['distance']}</h1>" in page
        expected = [(each["board"], each["distance"]) for each in found["moves"]]
        listed = re.findall(r'<li class="(\w+)"><a href="([^"]*)".*?<strong>([\d–]+)</strong></a></li>', page)
        assert [(board_in(href), None if far == "–" else int(far)) for _, href, far in listed] == expected
        for kind, _, far in listed:
            more = -1 if far == "–" else int(far) - found["distance"]
            assert kind == ("none" if far == "–" else ("same", "farther", "nearer")[(more > 0) - (more < 0)])
        links = re.findall(
            r'<a href="([^"]*)" class="(\w+)" aria-label="([^"]*), (?:no )?distance ?(\d*)"', page
        )
        on_board = [(board_in(href), int(far) if far else None) for href, _, _, far in links]
        assert sorted(map(str, on_board)) == sorted(map(str, expected))


def test_the_pieces_of_a_board_are_told_in_words(client: Client) -> None:
    page = client().get(state_page(THREE, "10/23")).text
    told = re.findall(r'<a href="[^"]*" class="\w+" aria-label="([^"]*)"', page)
    assert told == ["tile 1 right, distance 0", "tile 3 up, distance 2"]


def test_the_page_of_a_residue_map_is_that_of_a_full_one(tmp_path: Path) -> None:
    file = tmp_path / "maps.db"
    farthest.enumerate("sliding-2x3", database=file).close()
    with farthest.enumerate("sliding-2x3", database=file, map="residues") as opened:
        assert opened.record.keeps_residues
        boards = opened.random(2, seed=1)
    with TestClient(
        application(open_database(file, create=False), WebSettings(database=str(file))), "http://127.0.0.1"
    ) as asked:
        for board in boards:
            full, residues = (asked.get(state_page(job, board)) for job in (1, 2))
            assert residues.status_code == 200
            assert full.text == re.sub(r"(?<=jobs/)2|(?<=Job )2", "1", residues.text)


def test_the_moves_of_a_path_lead_to_its_boards(client: Client, stored: Path) -> None:
    """They are named as people say them, and by cells besides."""
    board = "┘─└/│□│/┐─┌"
    page = client().get(state_page(KINDS, board)).text
    with farthest.open_map(KINDS, database=stored) as opened:
        path = opened.path(board)
    items = re.findall(r'<li><a href="([^"]*)"(?: title="(.*?)")?>(.*?)</a></li>', page)
    assert [board_in(item[0]) for item in items] == path
    assert [item[1] for item in items] == ["", *map(move_text, path.moves)]
    assert all(re.fullmatch(r"\S (up|down|left|right)", item[2]) for item in items[1:])


MARKED = """
name = "marked"
family = "sliding"
[sliding]
blank = "."
edges = [[0, 1], [1, 2], [2, 0]]
goal = '''. <i> "'>&'''
"""


def test_pieces_whose_names_are_markup(tmp_path: Path) -> None:
    file = tmp_path / "maps.db"
    with farthest.enumerate(parse_puzzle(MARKED, "marked.toml"), database=file) as opened:
        (board,) = opened.farthest(1)
    app = application(open_database(file, create=False), WebSettings(database=str(file)))
    with TestClient(app, "http://127.0.0.1") as asked:
        page = asked.get(state_page(1, board)).text
    assert "<i>" not in page
    assert "&lt;i&gt;" in page
    assert len(re.findall(r'aria-label="tile [^"]* from \d to \d, distance \d"', page)) == 2
