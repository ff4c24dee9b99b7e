"""What workers and coordinators make of a place for blobs: whether it is the same one, and what is left there."""

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cases import for_each
from farthest.coordinator.attempt import attempt_of
from farthest.coordinator.service import Leftovers
from farthest.coordinator.settings import Settings
from farthest.errors import LateStepError, LostStateError, NoRoomError, SettingError, UnavailableError
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.stores.blobs.blob import BlobCache
from farthest.stores.blobs.folder import FolderPlace
from farthest.stores.blobs.place import DAY, BlobName, BlobPart, attempt_in
from farthest.stores.blocks import Cut
from farthest.stores.redis import attempts
from farthest.stores.redis.attempt_stores import Access
from farthest.stores.redis.attempts import new_attempt
from farthest.stores.redis.connections import RedisNodes
from farthest.stores.redis.gather_attempt import GatherAttempt
from farthest.stores.redis.gather_store import GatherStore
from farthest.stores.redis.records import Pointer, Record, with_checksum
from farthest.worker.enumeration import StepWork
from farthest.worker.work import WorkerProcess
from store_cases import case
from unit.worker.test_tasks import told

NAME = BlobName("7-aa-1", "b", 3, 5, "0123abcd")


@pytest.fixture
def folder(scratch: Path, redis_nodes: RedisNodes, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = scratch / "blobs"
    made.mkdir()
    monkeypatch.setenv("FARTHEST_BLOBS", made.as_uri())
    return made


Begin = Callable[..., GatherAttempt]


@pytest.fixture
def begin(redis_nodes: RedisNodes, folder: Path) -> Iterator[Begin]:
    made: list[GatherAttempt] = []

    def make(name: str = "1", at: Path = folder) -> GatherAttempt:
        of = case("two colours")
        cut = Cut(of.kernel, of.shard_classes, 1)
        run = GatherAttempt.create(
            redis_nodes, new_attempt(name), of.space, cut, distances=False, place=FolderPlace(at)
        )
        run.begin(1, range(run.kernel.shards))
        made.append(run)
        return run

    yield make
    for run in made:
        run.drop()


def step_all(run: GatherAttempt) -> None:
    process = WorkerProcess("farthest@test")
    for block in range(run.blocks.count):
        process.run(StepWork, run.attempt, 1, block)
    process.nodes.close()


# Whether it is the same place


def test_a_worker_steps_with_blobs_in_the_folder(begin: Begin) -> None:
    run = begin()
    step_all(run)
    assert run.counts(1) == case("two colours").counts(1)


def test_the_folder_may_have_another_path_on_each_host(
    begin: Begin, scratch: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (scratch / "mounted here").symlink_to(folder)
    run = begin(at=scratch / "mounted here")
    step_all(run)
    assert run.counts(1) == case("two colours").counts(1)


@pytest.mark.parametrize("other", ["redis", "folder"])
def test_a_worker_with_another_place_says_so(
    begin: Begin, scratch: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, other: str
) -> None:
    run = begin()
    elsewhere = scratch / "other"
    elsewhere.mkdir()
    said = other if other == "redis" else elsewhere.as_uri()
    monkeypatch.setenv("FARTHEST_BLOBS", said)
    step_all(run)
    [entry, *_] = told(run)
    assert entry["error"] == "failed"
    assert (
        f"keeps its blobs in '{folder.as_uri()}', this process in {said}: give all workers"
        in entry["message"]
    )
    assert list(elsewhere.iterdir()) == []


def test_hosts_that_do_not_share_the_folder_are_told(begin: Begin, folder: Path) -> None:
    run = begin()
    folder.rename(folder.with_name("of the other host"))
    folder.mkdir()
    step_all(run)
    [entry, *_] = told(run)
    assert entry["error"] == "lost"
    assert "or the hosts do not share that folder" in entry["message"]


def test_a_worker_goes_nowhere_that_redis_names(begin: Begin, scratch: Path, folder: Path) -> None:
    run = begin()
    trap = scratch / "trap"
    trap.mkdir()
    run.nodes.main.hset(run.meta_key, "blobs", trap.as_uri())
    step_all(run)  # by its own setting, where it finds the mark
    assert run.counts(1) == case("two colours").counts(1)
    assert list(trap.iterdir()) == []


@pytest.mark.parametrize("mark", ["", "../../trap", "0123abc", "0123ABCD", "0123abcd\n"])
def test_marks_that_are_none(begin: Begin, mark: str) -> None:
    run = begin()
    run.nodes.main.hset(run.meta_key, "mark", mark)
    step_all(run)
    assert {entry["error"] for entry in told(run)} == {"lost"}
    assert "at `$.mark`" in told(run)[0]["message"]


@for_each("nonce", ["../../../trap", "x", "/etc/passwd", "0123abcd/", "0123abcd\n", "..", 7, None])
def test_nonces_that_would_lead_elsewhere(nonce: object) -> None:
    import json

    for place, fields, read in (
        ("c:3:5", [nonce, [[1, 1]], []], lambda text: Record.of(text, 3, 5)),
        ("v:5", [3, [[3, nonce, 9]]], lambda text: Pointer.of(text, 5)),
    ):
        with pytest.raises(LostStateError, match="is not one of farthest's"):
            read(with_checksum(place, json.dumps(fields)).encode())


def test_names_of_folders() -> None:
    assert attempt_in("farthest-attempt-7-aa-1") == "7-aa-1"
    for other in (
        "farthest-attempt-",
        "7-aa-1",
        "farthest-attempt-a/b",
        "farthest-attempt-ä",
        "Farthest-attempt-1",
    ):
        assert attempt_in(other) is None


# The folder as a place


def test_a_place_that_is_away_is_told_and_may_come_back(folder: Path) -> None:
    place = FolderPlace(folder)
    place.put({NAME: b"blob"})
    away = folder.with_name("unmounted")
    folder.rename(away)
    for action in (
        lambda: place.put({NAME: b"blob"}),
        lambda: place.read([BlobPart(NAME, 0, 9)]),
        place.attempts,
        place.free,
    ):
        with pytest.raises(UnavailableError, match=r"No such file.*check that it is mounted.*FARTHEST_BLOBS"):
            action()
    with pytest.raises(SettingError, match="there is no folder"):
        place.check()
    away.rename(folder)
    place.check()
    assert place.read([BlobPart(NAME, 0, 9)]) == [b"blob"]


@contextmanager
def full_disk() -> Iterator[None]:
    """A limit of this process instead of the disk: no file becomes longer than ten bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_told_and_nothing_half_is_left(folder: Path) -> None:
    place = FolderPlace(folder)
    with (
        full_disk(),
        pytest.raises(
            NoRoomError, match=f"{folder}: the blobs of running jobs do not fit .*make room, or name"
        ),
    ):
        place.put({NAME: bytes(5000)})
    assert [path for path in folder.rglob("*") if path.is_file()] == []
    place.put({NAME: bytes(5000)})
    assert place.read([BlobPart(NAME, 0, 9000)]) == [bytes(5000)]


def test_a_worker_without_room_tells_the_coordinator(begin: Begin) -> None:
    run = begin()
    with full_disk():
        step_all(run)
    assert {entry["error"] for entry in told(run) if "error" in entry} == {"no room"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(folder: Path) -> None:
    folder.chmod(0o500)
    with pytest.raises(SettingError, match="may not write to the folder"):
        FolderPlace(folder).check()


def test_what_a_killed_process_was_writing_goes_with_its_attempt(folder: Path) -> None:
    place = FolderPlace(folder)
    place.put({NAME: b"blob"})
    of = folder / "farthest-attempt-7-aa-1"
    (of / ".b-3-6-0123abcd.89abcdef").write_bytes(b"half a bl")
    assert place.read([BlobPart(BlobName("7-aa-1", "b", 3, 6, "0123abcd"), 0, 99)]) == [b""]
    place.drop("7-aa-1")
    assert list(folder.iterdir()) == []


# What is left


def test_what_dead_attempts_left_is_removed(begin: Begin, folder: Path) -> None:
    """Of the own job at once; of others of this Redis when their coordinators are silent for an hour; of those that
    this Redis does not know, a day after the last blob."""
    mine, others, silent = begin("7-aa"), begin("7-ab"), begin("9-aa")
    nodes, place = mine.nodes, FolderPlace(folder)
    foreign = {"lost-aa-1": 2 * DAY, "lost-ab-1": DAY / 2, "7-aa-77": 0.0}
    for name, age in foreign.items():
        place.put({BlobName(name, "b", 1, 1, "0123abcd"): b"blob"})
        moment = time.time() - age
        os.utime(folder / f"farthest-attempt-{name}", (moment, moment))
    (folder / "farthest-attempt-lost-ab-1.txt").write_text("somebody's")
    nodes.main.zincrby(attempts.ATTEMPTS, -2 * attempts.DEAD_SECONDS, silent.attempt)
    attempts.drop_dead(nodes, "7-aa", place)
    assert set(place.attempts()) == {others.attempt, "lost-ab-1"}
    assert (folder / "farthest-attempt-lost-ab-1.txt").exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_step_that_is_committed_while_its_attempt_is_dropped_leaves_no_blobs(
    begin: Begin, folder: Path, when: str
) -> None:
    """Before its blobs are removed, or after, while there are still keys of the attempt."""

    class Dropped(FolderPlace):
        def drop(self, attempt: str) -> None:
            if when == "before":
                commit()
            super().drop(attempt)
            if when == "after":
                commit()

    def commit() -> None:
        if step_inputs:
            with pytest.raises(LateStepError):
                worker.commit(1, step_inputs.pop(), counts)

    run = begin()
    worker = GatherStore.attach(
        Access.found(run.nodes, run.attempt, BlobCache(0), "worker", FolderPlace(folder))
    )
    worker._check_under_way = lambda depth: None  # type: ignore[method-assign]  # looked just before the drop
    step_inputs = [worker.open(1, range(run.kernel.shards))]
    counts = step_inputs[0].run()
    assert any(counts)
    attempts.drop(run.nodes, run.attempt, Dropped(folder))
    assert not step_inputs
    assert list(folder.iterdir()) == []


def test_a_step_that_is_late_writes_no_blobs(
    begin: Begin, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin()
    worker = GatherStore.attach(
        Access.found(run.nodes, run.attempt, BlobCache(0), "worker", FolderPlace(folder))
    )
    step_input = worker.open(1, range(run.kernel.shards))
    counts = step_input.run()
    run.drop()
    monkeypatch.setattr(FolderPlace, "put", lambda *arguments: pytest.fail("it writes"))
    with pytest.raises(LateStepError):
        worker.commit(1, step_input, counts)


def test_blobs_of_jobs_that_nobody_runs_are_removed(
    redis_nodes: RedisNodes, folder: Path, tmp_path: Path
) -> None:
    space, place = compile_space(load("3-puzzle")), FolderPlace(folder)
    with open_database(str(tmp_path / "jobs.db"), create=True) as database:
        jobs, puzzle = Jobs(database), space.puzzle
        parameters = Settings().parameters(space.origin)
        number = jobs.add(
            puzzle.to_json(), puzzle.digest, puzzle.name, parameters, space.layout_fields(), owner_token()
        )
        name = new_attempt(attempt_of(jobs.get(number)))
        jobs.cancel(number)
        attempts.touch(redis_nodes, name)
        redis_nodes.main.zincrby(attempts.ATTEMPTS, -2 * attempts.SEEN_SECONDS, name)
        written_late = new_attempt(attempt_of(jobs.get(number)))  # for an attempt that had been dropped
        left = (name, written_late, "8-aa-1")
        place.put({BlobName(one, "b", 1, 1, "0123abcd"): b"blob" for one in left})
        Leftovers(jobs, redis_nodes, place).remove()
    assert place.attempts() == ["8-aa-1"]
