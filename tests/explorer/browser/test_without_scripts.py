"""Without scripts everything works but the animation of paths and live progress."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.browser.conftest import NewPage
from explorer.conftest import KINDS, SEARCH, TOKEN
from farthest.web.page import job_page, puzzle_page

pytestmark = pytest.mark.slow


@pytest.fixture
def plain(new_page: NewPage) -> Page:
    return new_page(java_script_enabled=False)


def heading(page: Page, text: str | re.Pattern[str]) -> None:
    expect(page.get_by_role("heading", level=1)).to_contain_text(text)


def test_who_has_the_token_signs_in(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False, signed_in=False)
    page.goto("/workers")
    page.get_by_role("textbox", name="Token").fill(TOKEN)
    page.get_by_role("button", name="Sign in").click()
    heading(page, "The hardest positions of puzzles")


def test_a_map_is_asked(plain: Page) -> None:
    plain.goto("/jobs")
    plain.get_by_role("searchbox", name="Name").fill("kinds")
    plain.get_by_role("button", name="Search").click()
    plain.get_by_role("table").get_by_role("link", name="eight-kinds").click()
    plain.wait_for_url(job_page(KINDS))
    plain.get_by_role("link", name="Linear scale").click()
    expect(plain.get_by_text("Linear scale", exact=True)).to_be_visible()
    plain.get_by_text("All layers").click()
    plain.get_by_role("cell", name="30", exact=True).get_by_role("link").click()
    heading(plain, "6 states at distance 30")
    plain.get_by_role("main").get_by_role("link").filter(has=plain.locator("svg")).first.click()
    heading(plain, "distance 30")
    path = plain.get_by_role("region", name="One of the shortest ways").get_by_role("listitem")
    expect(path).to_have_count(31)
    expect(path.last).to_be_visible()
    plain.get_by_role("list", name="Nearer").get_by_role("link").first.click()
    heading(plain, "distance 29")
    plain.get_by_role("textbox", name="Board").fill("goal")
    plain.get_by_role("button", name="Show").click()
    heading(plain, "distance 0")
    plain.get_by_role("link", name="at distance 0").click()
    heading(plain, "distance 0")


def test_solutions_of_a_search_are_there(plain: Page) -> None:
    plain.goto(job_page(SEARCH))
    expect(plain.get_by_text("2 moves: 7-6 8-7")).to_be_visible()
    expect(plain.get_by_role("group").get_by_role("listitem")).to_have_count(3)


def test_a_job_is_started_and_cancelled(plain: Page) -> None:
    plain.goto(puzzle_page("sliding-3x5-slide"))
    plain.get_by_role("button", name="Queue it for a coordinator elsewhere").click()
    expect(plain.locator("#status")).to_have_text("queued")
    plain.get_by_role("button", name="Cancel this job").click()
    expect(plain.locator("#status")).to_have_text("cancelled")


def test_a_box_is_typed_and_enumerated(plain: Page) -> None:
    plain.goto("/box")
    plain.get_by_role("textbox", name="Start").fill("AAB\n...")
    plain.get_by_role("textbox", name="Goal").fill("...\nAA.B")
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_role("alert")).to_contain_text("row 2 has 4 places, a row of start has 3")
    plain.get_by_role("textbox", name="Goal").fill("...\n.AA")
    plain.get_by_role("button", name="Show").click()
    expect(plain.get_by_text("2 pieces of 2 kinds")).to_be_visible()
    plain.get_by_role("button", name="Find the hardest positions").click()
    heading(plain, re.compile(r"Job \d+: my-klotski"))  # the example's name


def test_a_group_is_pasted_and_enumerated(plain: Page) -> None:
    plain.goto("/")
    plain.get_by_role("link", name="Paste a group or a puzzle's file").click()
    text = plain.get_by_role("textbox", name="The generators, or the file")
    text.fill("(1,2,3,4,5); (1,2")
    plain.get_by_role("button", name="Find the hardest positions").click()
    expect(plain.get_by_role("alert")).to_contain_text("a cycle has no end")
    text.fill("(1,2,3,4,5); (1,2)")
    plain.get_by_role("textbox", name="Its name").fill("Five")
    plain.get_by_role("button", name="Find the hardest positions").click()
    heading(plain, re.compile(r"Job \d+: five"))
