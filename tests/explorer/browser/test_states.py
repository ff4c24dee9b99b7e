"""The page of a state: paths that are played, moves that are clicked in the list, boards that are pasted."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

import farthest
from explorer.browser.conftest import CUBE, PEGS, RUSH_HOUR, NewPage
from explorer.conftest import KINDS
from farthest.web.page import job_page, state_page

pytestmark = pytest.mark.slow

FARTHEST = "┘│└/─□─/┐│┌"
GOAL = "┌─┐/│□│/└─┘"


def expect_distance(page: Page, moves: int) -> None:
    """Of the state that the page shows."""
    expect(page.get_by_role("heading", level=1)).to_have_text(re.compile(rf": distance {moves}$"))


def test_a_path_is_played_to_the_goal_on_the_board(new_page: NewPage) -> None:
    """By buttons, keys, clicks on its moves and by itself; each board of it has its moves and its address."""
    page = new_page()
    page.clock.install()
    page.goto(state_page(KINDS, FARTHEST))
    slider = page.get_by_role("slider", name="Step of the path")
    way = page.get_by_role("region", name="One of the shortest ways")

    def expect_step(step: int) -> None:
        expect(slider).to_have_value(str(step))
        expect(way.get_by_text(f"{step} of 30")).to_be_visible()
        expect(way.get_by_role("listitem")).to_have_count(31)
        expect(way.locator("[aria-current]")).to_have_count(1)
        expect_distance(page, 30 - step)
        told = page.locator("figcaption").first.inner_text().split("\n")[0]
        link = way.get_by_role("listitem").nth(step).get_by_role("link").get_attribute("href")
        assert link == state_page(KINDS, told)

    expect_step(0)
    page.keyboard.press("ArrowRight")  # at once, whatever has the focus
    expect_step(1)
    page.get_by_role("button", name="Forward").click()
    page.keyboard.press("ArrowRight")
    expect_step(3)
    page.keyboard.press("ArrowLeft")
    expect_step(2)
    page.get_by_role("button", name="Back").click()
    expect_step(1)
    way.get_by_role("listitem").nth(5).get_by_role("link").click()
    expect_step(5)
    slider.fill("17")
    expect_step(17)
    slider.press("ArrowRight")
    expect_step(18)
    page.reload()
    expect_distance(page, 12)
    page.goto(state_page(KINDS, FARTHEST))
    slider.fill("18")
    expect_step(18)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(1500)
    page.get_by_role("button", name="Pause").click()
    between = int(slider.input_value())
    assert 18 < between < 30
    page.clock.run_for(5000)
    expect_step(between)
    page.get_by_role("button", name="Play").click()
    page.clock.run_for(30_000)
    expect_step(30)
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_a_cube_is_scrambled_by_text_turned_by_hand_and_its_solution_played_in_space(
    new_page: NewPage,
) -> None:
    page = new_page()
    page.goto(state_page(CUBE, "goal"))
    board = page.locator("[data-part=board] > svg")
    solved = board.inner_html()
    page.get_by_role("textbox", name="Board").fill("moves: R U' F2 R'")
    page.get_by_role("button", name="Show").click()
    expect_distance(page, 4)
    scrambled = board.inner_html()
    assert scrambled != solved
    for step in range(1, 5):
        page.get_by_role("button", name="Forward").click()
        expect_distance(page, 4 - step)
    assert board.inner_html() == solved
    for step in range(1, 5):
        page.get_by_role("button", name="Back").click()
        expect_distance(page, step)
    assert board.inner_html() == scrambled
    board.focus()
    page.keyboard.press("ArrowRight")
    seen = board.inner_html()
    assert seen != scrambled
    box = board.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 100, box["y"] + 90, steps=3)
    page.mouse.up()
    assert board.inner_html() != seen
    expect_distance(page, 4)  # a drag is no click, which would lead to another page
    page.get_by_role("list", name="Nearer").get_by_role("link").first.click()
    expect_distance(page, 3)


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
            address = link.get_attribute("href") or ""
            (shown,) = parse_qs(urlsplit(address).query)["board"]
            assert shown is not None
            distance += change
            expect(link).to_contain_text(str(distance))
            link.click()
            page.wait_for_url(state_page(job, shown))
            expect_distance(page, distance)
            assert opened.distance(shown) == distance


def test_back_and_forward_at_once(page: Page) -> None:
    """The page of the former board comes when it is not wanted any more."""
    page.goto(state_page(KINDS, FARTHEST))
    former = page.url
    page.get_by_role("figure").get_by_role("link").first.click()
    expect_distance(page, 29)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route(former, hold)
    with page.expect_request(former):
        page.go_back()
    page.go_forward()
    with page.expect_response(former):
        held[0].continue_()
    page.unroute(former)
    page.evaluate("new Promise((done) => setTimeout(done, 100))")
    expect_distance(page, 29)
    page.go_back()
    expect_distance(page, 30)


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
    page.get_by_role("link", name="A random state").click()
    expect(page).not_to_have_url(state_page(KINDS, GOAL))
    heading = page.get_by_role("heading", level=1)
    expect(heading).not_to_contain_text("distance 0")
    shown = heading.inner_text()
    page.get_by_role("link", name="One at distance").click()
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


def test_a_reader_plays_and_then_asks_for_the_fewest_moves(page: Page) -> None:
    """By the board, the list and the keyboard; nothing tells a distance before it is asked for."""
    page.goto(state_page(RUSH_HOUR, "start"))
    page.get_by_role("link", name="Play it yourself").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text(re.compile(r": 0 moves$"))
    expect(page.get_by_text("distance")).to_have_count(0)
    page.get_by_role("group").get_by_role("link").first.click()
    expect(heading).to_have_text(re.compile(r": 1 move$"))
    page.get_by_role("list").get_by_role("link").first.click()
    expect(heading).to_have_text(re.compile(r": 2 moves$"))
    page.go_back()
    expect(heading).to_have_text(re.compile(r": 1 move$"))
    expect(page.get_by_text("From where you began")).to_be_hidden()
    page.get_by_text("Show the fewest moves").click()
    expect(page.get_by_text("From where you began it takes 60 moves.")).to_be_visible()
    page.get_by_role("link", name="Watch a shortest way").click()
    slider = page.get_by_role("slider")
    expect(slider).to_have_value(
        "3", timeout=20_000
    )  # from its beginning, though the goal's page shows its end
    expect_distance(page, 3)
    page.get_by_role("button", name="Pause").click()
    page.goto(state_page(RUSH_HOUR, "goal"))
    expect(page.get_by_text("60 of 60")).to_be_visible()
    page.goto(state_page(CUBE, "moves: R U'", play="0"))
    page.keyboard.press("u")
    expect(heading).to_have_text(re.compile(r": 1 move$"))
    page.keyboard.press("Shift+R")
    expect(heading).to_have_text(re.compile(r": solved in 2 moves$"))
    page.get_by_role("link", name="Start again").click()
    expect(heading).to_have_text(re.compile(r": 0 moves$"))


def test_a_printed_state_has_its_board_on_one_page_and_its_way_on_the_next(page: Page) -> None:
    page.emulate_media(media="print", color_scheme="dark")
    page.goto(state_page(KINDS, FARTHEST))
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    for hidden in (
        page.get_by_role("navigation"),
        page.get_by_role("slider"),
        page.locator("svg.moving a").first,
    ):
        expect(hidden).to_be_hidden()
    expect(page.locator("svg.moving")).to_be_visible()
    assert len(re.findall(rb"/Type\s*/Page\b", page.pdf())) == 2
