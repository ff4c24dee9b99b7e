"""What workers tell the coordinator that waits: the entries of a run's done-list."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Report:
    """The step of a block: committed ``by`` a holder, or with an ``error`` (and its ``message``): "lost" means that
    the run's working state is, "full" that Redis had no memory left, "failed" that the step cannot be done."""

    depth: int
    block: int
    by: str
    error: Literal["", "lost", "full", "failed"] = ""
    message: str = ""

    def text(self) -> str:
        """As stored."""
        return json.dumps({name: value for name, value in asdict(self).items() if value != ""})

    @classmethod
    def of(cls, text: bytes) -> Report:
        """Inverse of ``text``."""
        return cls(**json.loads(text))
