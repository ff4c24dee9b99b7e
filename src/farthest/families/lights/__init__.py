"""The family ``lights``."""
