"""Puzzles that differ only in their title or another text have a row each."""

from __future__ import annotations

from alembic import op

revision = "0010"
down_revision: str | None = "0009"


def upgrade() -> None:
    with op.batch_alter_table("puzzle") as batch:
        batch.drop_constraint("uq_puzzle_digest", type_="unique")
        batch.create_index("ix_puzzle_digest", ["digest"])


def downgrade() -> None:
    """Fails where puzzles have the same digest."""
    with op.batch_alter_table("puzzle") as batch:
        batch.drop_index("ix_puzzle_digest")
        batch.create_unique_constraint("uq_puzzle_digest", ["digest"])
