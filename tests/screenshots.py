"""Makes the pictures of the explorer's pages, and of a notebook, in docs/images:

make screenshots

It takes Chromium, and a real server, run and Redis on this machine. Look at the pictures before you commit them.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page, expect, sync_playwright

import farthest
from explorer.browser.chromium import launched, program
from explorer.browser.standing_run import stopped_in_its_midst
from explorer.served import Served
from farthest.web.gate import COOKIE, cookie_of
from farthest.web.page import job_page, layer_page, puzzle_page, state_page
from integration.conftest import COMMAND
from servers import RedisServer

FOLDER = Path(__file__).parents[1] / "docs" / "images"
TOKEN = "token-for-screenshots"
WIDTH, HEIGHT, TELEPHONE = 1040, 760, 390
COLOURS = 64

KINDS, CUBE, RUSH_HOUR, PEGS, SEARCH, RUN = range(1, 7)
"""The jobs, by number."""

NOTEBOOK = """<!doctype html><meta charset="utf-8"><style>
body {{ font: 14px system-ui, sans-serif; margin: 16px; background: #fff; color: #1d1f21; }}
.cell {{ display: grid; grid-template-columns: 4rem 1fr; gap: 0.5rem; }}
.number {{ font-family: monospace; color: #6a737d; padding-top: 0.7rem; }}
pre {{ background: #f6f7f9; border: 1px solid #d4d8dd; margin: 0; padding: 0.6rem; font-size: 13px; }}
img {{ max-width: 100%; display: block; }}
th {{ font-weight: 600; padding-right: 1rem; }} td, th {{ font-size: 13px; padding-block: 0.1rem; }}
</style><div class="cell"><div class="number">In [1]:</div><pre>{code}</pre>
<div class="number">Out[1]:</div><div>{shown}</div></div>"""


@contextmanager
def process(folder: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """`farthest WORDS` in a folder, until the end of the block."""
    running = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield running
    finally:
        running.kill()
        running.wait()


def stored(file: Path) -> None:
    """The database of the pages."""
    for name in ("eight-kinds", "cube-2x2x2-htm", "rush-hour-60", "pegs-triangle-15"):
        farthest.enumerate(name, database=file).close()
    with process(file.parent, "verify", str(KINDS), "--database", file.name) as proof:
        proof.wait()
    farthest.solve("8-puzzle", "867254301", all_solutions=True, database=file, store=True)
    farthest.submit("sliding-3x4", database=file)


class Camera:
    """Takes pictures of the pages of a server. ``dark``: in the dark scheme."""

    def __init__(self, browser: Browser, server: Served, *, width: int = WIDTH, dark: bool = False) -> None:
        self.context = browser.new_context(
            base_url=server.address,
            viewport={"width": width, "height": HEIGHT},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        self.context.add_cookies([{"name": COOKIE, "value": cookie_of(TOKEN), "url": server.address}])
        self.page = self.context.new_page()

    def take(
        self, name: str, address: str, ready: Callable[[Page], object] | None = None, most: int = 1300
    ) -> None:
        """``ready``: waits for what is to be seen, or brings it about. ``most``: of the page's height, in pixels."""
        self.page.goto(address)
        if ready is not None:
            ready(self.page)
        save(self.page, name, most)


def save(page: Page, name: str, most: int) -> None:
    """The top of a page as a PNG of few colours in docs/images."""
    with Image.open(io.BytesIO(page.screenshot(full_page=True))) as picture:
        top = picture.convert("RGB").crop((0, 0, picture.width, min(picture.height, most)))
    few = top.quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(FOLDER / f"{name}.png", optimize=True)


def played(page: Page) -> None:
    """Shows a step of the path, and takes the focus away."""
    page.get_by_role("slider").fill("9")
    page.get_by_role("slider").blur()


def pictures(browser: Browser, folder: Path, server: Served) -> None:
    """All of the pages."""
    light = Camera(browser, server)
    light.take("first-page", "/", most=1000)
    light.take("job", job_page(KINDS))
    light.take("layer", layer_page(PEGS, 12), most=900)
    light.take("puzzle", puzzle_page("red-donkey"))
    light.take("search", job_page(SEARCH), most=1100)
    light.take("workers", "/workers")
    light.take("state", state_page(KINDS, "┘│└/─□─/┐│┌"), played)
    light.take("blocks", state_page(RUSH_HOUR, "start"))
    Camera(browser, server, dark=True).take("cube-dark", state_page(CUBE, "moves: R U' F2 R2 U F'"))
    Camera(browser, server, width=TELEPHONE).take("telephone", state_page(PEGS, "start"), most=900)
    with process(folder, "resume", str(RUN), "--here", "--database", "maps.db") as run:
        stopped_in_its_midst(run, folder / "maps.db", RUN, states=20_000_000)
        light.take(
            "running-job", job_page(RUN), lambda page: expect(page.locator("#status")).to_have_text("running")
        )


def notebook(browser: Browser, file: Path) -> None:
    """A cell that ends in a map."""
    with farthest.open_map(KINDS, database=file) as opened:
        shown = opened._repr_html_()
    page = browser.new_page(viewport={"width": WIDTH, "height": 400})
    code = 'import farthest\n\nm = farthest.enumerate("eight-kinds")\nm'
    page.set_content(NOTEBOOK.format(code=code, shown=shown))
    save(page, "notebook", 1300)


def main() -> None:
    executable = program()
    if executable is None:
        sys.exit("no Chromium is installed (Debian: apt install chromium-headless-shell)")
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        stored(folder / "maps.db")
        redis = RedisServer(folder / "redis")
        redis.start()
        os.environ |= {"FARTHEST_REDIS_URL": redis.url, "FARTHEST_WEB_TOKEN": TOKEN}
        server = Served(folder, "--allow-jobs")
        try:
            with (
                launched(playwright, executable) as browser,
                process(folder, "worker", "--name", "large", "--concurrency", "2"),
            ):
                notebook(browser, folder / "maps.db")
                pictures(browser, folder, server)
        finally:
            server.kill()
            redis.close()


if __name__ == "__main__":
    main()
