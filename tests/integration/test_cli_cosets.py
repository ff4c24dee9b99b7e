"""`farthest cosets` on the command line: tables, JSON, what is stored, wrong input."""

import csv
import json
from pathlib import Path

from integration.conftest import Run, RunJson

SMALL = "pyraminx<U,L>"


def test_all_cosets(run: Run, run_json: RunJson) -> None:
    asked = ("cosets", SMALL, "--subgroup", "<U'>", "--depth", "6", "--all")
    shown = run(*asked)
    assert "positions; memory: " in shown.stderr
    heads, *rows = shown.stdout.split("\n\n")[0].splitlines()
    assert heads.split()[:3] == ["coset", "weight", "seconds"]
    assert rows[0].startswith("(solved)")
    assert rows[-1].split()[0] == "all"
    assert "survey        1: pyraminx<U,L> by <U>" in shown.stdout
    told = run_json(*asked, "--threads", "1")
    assert run_json("surveys", "1") == told
    assert run_json("surveys") == [{name: of for name, of in told.items() if name != "cosets"}]
    assert "pyraminx<U,L> by <U>: all cosets, listed to depth 6" in run("surveys").stdout
    assert told["layers"][:4] == [1, 4, 8, 16]
    assert told["starts_of"]["cosets"] is None
    assert sum(each["weight"] for each in told["cosets"]) == int(rows[-1].split()[1])
    assert told["done"] == told["parts"] == len(told["cosets"])
    assert "survey 1 is of cosets" in run("surveys", "1", "--top", "1", status=2).stderr
    assert (
        run("surveys", "1", "--export", "cosets.csv").stdout
        == f"Wrote {told['done']} cosets to cosets.csv.\n"
    )
    with open("cosets.csv", encoding="utf-8", newline="") as file:
        written = list(csv.DictReader(file))
    assert [each["layers"] for each in written] == [
        " ".join(map(str, each["layers"])) for each in told["cosets"]
    ]
    assert run_json("surveys", "1", "--export", "cosets.jsonl")["cosets"] == told["done"]
    lines = Path("cosets.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line) for line in lines] == told["cosets"]
    assert "positions" in run("surveys", "1", "--estimate").stdout
    assert [each["positions"] for each in run_json("surveys", "1", "--estimate")["estimates"]] == told[
        "layers"
    ]
    assert run("surveys", "1", "--delete").stdout == "Deleted survey 1.\n"


def test_some_cosets(run: Run, run_json: RunJson) -> None:
    told = run_json(
        "cosets", SMALL, "--subgroup", "<U>", "--depth", "2", "--coset", "L U'", "--coset", "(L U)2"
    )
    assert [each["coset"] for each in told["cosets"]] == ["L U'", "L U L U"]
    assert told["layers"] is None
    shown = run("cosets", SMALL, "--subgroup", "<U>", "--depth", "2", "--coset", "L U'").stdout
    assert "<=3" in shown.splitlines()[0]
    whole = run("cosets", SMALL, "--subgroup", "<U>", "--depth", "2", "--all").stdout.split("\n\n")[0]
    cells = whole.splitlines()[-1].split()
    assert (cells[:2], cells[3:]) == (["all", "180"], ["1", "4", "8", "8", "519"])  # 540 together
    drawn = run_json("cosets", SMALL, "--subgroup", "<U>", "--depth", "2", "--random", "3", "--seed", "5")
    assert drawn["starts_of"]["cosets"] == {"random": 3, "seed": 5}
    assert drawn["done"] == 3


def test_estimates(run: Run, run_json: RunJson) -> None:
    run("cosets", "pyraminx<U,L,R>", "--subgroup", "<U,L>", "--depth", "7", "--random", "30", "--seed", "7")
    shown = run("surveys", "1", "--estimate", "--known", "6=5724", "--known", "7=20318").stdout
    table, facts = (part.splitlines() for part in shown.split("\n\n"))
    assert table[0].split() == [
        "distance",
        "mean",
        "positions",
        "+-",
        "regression",
        "+-",
        "on",
        "known",
        "off",
    ]
    assert table[-1].split()[-3:-1] == ["6", "20,318"]
    assert facts[1].split(maxsplit=1) == ["cosets", "30 at random, of 576"]
    assert facts[2].startswith("all cosets")
    assert facts[3].split(maxsplit=1)[1].startswith("in 30 of 30 cosets each position is within ")
    told = run_json("surveys", "1", "--estimate", "--known", "6=5724")
    last = told["estimates"][7]
    assert last["controls"] == [6]
    assert last["known"] is None
    assert abs(last["regression"] - 20318) < 3 * last["regression_error"]
    assert (told["sampled"], told["cosets"], told["exact"]) == (30, 576, False)
    assert "--known needs --estimate" in run("surveys", "1", "--known", "6=5724", status=2).stderr
    assert "expected DEPTH=COUNT" in run("surveys", "1", "--estimate", "--known", "6=", status=2).stderr


def test_wrong_input(run: Run, run_json: RunJson) -> None:
    asked = ("cosets", SMALL, "--subgroup", "<U>", "--depth", "2")
    for arguments, said in (
        (asked, "Which cosets? Give --coset, --random or --all, one of them."),
        ((*asked, "--all", "--random", "3"), "Which cosets?"),
        ((*asked, "--all", "--seed", "3"), "--seed needs --random"),
        ((*asked, "--all", "--workers", "celery", "--threads", "2"), "--threads is for the threads"),
        ((*asked, "--coset", "L Q"), "coset 'L Q': move 2, 'Q': "),
        ((*asked, "--random", "1000000"), "random 1000000: there are "),
        (("cosets", SMALL, "--depth", "2", "--all"), "--subgroup"),
        (("cosets", SMALL, "--subgroup", "<U>", "--all"), "--depth"),
        (("cosets", "cube-3x3x3-htm", *asked[2:], "--all"), "more than the 2,097,152"),
        (
            ("cosets", "cube-3x3x3-htm", *asked[2:], "--coset", "R", "--workers", "celery"),
            "more than the 2,097,152",
        ),
    ):
        assert said in run(*arguments, status=2).stderr
    assert run_json("surveys") == []
