"""`farthest draw`."""

from pathlib import Path
from xml.etree import ElementTree

from integration.conftest import Run, RunJson

SVG = "{http://www.w3.org/2000/svg}"


def test_the_command(run: Run, tmp_path: Path) -> None:
    assert run("draw", "8-puzzle", "867254301").stdout == "8 6 7\n2 5 4\n3 0 1\n"
    assert run("draw", "3-puzzle").stdout.startswith("start")
    file = tmp_path / "board.svg"
    assert "2 boards" in run("draw", "8-puzzle", "867254301", "123456780", "--svg", str(file)).stdout
    ElementTree.parse(file)
    assert "exists already" in run("draw", "8-puzzle", "--svg", str(file), status=2).stderr
    run("draw", "8-puzzle", "--svg", str(file), "--force")
    assert ".svg" in run("draw", "8-puzzle", "--svg", str(tmp_path / "board.png"), status=2).stderr
    assert "holds '9'" in run("draw", "8-puzzle", "967254301", status=2).stderr


def test_a_solution_is_a_row_of_boards(run: Run, tmp_path: Path) -> None:
    run("enumerate", "3-puzzle")
    file = tmp_path / "solution.svg"
    assert "7 boards" in run("path", "3-puzzle", "3210", "--svg", str(file)).stdout
    captions = [text.text for text in ElementTree.parse(file).iter(f"{SVG}text") if text.get("class") == "c"]
    assert captions[0] == "start"
    assert len(captions) == 7
    assert "leave out --all" in run("path", "3-puzzle", "3210", "--all", "--svg", str(file), status=2).stderr


def test_the_path_of_a_stored_map_or_a_search(run: Run, run_json: RunJson, tmp_path: Path) -> None:
    missing = run("draw", "3-puzzle", "--path", "3210", status=2).stderr
    assert "no such database" in missing
    assert "or --search" in missing
    run("enumerate", "8-puzzle", "--max-depth", "1")
    assert "no map of it; `farthest enumerate`" in run("draw", "3-puzzle", "--path", "3210", status=2).stderr
    run("enumerate", "3-puzzle")
    stored = run_json("draw", "3-puzzle", "--path", "3210")["boards"]
    path = run_json("path", "3-puzzle", "3210")["paths"][0]
    assert [board["board"] for board in stored] == path["boards"]
    assert [board["name"] for board in stored] == ["start", *(f"{a}-{b}" for a, b in path["moves"])]
    assert len(run_json("draw", "3-puzzle", "--path", "3210", "--search")["boards"]) == len(stored)
    assert run("draw", "3-puzzle", "--path", "3210").stdout.startswith("start")
    file = tmp_path / "solution.svg"
    told = run("draw", "3-puzzle", "--path", "3210", "--animated", "--svg", str(file))
    assert told.stdout == f"{file}: 7 boards\n"
    root = ElementTree.parse(file).getroot()
    assert [text.text for text in root.iter(f"{SVG}text")][-7:] == [board["name"] for board in stored]
    for wrong, problem in (
        (["--animated"], "--animated needs --path"),
        (["--search"], "--search needs --path"),
        (["--path", "3210", "3210"], "leave out other boards"),
        (["--path", "3210", "--animated"], "--animated needs --svg"),
    ):
        assert problem in run("draw", "3-puzzle", *wrong, status=2).stderr


def test_json(run_json: RunJson) -> None:
    assert run_json("draw", "8-puzzle", "867254301") == {
        "puzzle": "8-puzzle",
        "boards": [{"name": "", "board": "867/254/301", "lines": ["8 6 7", "2 5 4", "3 0 1"]}],
    }
