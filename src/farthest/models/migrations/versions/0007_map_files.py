"""Files of residue maps: their names, keys, sizes and checksums."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision: str | None = "0006"


def upgrade() -> None:
    op.create_table(
        "map_file",
        sa.Column("job_id", sa.Integer(), nullable=False),
        sa.Column("first_key", sa.BigInteger(), nullable=False, autoincrement=False),
        sa.Column("last_key", sa.BigInteger(), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("bytes", sa.BigInteger(), nullable=False),
        sa.Column("checksum", sa.String(64), nullable=False),
        sa.ForeignKeyConstraint(["job_id"], ["job.id"], name="fk_map_file_job_id_job", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("job_id", "first_key", name="pk_map_file"),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("map_file")
