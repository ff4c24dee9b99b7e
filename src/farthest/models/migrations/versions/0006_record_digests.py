"""Digests of all that a job, a puzzle and a chunk say of themselves.

Rows that are there get none: nobody knows whether they are still what was stored."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision: str | None = "0005"


def upgrade() -> None:
    for table in ("puzzle", "job", "chunk"):
        op.add_column(table, sa.Column("record_digest", sa.String(64)))
    op.add_column("job", sa.Column("parts", sa.Text()))


def downgrade() -> None:
    op.drop_column("job", "parts")
    for table in ("chunk", "job", "puzzle"):
        op.drop_column(table, "record_digest")
