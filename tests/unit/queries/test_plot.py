"""Plots of layers."""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from farthest.queries.output_files import OutputError, plot_layers
from unit.queries.conftest import MapOf

LAYERS = (1, 2, 4, 30)


@pytest.mark.slow
def test_a_png(tmp_path: Path) -> None:
    file = tmp_path / "layers.png"
    plot_layers(LAYERS, file, title="Small")
    assert file.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.slow
@pytest.mark.parametrize("log", [False, True])
def test_an_svg_is_the_same_each_time(tmp_path: Path, log: bool) -> None:
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        plot_layers(LAYERS, file, title="Small", log=log)
    text = files[0].read_text()
    assert text == files[1].read_text()
    said = re.findall(r"<!-- (.*?) -->", text)  # matplotlib notes the text of what it draws as curves
    assert "Small" in said
    assert "37 states, 3 deep" in said
    assert ("states (logarithmic)" in said) == log


@pytest.mark.slow
def test_a_map_draws_itself(map_of: MapOf, tmp_path: Path) -> None:
    map_of("8-puzzle").plot(tmp_path / "layers.svg", log=True)
    assert "181,440 states, 31 deep" in (tmp_path / "layers.svg").read_text()


@pytest.mark.slow
def test_any_title_is_text(tmp_path: Path) -> None:
    for number, title in enumerate(
        ("$\\frac{1}$ --> <script>$", "\x00\x1b[2J\u202e\ud800\n-->", "x" * 20_000)
    ):
        file = tmp_path / f"{number}.svg"
        plot_layers(LAYERS, file, title=title)
        root = ElementTree.fromstring(file.read_bytes())
        assert all(not element.tag.endswith("script") for element in root.iter())
        assert file.stat().st_size < 200_000


def test_what_cannot_be_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match=r"expected \.png or \.svg"):
        plot_layers(LAYERS, tmp_path / "layers.pdf", title="Small")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OutputError, match=r"pip install 'farthest\[plot\]'"):
        plot_layers(LAYERS, tmp_path / "layers.png", title="Small")
    assert list(tmp_path.iterdir()) == []
