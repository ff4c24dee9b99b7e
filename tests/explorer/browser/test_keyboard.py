"""The keyboard alone: Tab reaches everything that can be used, in the order of the page; it is seen where one is."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from explorer.browser.conftest import CUBE
from explorer.conftest import KINDS
from farthest.web.page import puzzle_page, state_page

pytestmark = pytest.mark.slow

USABLE = "a[href], button, input:not([type=hidden]):not([hidden]), summary"
THERE = "(usable) => [...document.querySelectorAll(usable)].filter((each) => each.checkVisibility())"
FOCUSED = f"""(usable) => {{
  const at = document.activeElement, style = getComputedStyle(at), box = at.getBoundingClientRect();
  return {{
    number: ({THERE})(usable).indexOf(at),
    outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
    inView: box.bottom > 0 && box.top < innerHeight,
  }};
}}"""


@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/puzzles?q=cube",
        f"/jobs/{KINDS}",
        state_page(KINDS, "┘│└/─□─/┐│┌"),
        puzzle_page("8-puzzle"),
        "/sign-in",
    ],
    ids=["first page", "catalogue", "job", "state", "puzzle", "sign in"],
)
def test_everything_is_reached_in_order_and_seen(page: Page, address: str) -> None:
    page.goto(address)
    count = page.evaluate(f"(usable) => ({THERE})(usable).length", USABLE)
    assert count >= 7
    for number in range(count):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED, USABLE)
        assert focused["number"] == number
        assert focused["outline"] >= 2
        assert focused["inView"]


def press_until_focused(page: Page, role: str, name: str | re.Pattern[str]) -> None:
    """Presses Tab until an element of this role and name has the focus."""
    wanted = page.get_by_role(role, name=name).and_(page.locator(":focus"))  # type: ignore[arg-type]
    for _ in range(200):
        page.keyboard.press("Tab")
        if wanted.count():
            return
    raise AssertionError(f"Tab does not lead to the {role} {name}")


def test_from_the_first_page_to_the_goal(page: Page) -> None:
    """Nothing but keys: a puzzle is searched, its job opened, a board typed, its path played, a board of it opened."""
    page.goto("/")
    press_until_focused(page, "link", "To the content")
    page.keyboard.press("Enter")
    press_until_focused(page, "searchbox", re.compile("Which puzzle"))  # what comes before is passed over
    page.keyboard.type("cube-2x2x2-htm")
    page.keyboard.press("Enter")
    press_until_focused(page, "link", re.compile("3,674,160 states"))
    page.keyboard.press("Enter")
    page.wait_for_url(f"/jobs/{CUBE}")
    press_until_focused(page, "textbox", "Board")
    page.keyboard.type("moves: R U' F2")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("distance 3")
    press_until_focused(page, "button", "Forward")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("slider")).to_have_value("2")
    page.keyboard.press("End")
    expect(page.get_by_role("slider")).to_have_value("3")
    page.keyboard.press("Home")
    expect(page.get_by_role("slider")).to_have_value("0")
    page.goto(state_page(CUBE, "moves: R U' F2"))
    press_until_focused(page, "link", re.compile("F2 2"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("distance 2")
