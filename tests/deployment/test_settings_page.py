"""docs/settings.md says what the program's list of settings says."""

from __future__ import annotations

import re

import pytest

from deployment.compose import ROOT, services
from farthest.environment import SETTINGS
from farthest.locations import hide_password
from farthest.map_files.places import map_place
from farthest.models.database import shown_url
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.places import place_of

READERS = {"worker", "coordinator", "migrate", "flower", "commands", "serve"}


def page() -> str:
    return (ROOT / "docs/settings.md").read_text(encoding="utf-8")


def rows() -> list[list[str]]:
    table = [line for line in page().splitlines() if line.startswith("| `FARTHEST_")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_the_table() -> None:
    wanted = [
        [f"`{setting.name}`", f"`{setting.default}`" if setting.default else "", setting.meaning]
        for setting in SETTINGS
    ]
    assert [[name, default, meaning] for name, default, _, meaning in rows()] == wanted


def test_who_reads_what() -> None:
    """Each service of docker-compose.yml is given exactly what it reads, by the table."""
    readers = {name.strip("`"): set(cell.split(", ")) for name, _, cell, _ in rows()}
    assert set().union(*readers.values()) == READERS
    all_services = services("monitoring", "web")
    for service in ("worker", "coordinator", "migrate", "flower"):
        given = {name for name in all_services[service].environment if not name.startswith("OTEL_")}
        assert given == {name for name, by in readers.items() if service in by}
    assert set(all_services["web"].environment) == {
        name
        for name, by in readers.items()
        if by & {"serve", "commands"}
        and name not in ("FARTHEST_SCRATCH", "FARTHEST_TABLES")  # it enumerates and searches nothing
    }


def test_the_examples_are_urls_and_show_no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    from redis import Redis
    from sqlalchemy import make_url

    examples = re.findall(r"^    (FARTHEST_[A-Z_]+)=\"?([^\s\"]+)", page(), flags=re.MULTILINE)
    assert len(examples) == 15
    nodes = RedisNodes.from_environment()
    for name, url in examples:
        if name.startswith("FARTHEST_REDIS"):
            Redis.from_url(url).close()
        elif name == "FARTHEST_BLOBS":
            monkeypatch.setenv(name, url)
            assert place_of(nodes).url == url
        elif name == "FARTHEST_MAPS":
            monkeypatch.setenv(name, url)
            assert map_place(None).where == url
        elif "://" in url:
            assert "PASSWORD" not in shown_url(make_url(url))
        assert "PASSWORD" not in hide_password(url)
