"""Jobs that are started, cancelled and followed from a page."""

from __future__ import annotations

import re
import signal
import subprocess
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from explorer.browser.conftest import NewPage
from explorer.browser.line import Line
from explorer.browser.standing_run import stopped_in_its_midst
from explorer.conftest import KINDS, TOKEN
from explorer.served import Served
from farthest.web.page import job_page, puzzle_page
from integration.conftest import COMMAND

pytestmark = pytest.mark.slow


def started(page: Page, puzzle: str) -> int:
    """The number of the job that the puzzle's page has queued."""
    page.goto(puzzle_page(puzzle))
    page.get_by_role("button", name="Queue an enumeration").click()
    found = re.match(rf"Job (\d+): {puzzle}$", page.get_by_role("heading", level=1).inner_text())
    assert found is not None
    return int(found[1])


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
    expect(page.get_by_role("heading", level=1)).to_have_text("Jobs and puzzles")


def test_a_small_job_is_followed_from_its_start_to_its_end(page: Page) -> None:
    """Nobody does anything between the click and the chart."""
    started(page, "8-puzzle")
    expect_status(page, "finished")
    expect(page.get_by_text("181,440", exact=True).first).to_be_visible()
    expect(page.get_by_role("group", name="States at each depth").get_by_role("link")).to_have_count(32)


def test_a_job_is_cancelled_and_resumed(page: Page) -> None:
    """One that is too large for a process of the server's own, and so waits."""
    started(page, "sliding-3x5")
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
    new_page: NewPage, page: Page, server: Served, line: Line, request: pytest.FixtureRequest
) -> None:
    """All of sliding-3x4, 239,500,800 states, from the click to its chart. The run stands still while the connection is
    cut and comes back, so that it cannot end before; nobody touches the page."""
    number = started(page, "sliding-3x4")
    followed = new_page(base_url=f"http://127.0.0.1:{line.port}/", cut=True)
    followed.goto(f"/jobs/{number}")
    expect_status(followed, "queued")

    run = subprocess.Popen(
        [*COMMAND, "resume", str(number), "--here", "--database", "maps.db"],
        cwd=server.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    request.addfinalizer(run.wait)
    request.addfinalizer(run.kill)

    known = stopped_in_its_midst(run, server.folder / "maps.db", number)
    expect_status(followed, "running")
    live = followed.locator("#live")
    for figure in (known["depth"] + 1, f"{known['states']:,} of at most 239,500,800", "states per second"):
        expect(live).to_contain_text(str(figure))
    line.cut()
    lost = followed.get_by_text("The connection to the server is lost")
    expect(lost).to_be_visible()
    expect(live).to_contain_text(f"{known['states']:,}")
    line.mend()
    expect(lost).to_be_hidden()
    run.send_signal(signal.SIGCONT)
    expect(followed.locator("#status")).to_have_text("finished", timeout=60_000)
    expect(followed.get_by_text("239,500,800", exact=True).first).to_be_visible()
    expect(followed.get_by_role("group", name="States at each depth").get_by_role("link")).to_have_count(54)
    followed.get_by_role("link", name="depth 53: 18 states").click()
    expect(followed.get_by_role("heading", level=1)).to_contain_text("18 states at distance 53")
    assert run.wait(20) == 0
