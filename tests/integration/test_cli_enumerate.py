"""`farthest enumerate`."""

import json
import shlex
from pathlib import Path

import pytest

from cases import for_each
from farthest.cli.options import byte_size
from farthest.cli.printing import side_by_side
from farthest.cli.progress import LineReporter, LiveReporter
from farthest.coordinator.settings import Estimate, Outcome
from farthest.puzzles import catalogue
from farthest.wording import bytes_text, rate_text, seconds_text
from integration.conftest import Process, Run, RunJson

FIELDS = {
    "job": int,
    "puzzle": str,
    "states": int,
    "eccentricity": int,
    "layers": list,
    "farthest": list,
    "digest": str,
    "seconds": float,
    "complete": bool,
    "resumed_from": type(None),
    "stopped": type(None),
    "classes": type(None),
    "machine": dict,
    "database": str,
}


def test_the_seed(run: Run, folder: Path) -> None:
    text = run("enumerate", "eight-kinds").stdout
    assert "90,720 states, eccentricity 30" in text
    assert "   30       6\n" in text
    assert "6 boards farthest, 30 moves to goal" in text
    assert "farthest.db" in text
    assert (folder / "farthest.db").exists()


def test_json(run_json: RunJson) -> None:
    document = run_json("enumerate", "eight-kinds")
    assert {name: type(value) for name, value in document.items()} == FIELDS
    known = catalogue.load("eight-kinds").known[0]
    assert document["states"] == known.states
    assert tuple(document["layers"]) == known.layers
    assert sorted(document["farthest"]) == sorted(known.farthest or ())
    assert document["complete"]


def test_origins(run_json: RunJson) -> None:
    to = run_json("enumerate", "roundabout", "--to", "goal")
    away = run_json("enumerate", "roundabout", "--from", "goal")
    assert to["states"] == away["states"]
    assert to["farthest"] != away["farthest"]
    board = to["farthest"][0]
    there = run_json("enumerate", "roundabout", "--from", board)
    assert run_json("distance", str(there["job"]), board)["distances"][0]["distance"] == 0
    goal = run_json("puzzles", "roundabout")["goals"][0]
    answers = [
        run_json("distance", str(job), where)["distances"][0] for job, where in ((1, board), (3, goal))
    ]
    assert answers[0]["distance"] == answers[1]["distance"] == to["eccentricity"]


def test_generators(run: Run, run_json: RunJson) -> None:
    m11 = "a=(1,2,3,4,5,6,7,8,9,10,11); b=(3,7,11,8)(4,10,5,6)"
    named = run_json("enumerate", "--generators", m11)
    assert (named["states"], sum(named["layers"])) == (7920, 7920)  # the order of the group, by the ATLAS
    assert run_json("enumerate", m11)["digest"] == named["digest"]
    assert run_json("estimate", "--generators", m11, "--histogram-only")["states"] == 7920
    both = run("enumerate", "pancake-3", "--generators", "(1,2)", status=2).stderr
    assert "--generators replaces PUZZLE" in both
    assert "expected permutations" in run("submit", "--generators", "pancake-3", status=2).stderr


def test_what_is_there_is_not_enumerated_again(run: Run, run_json: RunJson) -> None:
    first = run_json("enumerate", "3-puzzle")
    again = run("enumerate", "3-puzzle", "--map", "full")
    assert again.stderr.startswith("Note: this is job 1, stored on 20")
    assert "--again" in again.stderr
    assert "Map kept as job 1" in again.stdout
    assert {**run_json("enumerate", "3-puzzle"), "seconds": 0} == {**first, "seconds": 0}
    assert run_json("enumerate", "3-puzzle", "--again")["job"] == 2
    assert run_json("enumerate", "3-puzzle", "--from", "goal")["job"] == 3
    assert run_json("enumerate", "3-puzzle", "--histogram-only")["job"] == 4
    assert run_json("enumerate", "3-puzzle", "--max-depth", "2")["job"] == 5
    assert run_json("enumerate", "3-puzzle", "--max-depth", "2")["job"] == 5
    assert run_json("enumerate", "3-puzzle")["job"] == 2


