"""The JSON objects with which commands (`--json`) and the web answer: the same fields in both.

Each kind of object is declared once: as a TypedDict, or as a dataclass that the program works with anyway. From its
types the OpenAPI document is made (``web.openapi``); from the texts beside them the tables of docs/commands.md
(``tests/field_tables.py``), where a field without a text stands in the row of the next one. What a declaration names
must be imported when the module is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar, cast

Document = TypeVar("Document", bound=Mapping[str, Any])


def filled(kind: type[Document], source: object, **others: object) -> Document:
    """A document: each of its fields is one of ``others``, else the attribute of ``source`` that has its name."""
    names = kind.__annotations__
    values = {name: others[name] if name in others else getattr(source, name) for name in names}
    return cast("Document", values)


def plain(value: object) -> Any:
    """What JSON has of a value that is no JSON by itself: the fields of a dataclass, the text of a moment or a path.
    ``json.dumps`` calls it for all that stands within. Raises TypeError for anything else."""
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} is not JSON")
