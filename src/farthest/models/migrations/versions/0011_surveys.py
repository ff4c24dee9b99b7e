"""Surveys: their parts, and the components that these have found."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision: str | None = "0010"


def upgrade() -> None:
    op.create_table(
        "survey",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("starts_of", sa.Text(), nullable=False),
        sa.Column("parts", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("created", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_survey"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "survey_part",
        _survey(),
        sa.Column("part", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("totals", sa.Text(), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        *_keys("survey_part", "part"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "component",
        _survey(),
        sa.Column("part", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("number", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("pieces", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("states", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("moves", sa.Integer(), nullable=True, autoincrement=False),
        sa.Column("minimal", sa.Boolean(), nullable=True),
        sa.Column("board", sa.Text(), nullable=False),
        sa.Column("layers", sa.Text(), nullable=False),
        *_keys("component", "part", "number"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_component_moves", "component", ["survey_id", "moves", "states"])
    op.create_index("ix_component_states", "component", ["survey_id", "states"])


def downgrade() -> None:
    for table in ("component", "survey_part", "survey"):
        op.drop_table(table)


def _survey() -> sa.Column[int]:
    return sa.Column("survey_id", sa.Integer(), nullable=False)


def _keys(table: str, *columns: str) -> tuple[sa.PrimaryKeyConstraint, sa.ForeignKeyConstraint]:
    return (
        sa.PrimaryKeyConstraint("survey_id", *columns, name=f"pk_{table}"),
        sa.ForeignKeyConstraint(
            ["survey_id"], ["survey.id"], name=f"fk_{table}_survey_id_survey", ondelete="CASCADE"
        ),
    )
