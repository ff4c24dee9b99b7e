"""Puzzles, jobs, layers, chunks and states."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision: str | None = None


def upgrade() -> None:
    op.create_table(
        "puzzle",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_puzzle"),
        sa.UniqueConstraint("digest", name="uq_puzzle_digest"),
    )
    op.create_table(
        "job",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("puzzle_id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("parameters", sa.Text(), nullable=False),
        sa.Column("layout", sa.Text(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("lease_until", sa.DateTime()),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.Column("started", sa.DateTime()),
        sa.Column("finished", sa.DateTime()),
        sa.Column("seconds", sa.Float()),
        sa.Column("states", sa.BigInteger()),
        sa.Column("eccentricity", sa.Integer()),
        sa.Column("depth", sa.Integer()),
        sa.Column("complete", sa.Boolean(), nullable=False),
        sa.Column("has_map", sa.Boolean(), nullable=False),
        sa.Column("unit", sa.String(8)),
        sa.Column("keys", sa.BigInteger()),
        sa.Column("digest", sa.String(64)),
        sa.Column("error", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_job"),
        sa.ForeignKeyConstraint(
            ["puzzle_id"], ["puzzle.id"], name="fk_job_puzzle_id_puzzle", ondelete="CASCADE"
        ),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_job_puzzle_id", "job", ["puzzle_id"])
    op.create_table(
        "layer",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("states", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float()),
        sa.PrimaryKeyConstraint("job_id", "depth", name="pk_layer"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_layer_job_id_job", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "chunk",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("first_key", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("last_key", sa.BigInteger(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("codec", sa.String(32), nullable=False),
        sa.Column("payload", sa.LargeBinary(), nullable=False),
        sa.Column("checksum", sa.String(64), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "first_key", name="pk_chunk"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_chunk_job_id_job", ondelete="CASCADE"),
    )
    op.create_table(
        "state",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("key", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("distance", sa.Integer(), nullable=False),
        sa.Column("board", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("job_id", "key", name="pk_state"),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_state_job_id_job", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    for table in ("state", "chunk", "layer", "job", "puzzle"):
        op.drop_table(table)
