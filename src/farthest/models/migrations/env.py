"""What Alembic runs: migrations on the connection that ``migrations.upgrade`` hands over."""

from alembic import context

from farthest.models.tables import VERSION_TABLE, lock_schema, metadata

connection = context.config.attributes["connection"]
context.configure(
    connection=connection,
    target_metadata=metadata,
    version_table=VERSION_TABLE,
    render_as_batch=connection.dialect.name == "sqlite",
)
with context.begin_transaction():
    lock_schema(connection)
    context.run_migrations()
