"""The last proof of each job, and the version of the program that finished it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision: str | None = "0007"


def upgrade() -> None:
    op.add_column("job", sa.Column("version", sa.String(32)))
    op.create_table(
        "verification",
        sa.Column("job_id", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("job_record", sa.String(64), nullable=False),
        sa.Column("made", sa.DateTime(), nullable=False),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("checks", sa.Text(), nullable=False),
        sa.Column("record_digest", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(
            ["job_id"], ["job.id"], name="fk_verification_job_id_job", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("job_id", name="pk_verification"),
    )


def downgrade() -> None:
    op.drop_table("verification")
    op.drop_column("job", "version")
