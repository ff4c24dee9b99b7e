"""What a search that is not watched on a terminal says of its progress."""

import pytest

from farthest.cli.search_progress import LineSearchReporter


def test_only_news_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    reporter = LineSearchReporter()
    known = {"bound": 40, "nodes": 10, "pieces_waiting": 3}
    for nodes in (10, 10, 20, 20, 10):
        known["nodes"] = nodes
        reporter.progress(known)
    told = [line.split()[2] for line in capsys.readouterr().err.splitlines()]
    assert told == ["nodes=10", "nodes=20", "nodes=10"]
