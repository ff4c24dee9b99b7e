"""A Dockerfile's instructions and stages, and what .dockerignore lets through."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

from deployment.compose import ROOT


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: RUN, COPY and so on, its --options, and the rest of its text."""

    name: str
    options: dict[str, str]
    text: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.text)


@dataclass(frozen=True, slots=True)
class Stage:
    """One build stage: what FROM says, and the instructions after it."""

    base: str
    name: str | None
    instructions: list[Instruction] = field(default_factory=list)

    def all(self, name: str) -> list[Instruction]:
        return [instruction for instruction in self.instructions if instruction.name == name]


def read_stages(path: Path = ROOT / "Dockerfile") -> list[Stage]:
    """The stages of a Dockerfile. ARG before the first FROM is put in its place."""
    text = re.sub(r"^\s*#.*\n", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    lines = re.sub(r"\\\n\s*", "", text).splitlines()
    arguments: dict[str, str] = {}
    stages: list[Stage] = []
    for line in filter(None, map(str.strip, lines)):
        name, _, rest = line.partition(" ")
        if name == "FROM":
            base, _, stage = rest.partition(" AS ")
            for argument, value in arguments.items():
                base = base.replace(f"${{{argument}}}", value)
            stages.append(Stage(base, stage or None))
        elif not stages:
            assert name == "ARG", line
            argument, _, value = rest.partition("=")
            arguments[argument] = value
        else:
            stages[-1].instructions.append(_instruction(name, rest))
    return stages


def _instruction(name: str, rest: str) -> Instruction:
    options: dict[str, str] = {}
    while match := re.match(r"--([a-z]+)=(\S+)\s+", rest):
        options[match[1]] = match[2]
        rest = rest[match.end() :]
    return Instruction(name, options, rest)


def sent(path: str) -> bool:
    """Whether .dockerignore lets a file of the repository into the build: the last line that fits it decides."""
    parts = PurePosixPath(path)
    places = [path, *map(str, list(parts.parents)[:-1])]
    allowed = True
    for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        keep = pattern.startswith("!")
        if any(_fits(place, pattern.removeprefix("!")) for place in places):
            allowed = keep
    return allowed


def _fits(place: str, pattern: str) -> bool:
    """As Docker does it: * is any part of one name, ** any number of folders."""
    names, wanted = place.split("/"), pattern.split("/")
    if wanted[0] == "**":
        return any(_fits("/".join(names[start:]), "/".join(wanted[1:])) for start in range(len(names)))
    return len(names) == len(wanted) and all(
        fnmatch(name, want) for name, want in zip(names, wanted, strict=True)
    )
