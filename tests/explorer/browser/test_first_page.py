"""The first page, as a browser gets it that has nothing of it yet."""

from __future__ import annotations

from typing import Any

import pytest

from explorer.browser.conftest import NewPage

pytestmark = pytest.mark.slow

MOST_BYTES = 60_000


def test_the_first_page_is_small(new_page: NewPage) -> None:
    """With all that it loads, headers included. That nothing of it comes from another host, and that the console stays
    silent, is looked at for every page (`conftest.py`)."""
    page = new_page()
    sizes: list[int] = []
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")

    def loaded(event: dict[str, Any]) -> None:
        sizes.append(event["encodedDataLength"])

    session.on("Network.loadingFinished", loaded)
    page.goto("/", wait_until="networkidle")
    icon = page.request.get(str(page.locator("link[rel=icon]").get_attribute("href")))
    assert len(sizes) >= 2  # the page and its style
    assert sum(sizes) + len(icon.body()) < MOST_BYTES
