"""Chromium and a server, one of each for all tests of this folder in a process of tests.

Both end with the folder's last test (`__init__.py`): while Playwright is there, its event loop counts as running, and
other tests of the process could run none.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import farthest
from explorer.browser.chromium import launched, program
from explorer.browser.complaints import Complaints
from explorer.conftest import SEARCH, TOKEN
from explorer.served import Served
from farthest.web.gate import COOKIE, cookie_of

PEGS, CUBE, RUSH_HOUR, TOWERS, LAMPS = range(SEARCH + 1, SEARCH + 6)
"""The jobs that ``stored`` does not have."""

NewPage = Callable[..., Page]


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    executable = program()
    if executable is None:
        pytest.skip("no Chromium is installed (Debian: apt install chromium-headless-shell)")
    with sync_playwright() as playwright, launched(playwright, executable) as browser:
        yield browser


@pytest.fixture(scope="package")
def maps(stored: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the jobs of ``stored`` and some more, in ``maps.db``."""
    folder = tmp_path_factory.mktemp("browser")
    file = folder / "maps.db"
    shutil.copy(stored, file)
    for name in ("pegs-triangle-15", "cube-2x2x2-htm", "rush-hour-60", "hanoi-3-3", "lights-3x3"):
        farthest.enumerate(name, database=file).close()
    return folder


@pytest.fixture(scope="package")
def server(browser: Browser, maps: Path) -> Iterator[Served]:
    """A server that takes jobs. It is started after the browser: where there is none, nothing else is made."""
    server = Served(maps, "--allow-jobs", FARTHEST_WEB_TOKEN=TOKEN)
    yield server
    server.kill()


def opened(browser: Browser, *, signed_in: bool = True, **options: Any) -> Page:
    """A page in a context of its own; ``options``: those of ``Browser.new_context``."""
    context = browser.new_context(**options)
    context.set_default_timeout(15_000)
    if signed_in:
        context.add_cookies([{"name": COOKIE, "value": cookie_of(TOKEN), "url": options["base_url"]}])
    return context.new_page()


@pytest.fixture(scope="package")
def shared(browser: Browser, server: Served) -> tuple[Page, Complaints]:
    """A page that is signed in at ``server``, and what it complains of: a context takes a quarter of a second."""
    page = opened(browser, base_url=server.address)
    return page, Complaints(page, server.address)


@pytest.fixture
def page(shared: tuple[Page, Complaints]) -> Iterator[Page]:
    """A page at ``server``, signed in, wide and light. At the test's end it has asked no other host, nor complained."""
    page, complaints = shared
    page.set_viewport_size({"width": 1280, "height": 720})
    page.emulate_media(color_scheme="light")
    yield page
    complaints.check()


@pytest.fixture
def new_page(browser: Browser, server: Served) -> Iterator[NewPage]:
    """Makes pages at ``server``. ``cut``: the test cuts its connection; else as ``opened``. At the test's end they have
    asked no other host, and not complained."""
    with ExitStack() as stack:

        def made(*, cut: bool = False, **options: Any) -> Page:
            options.setdefault("base_url", server.address)
            page = opened(browser, **options)
            stack.callback(page.context.close)
            stack.callback(Complaints(page, options["base_url"], cut=cut).check)
            return page

        yield made


@pytest.fixture
def own(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    """A page at a server that was started in an empty folder, without a token."""
    server = Served(tmp_path)
    page = opened(browser, signed_in=False, base_url=server.address)
    complaints = Complaints(page, server.address)
    yield page
    page.context.close()
    server.kill()
    complaints.check()
