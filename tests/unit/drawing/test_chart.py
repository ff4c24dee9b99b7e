"""The chart of layers, as a part of a page and as a file."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.drawing.chart import HEIGHT, WIDTH, Chart

SVG = "{http://www.w3.org/2000/svg}"
LAYERS = st.lists(st.integers(1, 10**20), min_size=1, max_size=130)


BAR = re.compile(r"M([\d.]+) ([\d.]+)v-([\d.]+)h([\d.]+)V([\d.]+)z")


def bars(root: ElementTree.Element) -> list[tuple[float, float, float, float]]:
    """Of each its left edge, lower edge, height and width."""
    found = [match for path in root.iter(f"{SVG}path") for match in BAR.findall(path.get("d", ""))]
    assert all(bottom == end for _, bottom, _, _, end in found)
    return [(float(x), float(y), float(height), float(width)) for x, y, height, width, _ in found]


@given(LAYERS, st.booleans())
def test_every_layer_has_a_bar_that_is_as_high_as_it_is_large(layers: list[int], logarithmic: bool) -> None:
    drawn = bars(ElementTree.fromstring(Chart(layers, logarithmic).document("layers")))
    assert drawn == bars(ElementTree.fromstring(Chart(layers, logarithmic, brief=True).document("layers")))
    heights = [height for _, _, height, _ in drawn]
    assert len(heights) == len(layers)
    assert min(heights) >= 1
    by_size = [height for _, height in sorted(zip(layers, heights, strict=True))]
    assert by_size == sorted(by_size)
    for x, y, height, width in drawn:
        assert 0 <= x <= x + width <= WIDTH + 0.11
        assert 0 <= y - height <= y <= HEIGHT


def test_a_linear_scale_is_proportional() -> None:
    drawn = bars(ElementTree.fromstring(Chart([100, 50, 25]).document("layers")))
    first, second, third = (height for _, _, height, _ in drawn)
    assert first == pytest.approx(2 * second, abs=0.2)
    assert second == pytest.approx(2 * third, abs=0.2)


@for_each(
    ("most", "labels"),
    [
        (1, ["0", "1"]),
        (6, ["0", "1", "2", "3", "4", "5", "6"]),
        (12_700, ["0", "2.5 k", "5 k", "7.5 k", "10 k", "12.5 k"]),
        (24_046_500, ["0", "5 M", "10 M", "15 M", "20 M"]),
    ],
)
def test_a_linear_scale_has_round_numbers(most: int, labels: list[str]) -> None:
    texts = ElementTree.fromstring(Chart([1, most]).document("layers")).iter(f"{SVG}text")
    assert [each.text for each in texts if each.get("text-anchor") == "end"] == labels


def test_what_is_marked_and_where_bars_lead() -> None:
    part = Chart([1, 2, 3], marked=1, link=lambda depth: f"/layers/{depth}?a=1&b=<").part_of_page()
    root = ElementTree.fromstring(part)
    assert [link.get("href") for link in root.iter("a")] == [f"/layers/{depth}?a=1&b=<" for depth in range(3)]
    assert [path.get("class") for path in root.iter("path")] == [None, "marked", None]
    assert [title.text for title in root.iter("title")] == [
        "depth 0: 1 state",
        "depth 1: 2 states",
        "depth 2: 3 states",
    ]


def test_a_title_is_no_markup() -> None:
    root = ElementTree.fromstring(Chart([1]).document("a <b> & \x1b"))
    assert root.findtext(f"{SVG}title") == "a <b> & \\u001b"
