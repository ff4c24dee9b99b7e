"""The family ``python``."""