def test_suggested_commands_name_the_database(run: Run, folder: Path) -> None:
    lines = run("enumerate", "3-puzzle", "--database", "my maps.db").stdout.splitlines()
    suggested = [line.strip() for line in lines if line.startswith("  farthest")]
    assert len(suggested) == 3
    for line in suggested:
        assert run(*shlex.split(line)[1:]).stdout
    error = run("path", "5", "goal", "--database", "other.db", status=2).stderr
    assert "`farthest enumerate PUZZLE --database other.db`" in error
    url = "postgresql://me:secret@127.0.0.1:1/maps"
    assert "secret" not in run("jobs", "--database", url, status=2).output


def test_a_limit(run: Run, run_json: RunJson) -> None:
    document = run_json("enumerate", "8-puzzle", "--max-depth", "3")
    assert (document["layers"], document["eccentricity"], document["complete"]) == ([1, 2, 4, 8], None, False)
    text = run("enumerate", "8-puzzle", "--max-depth", "3").stdout
    assert "--max-depth ended the enumeration" in text
    assert "eccentricity" not in text


def test_first_layers_that_contradict_the_file_are_pointed_out(run: Run, folder: Path) -> None:
    text = 'name = "small"\nfamily = "sliding"\n[sliding]\ngoal = "120/345"\n[[known]]\nsource = "hearsay"\n'
    for layers, warned in (([1, 2, 3, 5], False), ([1, 2], False), ([1, 3], True), ([1, 2, 3, 6], False)):
        (folder / "small.toml").write_text(f"{text}first_layers = {layers}\n")
        result = run("enumerate", "./small.toml", "--max-depth", "2")
        assert ("first layers known from 'hearsay' are others" in result.stderr) == warned


@pytest.mark.parametrize("options", [[], ["--histogram-only"]])
def test_memory_that_is_used_up_leaves_the_complete_layers(
    run: Run, run_json: RunJson, options: list[str]
) -> None:
    limit = ["--max-depth", "30", "--memory", "3MB", "--threads", "1"]
    result = run("enumerate", "15-puzzle", *limit, *options, "--json", status=3)
    assert "Warning: stopped before the depth limit: the states up to depth" in result.stderr
    document = json.loads(result.stdout)
    known = catalogue.load("15-puzzle").known[0].layers
    assert known is not None
    assert 5 < len(document["layers"]) < 30
    assert tuple(document["layers"]) == known[: len(document["layers"])]
    assert (document["complete"], document["eccentricity"]) == (False, None)
    assert document["stopped"] in " ".join(result.stderr.split())
    assert run_json("show", "1")["states"] == sum(document["layers"])


def test_a_histogram_has_no_map(run: Run, run_json: RunJson) -> None:
    document = run_json("enumerate", "eight-kinds", "--histogram-only", "--threads", "1")
    assert document["layers"][-1] == 6
    assert "without a map" in run("enumerate", "eight-kinds", "--histogram-only").stdout
    error = run("distance", "1", "┘│└/─□─/┐│┌", status=2).stderr
    assert "histogram" in error
    assert sorted(run("states", "1", "--farthest").stdout.split()) == sorted(document["farthest"])
    assert run_json("states", "1", "--farthest", "--limit", "2")["boards"] == document["farthest"][:2]
    assert "histogram" in run("states", "1", "--depth", "3", status=2).stderr
    run("plot", "1", "layers.svg")
    run("show", "1")


def test_a_file(run_json: RunJson, folder: Path) -> None:
    (folder / "mine.toml").write_text(
        'name = "mine"\nfamily = "sliding"\n[sliding]\nblank = "0"\ngoal = ["0 1", "2 3"]\n'
    )
    document = run_json("enumerate", "mine.toml", "--database", "other.db")
    assert (document["puzzle"], document["states"], document["database"]) == ("mine", 12, "other.db")
    assert not (folder / "farthest.db").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["eight-kind"], "eight-kinds"),
        (["eight-kinds", "--to", "123"], "board '123'"),
        (["sliding-2x3", "--from", "start"], "start"),
        (["eight-kinds", "--from", "goal", "--to", "goal"], "exclude each other"),
        (["eight-kinds", "--memory", "1kB"], "--memory"),
        (["eight-kinds", "--memory", "1GiB", "--workers", "celery"], "FARTHEST_WORKER_MEMORY"),
        (["eight-kinds", "--memory", "much"], "not a size"),
        (["eight-kinds", "--memory", "0"], "at least one byte"),
        (["eight-kinds", "--threads", "0"], "--threads"),
        (["eight-kinds", "--max-depth", "-1"], "--max-depth"),
        (["eight-kinds", "--database", "no/such/folder.db"], "folder"),
        (["eight-kinds", "--database", "nosuch://x"], "nosuch"),
        (["missing.toml"], "missing.toml"),
        ([], "PUZZLE"),
    ],
)
def test_what_is_refused(run: Run, arguments: list[str], message: str) -> None:
    result = run("enumerate", *arguments, status=2)
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.slow
def test_progress_as_lines(run: Run, process: Process) -> None:
    result = process("enumerate", "3-puzzle", "--progress", "--json")
    lines = result.stderr.splitlines()
    assert lines[0].startswith("estimate states_at_most=12 ")
    assert [line.split()[0] for line in lines[1:]] == ["layer"] * 7 + ["finished"]
    assert lines[1].startswith("layer depth=0 states=1 total=1 seconds=")
    assert json.loads(result.stdout)["states"] == 12
    assert process("enumerate", "3-puzzle", "--again").stderr == ""


