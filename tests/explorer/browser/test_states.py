"""The page of a state: paths that are played, moves that are made in every way, boards that are pasted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

import farthest
from explorer.browser.conftest import CUBE, PEGS, RUSH_HOUR, NewPage
from explorer.conftest import KINDS
from farthest.web.addresses import job_page, state_page

pytestmark = pytest.mark.slow

FARTHEST = "┘│└/─□─/┐│┌"
GOAL = "┌─┐/│□│/└─┘"
TARGET = """(link) => {
  const [x, y, width, height] = link.dataset.to.split(" ").map(Number);
  const place = new DOMPoint(x + width / 2, y + height / 2).matrixTransform(link.ownerSVGElement.getScreenCTM());
  return [place.x, place.y];
}"""
"""Where a piece of a board goes, in pixels."""


def expect_distance(page: Page, moves: int) -> None:
    """Of the state that the page shows."""
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(rf": distance {moves}$"))


def pieces(page: Page) -> Locator:
    """The links on the board."""
    return page.get_by_role("figure").get_by_role("link")


def test_a_path_is_played_to_the_goal(new_page: NewPage) -> None:
    page = new_page()
    page.clock.install()
    page.goto(state_page(KINDS, FARTHEST))
    slider = page.get_by_role("slider", name="Step of the path")
    player = page.locator(".player")

    def expect_step(step: int) -> None:
        expect(slider).to_have_value(str(step))
        expect(player.get_by_text(f"{step} of 30")).to_be_visible()
        expect(player.get_by_role("listitem")).to_have_count(1)  # the other steps of the path are hidden
        expect(player.get_by_role("listitem")).to_contain_text(f"· {30 - step}")

    expect_step(0)
    page.get_by_role("button", name="Forward").click()
    expect_step(1)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect_step(3)
    page.keyboard.press("ArrowLeft")
    expect_step(2)
    page.get_by_role("button", name="Back").click()
    expect_step(1)
    slider.fill("17")
    expect_step(17)
    slider.press("ArrowRight")
    expect_step(18)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1000)
    page.get_by_role("button", name="Pause").click()
    between = int(slider.input_value())
    assert 18 < between < 30
    page.clock.run_for(5000)
    expect_step(between)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(30_000)
    expect_step(30)
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    player.get_by_role("img", name=GOAL).click()  # each board of the path leads to its page
    expect_distance(page, 0)


@pytest.mark.parametrize(
    ("job", "board", "change"),
    [
        (KINDS, FARTHEST, -1),
        (CUBE, "moves: R U' F2 R2 U F' R U2", -1),
        (RUSH_HOUR, "start", 1),
        (PEGS, "start", 1),
    ],
    ids=["sliding", "cube", "blocks", "pegs"],
)
def test_moves_are_clicked_in_the_list(page: Page, maps: Path, job: int, board: str, change: int) -> None:
    """Every click leads to the board that the move makes, at the distance that its link told: to the goal, or, where
    distances are from the start, away from it."""
    group = page.get_by_role("list", name="Nearer" if change < 0 else "Farther")
    with farthest.open_map(job, database=maps / "maps.db") as opened:
        distance = opened.distance(board)
        page.goto(state_page(job, board))
        for _ in range(6):
            link = group.get_by_role("link").first
            shown = link.get_by_role("img").get_attribute("aria-label")
            assert shown is not None
            distance += change
            expect(link).to_contain_text(str(distance))
            link.click()
            page.wait_for_url(state_page(job, shown))
            expect_distance(page, distance)
            assert opened.distance(shown) == distance


@pytest.mark.parametrize(
    ("job", "board"),
    [(KINDS, FARTHEST), (RUSH_HOUR, "start"), (PEGS, "start")],
    ids=["sliding", "blocks", "pegs"],
)
def test_moves_are_made_on_the_board(page: Page, job: int, board: str) -> None:
    """By a click on a piece, and by dragging it; the browser's Back takes a move back."""
    page.goto(state_page(job, board))
    first, before, distance = "", -1, -1
    for number in range(4):
        first = page.url
        piece = pieces(page).last
        told = re.search(r"distance (\d+)$", str(piece.get_attribute("aria-label")))
        assert told is not None
        if number % 2:
            piece.click()
        else:
            x, y = piece.evaluate(TARGET)
            piece.hover()
            page.mouse.down()
            page.mouse.move(x, y, steps=4)
            page.mouse.up()
        expect(page).not_to_have_url(first)
        before, distance = distance, int(told[1])
        expect_distance(page, distance)
    page.go_back()
    page.go_forward()  # at once: the page of the former board is still on its way
    expect_distance(page, distance)
    page.go_back()
    expect(page).to_have_url(first)
    expect_distance(page, before)


