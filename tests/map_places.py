"""Places for map files in tests: each kind that FARTHEST_MAPS may name, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from blob_places import OUTSIDE, Contents, url_of
from farthest.map_files import objects
from farthest.map_files import objects as pieces
from farthest.map_files.form import SECTION
from farthest.map_files.places import map_place

if TYPE_CHECKING:
    from farthest.map_files.place import MapPlace


@pytest.fixture(params=OUTSIDE)
def maps_url(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """What FARTHEST_MAPS says of an empty place; in an object store, pieces are small, and wait in a file."""
    url = url_of(request.param, request)
    monkeypatch.setenv("FARTHEST_MAPS", url)
    monkeypatch.setattr(objects, "PIECE", SECTION)
    monkeypatch.setattr(pieces, "IN_MEMORY", 1)
    return url


@pytest.fixture
def maps(maps_url: str) -> MapPlace:
    return map_place(None)


@pytest.fixture
def kept(maps_url: str) -> Contents:
    """What is there, file by file or object by object."""
    return Contents(maps_url)
