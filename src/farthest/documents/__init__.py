"""The JSON objects with which commands (`--json`) and the web answer: the same fields in both.

Each kind of object is declared once, as a TypedDict. From its types the OpenAPI document is made (``web.openapi``);
from the texts beside them the tables of docs/commands.md (``tests/field_tables.py``), where a field without a text
stands in the row of the next one. What a declaration names must be imported when the module is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

Document = TypeVar("Document", bound=Mapping[str, Any])


def filled(kind: type[Document], source: object, **others: object) -> Document:
    """A document: each of its fields is one of ``others``, else the attribute of ``source`` that has its name."""
    fields = kind.__annotations__
    return {name: others[name] if name in others else getattr(source, name) for name in fields}  # type: ignore[return-value]
