"""The family ``sliding``."""
