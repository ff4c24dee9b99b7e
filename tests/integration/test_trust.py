"""Code from strangers does not run: whatever a file, the database or Redis names, only what the operator allows."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import farthest
import python_spaces
from cluster import Cluster, until
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.publisher import Publisher
from farthest.errors import ForbiddenCodeError, PuzzleError
from farthest.families.python import allowed, user_class
from farthest.models.jobs import JobRecord
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import Space, scatter
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.scatter_attempt import ScatterAttempt
from farthest.worker.app import TASK, celery_app
from farthest.worker.search import tasks as search_tasks
from farthest.worker.search.attempts import SearchFacts
from integration.conftest import Process, Run, RunJson, forge

FROGS = 'name = "frogs"\nfamily = "python"\n[python]\nclass = "python_spaces:Frogs"\n'

COUNTING = """
import pathlib
pathlib.Path("imported").touch()
from farthest import PuzzleSpace
class Counting(PuzzleSpace):
    n: int = 5
    size = 20
    def initial(self):
        return [0]
    def successors_of(self, state):
        return [state + 1] if state < self.n else []
"""
COUNTING_FILE = (
    'name = "counting"\nfamily = "python"\n[python]\nclass = "counting:Counting"\noptions = { n = 7 }\n'
)


@pytest.fixture(autouse=True)
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARTHEST_PUZZLE_MODULES")
    monkeypatch.setattr("farthest.families.python.allowed._own", {})


@pytest.fixture
def marker(folder: Path) -> Path:
    """What an attack that works leaves."""
    return folder / "owned"


@pytest.fixture
def attack(folder: Path, marker: Path) -> str:
    """A puzzle file that would run a command."""
    table = f'class = "os:system"\noptions = {{ command = "touch {marker}" }}\n'
    (folder / "attack.toml").write_text(f'name = "attack"\nfamily = "python"\n[python]\n{table}')
    return "attack.toml"


@pytest.fixture
def counting(folder: Path) -> Iterator[Path]:
    """A module in the working folder, a puzzle of its class, and what its import leaves."""
    (folder / "counting.py").write_text(COUNTING)
    (folder / "counting.toml").write_text(COUNTING_FILE)
    yield folder / "imported"
    forget("counting")


def forget(*modules: str) -> None:
    """As in a new process."""
    for name in modules:
        sys.modules.pop(name, None)
    user_class._made.clear()


def hostile(puzzle: Puzzle, marker: Path) -> str:
    """The definition of a puzzle of a class, changed to call a command."""
    fields = json.loads(puzzle.to_json())
    fields["python"] = {"reference": "os:system", "options": json.dumps({"command": f"touch {marker}"})}
    return json.dumps(fields)


# A file


@pytest.mark.parametrize(
    "words",
    [
        ["enumerate"],
        ["submit"],
        ["solve"],
        ["random"],
        ["compare"],
        ["puzzles"],
        ["draw"],
        ["enumerate", "--allow-module", "os"],
        ["enumerate", "--allow-module", "posix"],
    ],
    ids=" ".join,
)
def test_a_file_runs_nothing(run: Run, attack: str, marker: Path, words: list[str]) -> None:
    error = run(words[0], attack, *words[1:], status=2).stderr
    assert error.startswith("Error: attack.toml, line 4, [python] class: puzzle class os:system")
    assert not marker.exists()
    if words[-1] == "os":
        assert "system is not a class derived from farthest.PuzzleSpace" in error
    else:
        assert "was not run on " in error
        assert "if you trust it, add --allow-module os, or set FARTHEST_PUZZLE_MODULES=" in error


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


def parse_puzzle_allowed(file: str) -> Puzzle:
    """The puzzle of a file of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
        return parse_puzzle(Path(file).read_text(), file)


# Redis