def test_a_piece_that_is_let_go_early_stays(page: Page) -> None:
    page.goto(state_page(KINDS, FARTHEST))
    piece = pieces(page).first
    box = piece.bounding_box()
    assert box is not None
    (x, y), (to_x, to_y) = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2), piece.evaluate(TARGET)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + (to_x - x) * 0.3, y + (to_y - y) * 0.3, steps=4)
    page.mouse.up()
    expect_distance(page, 30)
    expect(page).to_have_url(state_page(KINDS, FARTHEST))


def test_moves_are_made_by_keys(page: Page) -> None:
    """By arrows on a board; by the letters of a cube's moves."""
    page.goto(state_page(KINDS, GOAL))
    pieces(page).first.focus()
    for distance, key in enumerate(("ArrowUp", "ArrowLeft", "ArrowDown"), 1):
        page.keyboard.press(key)
        expect_distance(page, distance)
    page.goto(state_page(CUBE, "goal"))
    page.keyboard.press("r")
    expect_distance(page, 1)
    page.keyboard.press("u")
    expect_distance(page, 2)
    page.keyboard.press("Shift+U")
    expect_distance(page, 1)
    page.keyboard.press("Shift+R")
    expect_distance(page, 0)


def test_a_wrong_board_is_told_and_can_be_mended(page: Page) -> None:
    page.goto(job_page(KINDS))
    field = page.get_by_role("textbox", name="Board")
    for wrong, told in [
        ("<b>nonsense", "expected"),
        ("┘│└/─□─/┐│", "expected"),
        ("moves: 1-2", "1-2"),
    ]:
        field.fill(wrong)
        page.get_by_role("button", name="Show").click()
        expect(page.get_by_role("alert")).to_contain_text(told)
        expect(field).to_have_value(wrong)
    field.fill(FARTHEST)
    field.press("Enter")
    expect_distance(page, 30)


@pytest.mark.parametrize(
    ("job", "board", "moves"),
    [(CUBE, "moves: R U' F2", 3), (CUBE, "scramble: R R'", 0), (KINDS, "moves: U L", 2), (KINDS, "goal", 0)],
)
def test_boards_are_pasted_in_other_forms(page: Page, job: int, board: str, moves: int) -> None:
    page.goto(job_page(job))
    page.get_by_role("textbox", name="Board").fill(board)
    page.get_by_role("button", name="Show").click()
    expect_distance(page, moves)


def test_random_states(page: Page) -> None:
    page.goto(state_page(KINDS, GOAL))
    page.get_by_role("link", name="any", exact=True).click()
    expect(page).not_to_have_url(state_page(KINDS, GOAL))
    heading = page.get_by_role("heading", level=1)
    expect(heading).not_to_contain_text("distance 0")
    shown = heading.inner_text()
    page.get_by_role("link", name="at distance").click()
    expect(heading).to_have_text(shown)


def test_the_chart_marks_the_depth_and_leads_to_layers(page: Page) -> None:
    page.goto(state_page(KINDS, FARTHEST))
    bars = page.get_by_role("group", name="States at each depth").get_by_role("link")
    expect(bars).to_have_count(31)
    expect(bars.and_(page.locator("[aria-current]"))).to_have_accessible_name("depth 30: 6 states")
    bars.nth(1).click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("4 states at distance 1")
    page.get_by_role("link", name="Farther").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("8 states at distance 2")
