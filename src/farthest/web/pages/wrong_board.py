"""What is said of a text that is no board of the puzzle, with the form, to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htpy import a, div, p

from farthest.web.addresses import job_page
from farthest.web.page import page
from farthest.web.pages.job import board_form

if TYPE_CHECKING:
    from farthest.models.records import JobRecord


def wrong_board(record: JobRecord, board: str, told: str) -> str:
    """``told``: what is wrong with ``board``, and what was expected."""
    return page(
        f"{record.name}: not a board",
        p[a(href=job_page(record.id))[f"Job {record.id}: {record.name}"]],
        div(class_="message", role="alert")[told],
        board_form(record.id, board),
    )
