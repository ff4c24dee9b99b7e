"""Where things are, in CONTRIBUTING.md: a module imports from its own room and from those above it in the list; the
files and names that it leads readers to are there."""

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
    text = file.read_text(encoding="utf-8")
    assert not re.search(r"^ *from \.", text, re.MULTILINE), f"{file}: a relative import"
    for name in re.findall(r"^ *import farthest\.([\w.]+)", text, re.MULTILINE):
        yield name
    for home, names in re.findall(
        r"^ *from farthest\.?([\w.]*) import (\([^)]*\)|[^\n]*)", text, re.MULTILINE
    ):
        for name in re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", names)):
            module = f"{home}.{name}".removeprefix(".")
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


def test_the_ways_through_the_code_name_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    ways = text.partition("<!-- ways -->")[2].partition("<!-- end of ways -->")[0]
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", ways, re.MULTILINE)
    assert len(rows) >= 30
    for path, name in rows:
        code = (ROOT if path.startswith("kernel/") else SOURCES) / path
        assert re.search(rf"\b{name}\b", code.read_text(encoding="utf-8")), f"{path}: {name}"
