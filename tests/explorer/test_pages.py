"""The pages: what they show is what the map says, and they hold together without scripts."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit
from xml.etree import ElementTree

import pytest
from starlette.testclient import TestClient

import farthest
from cases import for_each
from explorer.conftest import (
    BEGUN,
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
    SURVEYED_BLOCKS,
    THREE,
    TOKEN,
    Client,
)
from farthest.models.database import open_database
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Origin
from farthest.puzzles.reader import parse_puzzle
from farthest.web import page_routes, shelf
from farthest.web.app import application
from farthest.web.gate import WebSettings
from farthest.web.page import board_page, box_page, compare_page, state_page
from farthest.web.pages import search, solve
from farthest.web.pages.box import Drawn
from farthest.web.pages.own import own_puzzle
from farthest.web.pages.puzzles import KINDS as KINDS_OF_PUZZLES
from farthest.web.solving import Told

FARTHEST = "┘│└/─□─/┐│┌"


class Page(HTMLParser):
    """A page's links and forms, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.open: list[str] = []
        self.words: list[str] = []
        self.attributes: list[str] = []
        self.feed(text)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.attributes += found
        self.open.append(tag)
        if tag in ("a", "form"):
            self.links.append(found.get("href") or found.get("action") or "")
        if tag in ("script", "link", "img"):
            self.loaded.append(found.get("src") or found.get("href") or "")

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def shown(client: Client, address: str) -> Page:
    answer = client().get(address)
    assert answer.status_code == 200, answer.text
    return Page(answer.text)


def shown_of(asked: TestClient, address: str) -> Page:
    return Page(asked.get(address).text)


ALL = [
    "/",
    "/jobs",
    "/jobs?q=puzzle",
    "/puzzles",
    "/puzzles?q=puzzle",
    f"/jobs/{KINDS}",
    f"/jobs/{KINDS}?scale=linear",
    f"/jobs/{BLOCKS}",
    f"/jobs/{LAYERS}",
    f"/jobs/{QUEUED}",
    f"/jobs/{SEARCH}",
    state_page(KINDS, FARTHEST),
    state_page(BLOCKS, "start"),
    state_page(ONE_WAY, "start"),
    f"/jobs/{KINDS}/layers/28",
    "/puzzles/red-donkey",
    "/puzzles/sliding-3x5",
    "/puzzles/skewb",
    "/puzzles/sliding-3x5/solve",
    "/puzzles/cube-2x2x2-htm/solve?draw=R U",
    compare_page("8-puzzle", "867254301"),
    "/box",
    "/box?start=AB.",
    "/own",
    "/puzzles/sliding-3x5/1 0 2 3 4 | 5 6 7 8 9 | 10 11 12 13 14",
    "/puzzles/cube-3x3x3%3CU2%2CA%3DL'R%3E@edges",
    "/surveys",
    f"/surveys/{SURVEY}",
    f"/surveys/{BEGUN}",
    f"/surveys/{COSETS}",
    f"/surveys/{DRAWN}",
    "/workers",
    "/sign-in",
]


def test_the_nearest_goal_of_a_job_counted_from_its_start(client: Client) -> None:
    page = shown(client, f"/jobs/{BLOCKS}")
    told = re.search(r"first reached at depth (\d+), in", page.text)
    assert told, page.text
    assert state_page(BLOCKS, "goal") in page.links
    assert f"istance {told[1]}" in shown(client, state_page(BLOCKS, "goal")).text


@pytest.mark.slow
def test_links_lead_to_pages_and_nothing_comes_from_elsewhere(client: Client) -> None:
    """Of the addresses on each page one of each kind is asked: none is broken."""
    asked = client()
    seen: set[str] = set()
    for address in ALL:
        page = Page(asked.get(address).text)
        assert not {name for name in page.attributes if name.startswith("on") or name == "style"}, address
        assert "style" not in page.open
        for link in [*page.links, *page.loaded]:
            if re.fullmatch(r"https://oeis\.org/A\d{6}", link):  # the source of known answers
                continue
            assert link.startswith(("/", "#")), (address, link)
            if link.startswith("#") or (link.startswith("/jobs/") and link.endswith(("/state",))):
                continue
            job = re.match(r"/jobs/\d+", link)
            kind = (job[0] if job else "") + re.sub(r"\d+|board=(?!goal|start)[^&]*|/puzzles/[^/]*", "", link)
            if kind not in seen:  # of addresses that differ in numbers and boards one
                seen.add(kind)
                assert asked.get(link).status_code in (200, 303), (address, link)
    assert len(seen) > 12


