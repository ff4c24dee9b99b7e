"""The family ``jugs``."""
