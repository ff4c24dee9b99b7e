"""The tables of JSON fields in docs/commands.md, made of the declarations in ``farthest.documents``.

`python -m field_tables` (with tests in PYTHONPATH) writes them anew, between lines ``<!-- fields: KIND -->`` and
``<!-- end -->``. A field without a meaning stands in the row of the next one that has one; those of ``KIND - BASE`` are
the fields that KIND has and BASE has not.
"""

import re
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from farthest.coordinator import settings
from farthest.documents import jobs, maps, puzzles, searches, surveys, workers
from farthest.stores.folder import journal

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"
TABLE = re.compile(r"<!-- fields: (\w+)(?: - (\w+))? -->\n.*?<!-- end -->\n", re.DOTALL)


def kind_named(name: str) -> type:
    found: type = next(
        getattr(home, name)
        for home in (jobs, maps, puzzles, searches, settings, surveys, workers)
        if hasattr(home, name)
    )
    return found


def hints_of(kind: type) -> dict[str, Any]:
    """The types of its fields; those that a module imports for its types alone are told here."""
    return get_type_hints(kind, localns={"LayerFigures": journal.LayerFigures}, include_extras=True)


def table(name: str, base: str | None) -> str:
    left_out = set(kind_named(base).__annotations__) if base else set()
    rows, names = [], []
    for field, hint in hints_of(kind_named(name)).items():
        if field in left_out:
            continue
        names.append(f"`{field}`")
        if get_origin(hint) is Annotated:
            rows.append(f"| {', '.join(names)} | {get_args(hint)[1]} |")
            names = []
    assert not names, f"{name}: {names} have no meaning"
    return "\n".join(["| field | |", "|---|---|", *rows])


def with_tables(text: str) -> str:
    """The page with its tables as they are declared."""
    return TABLE.sub(
        lambda found: f"{found[0].partition(chr(10))[0]}\n{table(found[1], found[2])}\n<!-- end -->\n",
        text,
    )


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