def test_reporters_tell_every_event(capsys: pytest.CaptureFixture[str]) -> None:
    estimate = Estimate(states_at_most=10**8, keys=10**8, memory=2**20, disk=5, memory_limit=2**30)
    outcome = Outcome(4, "p", 10, 1, (1, 9), [], "", 1.0, True, 7)
    for reporter in (LineReporter(), LiveReporter()):
        reporter.estimate(estimate)
        reporter.begun_anew(4, 7, 0.25)
        reporter.resumed(4, 7, 10, 20)
        reporter.layer(8, 1000, 4 * 10**7, 0.1)
        reporter.layer(9, 1000, 5 * 10**7, 0.1)
        reporter.checkpoint(9, 0.1)
        if isinstance(reporter, LiveReporter):
            parts = reporter.parts()
            assert parts[:4] == ["depth 9", "1,000 new", "50,000,000 states", "50.0%"]
            assert parts[4].endswith("/s")
            assert parts[5].endswith("left")
        reporter.finished(outcome)
        reporter.stop()
    said = capsys.readouterr().err
    assert "begun-anew job=4 checkpoint=7 seconds=0.250000\n" in said
    assert "job 4 starts over: its layers up to depth 7 took 0.2 s, and reading their" in said
    assert "resumed job=4 depth=7 states=10 total=20\n" in said
    assert "at most 100,000,000 states; needs 1.0 MiB of memory (of 1.0 GiB), 5 bytes of disk" in said
    assert "job 4 continues after depth 7" in said


def test_the_live_line_tells_what_is_read_and_resumed() -> None:
    reporter = LiveReporter()
    try:
        reporter.resuming(4, 7, 0.5)
        assert reporter.parts()[0] == "reading the checkpoint at depth 7: 50%"
        reporter.resumed(4, 7, 10, 2000)
        assert reporter.parts()[:3] == ["depth 7", "10 new", "2,000 states"]
    finally:
        reporter.stop()


@for_each(
    ("text", "size"),
    [
        ("4GiB", 4 * 2**30),
        ("500MB", 500_000_000),
        ("1.5g", 3 * 2**29),
        ("64k", 65536),
        (" 2 TiB ", 2**41),
        ("123", 123),
        ("7b", 7),
        (None, None),
    ],
)
def test_sizes(text: str | None, size: int | None) -> None:
    assert byte_size(None, None, text) == size  # type: ignore[arg-type]  # click's part is not used


def test_amounts() -> None:
    assert [bytes_text(size) for size in (5, 1024, 3 * 2**29, 2**70)] == [
        "5 bytes",
        "1.0 KiB",
        "1.5 GiB",
        "1,024 EiB",
    ]
    assert [seconds_text(each) for each in (0.00312, 1.234, 12.34, 245, 7384, 1e6, 1.3e11)] == [
        "0.0031 s",
        "1.23 s",
        "12.3 s",
        "4 min 05 s",
        "2 h 03 min",
        "12 days",
        "4,119 years",
    ]
    assert [rate_text(each) for each in (812, 15_300, 350e6, 2e12)] == ["812", "15.3 k", "350 M", "2e+03 G"]


def test_drawings_are_wrapped() -> None:
    drawings = [["ab", "c"], ["d"], ["ef", "gh"]]
    assert side_by_side(drawings, width=80) == ["ab   d    ef", "c         gh"]
    assert side_by_side(drawings, width=8) == ["ab   d", "c", "", "ef", "gh"]
    assert side_by_side(drawings, width=1) == ["ab", "c", "", "d", "", "ef", "gh"]
    assert side_by_side([]) == []
