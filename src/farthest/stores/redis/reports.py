"""What workers tell the coordinator that waits: the entries of an attempt's done-list."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from farthest.json_fields import counts, text
from farthest.untrusted_json import read_json_object

MOST_BYTES = 2**16
"""Of an entry."""
MOST_OF_A_MESSAGE = 4000
"""Characters; what is longer is cut."""


Error = Literal["", "lost", "full", "no room", "no base", "failed"]
ERRORS: tuple[Error, ...] = get_args(Error)


WorkKind = Literal["step", "search", "part"]
"""Of work that is sent to workers: steps of blocks, batches of a search, parts of a map."""


@dataclass(frozen=True, slots=True)
class Report:
    """The step of a block, or a part of the map: committed ``by`` a holder, or with an ``error`` (and its
    ``message``): "lost" means that the attempt's working state is, "full" that Redis had no memory left, "no room" that
    the place of blobs or the database was full, "no base" that the worker does not see the checkpoint that a part is
    made from, "failed" that the work cannot be done."""

    depth: int
    block: int
    by: str
    error: Error = ""
    message: str = ""
    kind: WorkKind = "step"

    def text(self) -> str:
        """As stored."""
        fields = {**asdict(self), "message": self.message[:MOST_OF_A_MESSAGE]}
        defaults = {"error": "", "message": "", "kind": "step"}
        return json.dumps({name: value for name, value in fields.items() if value != defaults.get(name)})

    @classmethod
    def of(cls, entry: bytes) -> Report:
        """Inverse of ``text``. Raises ValueError for an entry that is not a report."""
        fields = {"error": "", "message": "", "kind": "step", **read_json_object(entry, MOST_BYTES)}
        try:
            if set(fields) != set(cls.__match_args__) or (
                fields["error"] not in ERRORS or fields["kind"] not in get_args(WorkKind)
            ):
                raise ValueError("it has other fields")
            depth, block = counts([fields["depth"], fields["block"]])
            said = text(fields["by"]), fields["error"], text(fields["message"]), fields["kind"]
            return cls(depth, block, *said)
        except TypeError as error:
            raise ValueError(str(error)) from None
