"""The classes of the states of a layer by symmetries."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision: str | None = "0008"


def upgrade() -> None:
    op.add_column("layer", sa.Column("classes", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("layer", "classes")