def test_the_first_page_is_for_everybody(client: Client) -> None:
    """One picture that moves, eight families, two questions; it is small."""
    answer = client().get("/")
    page = Page(answer.text)
    assert len(answer.content) <= 60_000
    assert "Which puzzle have you got?" in page.text
    cards = [link for link in page.links if re.fullmatch(r"/puzzles/[^/]*", link)]
    assert len(set(cards)) == 8
    assert page.attributes.count("data-board") == 1 + 31
    assert "/puzzles/cube-3x3x3/solve" in page.links


def test_the_list_of_jobs_has_the_newest_first(client: Client) -> None:
    page = shown(client, "/jobs")
    jobs = [int(link.rpartition("/")[2]) for link in page.links if re.fullmatch(r"/jobs/\d+", link)]
    assert jobs[::2] == sorted(jobs[::2], reverse=True) == list(range(SEARCH, 0, -1))


def test_surveys(client: Client) -> None:
    """The newest first; what one has found, its hardest boards as links, and its rows as files."""
    listed = shown(client, "/surveys")
    assert [link for link in listed.links if re.fullmatch(r"/surveys/\d", link)][::2] == [
        f"/surveys/{number}" for number in (DRAWN, COSETS, BEGUN, SURVEYED_BLOCKS, SURVEY)
    ]
    assert "1 of 3" in listed.text
    page = shown(client, f"/surveys/{SURVEY}")
    assert "all 1,349 880 493 32 9,304 7" in page.text
    assert "7 moves, 34 states" in page.text
    assert "/puzzles/rush-BBoCAAoCDEEEDoFF" in page.links
    assert not any("renew" in each for each in page.loaded)
    assert any("renew" in each for each in shown(client, f"/surveys/{BEGUN}").loaded)
    assert "/puzzles/pennant/" in "".join(shown(client, f"/surveys/{SURVEYED_BLOCKS}").links)
    asked = client()
    (first, *_) = asked.get(f"/surveys/{SURVEY}/rows.jsonl").text.splitlines()
    assert json.loads(first)["pieces"] == 1
    assert asked.get(f"/surveys/{SURVEY}/rows.csv").text.count("\n") == 33
    assert asked.get(f"/surveys/{COSETS}/rows.csv").text.startswith("coset,")
    for missing in ("/surveys/77", "/surveys/77/rows.csv", f"/surveys/{SURVEY}/rows.txt", "/surveys/x"):
        assert asked.get(missing).status_code == 404


