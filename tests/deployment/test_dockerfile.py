"""The Dockerfile, looked at; test_image.py runs its commands."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest

from cases import for_each
from deployment.compose import ROOT, services
from deployment.dockerfile import Stage, read_stages, sent


@pytest.fixture(scope="module")
def stages() -> list[Stage]:
    return read_stages()


def test_two_stages_of_one_base(stages: list[Stage]) -> None:
    builder, final = stages
    assert builder.name == "builder"
    assert builder.base == final.base
    assert re.fullmatch(r"python:3\.\d+-slim-\w+", final.base)  # a version, and the same system for both
    version = tuple(int(part) for part in final.base.removeprefix("python:").split("-")[0].split("."))
    assert version >= (3, 11)


def test_the_compiler_stays_in_the_builder(stages: list[Stage]) -> None:
    builder, final = stages
    assert any("install --yes --no-install-recommends g++" in run.text for run in builder.all("RUN"))
    assert not any(re.search(r"\bapt-get\b|\bpip\b", run.text) for run in final.all("RUN"))
    assert [(copy.options, copy.words) for copy in final.all("COPY")] == [
        ({"from": "builder"}, ["/opt/farthest", "/opt/farthest"])
    ]


def test_not_root(stages: list[Stage]) -> None:
    final = stages[-1]
    (user,) = final.all("USER")
    assert user.text == "10001:10001"
    names = [instruction.name for instruction in final.instructions]
    assert set(names[names.index("USER") + 1 :]) <= {"CMD", "ENTRYPOINT", "WORKDIR"}


def test_nothing_is_loaded_by_url(stages: list[Stage]) -> None:
    for stage in stages:
        assert not stage.all("ADD")
        for run in stage.all("RUN"):
            assert not re.search(r"https?://|\bcurl\b|\bwget\b", run.text)


def test_what_is_copied_exists_and_is_sent(stages: list[Stage]) -> None:
    for copy in stages[0].all("COPY"):
        for source in copy.words[:-1]:
            assert (ROOT / source).exists(), source
            assert sent(source), source


@for_each(
    "path",
    [
        ".env",
        ".env.example",
        ".git/config",
        ".venv/bin/python",
        "build/release/CMakeCache.txt",
        "farthest.db",
        "farthest.db-wal",
        "src/farthest/map.db",
        "src/farthest/_kernel.cpython-311-x86_64-linux-gnu.so",
        "src/farthest/cli/__pycache__/app.cpython-311.pyc",
        "tests/naive.py",
        "kernel/tests/test_ranking.cpp",
    ],
)
def test_what_is_not_sent(path: str) -> None:
    assert not sent(path)


def test_all_sources_are_sent() -> None:
    files = [
        path for folder in ("src", "kernel/src", "kernel/include") for path in (ROOT / folder).rglob("*.*")
    ]
    sources = [
        path.relative_to(ROOT).as_posix()
        for path in files
        if path.suffix in (".py", ".toml", ".cpp", ".hpp", ".mako")
    ]
    assert len(sources) > 100
    assert all(map(sent, sources))


def test_every_install_is_locked(stages: list[Stage]) -> None:
    for run in stages[0].all("RUN"):
        for command in run.text.split("&&"):
            if re.search(r"\bpip\b.* install\b", command):
                assert "--constraint constraints.txt" in command


def test_the_build_tools(stages: list[Stage]) -> None:
    """Those of pyproject.toml, and only such as `make` installs, so that constraints.txt has them all."""
    (install,) = [run.text for run in stages[0].all("RUN") if "/tools/bin/pip install" in run.text]
    tools = set(shlex.split(install.partition("constraints.txt ")[2]))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert set(project["build-system"]["requires"]) < tools
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    match = re.search(r"^BUILD_TOOLS := (.*)$", makefile, flags=re.MULTILINE)
    assert match
    assert tools <= set(shlex.split(match[1]))


def test_the_extras_exist(stages: list[Stage]) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (install,) = [
        run.text for run in stages[0].all("RUN") if "/wheels/farthest-" in run.text and "install" in run.text
    ]
    match = re.search(r"\.whl\)\[([a-z0-9,]+)\]", install)
    assert match
    for extra in match[1].split(","):
        assert extra in project["optional-dependencies"]


def test_volumes_have_their_folders(stages: list[Stage]) -> None:
    """A volume whose folder the image does not have belongs to root, and nothing can be written to it."""
    [folders] = re.findall(
        r"install --directory --owner=10001 --group=10001 (.*)$",
        "\n".join(run.text for run in stages[-1].all("RUN")),
        flags=re.MULTILINE,
    )
    mounted = {
        volume["target"]
        for name, service in services("web", "monitoring").items()
        if name not in ("postgres", "redis")
        for volume in service.raw.get("volumes", [])
    }
    assert set(folders.split()) == mounted
