"""`farthest survey` and `surveys` on the command line: results, files, kills, wrong input."""

import csv
import json
import re
from pathlib import Path

from integration.conftest import Run, RunJson


def test_a_survey(run: Run, run_json: RunJson) -> None:
    shown = run("survey", "rush-hour-4x4").stdout
    assert "all   1,349         880       493       32   9,304      7" in shown
    assert "parts         1 of 1 done" in shown
    again = run_json("survey", "rush-hour-4x4", "--threads", "1")
    assert (again["survey"], again["done"], again["kept"]) == (1, 1, 32)
    assert again["starts_of"] == {"kind": "rush-hour", "size": 4, "row": 2, "pieces": 18, "keep": "minimal"}
    assert [each["pieces"] for each in again["totals"]] == list(range(1, 9))
    assert run_json("surveys") == [again]
    assert run_json("surveys", "1") == again
    assert (
        "     1  rush-hour-4x4: any number of pieces, row 2; kept: minimal      1     1"
        in run("surveys").stdout
    )
    assert "BBoCAAoCDEEEDoFF" in run("surveys", "1", "--top", "1").stdout
    (first, *_) = found = run_json("surveys", "1", "--top", "40")["components"]
    assert len(found) == 32
    assert (first["pieces"], first["moves"], first["states"]) == (6, 7, 34)
    assert first["board"] == "BBoCAAoCDEEEDoFF"
    assert first["minimal"]
    assert sum(first["layers"]) == 34
    by_states = run_json("surveys", "1", "--top", "3", "--by", "states", "--pieces", "5")["components"]
    assert [each["states"] for each in by_states] == sorted(
        (each["states"] for each in found if each["pieces"] == 5), reverse=True
    )[:3]


def test_boards_of_a_puzzle(run: Run, run_json: RunJson) -> None:
    Path("boards.txt").write_text("start\n\nAABB/AACC/12../DEFF/DEGG\n", encoding="utf-8-sig")
    told = run_json("survey", "pennant", "--boards", "boards.txt")
    assert (told["kept"], told["parts"]) == (1, 1)
    assert told["starts_of"]["boards"] == ["AABB/AACC/12../DEFF/DEGG"]
    assert (
        "set           board AABB/AACC/12../DEFF/DEGG, metric move; kept: all" in run("surveys", "1").stdout
    )
    for other in ("..12", "1..2"):
        run(
            "survey",
            "pennant",
            "--boards",
            "-",
            stdin=f"AABB/AACC/{other}/DEFF/DEGG\n..BB/CC1D/EAAD/EAA2/FFGG",
        )
    run("survey", "pennant", "--keep", "solvable")
    names = [line.split("  ")[3] for line in run("surveys").stdout.splitlines()[1:]]
    assert names == [each["name"] for each in run_json("surveys")]
    assert names == [
        "pennant: board AABB/AACC/12../DEFF/DEGG, metric move; kept: all",
        "pennant: 2 boards 34346e, such as ..BB/CC1D/EAAD/EAA2/FFGG, metric move; kept: all",
        "pennant: 2 boards 0462dd, such as ..BB/CC1D/EAAD/EAA2/FFGG, metric move; kept: all",
        "pennant: all placements of AABB/AACC/12../DEFF/DEGG, metric move; kept: solvable",
    ]
    assert {each["minimal"] for each in told["totals"]} == {None}
    assert re.search(r"\n   all +1 +1 +1 +1,398 +78\n", run("surveys", "1").stdout)
    (component,) = run_json("surveys", "1", "--top", "9")["components"]
    assert component["states"] == 1398
    wrong = run("survey", "pennant", "--boards", "-", stdin="\nAB\n", status=2).stderr
    assert "standard input: line 2: board 'AB' for pennant: 2 cells, expected 20" in wrong
    Path("empty.txt").touch()
    for name in ("pennant", "rush-hour-4x4"):
        said = run("survey", name, "--boards", "empty.txt", status=2).stderr
        assert "empty.txt: no boards: expected 1 to 200,000, one on each line" in said


