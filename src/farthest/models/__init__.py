"""The database of jobs and distance maps: tables, opening and migrating, jobs, chunks.

Nothing is imported here: SQLAlchemy takes a third of a second, and only what stores or reads a map needs it.
"""
