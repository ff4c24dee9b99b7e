"""What is checked of the deployment, in this order; each check leaves it running for the next."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from secrets import token_hex
from urllib.parse import quote

import numpy
import pyarrow.parquet

from containers.deployment import ALWAYS, PROFILES, PROJECT, Deployment, expect

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build/containers"
FARTHEST = ROOT / ".venv/bin/farthest"
STEPPED_BY_WORKERS = {"FARTHEST_SMALL_LAYER_STATES": 20_000, "FARTHEST_BLOCK_SIZE": "256KiB", "WORKERS": 2}
"""Settings with which workers take most layers, and a job of some 100 million states is long enough to be disturbed."""

PUZZLES = ("eight-kinds", "pancake-10", "hanoi-4-9", "diabolical-box", "sliding-3x4")
"""Gathered and scattered, dense and sparse."""

LONG = "sliding-3x4-slide"

FULL = re.compile("Redis has no memory left.*REDIS_MAXMEMORY and REDIS_LIMIT")

SMALL_MEMORIES = (("32mb", "168m"), ("48mb", "188m"))
"""Memory of Redis and of its container, as docs/many-machines.md says that they belong together."""


@cache
def embedded(puzzle: str, *options: str) -> tuple[str, Path]:
    """The digest of a puzzle's map as one process finds it, and the database with the map."""
    database = FOLDER / f"{puzzle}.db"
    database.unlink(missing_ok=True)
    command = [str(FARTHEST), "enumerate", puzzle, *options, "--json", "--database", str(database)]
    result = subprocess.run(command, capture_output=True, check=True)
    return str(json.loads(result.stdout)["digest"]), database


def start(deployment: Deployment, **variables: object) -> None:
    """Starts what does not run, with these variables; every check may be the first."""
    deployment.configure(**variables)
    deployment.compose("up", "--detach", seconds=1800)
    deployment.wait_until_healthy()


def first_builds(deployment: Deployment) -> str:
    """first builds and starts, without an image before"""
    for number in range(1, 6):
        deployment.docker("image", "rm", "farthest:check")
        deployment.compose("up", "--detach", "--build", seconds=1800)
        deployment.wait_until_healthy()
        if number < 5:
            deployment.compose("down")
    return "5 of 5"


def unchanged_build(deployment: Deployment) -> None:
    """an unchanged up, with and without --build, leaves all containers as they are"""
    start(deployment)
    before = deployment.ids(*ALWAYS)
    deployment.compose("up", "--detach")
    expect(deployment.ids(*ALWAYS) == before, "containers were made anew")
    deployment.environment = ("BUILDX_NO_DEFAULT_ATTESTATIONS=1",)  # docs/many-machines.md says why
    deployment.compose("up", "--detach", "--build")
    before = deployment.ids(*ALWAYS)
    for _ in range(2):
        deployment.compose("up", "--detach", "--build")
        expect(deployment.ids(*ALWAYS) == before, "containers were made anew by --build")


def hardening(deployment: Deployment) -> None:
    """read-only, no capabilities, no new privileges, an init, not root, ports on 127.0.0.1"""
    start(deployment)
    for container in deployment.containers():
        name, host = container["Name"], container["HostConfig"]
        expect(host["ReadonlyRootfs"] and host["CapDrop"] == ["ALL"] and not host["CapAdd"], name)
        expect("no-new-privileges:true" in host["SecurityOpt"] and host["Init"], name)
        bound = [port for ports in (host["PortBindings"] or {}).values() for port in ports]
        expect(all(port["HostIp"] == "127.0.0.1" for port in bound), f"{name}: {bound}")
    for service in ALWAYS:
        shown = deployment.compose(
            "exec", "-T", service, "sh", "-c", "id -u; grep Cap /proc/1/status; touch /x /etc/x 2>&1 || true"
        ).decode()
        expect(shown.split()[0] in ("999", "10001"), f"{service}: {shown}")
        expect(set(re.findall(r"Cap(?:Eff|Prm|Bnd):\t(\w+)", shown)) == {"0" * 16}, f"{service}: {shown}")
        expect(shown.count("Read-only file system") == 2, f"{service}: {shown}")


def limits(deployment: Deployment) -> None:
    """every container has a limit of memory, and no swap beyond it"""
    start(deployment)
    for container in deployment.containers():
        host = container["HostConfig"]
        expect(host["Memory"] > 0 and host["MemorySwap"] == host["Memory"], f"{container['Name']}: {host}")


def jobs(deployment: Deployment) -> str:
    """jobs find the digests of one process"""
    start(deployment, **STEPPED_BY_WORKERS)
    for puzzle in PUZZLES:
        expect(deployment.digest(deployment.submit(puzzle)) == embedded(puzzle)[0], puzzle)
    return ", ".join(PUZZLES)


