"""Killed at any moment, and two processes in one file: what is stored is always one whole checkpoint."""

import random
import signal
import subprocess
import sys
import time

import pytest

from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
from farthest.models.records import LayerRecord

CHUNKS, KEYS = 8, 1 << 16

PROGRAM = """
import os, random, signal, sys
from farthest.models.chunks import Chunk
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
from farthest.models.records import LayerRecord

CHUNKS, KEYS = 8, 1 << 16
path, die_at, checkpoints = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
database = open_database(path, create=True)
jobs, maps = Jobs(database), Maps(database)
owner = owner_token()
found = jobs.find_interrupted("d" * 64, {})
if found:
    assert jobs.claim(found.id, owner)
    job_id, depth = found.id, maps.depth(found.id)
else:
    job_id, depth = jobs.add("{}", "d" * 64, "tiny", {}, {}, owner), -1

def pieces(depth):
    for part in range(CHUNKS):
        if part == die_at and depth > 1:
            os.kill(os.getpid(), signal.SIGKILL)
        data = random.Random(f"{depth} {part}").randbytes(KEYS)
        yield Chunk(part * KEYS, part * KEYS + KEYS - 1, "uint8", data)

for depth in range(depth + 1, depth + 1 + checkpoints):
    layers = [LayerRecord(one, depth) for one in range(depth + 1)]
    maps.checkpoint(job_id, depth, pieces(depth), layers, float(depth), owner=owner)
    print(depth, flush=True)
sys.stdin.read()  # alive until told to end, so that its job is not taken over
"""


def start(url: str, die_at: int = -1, checkpoints: int = 1_000_000) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", PROGRAM, url, str(die_at), str(checkpoints)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def whole_checkpoint(url: str) -> int:
    """The depth of the stored checkpoint, every part of which is checked to be of that depth."""
    with open_database(url, create=False) as database:
        (job,) = Jobs(database).list()
        maps = Maps(database)
        depth = maps.depth(job.id)
        assert depth is not None
        chunks = list(maps.chunks(job.id))
        assert [one.first for one in chunks] == [part * KEYS for part in range(CHUNKS)]
        for part, chunk in enumerate(chunks):
            assert chunk.distances == random.Random(f"{depth} {part}").randbytes(KEYS)
        assert (job.depth, job.seconds, job.abandoned) == (depth, float(depth), True)
        assert Jobs(database).layers(job.id) == [LayerRecord(one, depth) for one in range(depth + 1)]
        if database.path:
            with database.read() as connection:
                assert connection.exec_driver_sql("PRAGMA integrity_check").scalar() == "ok"
        return depth


@pytest.mark.slow
@pytest.mark.parametrize("die_at", [pytest.param(4, marks=pytest.mark.night), CHUNKS - 1])
def test_killed_inside_a_checkpoint_the_older_one_is_left(database_url: str, die_at: int) -> None:
    process = start(database_url, die_at)
    output, _ = process.communicate()
    assert process.returncode == -signal.SIGKILL
    assert output.split() == [b"0", b"1"]
    assert whole_checkpoint(database_url) == 1


@pytest.mark.slow
def test_killed_at_any_moment_and_resumed_a_whole_checkpoint_is_left(database_url: str) -> None:
    moments = random.Random(2)
    reached = -1
    for _ in range(4):
        process = start(database_url)
        assert process.stdout is not None
        told = int(process.stdout.readline())
        assert told == reached + 1
        time.sleep(moments.uniform(0, 0.2))
        process.kill()
        rest, _ = process.communicate()
        told = int(rest.split()[-1]) if rest.split() else told
        # A checkpoint that was told is stored; the next may have been stored just before its telling.
        reached = whole_checkpoint(database_url)
        assert reached in (told, told + 1)


@pytest.mark.slow
def test_processes_may_work_in_one_fresh_database_at_the_same_time(database_url: str) -> None:
    processes = [start(database_url, checkpoints=5) for _ in range(3)]
    for process in processes:
        assert process.stdout is not None
        assert [process.stdout.readline() for _ in range(5)] == [b"%d\n" % depth for depth in range(5)]
    for process in processes:
        process.communicate(b"end")
    assert [process.returncode for process in processes] == [0, 0, 0]
    with open_database(database_url, create=False) as database:
        jobs, maps = Jobs(database), Maps(database)
        assert [job.id for job in jobs.list()] == [1, 2, 3]
        for job in jobs.list():
            assert maps.depth(job.id) == 4
            assert sum(len(bytes(one.distances)) for one in maps.chunks(job.id)) == CHUNKS * KEYS
            assert jobs.claim(job.id, owner_token())
