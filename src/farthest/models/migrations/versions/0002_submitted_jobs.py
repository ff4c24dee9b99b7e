"""Jobs that coordinators take from a queue, what a running job says of its progress, faster storage in PostgreSQL."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    op.add_column("job", sa.Column("submitted", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("job", sa.Column("progress", sa.Text()))
    if op.get_context().dialect.name == "postgresql":
        op.execute("ALTER TABLE chunk ALTER COLUMN payload SET STORAGE EXTERNAL")
        op.drop_constraint("fk_state_job_id_job", "state", type_="foreignkey")


def downgrade() -> None:
    if op.get_context().dialect.name == "postgresql":
        op.create_foreign_key("fk_state_job_id_job", "state", "job", ["job_id"], ["id"], ondelete="CASCADE")
        op.execute("ALTER TABLE chunk ALTER COLUMN payload SET STORAGE EXTENDED")
    op.drop_column("job", "progress")
    op.drop_column("job", "submitted")