def disturbed(deployment: Deployment, disturb: Callable[[], object]) -> str:
    """Runs a job, disturbs it when its layers are stepped, and compares its digest."""
    start(deployment, **STEPPED_BY_WORKERS)
    job = deployment.submit(LONG)
    deployment.wait(
        lambda: (deployment.job(job)["progress"] or {}).get("depth", 0) >= 12, f"job {job} to begin"
    )
    before = deployment.job(job)
    expect(before["status"] == "running", f"the job was {before['status']} when it should be disturbed")
    disturb()
    deployment.wait_until_healthy()
    expect(deployment.digest(job) == embedded(LONG)[0], "another digest")
    return f"at depth {before['progress']['depth']}"


def kills(service: str) -> Callable[[Deployment], str]:
    """The check that a job survives the sudden end of all containers of a service."""

    def check(deployment: Deployment) -> str:
        return disturbed(deployment, lambda: deployment.kill(service))

    check.__doc__ = f"kill -9 in {service} while a job runs: the same digest"
    return check


def restarts(deployment: Deployment) -> str:
    """restart of all services while a job runs: the same digest"""
    return disturbed(deployment, lambda: deployment.compose("restart"))


def down_and_up(deployment: Deployment) -> str:
    """down and up while a job runs: the same digest"""

    def disturb() -> None:
        deployment.compose("down")
        deployment.compose("up", "--detach")

    return disturbed(deployment, disturb)


def flower(deployment: Deployment) -> None:
    """Flower starts beside the workers and leaves them as they are"""
    start(deployment, WORKERS=4)
    workers = deployment.ids("worker")
    expect(len(workers) == 4, f"{len(workers)} workers")
    deployment.compose("up", "--detach", "flower")
    deployment.wait_until_healthy([*ALWAYS, "flower"])
    deployment.compose("--profile", "monitoring", "up", "--detach")
    expect(deployment.ids("worker") == workers, "workers were ended or made anew")
    address = deployment.compose("port", "flower", "5555").decode().strip()
    expect(address == "127.0.0.1:45555", address)
    page = "import sys, urllib.request as r; print(r.urlopen('http://127.0.0.1:5555/workers').status)"
    status = deployment.compose("exec", "-T", "flower", "python", "-c", page)
    expect(status.strip() == b"200", status)


def web(deployment: Deployment) -> None:
    """the explorer starts beside the others, and answers / and /api/ to who has its token, who may only read"""
    token = token_hex(16)
    start(deployment, FARTHEST_WEB_TOKEN=token, WEB_PORT=48080)
    deployment.digest(deployment.submit("8-puzzle"))
    deployment.compose("up", "--detach", "web")
    deployment.wait_until_healthy([*ALWAYS, "web"])
    address = deployment.compose("port", "web", "8080").decode().strip()
    expect(address == "127.0.0.1:48080", address)
    bearer = f"Authorization: Bearer {token}"
    status, page = asked(deployment, "GET", "/", bearer)
    expect(status == 200 and "8-puzzle" in page, f"/: {status}")
    status, text = asked(deployment, "GET", "/api/jobs", bearer)
    expect(status == 200 and json.loads(text)["jobs"][-1]["states"] == 181_440, f"/api/jobs: {status} {text}")
    status, text = asked(deployment, "GET", "/api/workers", bearer)
    expect(status == 200 and len(json.loads(text)["workers"]) > 0, f"/api/workers: {status} {text}")
    expect(asked(deployment, "GET", "/api/jobs")[0] == 401, "who has no token is answered")
    expect(asked(deployment, "POST", "/api/jobs", bearer)[0] == 403, "it takes jobs")
    log = deployment.compose("logs", "--no-log-prefix", "web").decode()
    expect("/api/jobs 200" in log and token not in log, "its log")
    (container,) = deployment.containers("web")
    expect(container["HostConfig"]["ReadonlyRootfs"], "its files can be written")


ASK = """
import http.client, sys
method, path, *headers = sys.argv[1:]
connection = http.client.HTTPConnection("127.0.0.1", 8080, timeout=20)
connection.request(method, path, headers=dict(header.split(": ") for header in headers))
answer = connection.getresponse()
print(answer.status, answer.read().decode(), sep="\\n")
"""
"""A question to the server that the container runs."""


def asked(deployment: Deployment, method: str, path: str, *headers: str) -> tuple[int, str]:
    """The status and the text with which the explorer answers."""
    words = ["exec", "-T", "web", "python", "-c", ASK, method, path, *headers]
    status, _, text = deployment.compose(*words).decode().partition("\n")
    return int(status), text


