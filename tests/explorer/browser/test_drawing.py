"""Boards and boxes that are drawn: by the mouse, by keys, by touch."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from playwright.sync_api import Locator, Page, expect

from explorer.browser.conftest import NewPage
from farthest.puzzles import catalogue
from farthest.puzzles.family import board_given, family
from farthest.web.page import puzzle_page, solve_page

pytestmark = pytest.mark.slow

KLOTSKI = ("BAAC", "BAAC", "DEEF", "DGHF", "I..J")


def cells_of(page: Page) -> Locator:
    return page.locator(".canvas [data-value]")


def click(page: Page, numbers: Iterable[int]) -> None:
    """Clicks cells where they are, without waiting for anything."""
    places = cells_of(page).evaluate_all(
        "(all) => all.map((each) => each.getBoundingClientRect()).map((box) => [box.x + box.width / 2, box.y + 9])"
    )
    for number in numbers:
        page.mouse.click(*places[number])


def test_a_cube_is_coloured_solved_and_played(own: Page) -> None:
    """A twisted corner is told beside the net; then it is turned back, and the cube solved."""
    cube = catalogue.load("cube-3x3x3")
    canvas = family("permutation").canvas(cube.definition, board_given(cube, "R U F2"))
    assert canvas is not None
    own.goto(puzzle_page("cube-3x3x3"))
    own.get_by_role("link", name="Draw it").click()
    wanted = list(canvas.held)
    corner = (8, 9, 20)  # the three stickers of one place
    twisted = dict(zip(corner, (wanted[at] for at in (9, 20, 8)), strict=True))
    for number, value in enumerate(canvas.values):
        own.get_by_role("button", name=f"{value.token}, {value.colour}", exact=True).click()
        click(
            own, [at for at in range(54) if twisted.get(at, wanted[at]) == number and at not in canvas.fixed]
        )
        if number == 4:
            expect(own.get_by_text("8 stickers are left.")).to_be_visible()
    expect(own.get_by_role("alert")).to_contain_text("one of the corners is twisted")
    for at in corner:
        cells_of(own).nth(at).focus()
        own.keyboard.press(canvas.values[wanted[at]].token)
    expect(own.get_by_text("This position can be solved.")).to_be_visible()
    own.get_by_role("button", name="Solve", exact=True).click()
    expect(own.get_by_text("3 moves: the fewest possible.")).to_be_visible(timeout=30_000)
    expect(own.get_by_role("slider")).to_have_value("0")  # the script has begun
    own.keyboard.press("ArrowRight")
    expect(own.get_by_role("slider")).to_have_value("1")


def test_tiles_are_dragged_typed_and_tapped(page: Page, new_page: NewPage) -> None:
    page.goto(solve_page("8-puzzle"))
    board = page.get_by_role("textbox")
    cells_of(page).nth(0).drag_to(cells_of(page).nth(4))
    expect(board).to_have_value("523/416/780")
    expect(page.get_by_role("alert")).to_contain_text("only half of the boards can be reached")
    cells_of(page).nth(0).focus()
    page.keyboard.type("867254301")
    expect(board).to_have_value("867/254/301")
    board.fill("123456780")
    expect(cells_of(page).nth(0)).to_have_text("1")  # what is typed is drawn
    telephone = new_page(viewport={"width": 390, "height": 800}, has_touch=True)
    telephone.goto(solve_page("8-puzzle"))
    cells_of(telephone).nth(0).tap()
    cells_of(telephone).nth(8).tap()
    expect(telephone.get_by_role("textbox")).to_have_value("023/456/781")
    telephone.goto(solve_page("lights-3x3"))
    cells_of(telephone).nth(4).tap()
    expect(telephone.get_by_role("textbox")).to_have_value("000/010/000")


def cell(page: Page, row: int, column: int) -> Locator:
    return page.locator(f'[data-cell="{row} {column}"]')


def test_a_klotski_is_drawn_enumerated_and_its_hardest_start_played(own: Page) -> None:
    own.goto("/box")
    own.get_by_role("link", name="An empty box").click()
    own.get_by_role("spinbutton", name="Rows").fill("5")
    own.get_by_role("spinbutton", name="Rows").press("Enter")
    places = [(row, column) for row in range(5) for column in range(4)]
    for letter in "ABCDEFGHIJ":
        piece = [(row, column) for row, column in places if KLOTSKI[row][column] == letter]
        cell(own, *piece[0]).drag_to(cell(own, *piece[-1]))
    expect(own.locator("#start")).to_have_value("\n".join(KLOTSKI))
    own.get_by_text("Goal", exact=True).click()
    cell(own, 0, 1).drag_to(cell(own, 3, 1))
    expect(own.locator("#goal")).to_have_value("....\n....\n....\n.AA.\n.AA.")
    own.get_by_role("textbox", name="Its name").fill("My Klotski")
    own.get_by_role("textbox", name="Its name").press("Enter")  # shows the box, and begins no job
    own.wait_for_url("**/box?title=My+Klotski&**")
    own.get_by_role("button", name="Find the hardest positions").click()
    expect(own.locator("#status")).to_have_text("finished", timeout=30_000)
    own.get_by_role("link").filter(has=own.locator("svg.board")).first.click()
    expect(own.get_by_role("heading", level=1)).to_contain_text("my-klotski: distance 93")
    expect(own.get_by_role("slider")).not_to_have_value("0")


def test_a_box_is_drawn_by_keys_alone(page: Page) -> None:
    page.goto("/box?start=...%0A...%0A...")
    cell(page, 0, 0).focus()
    for key in ("Space", "ArrowRight", "Space", "ArrowDown", "ArrowDown", "Space", "Space"):
        page.keyboard.press(key)
    expect(page.locator("#start")).to_have_value("AA.\n...\n.B.")
    page.get_by_role("radio", name="Goal").focus()
    page.keyboard.press("Space")
    cell(page, 0, 0).focus()
    for key in ("ArrowUp", "ArrowUp", "Space", "ArrowDown", "Space"):
        page.keyboard.press(key)
    expect(page.locator("#goal")).to_have_value("...\nAA.\n...")
    expect(page.get_by_role("button", name="Find the hardest positions")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#goal")).to_have_value("")


def test_one_wall_is_erased_and_a_text_that_cannot_be_drawn_stays(page: Page) -> None:
    page.goto("/box?start=A%20%23%20%23%0A...")
    expect(page.locator(".canvas")).to_be_hidden()
    page.locator("#start").fill("A # #\n. . .")
    page.get_by_text("Erase", exact=True).click()
    cell(page, 0, 1).click()
    expect(page.locator("#start")).to_have_value("A.#\n...")
