"""How an enumeration reports its progress."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from farthest.coordinator.settings import Estimate, Outcome


class Reporter:
    """Receives the events of one enumeration, in order, in its thread. This one does nothing; subclasses override
    methods."""

    def estimate(self, estimate: Estimate) -> None:
        """Before anything large is allocated."""

    def resuming(self, job: int, depth: int, share: float) -> None:
        """The checkpoint of job ``job`` at ``depth`` is being read; ``share``: the part that has been read, 0 to 1."""

    def begun_anew(self, job: int, depth: int, seconds: float) -> None:
        """The run begins job ``job`` again at depth 0: its layers up to the checkpoint at ``depth`` took ``seconds``,
        and reading it would take longer."""

    def resumed(self, job: int, depth: int, states: int, total: int) -> None:
        """Job ``job`` continues after its layer ``depth``, which has ``states`` of ``total`` states."""

    def layer(self, depth: int, states: int, total: int, seconds: float) -> None:
        """A layer is complete; ``total`` states have been found; the layer took ``seconds``."""

    def progress(self, known: Mapping[str, Any]) -> None:
        """How far the layer under way is, where workers step it: ``JobRecord.progress`` as it is now."""

    def checkpoint(self, depth: int, seconds: float) -> None:
        """The map up to ``depth`` has been stored, which took ``seconds``."""

    def notice(self, text: str) -> None:
        """Something that the user should know, and perhaps mend: no worker is alive, a server is away."""

    def stopping(self) -> None:
        """A signal asked the attempt to stop: it will at the end of the layer under way."""

    def finished(self, outcome: Outcome) -> None:
        """The result is complete and stored."""
