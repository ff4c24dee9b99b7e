"""The entry point: the command line of this process, from start to exit status."""

from __future__ import annotations

TYPE_CHECKING = (
    False  # as typing has it: until ``main`` runs Ctrl-C is Python's own, so nothing is imported before
)
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> NoReturn:
    """Run the command line of this process and leave with its exit status."""
    from farthest.cli import INTERRUPTED

    status = 0
    try:
        from farthest.cli.interruption import leave_at_interrupts, restore_terminal

        leave_at_interrupts()
        import gc

        # Importing SQLAlchemy alone would run the collector some hundred times, and finds it nothing.
        gc.set_threshold(100_000)
        from farthest.cli.app import cli

        cli(prog_name="farthest")
    except KeyboardInterrupt:  # before Ctrl-C was heeded
        status = INTERRUPTED
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else 0
        if status == INTERRUPTED:
            restore_terminal()
    _leave(status)


def _leave(status: int) -> NoReturn:
    """End the process at once: taking all modules apart would be a tenth of a short command's time."""
    import os
    import sys

    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # closed, or its reader is gone; that was reported
            continue
    os._exit(status)
