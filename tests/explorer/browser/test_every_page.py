"""Every page: no fault that axe-core finds, in light and in dark; no scrolling to the side on a telephone."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from explorer.browser.conftest import CUBE, PEGS, RUSH_HOUR
from explorer.conftest import BEGUN, BLOCKS, CUT, DRAWN, KINDS, LAYERS, ONE_WAY, QUEUED, SEARCH, SURVEY
from farthest.web.page import layer_page, puzzle_page, solve_page, state_page

pytestmark = pytest.mark.slow

TELEPHONE = 390
"""Pixels."""

PAGES = {
    "first page": "/",
    "finished job": f"/jobs/{KINDS}",
    "job that a limit ended": f"/jobs/{CUT}",
    "job without a map": f"/jobs/{LAYERS}",
    "waiting job": f"/jobs/{QUEUED}",
    "search": f"/jobs/{SEARCH}",
    "sliding": state_page(KINDS, "┘│└/─□─/┐│┌"),
    "blocks": state_page(RUSH_HOUR, "start"),
    "pegs": state_page(PEGS, "start"),
    "cube": state_page(CUBE, "moves: R U' F2"),
    "jugs": state_page(ONE_WAY, "start"),
    "played": state_page(KINDS, "┘│└/─□─/┐│┌", play="0"),
    "no distance": state_page(CUT, "867254301"),
    "layer": layer_page(BLOCKS, 3),
    "puzzle": puzzle_page("red-donkey"),
    "twisty puzzle": puzzle_page("cube-3x3x3"),
    "too large a puzzle": puzzle_page("sliding-4x5"),
    "cube to be coloured": solve_page("cube-3x3x3"),
    "box to be drawn": "/box",
    "group to be pasted": "/own",
    "surveys": "/surveys",
    "survey": f"/surveys/{SURVEY}",
    "survey under way": f"/surveys/{BEGUN}",
    "cosets": f"/surveys/{DRAWN}",
    "workers": "/workers",
    "sign in": "/sign-in",
}
ERRORS = {"wrong board": state_page(KINDS, "nonsense"), "no such page": "/nosuch"}


def faults(page: Page, *rules: str) -> list[tuple[str, str]]:
    """What axe-core finds: the rule, and the first element that breaks it. ``rules``: those looked at, else all."""
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found: dict[str, Any] = Axe().run(page, options=options).response
    return [(each["help"], each["nodes"][0]["html"][:200]) for each in found["violations"]]


@pytest.mark.parametrize("name", [*PAGES, *ERRORS])
def test_a_page(page: Page, name: str) -> None:
    answer = page.goto(PAGES.get(name) or ERRORS[name])
    assert answer is not None
    assert answer.ok == (name in PAGES)
    assert faults(page) == []
    page.emulate_media(color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert faults(page, "color-contrast") == []  # nothing else depends on colours
    page.set_viewport_size({"width": TELEPHONE, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == TELEPHONE
