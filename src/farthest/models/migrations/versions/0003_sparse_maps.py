"""Maps of codes: the first code of each chunk."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    op.add_column("chunk", sa.Column("lead", sa.LargeBinary()))
    op.create_index("ix_chunk_lead", "chunk", ["job_id", "lead", "first_key"])


def downgrade() -> None:
    op.drop_index("ix_chunk_lead", "chunk")
    op.drop_column("chunk", "lead")
