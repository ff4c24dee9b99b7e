"""Code from strangers does not run: what a database names is not imported, and what needs no class does without."""

import os
from pathlib import Path

import pytest

import farthest
import python_spaces
from farthest.errors import ForbiddenCodeError
from farthest.families.python import allowed
from integration.conftest import Process, Run, RunJson, forge
from strangers import FROGS, forget, hostile, parse_puzzle_allowed

pytestmark = pytest.mark.usefixtures("nothing_allowed")

# A row of the database


def test_a_row_of_the_database_runs_nothing(run: Run, folder: Path, marker: Path) -> None:
    (folder / "ring.toml").write_text(FROGS.replace("Frogs", "Ring").replace("frogs", "ring"))
    allow = ("--allow-module", "python_spaces")
    run("enumerate", "ring.toml", *allow)
    run("submit", "ring.toml", *allow)
    stored = hostile(parse_puzzle_allowed("ring.toml"), marker)
    forge(f"UPDATE puzzle SET definition = '{stored}'")
    forget()
    for words in (
        ["distance", "1", "3"],
        ["path", "1", "3"],
        ["states", "1", "--depth", "2"],
        ["states", "1", "--farthest"],
        ["export", "1", "ring.csv"],
        ["heuristic", "1"],
        ["resume", "2", "--here"],
    ):
        error = run(*words, status=2).stderr
        assert "puzzle class os:system was not run on " in error, words
        assert error.startswith("Error: job 2: " if words[1] == "2" else "Error: job 1 in farthest.db: "), (
            words
        )
        if words[0] != "resume":  # which this process has claimed
            refused = run(*words, "--allow-module", "os", status=2).stderr
            assert "system is not a class derived from farthest.PuzzleSpace" in refused, words
    for words in (["jobs"], ["show", "1"], ["watch", "1"]):
        run(*words)
    assert "os:system was not run" in run("verify", "1", status=2).stderr
    assert not marker.exists()


# Without the class


def test_nothing_is_imported_to_look_at_jobs(
    run: Run, run_json: RunJson, counting: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even where it is allowed; verify alone imports what is."""
    allow = ("--allow-module", "counting")
    run("enumerate", "counting.toml", *allow)
    run("submit", "counting.toml", *allow)
    counting.unlink()
    forget("counting")
    with monkeypatch.context() as patch:
        patch.setenv("FARTHEST_PUZZLE_MODULES", "counting")
        assert "counting" in run("jobs").stdout
        assert "20 keys" in run("show", "1").stdout
        shown = run("watch", "1").stdout
        assert "1 board farthest, 7 moves from start:\n\n7" in shown
        for words in (
            ["plot", "1", "x.svg"],
            ["cancel", "2"],
            ["resume", "2"],
            ["cancel", "2"],
            ["delete", "2"],
        ):
            run(*words)
    report = run("verify", "1", status=2)
    assert "job 1 (counting, from start): NOT PROVED; 8 states" in report.stdout
    assert "the distances were not proved, only that the stored bytes are whole" in report.stderr
    assert "add --allow-module counting" in report.stderr
    document = run_json("verify", "1", status=2)
    assert (document["ok"], document["layers"]) == (False, [1] * 8)
    assert [check["name"] for check in document["checks"]] == [
        "file",
        "record",
        "length",
        "layers",
        "digest",
        "job",
    ]
    assert all(check["ok"] for check in document["checks"])
    assert "puzzle class counting:Counting was not run" in document["unproved"]
    assert not counting.exists()
    assert "proved; 8 states" in run("verify", "1", *allow).stdout
    assert counting.exists()
    forget("counting")
    forge("UPDATE layer SET states = 3 WHERE depth = 2")
    assert "DISPROVED" in run("verify", "1", status=1).stdout


@pytest.mark.slow
@pytest.mark.parametrize("name", ["Ring", "Words", "Wide", "Sparse"])
def test_bytes_are_verified_without_the_class(folder: Path, name: str) -> None:
    with farthest.enumerate(getattr(python_spaces, name)()) as made:
        whole = made.verify()
        assert whole.ok
        digest, layers = whole.digest, whole.layers
    allowed._own.clear()
    forget()
    with farthest.open_map(1) as stored:
        report = stored.verify()
        assert (report.ok, report.failures, report.digest, report.layers) == (False, (), digest, layers)
        with pytest.raises(ForbiddenCodeError, match=r"^job 1 in farthest\.db: puzzle class"):
            stored.farthest()


@pytest.mark.slow
def test_nothing_is_imported_to_watch_on_a_terminal(run: Run, process: Process, counting: Path) -> None:
    run("enumerate", "counting.toml", "--allow-module", "counting")
    counting.unlink()
    terminal, slave = os.openpty()
    watched = process("watch", "1", stderr=slave, env={"FARTHEST_PUZZLE_MODULES": "counting"})
    os.close(slave)
    os.close(terminal)
    assert (watched.returncode, "counting: 8 states" in watched.stdout) == (0, True)
    assert not counting.exists()
    forget("counting")
