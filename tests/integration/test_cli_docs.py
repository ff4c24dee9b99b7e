"""docs/commands.md says all that the command line says: every command, option and JSON field."""

import re
import shlex
from pathlib import Path
from typing import Any

import click
import pytest

from cases import for_each
from farthest.cli.app import cli
from farthest.worker.registry import Work, WorkerRecord
from field_tables import with_tables
from integration.conftest import RunJson

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
TEXT = PAGE.read_text(encoding="utf-8")
COMMANDS = sorted(cli.commands)
SEEN_BY_ALL = {"--help", "-h", "--json", "--database", "--allow-module"}
IMPORT_NOTHING = {
    *(
        "jobs",
        "show",
        "delete",
        "watch",
        "cancel",
        "plot",
        "workers",
        "migrate",
        "completion",
        "survey",
        "cosets",
        "surveys",
    )
}
"""Commands that run no class of a puzzle, whatever is allowed."""
NO_JSON = {"coordinator", "worker", "completion", "serve"}
"""Services, which log, and what is for shells."""
NO_DATABASE = {"completion", "puzzles", "worker", "workers"}


def section(command: str) -> str:
    """What the page says under the command's heading; its usage is the heading."""
    found = re.search(rf"^## farthest {command}\b.*?(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"docs/commands.md has no section on {command}"
    return found[0]


def test_no_other_commands_are_documented() -> None:
    assert sorted(re.findall(r"^## farthest (\w+)", TEXT, re.MULTILINE)) == COMMANDS


@for_each("name", COMMANDS)
def test_a_command(name: str) -> None:
    command = cli.commands[name]
    text = section(name)
    usage = " ".join(
        parameter.make_metavar(click.Context(command))
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    )
    assert text.splitlines()[0] == f"## farthest {name} {usage}".rstrip()
    options = {option for parameter in command.params for option in parameter.opts + parameter.secondary_opts}
    documented = set(re.findall(r"(?<![\w-])-(?:-[a-z-]+|[a-z]\b)", text))
    assert {each for each in options if each.startswith("-")} - SEEN_BY_ALL <= documented
    assert f"    farthest {name}" in text
    assert name in NO_JSON or "`--json`" in text
    assert command.help
    assert re.search(rf"\bfarthest {name}\b", command.help), "the help has an example"


@for_each("page", ["README.md", *(f"docs/{page.name}" for page in sorted(PAGE.parent.glob("*.md")))])
def test_the_commands_that_are_shown(page: str) -> None:
    """They are commands with these options; each part of a pipe is looked at."""
    text = (PAGE.parents[1] / page).read_text(encoding="utf-8")
    for line in re.findall(r"^ {4,}(?:\$ )?(farthest [a-z]+ (?!.*⏎).*)$", text, re.MULTILINE):
        for part in re.split(r" (?:\||&&) ", line):
            words = shlex.split(part, comments=True)
            if words[0] == "farthest" and not words[1].isupper():
                assert words[1] in cli.commands, (page, line)
                known = {
                    option
                    for each in cli.commands[words[1]].params
                    for option in each.opts + each.secondary_opts
                }
                known |= {"--help", "-h", "-"}
                assert {word for word in words[2:] if word.startswith("-")} <= known, (page, line)


def test_what_all_commands_have() -> None:
    start = TEXT.split("\n## farthest ")[0]
    assert all(f"`{option}" in start for option in SEEN_BY_ALL)
    for name in COMMANDS:
        options = {option for parameter in cli.commands[name].params for option in parameter.opts}
        assert name in NO_JSON or "--json" in options
        assert name in NO_DATABASE or "--database" in options
        assert (name in IMPORT_NOTHING) != ("--allow-module" in options)


def test_the_tables_of_fields_are_those_that_are_declared() -> None:
    assert with_tables(TEXT) == TEXT, "`python -m field_tables` writes them anew"


def fields(value: Any) -> set[str]:
    """The names of an object's fields, and of those of the objects in it; layout belongs to another page."""
    if isinstance(value, list):
        return {name for each in value for name in fields(each)}
    if isinstance(value, dict):
        return set(value) | {name for key, each in value.items() if key != "layout" for name in fields(each)}
    return set()


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        ("puzzles", []),
        ("puzzles", ["eight-kinds", "--symmetry"]),
        ("enumerate", ["3-puzzle"]),
        ("jobs", []),
        ("show", ["1"]),
        ("distance", ["1", "0 3 / 1 2"]),
        ("path", ["1", "0 3 / 1 2"]),
        ("states", ["1", "--farthest"]),
        ("diameter", ["1"]),
        ("survey", ["rush-hour-3x3"]),
        ("cosets", ["pyraminx<U,L>", "--subgroup", "<U>", "--depth", "3", "--coset", "L U"]),
        ("surveys", ["1", "--top", "1"]),
        ("random", ["3-puzzle"]),
        ("export", ["1", "states.csv"]),
        ("plot", ["1", "layers.svg"]),
        ("verify", ["1"]),
        ("heuristic", ["1", "--heuristic", "misplaced+misplaced"]),
        ("compare", ["3-puzzle", "--instances", "2"]),
        ("solve", ["3-puzzle", "0 3 / 1 2"]),
        ("submit", ["3-puzzle"]),
        ("cancel", ["2"]),
        ("resume", ["2"]),
        ("watch", ["1"]),
        ("migrate", []),
        ("delete", ["1"]),
    ],
)
def test_every_json_field(run_json: RunJson, command: str, arguments: list[str]) -> None:
    run_json("enumerate", "3-puzzle")
    run_json("submit", "3-puzzle")
    if command == "surveys":
        run_json("survey", "rush-hour-3x3")
    if command == "resume":
        run_json("cancel", "2")
    text = section(command)
    if command == "show":
        text += section("jobs")
    if command == "watch":
        text += section("enumerate")
    undocumented = {name for name in fields(run_json(command, *arguments)) if f"`{name}`" not in text}
    assert not undocumented


def test_every_json_field_of_workers(
    run_json: RunJson, monkeypatch: pytest.MonkeyPatch, redis_url: str
) -> None:
    work = Work(process=7, attempt="1-0", depth=2, block=3, seconds=4)
    record = WorkerRecord("farthest@one", "host", 6, "1.0.0", 1, 1, "2026-01-01", (7,), (work,), 0.5)
    monkeypatch.setattr("farthest.documents.workers.list_workers", lambda nodes: [record])
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    found = fields(run_json("workers"))
    assert {"block", "peak", "silent"} <= found
    assert not {name for name in found if f"`{name}`" not in section("workers")}
