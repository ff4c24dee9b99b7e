"""A package, so that pytest ends the fixtures of the scope ``package`` with its last test."""
