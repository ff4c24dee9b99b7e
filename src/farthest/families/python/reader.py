"""The ``[python]`` table of a definition.

class   = "module:Name"     # installed, and allowed, wherever farthest and its workers run; never sent to them
options = { n = 5 }         # optional: values of the class's fields
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.errors import PuzzleError
from farthest.families.python.definition import Python, is_reference
from farthest.families.python.user_options import OptionError, options_of, to_text
from farthest.puzzles.goal_keys import check_keys
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.puzzles.source import Source

_KEYS = ("class", "options")


def read_python(table: dict[str, Any], source: Source) -> Python:
    """The definition: the class is made, where that is allowed, and asked for its initial states. Raises
    PuzzleError."""

    def fail(key: str, problem: str) -> PuzzleError:
        return source.error("python", key, problem)

    check_keys(table, _KEYS, fail)
    mend = 'write class = "module:Name"'
    if "class" not in table:
        raise fail("", f"no class; {mend}")
    reference, options = table["class"], table.get("options", {})
    if not isinstance(reference, str) or not is_reference(reference):
        raise fail(
            "class", f"expected the names of a module and a class in it, got {shown(reference)}; {mend}"
        )
    if not isinstance(options, dict):
        raise fail("options", f"expected a table, got {shown(options)}; write options = {{ n = 5 }}")
    try:
        given = Python(reference, to_text(options))
        definition = Python(reference, to_text(options_of(given.user.instance)))
        _ = definition.user.initial
    except OptionError as error:
        raise fail("options", str(error)) from None
    except PuzzleError as error:
        raise type(error)(str(fail("class", str(error)))) from None
    return definition
