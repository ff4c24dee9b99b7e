"""Steps of enumerations, as workers take them."""
