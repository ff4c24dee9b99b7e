"""Steps of enumerations in workers."""
