"""The family ``blocks``."""