def test_surveys_of_cosets(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = shown(client, f"/surveys/{DRAWN}").text
    assert "distance mean positions +- regression" in drawn
    assert "cosets 30 at random, of 576" in drawn
    assert "weight seconds 1 2 left L 2" in shown(client, f"/surveys/{COSETS}").text
    assert "distance mean" not in shown(client, f"/surveys/{COSETS}").text
    monkeypatch.setattr(shelf, "MOST_COSETS", 5)
    page = shown(client, f"/surveys/{DRAWN}")
    assert "distance mean" not in page.text
    assert "30 cosets are more than the 5 that can be given at once" in page.text
    for path in (f"/api/surveys/{DRAWN}", f"/api/surveys/{DRAWN}/estimate"):
        refused = client().get(path)
        assert refused.status_code == 413
        assert "--json` has them" in refused.text
    assert client().get(f"/api/surveys/{COSETS}").status_code == 200


def test_the_catalogue_has_all_puzzles_by_kind(client: Client) -> None:
    page = shown(client, "/puzzles")
    puzzles = {
        unquote(link.rpartition("/")[2]) for link in page.links if re.fullmatch(r"/puzzles/[^?]+", link)
    }
    assert puzzles >= set(farthest.puzzle_names())
    kinds = [each.title for each in KINDS_OF_PUZZLES]
    assert [kind for kind in kinds if kind in page.text] == kinds
    assert page.open.count("svg") < len(farthest.puzzle_names())  # variants share a card


def test_an_empty_database_leads_to_puzzles(tmp_path: Path) -> None:
    app = application(open_database(tmp_path / "new.db", create=True), WebSettings())
    with TestClient(app, "http://127.0.0.1") as asked:
        page = shown_of(asked, "/jobs")
        assert "There are no jobs yet" in page.text
        assert "/puzzles" in page.links
        assert "Running now" not in shown_of(asked, "/").text


def test_a_running_job_tells_how_far_it_is(client: Client) -> None:
    """Without scripts as it was when the page was made; the script gets the same texts as events."""
    asked = client()
    jobs = asked.app._app.state.shelf.jobs  # type: ignore[attr-defined]
    jobs.claim(QUEUED, "elsewhere/1/0")
    known: dict[str, Any] = {
        "layers": [1, 4, 15, 200, 80],
        "depth": 4,
        "states": 300,
        "states_at_most": 1200,
        "layer_states": 80,
        "states_a_second": 15_300,
    }
    known |= {"blocks": 16, "blocks_done": 3, "workers": 2, "seconds_left": 12.3, "seconds": 0.5}
    jobs.renew(QUEUED, "elsewhere/1/0", 60, known)
    page = shown_of(asked, f"/jobs/{QUEUED}")
    told = (
        "layer under way 5 states 300 of at most 1,200 (25.0%) in the last layer 80 states per second 15.3 k "
        "blocks done 3 of 16 time left at most 12.3 s time of the layers 0.50 s workers 2"
    )
    assert told in page.text
    assert any("/live.js" in address for address in page.loaded)
    assert "depth 4: 80 states" in page.text
    assert asked.get(f"/api/jobs/{QUEUED}").json()["layers"] == known["layers"]
    assert asked.get(f"/jobs/{QUEUED}/layers.csv").text.splitlines()[-1] == "4,80"
    with asked.stream("GET", f"/api/jobs/{QUEUED}/events") as events:
        lines = events.iter_lines()
        chart, data = islice((line for line in lines if line.startswith("data: ")), 2)
        jobs.cancel(QUEUED)
        ended = [line for line in lines if line.startswith("event: ")]
    assert " ".join(" ".join(row) for row in json.loads(data.removeprefix("data: "))["told"]) == told
    assert "depth 4: 80 states" in json.loads(chart.removeprefix("data: "))
    assert ended[-1] == "event: end"
    assert told not in shown_of(asked, f"/jobs/{QUEUED}").text


def test_older_jobs_are_on_pages_of_their_own(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_routes, "JOBS_LISTED", 3)
    asked, address, seen = client(), "/jobs?q=puzzle", list[int]()
    for _ in range(10):
        page = Page(asked.get(address).text)
        seen += [int(link.rpartition("/")[2]) for link in page.links if re.fullmatch(r"/jobs/\d+", link)][::2]
        older = [link for link in page.links if "before=" in link]
        if not older:
            break
        (address,) = older
    assert seen == [SEARCH, QUEUED, LAYERS, CUT, KINDS, THREE]
    assert "/jobs?q=puzzle" in page.links  # back to the newest
    assert "There are no older jobs." in shown(client, "/jobs?before=1").text


def test_solutions_are_on_pages_of_their_own(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = client()
    database = asked.app._app.state.shelf.database.path  # type: ignore[attr-defined]
    farthest.solve("3-puzzle", "32/10", all_solutions=True, database=database, store=True)
    first = f"/jobs/{SEARCH + 1}"
    whole = Page(asked.get(first).text)
    assert whole.attributes.count("data-player") == 2
    monkeypatch.setattr(search, "SOLUTIONS_SHOWN", 1)
    one = Page(asked.get(first).text)
    other = Page(asked.get(f"{first}?after=1").text)
    for number, page, way in ((1, one, f"{first}?after=1"), (2, other, f"{first}?after=0")):
        assert f"Solutions {number} to {number} of 2" in page.text
        assert page.attributes.count("data-player") == 1
        assert [link for link in page.links if "after=" in link] == [way]
    moves = [found for page in (one, other) for found in re.findall(r"\d moves: [\d -]+", page.text)]
    assert moves == re.findall(r"\d moves: [\d -]+", whole.text)
    assert asked.get(f"{first}?after=x").status_code == 404


def test_search_by_name(client: Client) -> None:
    assert [link for link in shown(client, "/jobs?q=kinds").links if link.startswith("/jobs/")] == [
        f"/jobs/{KINDS}"
    ] * 2
    assert [link for link in shown(client, "/puzzles?q=kinds").links if link.startswith("/puzzles/")] == [
        "/puzzles/eight-kinds"
    ]
    assert "No puzzle of the catalogue has these words" in shown(client, "/puzzles?q=nosuchpuzzle").text
    for wanted, name in (("sliding-3x5", "sliding-3x5"), ("15 Puzzle", "15-puzzle")):
        answer = client().get("/puzzles", params={"q": wanted})
        assert (answer.status_code, answer.headers["location"]) == (303, f"/puzzles/{name}")


def test_a_job_shows_its_layers_and_its_farthest_boards(client: Client, stored: Path) -> None:
    asked = client()
    page = Page(asked.get(f"/jobs/{KINDS}").text)
    assert "90,720" in page.text
    assert "6 boards farthest, at distance 30" in page.text
    boards = {
        unquote(link.partition("board=")[2]).removesuffix("#play")
        for link in page.links
        if "/state?board=" in link
    }
    with farthest.open_map(KINDS, database=stored) as opened:
        assert set(opened.farthest()) <= boards
        depths = [
            depth for depth in range(31) if f"depth {depth}: {opened.layers[depth]:,} state" in page.text
        ]
    assert depths == list(range(31))
    assert "agrees" in page.text
    assert "differs" not in page.text


def test_a_job_shows_first_what_its_start_leads_to(client: Client, tmp_path: Path) -> None:
    asked = client()
    with farthest.enumerate("pegs-triangle-15", database=tmp_path / "copy-0.db", origin="to goal") as made:
        page = Page(asked.get(f"/jobs/{made.job}").text)
    first, whole = (
        page.text.index(each) for each in ("the start leads to, at distance 13", "all 3,016 states")
    )
    assert first < whole


def test_what_is_dealt_to_be_played_is_not_solved(
    client: Client, stored: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with farthest.open_map(THREE, database=stored) as opened:
        seed = next(seed for seed in range(1000) if opened.distance(opened.random(seed=seed)) == 0)
        monkeypatch.setattr("secrets.randbits", lambda bits: seed)
        asked = client()
        dealt = [
            parse_qs(urlsplit(asked.get(f"/jobs/{THREE}/random{query}").headers["location"]).query)["board"][
                0
            ]
            for query in ("", "?play")
        ]
        assert [opened.distance(board) > 0 for board in dealt] == [False, True]


def test_the_files_of_a_job(client: Client) -> None:
    asked = client()
    csv = asked.get(f"/jobs/{THREE}/layers.csv")
    assert csv.text.splitlines() == ["depth,states", "0,1", "1,2", "2,2", "3,2", "4,2", "5,2", "6,1"]
    assert csv.headers["content-disposition"] == f'attachment; filename="job-{THREE}-layers.csv"'
    ElementTree.fromstring(asked.get(f"/jobs/{THREE}/layers.svg").text)
    assert farthest.Puzzle.from_json(asked.get(f"/jobs/{THREE}/puzzle.json").text).name == "3-puzzle"


def test_a_state_lists_every_move_best_first(client: Client, stored: Path) -> None:
    asked = client()
    page = Page(asked.get(state_page(KINDS, "┘─└/│□│/┐─┌")).text)
    assert "30 moves to goal; 72 optimal solutions" in page.text
    middle = Page(asked.get(state_page(KINDS, "┌│┐/□─│/└─┘")).text)
    with farthest.open_map(KINDS, database=stored) as opened:
        moves = opened.neighbours("┌│┐/□─│/└─┘")
        assert [each.distance for each in moves] == sorted(
            opened.distances([each.board for each in moves]).tolist()
        )
        path = opened.path("┌│┐/□─│/└─┘")
    links = [unquote(link.partition("board=")[2]) for link in middle.links if "/state?board=" in link]
    on_board, rest = links[: len(moves)], links[len(moves) :]
    way, in_list = rest[: len(path)], rest[len(path) :][: len(moves)]
    assert in_list == [each.board for each in moves]
    assert sorted(on_board) == sorted(in_list)  # the piece of each move is a link
    assert way == path  # one optimal path, in the order of its moves


def test_the_depth_of_a_state_is_marked_in_the_chart(client: Client) -> None:
    page = client().get(state_page(THREE, "goal")).text
    marked = r'<a href="[^"]*" aria-current="true"><title>(.*?)</title><path class="marked"'
    assert re.findall(marked, page) == ["depth 0: 1 state"]
    assert {f"/jobs/{THREE}/layers.csv", f"/jobs/{THREE}/layers.svg?scale=log"} <= set(Page(page).links)
    assert len(page.encode()) <= 20_000


@pytest.mark.parametrize(
    ("job", "board", "said"),
    [
        (THREE, "0 2 / 1 3", "parity"),
        (CUT, "867254301", "more than 6 moves away"),
    ],
)
def test_a_state_without_a_distance_says_why(client: Client, job: int, board: str, said: str) -> None:
    page = shown(client, state_page(job, board))
    assert "no distance" in page.text
    assert said in page.text


def test_one_way_moves_are_those_of_the_player(client: Client) -> None:
    """From the start of the jugs the player fills one of them."""
    page = shown(client, state_page(ONE_WAY, "start"))
    assert "0 moves from start" in page.text
    assert page.text.count("fill") >= 2


def test_a_random_state_has_the_depth_that_was_asked(client: Client) -> None:
    asked = client()
    for _ in range(3):
        answer = asked.get(f"/jobs/{KINDS}/random?depth=7")
        assert answer.status_code == 303
        assert "distance 7 " in Page(asked.get(answer.headers["location"]).text).text


def test_a_search_shows_its_solutions(client: Client) -> None:
    page = shown(client, f"/jobs/{SEARCH}")
    assert "2 moves: 7-6 8-7" in page.text
    assert page.open.count("svg") == 1 + 1
    assert page.attributes.count("data-board") == 3


def test_a_puzzle_shows_its_moves_and_what_it_needs(client: Client) -> None:
    page = shown(client, "/puzzles/8-puzzle")
    assert "https://oeis.org/A089473" in page.links
    assert "181,440 by published figures" in page.text
    assert page.open.count("svg") >= 1 + 2
    assert "farthest enumerate 8-puzzle" in page.text
    large = shown(client, "/puzzles/cube-3x3x3").text
    assert "too many to look at each of them" in large
    assert "farthest enumerate" not in large


@pytest.mark.parametrize(
    ("address", "status", "said"),
    [
        ("/nosuch", 404, "there is no such page"),
        ("/jobs/77", 404, "there is no job 77"),
        ("/jobs/0x1", 404, "expected a whole number"),
        (f"/jobs/{'9' * 400}", 404, "expected a whole number"),
        (f"/jobs/{KINDS}/state", 400, "expected a board"),
        (state_page(KINDS, "nonsense"), 400, "nonsense"),
        (f"/jobs/{KINDS}/layers/31", 404, "has no layer 31"),
        (f"/jobs/{KINDS}/random?depth=99", 404, "has no layer 99"),
        (f"/jobs/{LAYERS}/state?board=goal", 404, "kept only the number of states at each depth"),
        (f"/jobs/{QUEUED}/state?board=goal", 404, "is queued"),
        (f"/jobs/{SEARCH}/state?board=goal", 404, "is a search"),
        (f"/jobs/{QUEUED}/layers.svg", 404, "no layers yet"),
        ("/puzzles/nosuch", 404, "no puzzle of the catalogue"),
        ("/puzzles/sliding-1x1", 404, "sliding"),
    ],
)
def test_errors_are_pages(client: Client, address: str, status: int, said: str) -> None:
    answer = client().get(address)
    assert answer.status_code == status
    assert said in Page(answer.text).text
    assert "Traceback" not in answer.text


def test_a_layer_is_shown_page_by_page(client: Client, stored: Path) -> None:
    asked, address, seen = client(), f"/jobs/{KINDS}/layers/8", list[str]()
    for _ in range(4):
        page = Page(asked.get(address).text)
        seen += [
            unquote(link.partition("board=")[2]).removesuffix("#play")
            for link in page.links
            if link.endswith("#play")
        ]
        more = [link for link in page.links if "after=" in link and int(link.rpartition("=")[2]) == len(seen)]
        if not more:
            break
        (address,) = more
    with farthest.open_map(KINDS, database=stored) as opened:
        assert sorted(seen) == sorted(opened.states_at(8))


def test_a_board_of_a_puzzle_has_an_address_of_its_own(client: Client, stored: Path) -> None:
    """The newest map tells of it; where there is none, its moves are there, and how to solve it."""
    asked = client()
    answer = asked.get("/puzzles/eight-kinds/" + quote(FARTHEST))
    assert (answer.status_code, answer.headers["location"]) == (303, state_page(KINDS, FARTHEST))
    page = Page(asked.get("/puzzles/cube-3x3x3/" + quote("R U")).text)
    assert "farthest solve cube-3x3x3" in page.text  # who may not start anything here
    assert len([link for link in page.links if link.startswith("/puzzles/cube-3x3x3/")]) >= 18
    wrong = asked.get("/puzzles/cube-3x3x3/solve", params={"board": "R X"})
    assert wrong.status_code == 400
    assert "X" in Page(wrong.text).text


def test_what_is_wrong_with_a_drawn_board_is_told_beside_it(client: Client) -> None:
    asked = client()
    for puzzle, board, told in (
        ("8-puzzle", "213/456/780", "only half of the boards can be reached"),
        ("8-puzzle", "11", "2 cells, expected 9"),
        ("8-puzzle", "867254301", "This position can be solved"),
        ("pegs-english", ".../oo./..o...o/oo.oo.o/o..o.oo/oo./ooo", "It is not known whether"),
    ):
        answer = asked.get(f"/puzzles/{puzzle}/solve", params={"draw": board})
        assert answer.status_code == 200
        assert told in Page(answer.text).text


def test_breadth_first_and_a_star_side_by_side(client: Client) -> None:
    """From the page of a board; who may start jobs is shown the numbers."""
    asked, board = client(allow_jobs=True, token=TOKEN), "123/684/750"
    asked.headers["authorization"] = f"Bearer {TOKEN}"
    address = compare_page("8-puzzle", board)
    assert address in Page(asked.get(board_page("8-puzzle", board)).text).links
    assert "Search with both" in Page(asked.get(address).text).text
    text = asked.post("/puzzles/8-puzzle/compare", data={"board": board}).text
    found = (
        farthest.solve("8-puzzle", board, algorithm="bfs"),
        farthest.solve("8-puzzle", board, algorithm="astar"),
    )
    told = "".join(f'<td class="number">{each.expanded:,}</td>' for each in found)
    assert f"<td>States expanded</td>{told}" in text
    unsolvable = asked.post("/puzzles/8-puzzle/compare", data={"board": "213/456/780"})
    assert "only half of the boards can be reached" in Page(unsolvable.text).text
    assert asked.get(compare_page("red-donkey", "start")).status_code == 404


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(1,2,3", "a cycle has no end"),
        ("MathieuGroup(24) ; (1,25)", "1.6e25 states"),
        ('name = "x"\nfamily = "permutation"\n[permutation]\nfile = "../maps.tws"', "leads elsewhere"),
        ('name = "x"\nfamily = "permutation"\n[permutation]\nfile = "maps.tws"', "No such file"),
        ('name = "x"\nfamily = "python"\n[python]\nclass = "os:system"', "farthest serve --allow-module os"),
        ("x" * 20_001, "20,001 characters, at most 20,000"),
    ],
)
def test_what_is_pasted_and_cannot_be_enumerated(client: Client, text: str, told: str) -> None:
    asked = client(allow_jobs=True, token=TOKEN)
    asked.headers["authorization"] = f"Bearer {TOKEN}"
    answer = asked.post("/own", data={"text": text, "name": ""})
    assert answer.status_code == 400
    assert told in answer.text
    assert "/tmp" not in answer.text


@for_each(
    ("text", "states"),
    [
        ("[ (1,2,3,4,5),\r\n (1,2) ]", 120),
        ("a := (1,2,3);;\nb := (1,2);;\ng := Group(a, b);", 6),
        ('name = "tiny"\nfamily = "sliding"\n[sliding]\ngoal = ["12", "30"]', 24),
        ("Name x\nSet E 2 2\nSolved\nE\n1 2\nEnd\nMove A\nE\n2 1\n0 1\nEnd", 8),
    ],
)
def test_texts_are_read_as_the_files_that_they_are_like(text: str, states: int) -> None:
    puzzle = own_puzzle(text, "My own")
    assert puzzle.name == ("tiny" if "tiny" in text else "my-own")
    assert puzzle.definition.arrangements() == states


def test_a_wrong_name_is_answered_with_those_like_it(client: Client) -> None:
    answer = client().get("/puzzles/8-puzle")
    assert answer.status_code == 404
    assert "did you mean &#39;8-puzzle&#39;" in answer.text


def test_a_drawn_box_is_the_file_that_it_gives(client: Client) -> None:
    asked = client()
    fields = {
        "title": 'My "box"\x7f\\ \t',
        "start": "AA.\r\n..B\r\n..B\r\n",
        "goal": ".AA\n...\n...",
        "metric": "step",
        "along": "yes",
    }
    drawn = Drawn.of(fields)
    answer = asked.get("/box/puzzle.toml", params=fields)
    assert answer.headers["content-disposition"] == 'attachment; filename="my-box.toml"'
    puzzle = parse_puzzle(answer.text, "my-box.toml")
    assert puzzle == drawn.puzzle()
    assert (puzzle.name, puzzle.metric, str(puzzle.origin)) == ("my-box", "step", "to goal")
    assert parse_puzzle(replace(drawn, origin="from start").toml(), "").origin == Origin("from", "start")
    assert drawn.fields()["start"] == "AA.\n..B\n..B"
    assert box_page(drawn.fields()).startswith("/box?title=")
    for wrong, told in (
        ({"start": "AAB\nA"}, "row 2 has 1 place, row 1 has 3"),
        ({"start": "AA", "metric": "leap"}, "metric 'leap' is not known"),
        ({"start": "A" * 70}, "expected 2 to 64"),
        ({"start": "AB..", "goal": "...Z"}, "row 1, column 4 holds 'Z'"),
        ({"start": "7.7.", "goal": "...7"}, "several pieces are written 7"),
        ({"start": ""}, "Drag over cells to make a piece"),
        ({"start": '"]\n[python]\nclass = "os:system"'}, "expected rows of one length"),
    ):
        assert told in Page(asked.get("/box", params=wrong).text).text
        assert asked.get("/box/puzzle.toml", params=wrong).status_code == 404


def test_a_row_of_dots_is_no_step_of_an_address(client: Client) -> None:
    """Browsers take ``./`` out of addresses."""
    text = "./oo/ooo/oooo/ooooo"
    address = board_page("pegs-triangle-15", text)
    assert "/./" not in address
    assert text in Page(client().get(address).text).text


@for_each(
    ("told", "again"),
    [
        (Told(error="it ended before a solution was found", ended=True), True),
        (Told(moves=[(7, 8)], needed=1, ended=True), True),
        (Told(moves=[(7, 8)], needed=1, ended=True, optimal=True), False),
        (
            Told(moves=[], error="it is proven that no moves lead to the goal", ended=True, optimal=True),
            False,
        ),
        (Told(), False),
    ],
)
def test_a_search_that_was_stopped_or_has_crashed_can_be_begun_again(told: Told, again: bool) -> None:
    puzzle = catalogue.load("8-puzzle")
    board = puzzle.definition.parse_board("123/456/708")
    page = solve.position(puzzle, board, [], told, None, may_change=True)
    assert ("Search again" in page) == again
    assert "This is the goal" not in page
