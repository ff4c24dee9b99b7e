"""`farthest distance`, `path` and `states`."""

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import farthest
from integration.conftest import Run, RunJson
from servers import PostgresServer

SEED = "┘│└/─□─/┐│┌"
HARDEST = "8 6 7 / 2 5 4 / 3 0 1"
TO_GOAL = {"direction": "to", "where": "goal"}


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A database with three maps, made once: the same questions to a file and to PostgreSQL."""
    with contextlib.ExitStack() as stack:
        if request.param == "sqlite":
            url = f"sqlite:///{tmp_path_factory.mktemp('asked') / 'farthest.db'}"
        else:
            server: PostgresServer = request.getfixturevalue("postgres_server")
            url = stack.enter_context(server.fresh_database())
        fill(url)
        yield url


def fill(url: str) -> None:
    for name, depth in (("8-puzzle", None), ("eight-kinds", None), ("8-puzzle", 4)):
        farthest.enumerate(name, database=url, max_depth=depth).close()


@pytest.fixture(autouse=True)
def maps(asked: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_URL", asked)


def test_distances(run: Run, run_json: RunJson) -> None:
    assert run("distance", "eight-kinds", SEED).stdout == "30\n"
    assert run("distance", "1", HARDEST, "647850321", "123456780").stdout == "31\n31\n0\n"
    assert run_json("distance", "1", HARDEST) == {
        "job": 1,
        "puzzle": "8-puzzle",
        "origin": TO_GOAL,
        "distances": [{"board": HARDEST, "distance": 31, "reason": None}],
    }


def test_the_nearest_of_many_boards(run: Run, run_json: RunJson) -> None:
    lines = "\n".join([HARDEST, "123456708", "123456870", "123450786"])
    assert run("distance", "1", "-", "--nearest", stdin=lines).stdout == "1\n\n123456708\n123450786\n"
    found = run_json("distance", "1", "123456870", HARDEST, "--nearest")
    assert found == {
        "job": 1,
        "puzzle": "8-puzzle",
        "origin": TO_GOAL,
        "distance": 31,
        "number": 1,
        "boards": [HARDEST],
        "asked": 2,
    }
    assert run("distance", "3", HARDEST, "--nearest").stdout == ">4: no board of 1 has a distance\n"


def test_boards_without_a_distance(run: Run, run_json: RunJson) -> None:
    assert run("distance", "1", "123456870").stdout.startswith("unreachable: parity")
    assert run("distance", "3", HARDEST).stdout.startswith(">4: it is more than 4 moves away")
    assert run("distance", "3", "-", stdin=f"{HARDEST}\n123456708").stdout == ">4\n1\n"
    (answer,) = run_json("distance", "1", "123456870")["distances"]
    assert answer["distance"] is None
    assert answer["reason"].startswith("parity")
    error = run("path", "1", "123456870", status=2).stderr
    assert error.startswith("Error: board 123/456/870: distance unreachable: parity")


def test_boards_from_standard_input(run: Run, run_json: RunJson) -> None:
    text = f"{HARDEST}\r\n\n  647850321\n123456870\n1 2 3 / 4 5 6 / 7 8 0"
    assert run("distance", "1", "-", stdin=text).stdout == "31\n31\nunreachable\n0\n"
    answers = run_json("distance", "1", "-", stdin=text)["distances"]
    assert [answer["distance"] for answer in answers] == [31, 31, None, 0]
    assert [answer["board"] for answer in answers][:2] == [HARDEST, "647850321"]
    assert run("distance", "1", "-", stdin="").stdout == ""
    assert run_json("distance", "1", "-", stdin="\n")["distances"] == []


def test_many_boards_in_batches(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.cli.bulk.BATCH", 3)
    boards = run("states", "1", "--depth", "7").stdout
    assert run("distance", "1", "-", stdin=boards).stdout == "7\n" * boards.count("\n")
    result = run("distance", "1", "-", stdin=f"{boards}oops\n", status=2)
    assert f"line {boards.count(chr(10)) + 1}: board 'oops'" in result.stderr
    assert result.stdout == "7\n" * boards.count("\n")


def test_bytes_that_are_no_text(run: Run) -> None:
    result = run("distance", "1", "-", stdin=b"123456780\n\xff\xfe\n", status=2)
    assert "line 2" in result.stderr


def test_one_path(run: Run, run_json: RunJson) -> None:
    text = run("path", "eight-kinds", SEED).stdout
    assert text.startswith("30 moves, 16 optimal solutions\n\nmoves: ")
    assert len(text.splitlines()[2].split()) == 31  # "moves:" and they
    assert text.splitlines()[4].startswith("start ")
    document = run_json("path", "eight-kinds", SEED)
    assert (document["distance"], document["solutions"], document["board"]) == (30, 16, SEED)
    (path,) = document["paths"]
    assert path["boards"][0] == SEED
    assert path["boards"][-1] == "┌─┐/│□│/└─┘"
    assert len(path["moves"]) == 30
    assert path["moves"][0][1] == 4  # the cell that is empty at first


@pytest.mark.parametrize(("job", "board", "count", "length"), [("1", HARDEST, 40, 31), ("2", SEED, 16, 30)])
def test_all_paths(run: Run, run_json: RunJson, job: str, board: str, count: int, length: int) -> None:
    lines = run("path", job, board, "--all").stdout.splitlines()
    assert lines[0] == f"{length} moves, {count} optimal solutions"
    assert len(set(lines[2:])) == count
    assert {len(line.split()) for line in lines[2:]} == {length}
    document = run_json("path", job, board, "--all", "--limit", "3")
    assert (document["solutions"], len(document["paths"])) == (count, 3)
    assert f"and {count - 3} more" in run("path", job, board, "--all", "--limit", "3").stdout
    assert "--limit needs --all" in run("path", job, board, "--limit", "3", status=2).stderr


def test_the_path_of_the_goal(run: Run, run_json: RunJson) -> None:
    assert (
        run("path", "1", "123456780").stdout == "0 moves, 1 optimal solution\n\nstart\n1 2 3\n4 5 6\n7 8 0\n"
    )
    assert "(no moves)" in run("path", "1", "123456780", "--all").stdout
    assert run_json("path", "1", "123456780")["paths"] == [{"moves": [], "boards": ["123/456/780"]}]


def test_states(run: Run, run_json: RunJson) -> None:
    assert sorted(run("states", "1", "--farthest").stdout.split()) == ["647/850/321", "867/254/301"]
    assert len(run("states", "eight-kinds", "--depth", "29").stdout.splitlines()) == 24
    assert len(run("states", "1", "--depth", "20", "--limit", "10").stdout.splitlines()) == 10
    assert run("states", "1", "--depth", "20", "--limit", "0").stdout == ""
    document = run_json("states", "1", "--depth", "31")
    assert document == {
        "job": 1,
        "puzzle": "8-puzzle",
        "depth": 31,
        "states": 2,
        "boards": run("states", "1", "--farthest").stdout.split(),
    }
    assert len(run_json("states", "1", "--depth", "24")["boards"]) == document_states(run_json, 24)


def document_states(run_json: RunJson, depth: int) -> int:
    states: int = run_json("show", "1")["layers"][depth]
    return states


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["distance", "1"], "BOARD"),
        (["distance", "9", HARDEST], "there is no job 9"),
        (["distance", "nothing", HARDEST], "nothing"),
        (["distance", "1", "-", HARDEST], "cannot be given with other boards"),
        (["distance", "1", "12345678"], "board '12345678'"),
        (["distance", "1", "8 6 7 / 2 5 4 / 3 0 x"], "'x'"),
        (["distance", "1", HARDEST, "--database", "none.db"], "none.db"),
        (["path", "1", "1 2 3 / 4 5 6 / 7 8 8"], "appears twice"),
        (["path", "1", HARDEST, "--all", "--limit", "0"], "--limit"),
        (["path", "3", HARDEST], "more than 4 moves away"),
        (["states", "1"], "either --depth N or --farthest"),
        (["states", "1", "--depth", "3", "--farthest"], "either --depth N or --farthest"),
        (["states", "1", "--depth", "32"], "its layers are 0 to 31"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], message: str) -> None:
    result = run(*arguments, status=2)
    assert message in result.stderr
    assert result.stdout == ""


def test_a_name_that_leads_to_an_unusual_map_is_noted(run: Run) -> None:
    run("enumerate", "3-puzzle", "--from", "start", "--max-depth", "3")
    said = run("distance", "3-puzzle", "0 3 / 1 2")
    assert said.stderr.startswith("Note: the newest map of 3-puzzle is job ")
    assert said.stderr.endswith(": from start, to depth 3 only.\n")
    assert run("distance", said.stderr.split("job ")[1].split(":")[0], "0 3 / 1 2").stderr == ""
    run("enumerate", "3-puzzle", "--from", "start")
    said = run("distance", "3-puzzle", "0 3 / 1 2")
    assert said.stderr.startswith("Note: the newest complete map of 3-puzzle is job ")
    assert said.stderr.endswith(": from start.\n")
    run("enumerate", "3-puzzle")
    assert run("distance", "3-puzzle", "0 3 / 1 2").stderr == ""


@pytest.mark.slow
def test_a_complete_map_answers_though_one_with_a_depth_limit_is_newer(run: Run, run_json: RunJson) -> None:
    """Jobs 1 and 3 are of the 8-puzzle, complete and to depth 4."""
    assert run("distance", "8-puzzle", HARDEST).stdout == "31\n"
    assert run_json("path", "8-puzzle", HARDEST)["job"] == 1
    assert run_json("states", "8-puzzle", "--farthest") == run_json("states", "1", "--farthest")
    assert len(run("random", "8-puzzle", "--depth", "31", "--seed", "1").stdout.split()) == 1
    assert run_json("export", "8-puzzle", "x.npz")["job"] == 1
    assert run_json("plot", "8-puzzle", "x.svg")["job"] == 1
    with farthest.open_map("8-puzzle") as found:
        assert found.job == 1
    assert run_json("distance", "3", HARDEST)["job"] == 3
    run("enumerate", "8-puzzle", "--max-depth", "2", "--histogram-only")
    assert run_json("plot", "8-puzzle", "y.svg")["job"] == 1


def test_goal_and_start_are_boards(run: Run, run_json: RunJson) -> None:
    assert run("distance", "eight-kinds", "goal", "start").stdout == "0\n30\n"
    assert run("distance", "eight-kinds", "-", stdin=f"start\n goal \n{SEED}\n").stdout == "30\n0\n30\n"
    assert run_json("path", "eight-kinds", "start")["distance"] == 30
    assert run("draw", "eight-kinds", "goal").stdout == "┌─┐\n│□│\n└─┘\n"
    assert "31 moves" in run("solve", "8-puzzle", "start").stdout
    assert run_json("solve", "8-puzzle", "goal")["length"] == 0
    run("enumerate", "sliding-2x2")
    for command in ("distance", "path", "solve", "draw"):
        error = run(command, "sliding-2x2", "start", status=2).stderr
        assert error == "Error: puzzle sliding-2x2: it has no start; name a board, such as '01/23'\n"


def test_what_is_before_a_bad_line_is_answered(run: Run) -> None:
    text = f"{HARDEST}\n\n123456780\n12345678\n123456780\n"
    result = run("distance", "1", "-", stdin=text, status=2)
    assert result.stdout == "31\n0\n"
    assert result.stderr.startswith("Error: line 4: board '12345678' for 8-puzzle")
    result = run("distance", "1", "-", "--json", stdin=text, status=2)
    assert [answer["distance"] for answer in json.loads(result.stdout)["distances"]] == [31, 0]
    result = run("distance", "1", "-", stdin=f"{HARDEST}\n{'1' * 70_000}\n", status=2)
    assert result.stdout == "31\n"
    assert "line 2: 65536 characters or more" in result.stderr


def test_states_up_to_symmetry(run: Run, run_json: RunJson) -> None:
    told = run_json("symmetry", "1")
    assert (told["symmetries"], told["classes"], told["layers"][31]) == (
        2,
        90_792,
        {"depth": 31, "states": 2, "classes": 1, "fixed": 0},
    )
    lines = run("symmetry", "3").stdout.splitlines()
    assert lines[1].split() == ["0", "1", "1", "1"]
    assert lines[-1] == "2 symmetries: 31 states in 16 classes"
    (board,) = run("states", "1", "--farthest", "--up-to-symmetry").stdout.splitlines()
    assert board in run("states", "1", "--farthest").stdout
    assert (
        "--inverse needs --up-to-symmetry" in run("states", "1", "--farthest", "--inverse", status=2).stderr
    )
    assert "no inverses" in run("symmetry", "1", "--inverse", status=2).stderr


def test_symmetries_of_a_puzzle(run: Run, run_json: RunJson) -> None:
    """Those of the pyraminx: 24, and the classes of its keys; none of a puzzle that has several goals."""
    told = run_json("puzzles", "pyraminx", "--symmetry")["symmetry"]
    assert (told["symmetries"], told["problem"]) == (24, None)
    kept = told["representatives"]
    assert kept["keys"] / 24 < kept["entries"] < kept["keys"] / 10
    shown = run("puzzles", "pyraminx", "--symmetry").stdout
    assert f"{kept['entries']:,} of 1,866,240 distances" in shown
    assert run_json("puzzles", "8-puzzle", "--symmetry")["symmetry"]["representatives"] is None
    assert "not known: there are several goals" in run("puzzles", "red-donkey", "--symmetry").stdout
    assert "farthest puzzles NAME --symmetry" in run("puzzles", "--symmetry", status=2).stderr