def volumes(deployment: Deployment) -> str:
    """blobs and residue maps in their volumes: workers make the map, they and the explorer read it"""
    token = token_hex(16)
    variables = {"FARTHEST_BLOBS": "file:///var/lib/farthest/blobs", "FARTHEST_SMALL_LAYER_STATES": 1000}
    start(deployment, WORKERS=2, FARTHEST_WEB_TOKEN=token, WEB_PORT=48080, **variables)
    words = ("pancake-12@1-6", "--map", "residues")
    job = deployment.submit(*words)
    expect(deployment.digest(job) == embedded(*words)[0], "another map")
    listed = deployment.compose("exec", "-T", "worker", "ls", "/var/lib/farthest/maps").decode().split()
    expect(len(listed) == 1, f"map files: {listed}")
    board = "6 5 12 4 8 3 7 2 10 1 11 9"
    found = {
        workers: json.loads(
            deployment.farthest(
                "solve", "pancake-12", board, "--heuristic", "@1-6", "--workers", workers, "--json"
            )
        )["length"]
        for workers in ("celery", "threads")
    }
    expect(found == {"celery": 11, "threads": 11}, found)
    deployment.compose("up", "--detach", "web")
    deployment.wait_until_healthy([*ALWAYS, "web"])
    path = f"/api/jobs/{job}/state?board={quote('· 5 · 3 · 2 · · 1 · 4 6')}"
    status, text = asked(deployment, "GET", path, f"Authorization: Bearer {token}")
    depth = deployment.job(job)["eccentricity"]
    expect(status == 200 and json.loads(text)["distance"] == depth, f"{depth}: {status} {text}")
    return ", ".join(listed)


def exports(deployment: Deployment) -> str:
    """export through standard output is what one process exports"""
    start(deployment)
    digest, database = embedded("eight-kinds")
    expect(deployment.digest(deployment.submit("eight-kinds")) == digest, "another map")
    for form in ("csv", "parquet", "npz"):
        words = ["export", "eight-kinds", "--format", form, "-"]
        there = deployment.compose("exec", "-T", "coordinator", "farthest", *words)
        here = subprocess.run(
            [FARTHEST, *words, "--database", database], capture_output=True, check=True
        ).stdout
        expect(contents(form, there) == contents(form, here) and len(there) > 200_000, form)
    return "csv, parquet, npz"


def contents(form: str, data: bytes) -> object:
    """What an exported file says, in a form that can be compared."""
    if form == "npz":
        with numpy.load(io.BytesIO(data)) as arrays:
            return {name: (str(array.dtype), array.tolist()) for name, array in arrays.items()}
    if form == "parquet":
        return pyarrow.parquet.read_table(io.BytesIO(data)).to_pydict()
    return list(csv.reader(io.StringIO(data.decode())))


def backup(deployment: Deployment) -> str:
    """a backup restored twice beside a running coordinator does not disturb it"""
    start(deployment)
    deployment.digest(deployment.submit("eight-kinds"))
    dump = deployment.compose(
        "exec", "-T", "postgres", "pg_dump", "--username=farthest", "--format=custom", "farthest"
    )
    before = deployment.restarts("coordinator")
    later = deployment.submit("8-puzzle")
    deployment.digest(later)
    restore = ["pg_restore", "--username=farthest", "--dbname=farthest", "--clean", "--if-exists"]
    for _ in range(2):
        deployment.compose("exec", "-T", "postgres", *restore, "--single-transaction", data=dump)
        known = json.loads(deployment.farthest("jobs", "--json"))["jobs"]
        expect(later not in [job["job"] for job in known], "the job after the backup is still there")
    time.sleep(5)
    expect(deployment.restarts("coordinator") == before, "the coordinator was restarted")
    deployment.wait_until_healthy()
    expect("proved" in deployment.farthest("verify", "eight-kinds"), "the map")
    expect(
        deployment.digest(deployment.submit("eight-kinds")) == embedded("eight-kinds")[0], "a job after it"
    )
    return f"{len(dump) >> 20} MiB"


def full_redis(deployment: Deployment) -> str:
    """a job too large for Redis: not ended by the kernel, and the message names the memory"""
    for most, limit in SMALL_MEMORIES:
        start(deployment, REDIS_MAXMEMORY=most, REDIS_LIMIT=limit, WORKERS=8, FARTHEST_REDIS_WAIT_SECONDS=5)
        # With a depth the job is not refused for its known number of states.
        before = len(FULL.findall(logs(deployment)))
        job = deployment.submit("pancake-12", "--histogram-only", "--max-depth", "99")
        deployment.wait(lambda: len(FULL.findall(logs(deployment))) > before, "Redis to be full")  # noqa: B023
        time.sleep(10)  # workers are still sending
        (redis,) = deployment.containers("redis")
        killed = redis["RestartCount"] or redis["State"]["OOMKilled"]
        expect(not killed, f"with {most} of {limit} Redis was killed")
        deployment.try_compose("exec", "-T", "coordinator", "farthest", "cancel", str(job))
    return ", ".join(f"{most} of {limit}" for most, limit in SMALL_MEMORIES)


def logs(deployment: Deployment) -> str:
    """What the coordinators have logged."""
    return deployment.compose("logs", "--no-log-prefix", "coordinator").decode()


def ends(deployment: Deployment) -> None:
    """down with all profiles leaves no container and no network"""
    deployment.compose(*PROFILES, "down", "--volumes")
    left = deployment.docker("ps", "--all", "--quiet", "--filter", f"name={PROJECT}").stdout
    left += deployment.docker("network", "ls", "--quiet", "--filter", f"name={PROJECT}").stdout
    expect(not left, left)
