"""`farthest draw`."""

from pathlib import Path
from xml.etree import ElementTree

from integration.conftest import Run


def test_the_command(run: Run, tmp_path: Path) -> None:
    assert run("draw", "8-puzzle", "867254301").stdout == "8 6 7\n2 5 4\n3 0 1\n"
    assert run("draw", "3-puzzle").stdout.startswith("start")
    file = tmp_path / "board.svg"
    assert "2 boards" in run("draw", "8-puzzle", "867254301", "123456780", "--svg", str(file)).stdout
    ElementTree.parse(file)
    assert "is there already" in run("draw", "8-puzzle", "--svg", str(file), status=2).stderr
    run("draw", "8-puzzle", "--svg", str(file), "--force")
    assert ".svg" in run("draw", "8-puzzle", "--svg", str(tmp_path / "board.png"), status=2).stderr
    assert "holds '9'" in run("draw", "8-puzzle", "967254301", status=2).stderr