def test_boards_with_walls(run: Run, run_json: RunJson) -> None:
    told = run_json("survey", "rush-hour-3x3", "--walls", "2", "--keep", "all")
    assert told["starts_of"]["walls"] == 2
    assert "any number of pieces, at most 2 walls" in run("surveys", "1").stdout
    run("surveys", "1", "--export", "rows.jsonl")
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert any("x" in row["board"] for row in rows)
    Path("boards.txt").write_text("".join(f"{row['states']} {row['board']}\n" for row in rows))
    again = run_json("survey", "rush-hour-3x3", "--boards", "boards.txt", "--parts", "3")
    assert (again["kept"], again["done"]) == (len(rows), 3)
    run("surveys", "2", "--export", "again.jsonl")
    assert sorted(Path("again.jsonl").read_text().splitlines()) == sorted(map(json.dumps, rows))


def test_files(run: Run, run_json: RunJson) -> None:
    run("survey", "rush-hour-4x4", "--keep", "all", "--parts", "3")
    assert run_json("surveys", "1", "--export", "all.csv")["components"] == 880
    assert run("surveys", "1", "--export", "all.jsonl").stdout == "Wrote 880 components to all.jsonl.\n"
    with Path("all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    objects = [json.loads(line) for line in Path("all.jsonl").read_text().splitlines()]
    assert [row["board"] for row in rows] == [each["board"] for each in objects]
    assert [row["moves"] for row in rows] == [
        "" if each["moves"] is None else str(each["moves"]) for each in objects
    ]
    assert [row["layers"].split() for row in rows] == [list(map(str, each["layers"])) for each in objects]
    assert "all.csv exists already" in run("surveys", "1", "--export", "all.csv", status=2).stderr
    run("surveys", "1", "--export", "all.csv", "--force")
    assert "all.txt: expected .csv or .jsonl" in run("surveys", "1", "--export", "all.txt", status=2).stderr
    assert run("surveys", "1", "--delete").stdout == "Deleted survey 1.\n"
    assert run_json("surveys") == []


def test_wrong_input(run: Run) -> None:
    run("survey", "rush-hour-3x3")
    Path("class.toml").write_text('name = "x"\nfamily = "python"\n[python]\nclass = "os:system"\n')
    for arguments, said in (
        (("survey", "rush-hour-4x5"), "rush-hour-4x5: expected a square, rush-hour-NxN, with N from 3 to 6"),
        (("survey", "pennant", "--pieces", "3"), "are for rush-hour-NxN"),
        (("survey", "pennant", "--workers", "celery", "--threads", "2"), "--threads is for the threads"),
        (("survey", "rush-hour-5x5", "--row", "6"), "row 6: expected 1 to 5"),
        (("survey", "rush-hour-5x5", "--pieces", "0"), "--pieces"),
        (("survey", "rush-hour-5x5", "--walls", "4"), "--walls"),
        (("surveys", "7"), "has no survey 7; `farthest surveys` lists those that it has"),
        (("surveys", "9" * 23), "is not in the range"),
        (("surveys", "--top", "3"), "Which survey?"),
        (("surveys", "1", "--pieces", "3"), "--pieces needs --top"),
        (("surveys", "1", "--by", "moves"), "--by needs --top"),
        (("surveys", "1", "--force", "--delete"), "--force needs --export"),
        (
            ("surveys", "1", "--export", "x.csv", "--delete"),
            "Give one of --top, --export, --estimate and --delete",
        ),
        (
            ("surveys", "1", "--top", "1", "--export", "x.csv"),
            "Give one of --top, --export, --estimate and --delete",
        ),
        (("surveys", "1", "--top", str(10**20)), "is not in the range"),
        (("surveys", "1", "--top", "1", "--pieces", str(10**20)), "is not in the range"),
        (("surveys", "--database", "none.db"), "make one with `farthest survey SET --database none.db`"),
        (("survey", "class.toml"), "'class.toml': it is a class in Python; only sliding blocks are surveyed"),
    ):
        assert said in run(*arguments, status=2).stderr
