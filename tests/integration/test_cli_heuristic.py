"""farthest heuristic: the table, the proofs, the exit status, what is refused."""

import pytest

from farthest.heuristics.counts import CellSums
from integration.conftest import Run, RunJson, alter

UNEQUAL = "misplaced+manhattan"


@pytest.mark.slow
def test_the_sum_of_two_is_found_out(run: Run, run_json: RunJson) -> None:
    """Misplaced tiles and Manhattan distances added up, of the 8-puzzle, are not admissible."""
    run("enumerate", "8-puzzle")
    found = run_json(
        "heuristic", "8-puzzle", "--heuristic", UNEQUAL, "--heuristic", "manhattan", "--limit", "2"
    )
    assert (found["puzzle"], found["states"], found["complete"], found["depth"]) == (
        "8-puzzle",
        181440,
        True,
        31,
    )
    assert found["origin"] == {"direction": "to", "where": "goal"}
    added, manhattan = found["heuristics"]
    assert added["claims"] == {"admissible": False, "consistent": False}
    assert (added["admissible"], added["consistent"], added["too_large"]) == (False, False, 60669)
    assert len(added["counterexamples"]) == len(added["drop_counterexamples"]) == 2
    proof = added["worst"]
    (told,) = run_json("distance", "8-puzzle", proof["board"])["distances"]
    assert told["distance"] == proof["distance"] == proof["value"] - 8
    assert manhattan["claims"] == {"admissible": True, "consistent": True}
    assert (manhattan["admissible"], manhattan["consistent"], manhattan["largest"]) == (True, True, 22)
    assert (manhattan["moves"], manhattan["drops"], manhattan["worst"]) == (483840, 0, None)
    assert manhattan["mean"] == pytest.approx(14)
    assert manhattan["proved"]
    assert len(manhattan["nodes"]) == len(manhattan["layers"]) == 32


def test_the_table(run: Run) -> None:
    run("enumerate", "sliding-2x3")
    output = run("heuristic", "sliding-2x3", "--limit", "1").output
    lines = output.splitlines()
    assert lines[0].split() == [
        "heuristic",
        "admissible",
        "consistent",
        "mean",
        "mean",
        "h/d",
        "largest",
        "exact",
        "IDA*",
    ]
    rows = {line.split()[0]: line.split()[1:3] for line in lines[1:8]}
    assert rows.pop(UNEQUAL) == ["no", "no"]
    assert list(rows) == ["zero", "misplaced", "nearest", "manhattan", "matching", "linear-conflict"]
    assert all(verdict == ["yes", "yes"] for verdict in rows.values())
    assert f"\n{UNEQUAL} is more than the distance of " in output
    assert f"\n{UNEQUAL} falls by more than 1 with " in output
    assert output.count("  the worst: ") == 2
    assert lines[-1] == "over 360 states and 840 moves of job 1 (sliding-2x3, to goal)"


@pytest.mark.slow
def test_stored_patterns(run: Run, run_json: RunJson) -> None:
    """They are in the report, and their sum is admissible, not consistent, if they have no piece in common."""
    for name in ("sliding-2x3", "sliding-2x3@1-2", "sliding-2x3@3-5", "sliding-2x3@plain:1.2"):
        run("enumerate", name)
    found = run_json("heuristic", "sliding-2x3")["heuristics"]
    assert [each["heuristic"] for each in found[-3:]] == ["@1.2", "@3-5", "@plain:1.2"]
    assert [each["consistent"] for each in found[-3:]] == [False, False, True]
    assert all(each["admissible"] for each in found[-3:])
    text = "@1-2+@3-5,@plain:1.2"
    (added,) = run_json("heuristic", "sliding-2x3", "--heuristic", text)["heuristics"]
    assert added["heuristic"] == text
    assert added["claims"] == {"admissible": True, "consistent": False}
    assert added["admissible"]
    (twice,) = run_json("heuristic", "sliding-2x3", "--heuristic", "@3-5+@3-5")["heuristics"]
    assert twice["claims"] == {"admissible": False, "consistent": False}
    assert not twice["admissible"]
    result = run("heuristic", "sliding-2x3", "--heuristic", "@1-3", status=2)
    assert (
        "no finished map of sliding-2x3@1-3; run `farthest enumerate sliding-2x3@1-3` first" in result.output
    )


def test_a_depth_limit(run: Run) -> None:
    run("enumerate", "sliding-2x3", "--max-depth", "4")
    result = run("heuristic", "sliding-2x3", "--heuristic", "manhattan")
    assert "The map ends at depth 4: states that are farther were not checked" in result.output
    assert "Note: the newest map of sliding-2x3 is job 1: to depth 4 only." in result.stderr


def test_a_refuted_claim(run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch) -> None:
    """A heuristic that claims what is not so ends with status 1."""
    run("enumerate", "sliding-2x3")
    told = CellSums.values
    monkeypatch.setattr(CellSums, "values", lambda self, boards: 2 * told(self, boards))
    result = run("heuristic", "sliding-2x3", "--heuristic", "manhattan", status=1)
    assert result.output.count("NO, though claimed") == 2
    (found,) = run_json("heuristic", "sliding-2x3", "--heuristic", "manhattan", status=1)["heuristics"]
    assert found["claims"]["admissible"]
    assert not found["admissible"]


def test_what_is_refused(run: Run) -> None:
    run("enumerate", "eight-kinds")
    for arguments, message in [
        (["pancake-5"], "a map is made by `farthest enumerate pancake-5`"),
        (["17"], "Error: farthest.db: there is no job 17"),
        (["eight-kinds", "--heuristic", "manhattan"], "use 'nearest' or 'matching'"),
        (["eight-kinds", "--heuristic", "matchin"], "did you mean 'matching'?"),
        (["eight-kinds", "--limit", "-1"], "-1 is not in the range x>=0"),
        (["eight-kinds", "--heuristic", "@─"], "eight-kinds@─"),
    ]:
        result = run("heuristic", *arguments, status=2)
        assert message in result.output
        assert "Traceback" not in result.output
    run("enumerate", "lights-2x2-c3", "--from", "goal")
    result = run("heuristic", "lights-2x2-c3", status=2)
    assert "run `farthest enumerate lights-2x2-c3 --to goal`" in result.output


def test_a_damaged_map(run: Run) -> None:
    run("enumerate", "sliding-2x3")
    alter("UPDATE chunk SET payload = x'00'")
    assert "Error: " in run("heuristic", "sliding-2x3", status=2).output
