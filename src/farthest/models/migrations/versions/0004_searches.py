"""Searches: their iterations, the pieces of the one under way, their solutions and results."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    op.add_column("job", sa.Column("result", sa.Text()))
    op.create_table(
        "iteration",
        _job(),
        sa.Column("bound", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("nodes", sa.BigInteger(), nullable=False),
        sa.Column("solutions", sa.Text(), nullable=False),
        sa.Column("pieces", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("next_bound", sa.Integer()),
        sa.Column("complete", sa.Boolean(), nullable=False),
        *_keys("iteration", "bound"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "subtree",
        _job(),
        sa.Column("place", sa.Text(), nullable=False),
        sa.Column("root", sa.Integer(), nullable=False),
        sa.Column("node", sa.Text()),
        sa.Column("result", sa.Text()),
        *_keys("subtree", "place"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "solution",
        _job(),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("moves", sa.Text(), nullable=False),
        *_keys("solution", "number"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("solution", "subtree", "iteration"):
        op.drop_table(table)
    op.drop_column("job", "result")


def _job() -> sa.Column[int]:
    return sa.Column("job_id", sa.Integer(), nullable=False)


def _keys(table: str, second: str) -> tuple[sa.Constraint, ...]:
    return (
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name=f"fk_{table}_job_id_job", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", second, name=f"pk_{table}"),
    )
