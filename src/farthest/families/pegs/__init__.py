"""The family ``pegs``."""
