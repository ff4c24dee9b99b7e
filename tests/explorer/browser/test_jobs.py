"""Jobs that are started, cancelled and followed from a page."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import farthest
from explorer.browser.conftest import NewPage
from explorer.browser.line import Line
from explorer.browser.standing_run import stopped_in_its_midst
from explorer.conftest import BEGUN, KINDS, TOKEN
from explorer.served import Served
from farthest.web.page import job_page, puzzle_page
from forked import started as started_process

pytestmark = pytest.mark.slow


def started(page: Page, puzzle: str, button: str) -> None:
    """The page of the job that the puzzle's page has queued."""
    page.goto(puzzle_page(puzzle))
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(rf"Job \d+: {puzzle}$"))


def expect_status(page: Page, status: str) -> None:
    expect(page.locator("#status")).to_have_text(status)


def test_who_starts_jobs_signs_in(new_page: NewPage) -> None:
    page = new_page(signed_in=False)
    page.goto("/workers")
    token = page.get_by_role("textbox", name="Token")
    token.fill("a wrong token")
    token.press("Enter")
    expect(page.get_by_role("alert")).to_have_text("This is not the token.")
    token.fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("The hardest positions of puzzles")


def test_a_small_job_is_followed_from_its_start_to_its_end(page: Page) -> None:
    """Nobody does anything between the click and the chart."""
    started(page, "8-puzzle", "Find the hardest positions")
    expect_status(page, "finished")
    expect(page.get_by_text("181,440", exact=True).first).to_be_visible()
    expect(page.get_by_role("group", name="States at each depth").get_by_role("link")).to_have_count(32)


def test_a_job_is_cancelled_and_resumed(page: Page) -> None:
    """One that is too large for a process of the server's own, and so waits."""
    started(page, "sliding-3x5", "Queue it for a coordinator elsewhere")
    expect_status(page, "queued")
    page.get_by_role("button", name="Cancel this job").click()
    expect_status(page, "cancelled")
    page.get_by_role("button", name="Resume this job").click()
    expect_status(page, "queued")
    page.get_by_role("button", name="Cancel this job").click()
    expect_status(page, "cancelled")


def test_files_of_a_job_are_taken_along(page: Page) -> None:
    page.goto(job_page(KINDS))
    for name, lines in (("layers.csv", 1 + 31), ("map.csv", 1 + 90_720), ("cite.bib", 5)):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).click()
        text = download.value.path().read_text(encoding="utf-8")
        assert len(text.splitlines()) >= lines, text[:500]


@pytest.fixture
def line(server: Served) -> Iterator[Line]:
    line = Line(server.port)
    yield line
    line.cut()


def test_a_run_is_followed_through_a_cut_connection(
    new_page: NewPage, server: Served, line: Line, request: pytest.FixtureRequest
) -> None:
    """A run of some seconds, from the queue to its chart. It stands still while the connection is cut and comes back,
    so that it cannot end before; nobody touches the page."""
    number = farthest.submit("sliding-2x5", database=server.folder / "maps.db").id
    followed = new_page(base_url=f"http://127.0.0.1:{line.port}/", cut=True)
    followed.goto(f"/jobs/{number}")
    expect_status(followed, "queued")

    words = ["resume", str(number), "--here", "--database", "maps.db"]
    slowly = {**os.environ, "FARTHEST_TEST_LAYER": "0.05"}
    run = started_process(server.folder, server.folder / "run.log", words, slowly, 0)
    request.addfinalizer(run.wait)
    request.addfinalizer(run.kill)

    known = stopped_in_its_midst(run, server.folder / "maps.db", number)
    expect_status(followed, "running")
    live = followed.locator("#live")
    for figure in (known["depth"] + 1, f"{known['states']:,} of at most 1,814,400", "states per second"):
        expect(live).to_contain_text(str(figure))
    line.cut()
    lost = followed.get_by_text("The connection to the server is lost")
    expect(lost).to_be_visible()
    expect(live).to_contain_text(f"{known['states']:,}")
    line.mend()
    expect(lost).to_be_hidden()
    run.send_signal(signal.SIGCONT)
    expect(followed.locator("#status")).to_have_text("finished", timeout=60_000)
    expect(followed.get_by_text("1,814,400", exact=True).first).to_be_visible()
    expect(followed.get_by_role("group", name="States at each depth").get_by_role("link")).to_have_count(56)
    followed.get_by_role("link", name="depth 55: 2 states").click()
    expect(followed.get_by_role("heading", level=1)).to_contain_text("2 states at distance 55")
    assert run.wait(20) == 0


def test_from_an_empty_folder_to_a_played_solution_in_four_clicks(own: Page) -> None:
    own.goto("/")
    own.get_by_role("link", name="8-puzzle, 15-puzzle").click()
    own.get_by_role("button", name="Find the hardest positions").click()
    expect_status(own, "finished")
    own.get_by_role("link").filter(has=own.locator("svg.board")).first.click()
    expect(own.get_by_role("heading", level=1)).to_have_text("8-puzzle: distance 31")
    expect(own.get_by_role("slider")).not_to_have_value("0")  # it is played, without a fourth
    expect(own.get_by_role("heading", level=1)).not_to_have_text("8-puzzle: distance 31")


def test_a_scrambled_cube_is_solved_and_played(own: Page) -> None:
    own.goto("/")
    scramble = own.get_by_role("textbox", name="A scrambled cube?")
    scramble.fill("R U F")
    scramble.press("Enter")  # shows it, and searches for nothing
    expect(own.get_by_role("button", name="Find the shortest solution")).to_be_visible()
    own.goto("/")
    scramble.fill("R U F2")
    own.get_by_role("button", name="Solve").click()
    expect(own.get_by_text("3 moves: the fewest possible.")).to_be_visible(timeout=30_000)
    board = own.locator("[data-part=board] svg")
    scrambled = board.inner_html()
    own.keyboard.press("ArrowRight")  # nothing has to have the focus
    expect(own.get_by_role("slider")).to_have_value("1")
    own.get_by_role("list").get_by_role("link", name="R'", exact=True).first.click()
    expect(own.get_by_role("slider")).to_have_value("3")
    own.wait_for_function(
        "(was) => document.querySelector('[data-part=board] svg').innerHTML !== was", arg=scrambled
    )


def test_a_survey_that_goes_on_is_followed(page: Page, maps: Path) -> None:
    """The page reads itself again until all is done, and boards lead to their puzzles."""
    page.goto(f"/surveys/{BEGUN}")
    expect(page.get_by_text("1 of 3 done")).to_be_visible()
    farthest.survey("rush-hour-3x3", keep="solvable", database=maps / "maps.db").close()
    expect(page.get_by_text("3 of 3 done")).to_be_visible(timeout=15_000)
    page.locator("figure", has_text="moves").first.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rush Hour")