@pytest.mark.slow
def test_a_run_in_redis_runs_nothing(redis_url: str, folder: Path, marker: Path) -> None:
    """A worker without a list, another that even allows ``os``: neither runs it, nor a harmless class; both live on
    through Celery's commands."""
    (folder / "frogs.toml").write_text(FROGS)
    space = scatter(compile_space_allowed("frogs.toml"))
    nodes = RedisNodes([redis_url])
    told = []
    for options in ([], ["--allow-module", "os"]):
        with Cluster(folder, redis_url, f"sqlite:///{folder}/farthest.db") as cluster:
            worker = cluster.add_worker(1, *options)
            cluster.ready()
            made = ScatterAttempt.create(nodes, attempts.new_attempt("1"), space, 1, distances=False)
            (shard, *_) = made.begin(1, made.reachable(1))
            publisher = Publisher(nodes, TASK)
            for definition in (hostile(space.puzzle, marker), space.puzzle.to_json()):
                nodes.main.hset(made.meta_key, "puzzle", definition)
                publisher.publish(made.attempt, 1, [shard])
                told.append(
                    json.loads(until(partial(taken, nodes, made.done_key), 20, "the worker tells", 0.02))
                )
            made.drop()
            control = celery_app(redis_url).control
            control.broadcast("shutdown")
            control.broadcast("pool_grow", arguments={"n": 3})
            assert [*control.ping(timeout=2)[0].values()] == [{"ok": "pong"}]
            assert (worker.alive, len(worker.children())) == (True, 1)
            publisher.close()
    nodes.close()
    assert not marker.exists()
    assert [entry["error"] for entry in told] == ["failed"] * 4
    assert "puzzle class os:system was not run on " in told[0]["message"]
    assert "no module is allowed here" in told[1]["message"]
    assert "system is not a class derived from farthest.PuzzleSpace" in told[2]["message"]
    assert "puzzle class python_spaces:Frogs was not run on " in told[3]["message"]


def taken(nodes: RedisNodes, key: str) -> str | None:
    """The first entry of a list in Redis, if there is one."""
    entry: Any = nodes.main.lpop(key)
    return None if entry is None else entry.decode()


def compile_space_allowed(file: str) -> Space:
    """The space of a file of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
        return compile_space(parse_puzzle(Path(file).read_text(), file))


def test_a_search_in_redis_runs_nothing(marker: Path) -> None:
    puzzle = hostile(farthest.load_puzzle(python_spaces.Ring()), marker)
    problem = json.dumps({"board": [0] * 8, "target": "0", "heuristic": "zero"})
    with pytest.raises(ForbiddenCodeError, match=r"^attempt 1-a: puzzle class os:system was not run on "):
        search_tasks._open(SearchFacts(puzzle, problem, False, 10, "{}"), "1-a")
    assert not marker.exists()


def failed(cluster: Cluster, job: int) -> JobRecord | None:
    """The job, once it has failed."""
    record = cluster.job(job)
    return record if record.status == "failed" else None


@pytest.mark.slow
def test_workers_that_may_not_and_may(redis_url: str, folder: Path) -> None:
    """A job stops with the worker's message, goes on with a worker that allows the class, and has the same digest."""
    (folder / "frogs.toml").write_text(FROGS)
    allow = ("--allow-module", "python_spaces")
    database = f"sqlite:///{folder}/farthest.db"
    with Cluster(folder, redis_url, database, {"SMALL_LAYER_STATES": 0}) as cluster:
        cluster.add_coordinator(*allow)
        refusing = cluster.add_worker()
        cluster.ready()
        job = cluster.submit("frogs.toml", *allow)
        record = until(partial(failed, cluster, job), 20, "the job stops", 0.02)
        assert f"{job}-" in str(record.error)
        assert "puzzle class python_spaces:Frogs was not run on " in str(record.error)
        assert "no module is allowed here; if you trust it, add --allow-module" in str(record.error)
        cluster.remove(refusing)
        cluster.add_worker(1, *allow)
        cluster.ready()
        cluster.start("resume", str(job))
        until(lambda: True if cluster.job(job).status != "failed" else None, 20, "it is queued", 0.02)
        result = cluster.wait(job)
        coordinator = cluster.coordinators[0]
        cluster.remove(coordinator)
        cluster.add_coordinator()
        second = cluster.submit("frogs.toml", *allow)
        ended = until(partial(failed, cluster, second), 20, "the job stops", 0.02)
        assert str(ended.error).startswith(f"job {second}: puzzle class python_spaces:Frogs was not run on ")
    embedded = enumerate_puzzle(farthest.load_puzzle(python_spaces.Frogs()), None)
    assert (result.digest, result.layers) == (embedded.digest, embedded.layers)


