"""docker-compose.yml in an engine: its commands, and what its containers are and do."""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

PROJECT = "farthest-check"
"""Of Compose, and the tag of the image: beside a deployment in use nothing of it is touched."""

ALWAYS = ("redis", "postgres", "coordinator", "worker")
"""The services that run without a profile."""

PROFILES = ("--profile", "monitoring", "--profile", "web")

Result = TypeVar("Result")


class CheckError(Exception):
    """What a check found wrong."""


def expect(condition: bool, message: object) -> None:
    """Raises CheckError with the message unless the condition holds."""
    if not condition:
        raise CheckError(message)


@dataclass(frozen=True, slots=True)
class Engine:
    """How an engine is reached. ``prefix``: what goes before a command; ``project``, ``variables``: the folder with
    docker-compose.yml and the file of variables, as the engine's commands see them; ``variables_here``: that file, as
    this process does."""

    prefix: tuple[str, ...]
    project: str
    variables: str
    variables_here: Path


class Deployment:
    """The services of docker-compose.yml in an engine, with passwords of their own and free ports. ``environment``:
    NAME=VALUE of its commands."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.environment: tuple[str, ...] = ()
        self._passwords = {name: secrets.token_hex(16) for name in ("POSTGRES_PASSWORD", "REDIS_PASSWORD")}
        self.configure()

    def configure(self, **variables: object) -> None:
        """Writes the file of variables anew: these alone, beside the passwords and what keeps to this project."""
        fixed = {"FARTHEST_VERSION": "check", "POSTGRES_PORT": 45432, "FLOWER_PORT": 45555}
        lines = [f"{name}={value}\n" for name, value in (self._passwords | fixed | variables).items()]
        self._engine.variables_here.write_text("".join(lines))

    def docker(
        self, *words: str, data: bytes = b"", seconds: float = 600
    ) -> subprocess.CompletedProcess[bytes]:
        """A command of docker; ``data`` goes to its standard input."""
        command = [*self._engine.prefix, "env", *self.environment, "docker", *words]
        return subprocess.run(command, input=data, capture_output=True, check=False, timeout=seconds)

    def compose(self, *words: str, data: bytes = b"", seconds: float = 600) -> bytes:
        """What a command of Compose prints. Raises CheckError where it fails."""
        result = self.try_compose(*words, data=data, seconds=seconds)
        said = (result.stderr or result.stdout).decode(errors="replace")[-1500:]
        expect(
            result.returncode == 0, f"docker compose {' '.join(words)}: status {result.returncode}: {said}"
        )
        return result.stdout

    def try_compose(
        self, *words: str, data: bytes = b"", seconds: float = 600
    ) -> subprocess.CompletedProcess[bytes]:
        """A command of Compose, which may fail."""
        file = ["--file", f"{self._engine.project}/docker-compose.yml", "--env-file", self._engine.variables]
        return self.docker("compose", "--project-name", PROJECT, *file, *words, data=data, seconds=seconds)

    def farthest(self, *words: str) -> str:
        """What a command of farthest prints in the coordinator's container."""
        return self.compose("exec", "-T", "coordinator", "farthest", *words).decode()

    def containers(self, *services: str) -> list[dict[str, Any]]:
        """What `docker inspect` says of the containers that there are, all or those of some services."""
        ids = self.compose(*PROFILES, "ps", "--all", "--quiet", *services).decode().split()
        return list(json.loads(self.docker("inspect", *ids).stdout)) if ids else []

    def ids(self, *services: str) -> set[str]:
        """The identities of the containers, all or those of some services."""
        return {container["Id"] for container in self.containers(*services)}

    def restarts(self, service: str) -> int:
        """How often the containers of a service have been started again by the engine."""
        return sum(int(container["RestartCount"]) for container in self.containers(service))

    def wait_until_healthy(self, services: Sequence[str] = ALWAYS, seconds: float = 120) -> None:
        """Returns when every container of the services runs and is healthy. Raises CheckError when that lasts."""

        def all_healthy() -> bool:
            states = [container["State"] for container in self.containers(*services)]
            return bool(states) and all(
                state["Running"] and state.get("Health", {}).get("Status") == "healthy" for state in states
            )

        self.wait(all_healthy, f"{', '.join(services)} to be healthy", seconds)

    def wait(self, condition: Callable[[], object], what: str, seconds: float = 120) -> None:
        """Returns when the condition holds. Raises CheckError when that lasts."""
        limit = time.monotonic() + seconds
        while not condition():
            expect(time.monotonic() < limit, f"waited {seconds:.0f} s for {what}")
            time.sleep(0.3)

    def kill(self, service: str) -> None:
        """Ends all processes of a service's containers as the system does when memory is short; the engine starts them
        again, which it does not after `docker kill`."""
        before = self.restarts(service)
        for number in range(1, len(self.containers(service)) + 1):
            self.try_compose("exec", "-T", f"--index={number}", service, "sh", "-c", "kill -9 -1")
        self.wait(lambda: self.restarts(service) > before, f"{service} to be started again")

    def submit(self, puzzle: str, *options: str) -> int:
        """Queues a job; its number."""
        return int(json.loads(self.farthest("submit", puzzle, *options, "--json"))["job"])

    def job(self, number: int) -> dict[str, Any]:
        """What `farthest jobs` says of a job. Raises CheckError while no coordinator runs."""
        return next(
            job for job in json.loads(self.farthest("jobs", "--json"))["jobs"] if job["job"] == number
        )

    def digest(self, job: int, seconds: float = 300) -> str:
        """The digest of a job, when it is finished."""
        watched = self.try_compose(
            "exec", "-T", "coordinator", "farthest", "watch", str(job), "--json", seconds=seconds
        )
        found = re.search(rb'"digest": "([0-9a-f]{64})"', watched.stdout)
        if not found:  # the coordinator's container went while it was watched
            self.wait_until_healthy()
            self.wait(lambda: self.job(job)["status"] in ("finished", "failed"), f"job {job}", seconds)
            return str(self.job(job)["digest"])
        return found[1].decode()
