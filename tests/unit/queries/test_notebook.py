"""What objects show of themselves, and maps as tables and graphs."""

import base64
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy
import pytest

import farthest
from families import PUZZLES
from farthest.queries import exports as data_frames
from unit.queries.conftest import MapOf


def pictures(html: str) -> list[str]:
    """The SVG documents in a page, each well-formed."""
    found = [base64.b64decode(data).decode() for data in re.findall(r"svg\+xml;base64,([^\"]+)", html)]
    for document in found:
        ElementTree.fromstring(document)
    return found


def test_a_map_shows_its_layers_and_its_farthest_boards(map_of: MapOf) -> None:
    opened = map_of("3-puzzle")
    chart, boards = pictures(opened._repr_html_())
    assert chart.count("<title>depth ") == len(opened.layers)
    assert boards.count("<rect") >= 4
    assert "12</td>" in opened._repr_html_()
    assert repr(opened).startswith("<DistanceMap of job 1: 3-puzzle")


def test_a_path_is_a_list_that_knows_its_moves(map_of: MapOf) -> None:
    opened = map_of("3-puzzle")
    path = opened.path(opened.farthest()[0])
    assert path == list(path)
    assert len(path.moves) == len(path) - 1 == opened.eccentricity
    drawn = path._repr_svg_()
    ElementTree.fromstring(drawn)
    assert all(f">{move[0]}-{move[1]}<" in drawn for move in path.moves)


def test_puzzles_searches_and_jobs(map_of: MapOf) -> None:
    puzzle = farthest.load_puzzle("8-puzzle")
    assert repr(puzzle) == "<Puzzle 8-puzzle: sliding 3×3, metric step>"
    ElementTree.fromstring(puzzle._repr_svg_() or "")
    found = farthest.solve("8-puzzle", "moves: 8 7", store=False)
    assert repr(found).startswith("<SearchOutcome of 8-puzzle, 123/456/078: 2 moves, 1 solution, ")
    (strip,) = pictures(found._repr_html_())
    assert strip.count("<title>") == 1
    assert ">7-6<" in strip
    (chart,) = pictures(farthest.histogram("3-puzzle")._repr_html_())
    assert chart.count("<title>depth ") == 7
    record = map_of("3-puzzle").record
    assert repr(record).startswith(
        "<JobRecord 1: enumeration 3-puzzle, status finished, states 12, depth 6, map full"
    )
    assert "3-puzzle" in record._repr_html_()


def test_markup_in_names_is_text(tmp_path: Path) -> None:
    file = tmp_path / "p.toml"
    text = 'name = "p"\ntitle = "<script>alert(1)</script>"\nfamily = "sliding"\n[sliding]\ngoal = ["0<", ">b"]\n'
    file.write_text(text, encoding="utf-8")
    with farthest.enumerate(file, database=tmp_path / "m.db") as opened:
        shown = opened._repr_html_()
        assert "<script" not in shown
        assert not any("<script" in picture for picture in pictures(shown))


@pytest.mark.parametrize("name", ["sliding", "jugs", "blocks, step", "python, 128 bits"])
def test_tables_hold_what_the_map_holds(name: str, map_of: MapOf) -> None:
    import pandas
    import polars

    opened = map_of(PUZZLES[name]())
    table, other = opened.to_pandas(), opened.to_polars()
    assert isinstance(table, pandas.DataFrame)
    assert isinstance(other, polars.DataFrame)
    assert len(table) == opened.states
    assert opened.distances(table["board"].tolist()).tolist() == table["distance"].tolist()
    assert other["board"].to_list() == table["board"].tolist()
    assert table["distance"].dtype == numpy.uint8
    assert ("code" in table) == (opened.space.keys is None)
    assert opened.to_pandas(distance=1)["board"].tolist() == list(opened.states_at(1))
    assert tuple(opened.to_pandas("layers")["states"]) == opened.layers
    assert opened.to_polars("layers")["depth"].to_list() == list(range(opened.depth + 1))
    with pytest.raises(farthest.JobError):
        opened.to_pandas(distance=99)


@pytest.mark.parametrize("name", ["3-puzzle", "die-hard-jugs", "hanoi-3-3", "lights-2x3-c3"])
def test_distances_are_those_of_the_graph(name: str, map_of: MapOf) -> None:
    opened = map_of(name)
    graph = opened.graph()
    stored = {node: data["distance"] for node, data in graph.nodes(data=True)}
    assert len(stored) == opened.states
    played = graph if opened.origin.direction == "from" else graph.reverse()
    origins = {node for node, distance in stored.items() if distance == 0}
    import networkx

    found = networkx.multi_source_dijkstra_path_length(played, origins, weight=None)
    assert found == stored
    board, after = next(iter(graph.edges))
    move = graph[board][after]["moves"].split(", ")[0]
    assert farthest.copies(opened.puzzle, f"moves from {board}: {move}") == farthest.copies(
        opened.puzzle, after
    )


def test_a_graph_is_cut_where_the_map_is(map_of: MapOf) -> None:
    opened = map_of("8-puzzle", max_depth=3)
    assert len(opened.graph()) == opened.states


def test_graphml(map_of: MapOf, tmp_path: Path) -> None:
    opened = map_of("3-puzzle")
    assert opened.export(tmp_path / "g.graphml") == 12
    import networkx

    read = networkx.read_graphml(tmp_path / "g.graphml")
    assert dict(read.nodes(data="distance")) == dict(opened.graph().nodes(data="distance"))
    assert read.number_of_edges() == 24


def test_what_is_too_large_or_missing(map_of: MapOf, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = map_of("3-puzzle")
    monkeypatch.setattr(data_frames, "MOST_STATES", 11)
    monkeypatch.setattr("farthest.queries.exports.MOST_GRAPH_STATES", 11)
    with pytest.raises(farthest.ResourceError, match="12 states"):
        opened.to_pandas()
    with pytest.raises(farthest.ResourceError, match="12 states"):
        opened.graph()
    with pytest.raises(ValueError, match="expected 'states' or 'layers'"):
        opened.to_pandas("boards")  # type: ignore[arg-type]
    with pytest.raises(farthest.MissingLibraryError, match=r"pip install 'farthest\[frames\]'"):
        data_frames.optional("no_such_library", "frames", "to_pandas")


def test_random_states_and_plots(map_of: MapOf) -> None:
    opened = map_of("3-puzzle")
    assert opened.distance(opened.random(distance=6)) == 6
    some = opened.random(5, seed=1)
    assert some == opened.random(5, seed=1)
    assert len(some) == 5
    with pytest.raises(farthest.JobError):
        opened.random(distance=7)
    drawing = opened.plot(log=True)
    ElementTree.fromstring(drawing._repr_svg_())
