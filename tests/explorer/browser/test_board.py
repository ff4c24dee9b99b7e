"""Moves made on the drawn board: by clicks on its pieces, by dragging, by keys; the browser's history follows."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

import farthest
from explorer.browser.conftest import CUBE, LAMPS, PEGS, RUSH_HOUR, TOWERS, NewPage
from explorer.conftest import BLOCKS, KINDS, ONE_WAY
from farthest.web.page import state_page

pytestmark = pytest.mark.slow

FARTHEST = "┘│└/─□─/┐│┌"


def links(page: Page) -> Locator:
    """The moves on the board."""
    return page.locator("svg.moving").get_by_role("link")


def board_of(link: Locator) -> str:
    """The board that a link leads to."""
    return parse_qs(urlsplit(link.get_attribute("href") or "").query)["board"][0]


def expect_told(page: Page, told: str) -> None:
    """The page is that of the state after a move, whose link told its distance."""
    distance = re.search(r"distance \d+$", told)
    assert distance is not None
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(rf": {distance[0]}$"))


def middle(link: Locator, data: str) -> tuple[float, float]:
    """The middle of the source or the target of a move, in pixels of the window."""
    found = link.evaluate(
        """(link, data) => {
          const [x, y, width, height] = link.dataset[data].split(" ").map(Number);
          const at = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(link.ownerSVGElement.getScreenCTM());
          return [at.x, at.y];
        }""",
        data,
    )
    return found[0], found[1]


def drag(page: Page, link: Locator, part: float) -> None:
    """Drags the piece of a move a part of its way."""
    link.scroll_into_view_if_needed()
    (x, y), (to_x, to_y) = middle(link, "from"), middle(link, "to")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + part * (to_x - x), y + part * (to_y - y), steps=4)
    page.mouse.up()


@pytest.mark.parametrize(
    ("job", "board"),
    [
        (KINDS, FARTHEST),
        (BLOCKS, "start"),
        (RUSH_HOUR, "start"),
        (PEGS, "start"),
        (LAMPS, "010/111/001"),
        (ONE_WAY, "3 2"),
    ],
    ids=["sliding", "alike blocks", "cars", "pegs", "lamps", "jugs"],
)
def test_pieces_are_clicked(page: Page, maps: Path, job: int, board: str) -> None:
    page.goto(state_page(job, board))
    with farthest.open_map(job, database=maps / "maps.db") as opened:
        for step in range(2):
            link = links(page).nth(step % links(page).count())
            after, told = board_of(link), link.get_attribute("aria-label") or ""
            assert told.endswith(f"distance {opened.distance(after)}")
            link.click()
            page.wait_for_url(state_page(job, after))
            expect_told(page, told)


@pytest.mark.parametrize(
    ("job", "board"), [(KINDS, FARTHEST), (RUSH_HOUR, "start"), (PEGS, "start"), (TOWERS, "000")]
)
def test_pieces_are_dragged(page: Page, job: int, board: str) -> None:
    page.goto(state_page(job, board))
    before = page.url
    drag(page, links(page).first, 0.3)  # not far enough: the piece goes back
    expect(page.locator("svg.moving [transform]")).to_have_count(0)
    assert page.url == before
    for _ in range(2):
        link = links(page).last
        after, told = board_of(link), link.get_attribute("aria-label") or ""
        drag(page, link, 0.9)
        page.wait_for_url(state_page(job, after))
        expect_told(page, told)


def test_a_tower_is_chosen_and_then_another(page: Page) -> None:
    page.goto(state_page(TOWERS, "012"))
    link = page.get_by_role("link", name="disc 1 to peg 2, distance")
    expect(page.locator(".target")).to_have_count(0)
    page.mouse.click(*middle(link, "from"))
    expect(page.locator(".target")).to_have_count(2)
    page.mouse.click(*middle(link, "from"))
    expect(page.locator(".target")).to_have_count(0)
    page.mouse.click(*middle(link, "from"))
    page.mouse.click(*middle(link, "to"))
    page.wait_for_url(state_page(TOWERS, "212"))


def test_the_history_of_the_browser_holds_each_state(page: Page) -> None:
    page.goto(state_page(KINDS, FARTHEST))
    page.evaluate("window.loaded = true")
    seen = [page.url]
    for _ in range(3):
        links(page).first.click()
        page.wait_for_function("before => location.href !== before", arg=seen[-1])
        seen.append(page.url)
    for address in seen[-2::-1]:
        page.go_back()
        page.wait_for_url(address)
        expect(page.locator("figcaption").first).to_contain_text(
            parse_qs(urlsplit(address).query)["board"][0]
        )
    page.go_forward()
    page.wait_for_url(seen[1])
    assert page.evaluate("window.loaded")  # it was one page all the time
    page.reload()
    assert page.url == seen[1]
    expect(page.locator("figcaption").first).to_contain_text(parse_qs(urlsplit(seen[1]).query)["board"][0])


def test_keys_make_moves(page: Page) -> None:
    page.goto(state_page(KINDS, FARTHEST))
    links(page).first.focus()
    page.keyboard.press("ArrowDown")
    page.wait_for_url(state_page(KINDS, "┘□└/─│─/┐│┌"))
    expect(links(page).first).to_be_focused()
    page.goto(state_page(CUBE, "goal"))
    goal = page.locator("figcaption").first.inner_text().split("\n")[0]
    page.keyboard.press("r")
    expect(page.get_by_role("heading", level=1)).to_contain_text("distance 1")
    page.keyboard.press("Shift+R")
    page.wait_for_url(state_page(CUBE, goal))
    page.get_by_role("checkbox", name="Letters make moves").uncheck()
    page.keyboard.press("r")
    page.get_by_role("link", name="Linear scale").click()
    page.wait_for_url(state_page(CUBE, goal, scale="linear"))


def test_pieces_are_links_without_scripts(new_page: NewPage) -> None:
    page = new_page(java_script_enabled=False)
    page.goto(state_page(RUSH_HOUR, "start"))
    link = links(page).first
    after, told = board_of(link), link.get_attribute("aria-label") or ""
    link.click()
    page.wait_for_url(state_page(RUSH_HOUR, after))
    expect_told(page, told)
