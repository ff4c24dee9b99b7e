"""The order of rooms in CONTRIBUTING.md: a module imports from its own room and from those above it in the list."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "src" / "farthest"
KERNEL = "_kernel"


@cache
def imports() -> dict[str, frozenset[str]]:
    """For each module, without `farthest.`, those that it imports: at the top, in functions, for types."""
    files = {
        ".".join(file.relative_to(SOURCES).with_suffix("").parts): file for file in SOURCES.rglob("*.py")
    }
    modules = {name.removesuffix(".__init__"): file for name, file in files.items() if name != "__init__"}
    return {name: frozenset(_imported(file, modules.keys() | {KERNEL})) for name, file in modules.items()}


def _imported(file: Path, modules: set[str]) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                name.name.removeprefix("farthest.") for name in node.names if "farthest." in name.name
            )
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "farthest":
            assert not node.level, f"{file}: a relative import"
            home = (node.module or "").removeprefix("farthest").removeprefix(".")
            for name in node.names:
                module = f"{home}.{name.name}".removeprefix(".")
                yield module if module in modules else home


@cache
def rooms() -> list[tuple[str, ...]]:
    """The rooms of the list in CONTRIBUTING.md, the lowest first; those of one line know nothing of each other."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text.partition("<!-- rooms -->")[2].partition("<!-- end of rooms -->")[0]
    return [tuple(re.findall(r"`([^`]+)`", line.split("|")[1])) for line in table.splitlines() if "`" in line]


def place(module: str) -> tuple[int, str]:
    """The number of the module's line, and its room: that with the longest name that the module's name begins with."""
    found = [
        (len(room), number, room)
        for number, line in enumerate(rooms())
        for room in line
        if f"{module}.".startswith(f"{room}.")
    ]
    assert found, f"{module} is in no room of CONTRIBUTING.md"
    _, number, room = max(found)
    return number, room


def test_no_module_imports_from_a_room_further_down_the_list() -> None:
    wrong = []
    for module, others in imports().items():
        number, room = place(module)
        for other in others:
            below, home = place(other)
            if below >= number and home != room:
                wrong.append(f"{module} ({room}) imports {other} ({home})")
    assert not wrong


def test_no_modules_import_each_other_in_a_circle() -> None:
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in sorted(imports().get(module, ())):
                visit(other, (*way, module))
            done.add(module)

    for module in imports():
        visit(module, ())


def test_every_room_is_there() -> None:
    for room in (room for line in rooms() for room in line):
        assert any(f"{module}.".startswith(f"{room}.") for module in [*imports(), KERNEL]), room
