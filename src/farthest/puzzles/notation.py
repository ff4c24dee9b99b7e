"""Signs that all drawn boards share, beside the tokens of the pieces."""

WALL_TOKEN = "#"
WILDCARD_TOKEN = "*"
ROW_TOKEN = "/"
