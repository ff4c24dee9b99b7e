"""The database of jobs and distance maps: its tables, opening and migrating it, jobs, chunks.

Nothing is imported here: importing SQLAlchemy takes a third of a second, and only code that stores or reads a map needs
it.
"""
