"""docker-compose.yml as Docker Compose reads it. Of its forms, those are read that the file has; others are refused."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from farthest.environment import byte_count

ROOT = Path(__file__).parents[2]
FILE = ROOT / "docker-compose.yml"
PASSWORDS = {"POSTGRES_PASSWORD": "postgresword1", "REDIS_PASSWORD": "redisword2"}

_DURATION = re.compile(r"(?=.)(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>[\d.]+)s)?")
_PORT = re.compile(r"(?:(?P<host_ip>[\d.]+):)?(?P<published>\d+):(?P<target>\d+)")
_VOLUME = re.compile(r"(?P<source>\w[\w.-]*):(?P<target>/[^:]*)(?::(?P<read_only>ro))?")
_VARIABLE = re.compile(
    r"""\$ (?: (?P<escaped>\$)
             | (?P<plain>[A-Za-z_]\w*)
             | \{ (?P<name>[A-Za-z_]\w*) (?: (?P<colon>:?) (?P<operator>[-?]) (?P<rest>[^${}]*) )? \}
             | )""",
    re.ASCII | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Service:
    """One service. ``raw`` is what the file says of it, in the forms that ``normal`` makes."""

    name: str
    raw: dict[str, Any]

    @property
    def command(self) -> list[str]:
        return list(self.raw["command"])

    @property
    def environment(self) -> dict[str, str]:
        return dict(self.raw.get("environment", {}))

    @property
    def dependencies(self) -> dict[str, str]:
        """The services that it waits for, each with the condition."""
        return {name: needed["condition"] for name, needed in self.raw.get("depends_on", {}).items()}

    @property
    def health_command(self) -> list[str]:
        kind, *words = self.raw["healthcheck"]["test"]
        return ["sh", "-c", *words] if kind == "CMD-SHELL" else words

    @property
    def stop_signal(self) -> str:
        return str(self.raw.get("stop_signal", "SIGTERM"))

    @property
    def grace(self) -> float:
        return float(self.raw["stop_grace_period"])

    @property
    def memory(self) -> int:
        return int(self.raw["mem_limit"])


def services(*profiles: str, variables: Mapping[str, str] = PASSWORDS) -> dict[str, Service]:
    """The services that `docker compose` has with these profiles and these variables alone."""
    read = interpolated(yaml.safe_load(FILE.read_text(encoding="utf-8")), variables)
    return {
        name: Service(name, normal(raw))
        for name, raw in read["services"].items()
        if "profiles" not in raw or set(raw["profiles"]) & set(profiles)
    }


def config(*profiles: str, variables: Mapping[str, str] = PASSWORDS) -> subprocess.CompletedProcess[str]:
    """What `docker compose config` says with these profiles and these variables alone; it needs no engine."""
    folders = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    program = shutil.which("docker-compose", path=folders)
    if program is None:
        pytest.skip("docker-compose is neither beside this Python nor on the PATH")
    options = ["--file", str(FILE), "--env-file", os.devnull, *(f"--profile={name}" for name in profiles)]
    # What tells whether it succeeded are the two outputs: as a Python package it ends with status 0 always.
    return subprocess.run(
        [program, *options, "config", "--format", "json"],
        capture_output=True,
        encoding="utf-8",
        env={"PATH": str(Path(program).parent), "HOME": "/nonexistent", **variables},
        check=False,
        timeout=60,
    )


def interpolated(value: Any, variables: Mapping[str, str]) -> Any:
    """A part of the file with the values of variables. ValueError where one is required and missing."""
    match value:
        case dict():
            return {key: interpolated(part, variables) for key, part in value.items()}
        case list():
            return [interpolated(part, variables) for part in value]
        case str():
            return _VARIABLE.sub(lambda match: _replacement(match, variables), value)
    return value


def _replacement(match: re.Match[str], variables: Mapping[str, str]) -> str:
    if match["escaped"]:
        return "$"
    name = match["plain"] or match["name"]
    if not name:
        raise ValueError(f"the tests read no such variable; a $ itself is written $$: {match.string}")
    given = variables.get(name)
    if given is None or (match["colon"] and not given):
        if match["operator"] == "?":
            raise ValueError(f"required variable {name} is missing a value: {match['rest']}")
        return match["rest"] or ""
    return given


def normal(raw: Mapping[str, Any]) -> dict[str, Any]:
    """A service with one form for each thing: times in seconds, sizes in bytes, and what Compose has short in long.

    What is in that form already stays as it is.
    """
    forms: dict[str, Callable[[Any], Any]] = {
        "command": lambda command: shlex.split(command) if isinstance(command, str) else command,
        "depends_on": _depends_on,
        "environment": lambda variables: {name: _text(value) for name, value in variables.items()},
        "healthcheck": lambda check: {
            key: value if key in ("test", "retries") else seconds(value) for key, value in check.items()
        },
        "mem_limit": _size,
        "memswap_limit": _size,
        "ports": lambda ports: [_port(port) for port in ports],
        "scale": int,
        "stop_grace_period": seconds,
        "volumes": lambda volumes: [_volume(volume) for volume in volumes],
    }
    return {key: forms[key](value) if key in forms else value for key, value in raw.items()}


def seconds(text: str) -> float:
    """A length of time: 2m, or as `config` writes it, 2m0s."""
    hours, minutes, rest = (float(part or 0) for part in _parts(_DURATION, text).values())
    return hours * 3600 + minutes * 60 + rest


def _parts(pattern: re.Pattern[str], text: str) -> dict[str, str | None]:
    match = pattern.fullmatch(text)
    if not match:
        raise ValueError(f"the tests read no such form: {text}")
    return match.groupdict()


def _text(value: str | int) -> str:
    if type(value) not in (str, int):
        raise ValueError(f"the tests read no such value of a variable: {value}")
    return str(value)


def _size(text: str | int) -> int:
    # Compose counts in powers of 1024 alone: 1gb is 1g.
    size = byte_count(str(text).lower().rstrip("ib"))
    if size is None:
        raise ValueError(f"the tests read no such size: {text}")
    return size


def _depends_on(needed: Any) -> dict[str, Any]:
    conditions = needed if isinstance(needed, dict) else {name: {} for name in needed}
    usual = {"condition": "service_started", "required": True}
    return {name: usual | condition for name, condition in conditions.items()}


def _port(port: Any) -> dict[str, Any]:
    if isinstance(port, dict):
        return port
    found = {key: value for key, value in _parts(_PORT, port).items() if value is not None}
    return {"mode": "ingress", "protocol": "tcp", **found, "target": int(found["target"])}


def _volume(volume: Any) -> dict[str, Any]:
    if isinstance(volume, dict):
        return volume
    found = _parts(_VOLUME, volume)
    read_only = {"read_only": True} if found.pop("read_only") else {}
    return {"type": "volume", "volume": {}, **found, **read_only}
