"""A board means the same however it is written, and `goal` and `start` are boards wherever one is read."""

import pytest

import farthest
from integration.conftest import Run, RunJson

GOAL = ["123/456/780", "1 2 3 / 4 5 6 / 7 8 0", " 123456780 "]


@pytest.mark.parametrize("command", ["enumerate", "submit"])
def test_an_origin_has_one_spelling_in_jobs(run: Run, run_json: RunJson, command: str) -> None:
    again = ["--again"] if command == "enumerate" else []
    for board in GOAL:
        run(command, "8-puzzle", "--from", board, "--max-depth", "1", *again)
    stored = [job["parameters"]["where"] for job in run_json("jobs")["jobs"]]
    assert stored == [GOAL[0]] * len(GOAL)


def test_a_search_has_one_spelling_of_its_target(run_json: RunJson) -> None:
    for target in GOAL:
        run_json("solve", "8-puzzle", "start", "--to", target, "--store")
    farthest.solve("8-puzzle", "start", to=GOAL[1], database="farthest.db", store=True)
    stored = [job["parameters"]["target"] for job in run_json("jobs")["jobs"]]
    assert stored == [GOAL[0]] * 4


def test_words_are_boards_on_standard_input_too(run: Run) -> None:
    run("enumerate", "8-puzzle")
    words = "goal\n start \n"
    expected = run("distance", "8-puzzle", "goal", "start").stdout
    assert run("distance", "8-puzzle", "-", stdin=words).stdout == expected
    solved = run("solve", "8-puzzle", "-", stdin=words).stdout.splitlines()
    assert solved[0].startswith("123/456/780: 0 moves, ")
    assert f": {expected.split()[-1]} moves, " in solved[1]


def test_space_around_a_word_changes_nothing(run: Run) -> None:
    run("enumerate", "8-puzzle")
    assert run("distance", "8-puzzle", " goal ").stdout == "0\n"
    with farthest.open_map("8-puzzle", "farthest.db") as opened:
        assert opened.distances([" goal "]).tolist() == [opened.distance(" goal ")] == [0]
