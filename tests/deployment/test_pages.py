"""The pages: links lead somewhere; what they show for Docker Compose fits docker-compose.yml and the program."""

from __future__ import annotations

import re
import shlex

import pytest

from cases import for_each
from deployment.compose import ROOT, services
from farthest.cli.app import cli


def shown(page: str) -> list[list[str]]:
    """The words of each command for Docker Compose that a page shows as an example."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = re.findall(r"^ {4,}(?:\$ )?(docker compose .*)$", text, flags=re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


@pytest.mark.parametrize(("page", "least"), [("README.md", 3), ("docs/many-machines.md", 12)])
def test_commands(page: str, least: int) -> None:
    all_services = services("monitoring", "web")
    commands = shown(page)
    assert len(commands) >= least
    for words in commands:
        if "up" in words:
            assert {word for word in words[words.index("up") + 1 :] if not word.startswith("-")} <= set(
                all_services
            )
        if "exec" in words:
            called = [word for word in words[words.index("exec") + 1 :] if not word.startswith("-")]
            assert called[0] in all_services
            if called[1] == "farthest":
                assert called[2] in cli.commands, words
        if words[2] in ("stop", "logs"):
            assert {word for word in words[3:] if not word.startswith("-")} <= set(all_services)


PAGES = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md"]
PAGES += sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))


def links(page: str) -> list[tuple[str, str]]:
    """The files that a page links to, from the root, and the anchors in them."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = re.findall(r"\]\(([^):#]*)(?:#([^)]*))?\)", text)
    here = (ROOT / page).parent
    return [
        (((here / target).resolve() if target else ROOT / page).relative_to(ROOT).as_posix(), anchor)
        for target, anchor in found
    ]


def anchors(page: str) -> set[str]:
    """The headings of a page, as links write them."""
    headings = re.findall(r"^#+ (.*)$", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@for_each("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for target, anchor in links(page):
        assert (ROOT / target).exists(), f"{page}: {target}"
        assert not anchor or anchor in anchors(target), f"{page}: {target}#{anchor}"


def test_every_page_is_linked_from_the_readme() -> None:
    assert {page for page in PAGES if page != "README.md"} <= {target for target, _ in links("README.md")}


def test_limits_are_those_of_the_file() -> None:
    text = (ROOT / "docs/many-machines.md").read_text(encoding="utf-8")
    compose = (ROOT / "docker-compose.yml").read_text(encoding="utf-8")
    for name, value in re.findall(r"`([A-Z]+_(?:LIMIT|MAXMEMORY))`, (\w+)", text):
        assert f"${{{name}:-{value}}}" in compose, name


def test_grace_periods_are_those_of_the_file() -> None:
    text = (ROOT / "docs/many-machines.md").read_text(encoding="utf-8")
    all_services = services()
    rows = re.findall(r"^\| (\w+) \| (SIG\w+) \| (\d+) (s|min) \|", text, flags=re.MULTILINE)
    assert len(rows) == 4
    for name, number, amount, unit in rows:
        assert all_services[name].stop_signal == number
        assert all_services[name].grace == int(amount) * (60 if unit == "min" else 1)
