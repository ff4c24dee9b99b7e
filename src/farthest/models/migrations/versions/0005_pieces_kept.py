"""How many pieces an iteration keeps, so that a missing one is noticed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    op.add_column("iteration", sa.Column("kept", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("iteration", "kept")
