"""The documentation site: `make docs` builds it without a warning, and its search finds what people ask for, in a
browser, from files alone."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

import farthest
from explorer.browser.chromium import launched, program

ROOT = Path(__file__).parents[2]

QUESTIONS = {
    "how many workers": "docs/scaling.html#worked-many-machines",
    "optimal path": "docs/commands.html#farthest-path-job-board",
    "pattern database": "docs/searching.html#pattern-databases",
    "GAP": "docs/puzzles.html#files-of-other-programs",
    "my own puzzle": "docs/puzzles.html#a-puzzle-of-your-own",
    "resume after crash": "docs/start.html#resume-after-an-interruption-or-a-crash",
}
"""What people type, and what is to be among the first results."""


def test_the_reference_has_every_public_name() -> None:
    text = (ROOT / "docs/api.md").read_text(encoding="utf-8")
    documented = re.findall(r"^\.\. auto\w+:: (\w+)$", text, flags=re.MULTILINE)
    assert sorted([*documented, "__version__"]) == sorted(farthest.__all__)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the site. The package that is installed is documented, and not installed again."""
    folder = tmp_path_factory.mktemp("site") / "site"
    command = ["make", "--no-print-directory", "-o", ".venv/.tested", "docs", f"SITE={folder}"]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (built.returncode, built.stderr) == (0, "")
    return folder


@pytest.fixture
def page(site: Path) -> Iterator[Page]:
    """The first page of the site, from its file. At the test's end nothing but files was asked for."""
    executable = program()
    if executable is None:
        pytest.skip("no Chromium is installed (Debian: apt install chromium-headless-shell)")
    asked: list[str] = []
    with sync_playwright() as playwright, launched(playwright, executable) as browser:
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        yield page
    assert not [url for url in asked if not url.startswith(("file:", "data:"))]


@pytest.mark.slow
def test_the_search_finds_answers(page: Page) -> None:
    for question, answer in QUESTIONS.items():
        page.fill(".sidebar-search", question)
        with page.expect_navigation():
            page.press(".sidebar-search", "Enter")
        page.wait_for_function("document.querySelector('.search-summary')?.textContent.includes('finished')")
        found = page.locator("ul.search > li > a").evaluate_all(
            "all => all.map(each => each.pathname + each.hash)"
        )
        assert any(target.endswith(answer) for target in found[:5]), (question, found[:5])