def test_what_messages_can_ask_of_a_worker() -> None:
    """In another process: what a worker leaves out is out for the whole process."""
    code = (
        "from celery.worker.control import Panel\nfrom farthest.worker.app import celery_app\n"
        "from farthest.worker.consumer import _restrict\napp = celery_app('redis://127.0.0.1:1')\n_restrict(app)\n"
        "print(*sorted(app.tasks), *sorted(Panel.data))"
    )
    told = subprocess.run(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    assert told.split() == [
        *("farthest.step", "farthest.subtree", "active", "active_queues", "disable_events", "enable_events"),
        *("heartbeat", "ping", "query_task", "registered", "reserved", "revoked", "scheduled", "stats"),
    ]


# Modules


def test_a_module_of_the_working_folder(run: Run, counting: Path, folder: Path) -> None:
    error = run("enumerate", "counting.toml", status=2).stderr
    assert f"it is code of the file {folder}/counting.py, and no module is allowed here" in error
    run("enumerate", "counting.toml", "--allow-module", "count", status=2)
    assert not counting.exists()
    told = run("enumerate", "counting.toml", "--allow-module", "counting").stdout
    assert "counting: 8 states" in told
    assert "farthest distance 1 '7' --allow-module counting\n" in told
    assert counting.exists()
    assert sys.path.count(str(folder)) == 0


def test_nothing_else_of_the_working_folder(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed module looks for one that may be there; a stranger has put it into the working folder."""
    installed = tmp_path_factory.mktemp("installed")
    optional = "try:\n    import faster\nexcept ImportError:\n    pass\n"
    (installed / "counting.py").write_text(optional + COUNTING)
    (folder / "faster.py").write_text("import pathlib\npathlib.Path('strange').touch()\n")
    (folder / "counting.py").write_text("import faster")  # after the installed one
    (folder / "counting.toml").write_text(COUNTING_FILE)
    monkeypatch.syspath_prepend(installed)
    run("enumerate", "counting.toml", "--allow-module", "counting")
    (installed / "counting.py").write_text("import faster\n" + COUNTING)
    forget("counting")
    error = run("enumerate", "counting.toml", "--allow-module", "counting", status=2).stderr
    assert "its module imports faster, which lies in the working folder and is not allowed" in error
    assert not (folder / "strange").exists()
    run("enumerate", "counting.toml", "--allow-module", "counting", "--allow-module", "faster")
    assert (folder / "strange").exists()
    forget("counting", "faster")


def test_a_package_does_not_allow_its_modules(run: Run, folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "inner.py").write_text(COUNTING)
    (folder / "inner.toml").write_text(COUNTING_FILE.replace("counting:", "package.inner:"))
    error = run("enumerate", "inner.toml", "--allow-module", "package", status=2).stderr
    assert f"the file {folder}/package/inner.py, and only package is allowed here" in error
    assert "FARTHEST_PUZZLE_MODULES=package,package.inner" in error
    assert not (folder / "imported").exists()
    run("enumerate", "inner.toml", "--allow-module", "package.inner")
    forget("package", "package.inner")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "from python_spaces import Ring as Counting",
            "does not declare Counting, but imports it; name it python_spaces:Ring, and allow python_spaces",
        ),
        (
            "from farthest import PuzzleSpace as Counting",
            "Counting is not a class derived from farthest.PuzzleSpace",
        ),
        ("def Counting(n): open('owned', 'w')", "Counting is not a class derived from farthest.PuzzleSpace"),
        ("class Counting:\n    n = 7", "Counting is not a class derived from farthest.PuzzleSpace"),
        (
            "def __getattr__(name): open('owned', 'w')",
            "has no class Counting; its classes of spaces are none",
        ),
    ],
)
def test_what_an_allowed_module_does_not_declare(
    run: Run, folder: Path, marker: Path, module: str, message: str
) -> None:
    (folder / "counting.py").write_text(module)
    (folder / "counting.toml").write_text(COUNTING_FILE)
    assert message in run("enumerate", "counting.toml", "--allow-module", "counting", status=2).stderr
    assert not marker.exists()
    forget("counting")


@pytest.mark.parametrize(
    ("name", "mend"), [("frogs.py", "write frogs"), ("a b", "write it as"), ("*", "write it")]
)
def test_wrong_names(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, mend: str) -> None:
    error = run("enumerate", "3-puzzle", "--allow-module", name, status=2).stderr
    assert error.startswith(
        f"Error: --allow-module: {name!r} is not the name of a module; expected a name such as frogs"
    )
    assert mend in error
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", f"python_spaces, {name}")
    for words in (["distance", "1", "3"], ["worker"], ["coordinator"]):
        if words[0] == "distance":
            Path("frogs.toml").write_text(FROGS)
            words = ["enumerate", "frogs.toml"]
        assert f"FARTHEST_PUZZLE_MODULES: {name!r} is not the name" in run(*words, status=2).stderr


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


# In Python


def test_an_object_of_ones_own(folder: Path) -> None:
    with farthest.enumerate(python_spaces.Ring(n=5)) as made:
        assert made.layers == (1, 2, 2)
        assert made.puzzle.name == "ring"
        assert made.distance("3") == 2
        text = (
            'name = "ring"\nfamily = "python"\n[python]\nclass = "python_spaces:Ring"\noptions = { n = 5 }\n'
        )
        assert made.puzzle.digest == parse_puzzle(text, "ring.toml").digest
    with farthest.open_map("ring") as stored:
        assert stored.farthest() == ["2", "3"]
    assert farthest.histogram(python_spaces.Frogs(each=2)).states == 23
    assert len(farthest.copies(python_spaces.Ring(), "3")) == 2
    with pytest.raises(PuzzleError, match=r"Ring is a class, expected an object of it; write Ring\(\)"):
        farthest.enumerate(python_spaces.Ring)  # type: ignore[arg-type]
    with pytest.raises(PuzzleError, match="options: n is 'x', expected a whole number"):
        farthest.enumerate(python_spaces.Ring(n="x"))  # type: ignore[arg-type]

    class Inner(farthest.PuzzleSpace):
        size = 1

    with pytest.raises(PuzzleError, match="declare it at the top of a module"):
        farthest.enumerate(Inner())


@pytest.mark.slow
def test_a_script_of_ones_own(run: Run, folder: Path) -> None:
    """Its class is named as others can import it."""
    own = (
        "if __name__ == '__main__':\n    import farthest\n    print(farthest.enumerate(Counting()).layers)\n"
    )
    (folder / "counting.py").write_text(COUNTING + own)
    told = subprocess.run(
        [sys.executable, "counting.py"], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    assert told == f"{(1,) * 6}\n"
    assert run("distance", "counting", "3", "--allow-module", "counting").stdout == "3\n"
    forget("counting")


def test_a_module_allowed_by_a_call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.families.python.allowed._modules", frozenset())
    with pytest.raises(ForbiddenCodeError):
        parse_puzzle(FROGS, "frogs.toml")
    farthest.allow_module("python_spaces")
    assert parse_puzzle(FROGS, "frogs.toml").name == "frogs"
    with pytest.raises(farthest.SettingError, match=r"allow_module: 'frogs.py' is not the name of a module"):
        farthest.allow_module("frogs.py")
