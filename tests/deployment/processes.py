"""The services of docker-compose.yml as processes of this machine: their own commands, environments and health checks.

What Docker would give them is imitated: programs by name are those of the tests' packages, host names are ports of
127.0.0.1, volumes are temporary folders.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from deployment.compose import PASSWORDS, Service
from servers import LAUNCHER, PostgresServer, free_port, redis_program

HEALTHY_SECONDS = 60.0

# Where the package has no redis-cli.
REDIS_CLI = """
import os, sys, redis
client = redis.Redis(port=int(sys.argv[2]), password=os.environ.get("REDISCLI_AUTH"))
print("PONG" if sys.argv[3:] == ["ping"] and client.ping() else "what?")
"""


class Processes:
    """Starts and stops services. ``folder`` is for logs, volumes and programs."""

    def __init__(self, folder: Path, services: dict[str, Service]) -> None:
        self.folder = folder
        self.services = services
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.ports = {"redis:6379": free_port(), "postgres:5432": free_port(), "127.0.0.1:5555": free_port()}
        self.postgres = ComposedPostgres(
            folder / "postgres", self.ports["postgres:5432"], services["postgres"]
        )
        self._programs = folder / "programs"
        self._working = folder / "working"
        self._working.mkdir()
        self._write_programs()

    def _write_programs(self) -> None:
        self._programs.mkdir()
        python = f'exec "{sys.executable}"'
        redis, redis_port = redis_program(), self.ports["redis:6379"]
        client = Path(redis).with_name("redis-cli")
        (self._programs / "redis_cli.py").write_text(REDIS_CLI)
        programs = {
            "python": f'{python} "$@"',
            "farthest": f"{python} -c 'from farthest.cli.entry import main; main()' \"$@\"",
            "celery": f'{python} -m celery "$@"',
            "redis-server": f'exec "{redis}" "$@" --bind 127.0.0.1 --port {redis_port}',
            "redis-cli": f'exec "{client}" -p {redis_port} "$@"'
            if client.exists()
            else f'{python} "{self._programs}/redis_cli.py" -p {redis_port} "$@"',
            "pg_isready": f'exec "{self.postgres.programs}/pg_isready" "$@" --port={self.postgres.port}',
        }
        for name, script in programs.items():
            (self._programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (self._programs / name).chmod(0o755)

    def start(self, name: str, *, instance: str | None = None) -> None:
        """Starts a service when what it waits for is ready. ``instance``: the name of one of several."""
        service = self.services[name]
        for needed, condition in service.dependencies.items():
            match condition:
                case "service_healthy":
                    self.wait_until_healthy(needed)
                case "service_completed_successfully":
                    assert self.running[needed].wait(HEALTHY_SECONDS) == 0, self.log(needed)
                case _:
                    raise AssertionError(condition)
        if name == "postgres":
            fresh = not self.postgres.data.exists()
            self.postgres.start()
            if fresh:
                self.postgres.create_what_the_image_does()
            assert self.postgres.process is not None
            self.running[name] = self.postgres.process
        else:
            self.running[instance or name] = self._launch(service, instance or name)

    def _launch(self, service: Service, instance: str) -> subprocess.Popen[bytes]:
        command = [self._here(word) for word in service.command]
        program = shutil.which(command[0], path=f"{self._programs}:{os.defpath}")
        assert program, command
        words = [str(int(signal.SIGKILL)), str(os.getpid()), str(os.geteuid()), program, *command[1:]]
        with (self.folder / f"{instance}.log").open("wb") as log:
            return subprocess.Popen(
                [sys.executable, "-ISc", LAUNCHER, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._working,
                env=self.environment(service),
                start_new_session=True,
            )

    def environment(self, service: Service) -> dict[str, str]:
        """All that a process of the service has in its environment."""
        environment = {name: self._here(value) for name, value in service.environment.items()}
        for volume in service.raw.get("volumes", []):
            folder = self.folder / "volumes" / volume["source"]
            folder.mkdir(parents=True, exist_ok=True)
            for name, value in environment.items():
                environment[name] = value.replace(volume["target"], str(folder))
        if "FARTHEST_METRICS_ADDRESS" in environment:  # here all services have one network
            environment["FARTHEST_METRICS_ADDRESS"] = "127.0.0.1:0"
        temporary = self.folder / "tmp"
        temporary.mkdir(exist_ok=True)
        tests = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
        if tests:
            tests["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, tests["PYTHONPATH"].split(os.pathsep)))
        return {
            **tests,
            "PATH": f"{self._programs}:{os.defpath}",
            "HOME": "/nonexistent",
            "LANG": "C.UTF-8",
            "TMPDIR": str(temporary),
            **environment,
        }

    def _here(self, text: str) -> str:
        """A text of the file with this machine's ports."""
        for place, port in self.ports.items():
            text = text.replace(place, f"127.0.0.1:{port}")
        return re.sub(r"(?<=--port=)5555\b", str(self.ports["127.0.0.1:5555"]), text)

    def run(self, name: str, *command: str, seconds: float = 60) -> subprocess.CompletedProcess[str]:
        """Runs a command in the environment of a service, as `docker compose exec` does."""
        return subprocess.run(
            command,
            executable=shutil.which(command[0], path=f"{self._programs}:{os.defpath}"),
            cwd=self._working,
            env=self.environment(self.services[name]),
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=seconds,
        )

    def wait_until_healthy(self, name: str, instance: str | None = None) -> None:
        """Runs the health check of a service again and again until it succeeds."""
        command = [self._here(word) for word in self.services[name].health_command]
        limit = time.monotonic() + HEALTHY_SECONDS
        while (result := self.run(name, *command)).returncode != 0:
            assert self.running[instance or name].poll() is None, self.log(instance or name)
            assert time.monotonic() < limit, f"{result}\n{self.log(instance or name)}"
            time.sleep(0.1)

    def wait_for_log(self, instance: str, text: str) -> None:
        """Returns when a service has written this."""
        limit = time.monotonic() + HEALTHY_SECONDS
        while text not in self.log(instance):
            assert self.running[instance].poll() is None, self.log(instance)
            assert time.monotonic() < limit, self.log(instance)
            time.sleep(0.05)

    def stop(self, name: str, *, instance: str | None = None) -> tuple[int, float]:
        """Ends a service as Docker does. Its exit status, and how long it took; fails when Docker would kill it."""
        service = self.services[name]
        process = self.running.pop(instance or name)
        begun = time.monotonic()
        process.send_signal(signal.Signals[service.stop_signal])
        status = process.wait(service.grace)
        seconds = time.monotonic() - begun
        if name == "postgres":
            self.postgres.stop()
        return status, seconds

    def close(self) -> None:
        """Ends all that still runs."""
        for process in self.running.values():
            process.kill()
            process.wait()
        self.postgres.close()

    def log(self, instance: str) -> str:
        """What a service has written."""
        file = self.postgres.log if instance == "postgres" else self.folder / f"{instance}.log"
        return file.read_text(encoding="utf-8", errors="replace")

    def left_behind(self) -> list[Path]:
        """Files in the working folder, which services with `read_only` cannot write to."""
        return list(self._working.iterdir())

    def command_lines(self) -> str:
        """The arguments of all processes that were started and of their children, as every user can read them."""
        lines = []
        waiting = [process.pid for process in self.running.values() if process.poll() is None]
        while waiting:
            process = Path(f"/proc/{waiting.pop()}")
            with suppress(FileNotFoundError, ProcessLookupError):  # it has ended
                lines.append((process / "cmdline").read_text())
                waiting += map(int, (process / f"task/{process.name}/children").read_text().split())
        return "\n".join(lines)


class ComposedPostgres(PostgresServer):
    """PostgreSQL with the options of its command in docker-compose.yml, and the password of the tests."""

    def __init__(self, folder: Path, port: int, service: Service) -> None:
        super().__init__(folder, port=port, password=PASSWORDS["POSTGRES_PASSWORD"])
        self._service = service

    def command(self) -> list[str]:
        assert self._service.command[0] == "postgres"
        return [*super().command(), *self._service.command[1:]]

    def create_what_the_image_does(self) -> None:
        """The user and the database that the image makes at its first start."""
        wanted = self._service.environment
        self.execute(
            f"CREATE ROLE {wanted['POSTGRES_USER']} SUPERUSER LOGIN PASSWORD '{wanted['POSTGRES_PASSWORD']}'"
        )
        self.execute(f"CREATE DATABASE {wanted['POSTGRES_DB']} OWNER {wanted['POSTGRES_USER']}")
