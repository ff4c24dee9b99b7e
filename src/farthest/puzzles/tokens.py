"""What may stand for a piece in a drawn board."""

MAX_TOKEN = 32
"""Characters in a token."""

RESERVED = "/,;#*"
"""Characters with a meaning of their own in a board: rows, separators, wall, wildcard."""


def token_problem(token: str) -> str | None:
    """Why the text cannot stand for a piece or the blank, or None when it can."""
    if not token:
        return "is empty"
    if len(token) > MAX_TOKEN:
        return f"has {len(token)} characters; at most {MAX_TOKEN} are possible"
    for character in token:
        if character in RESERVED:
            return f"holds {character!r}, which has a meaning of its own in boards"
        if character == " " or not character.isprintable():
            return f"holds the character U+{ord(character):04X}, which cannot be seen"
    if not token.isascii():
        import unicodedata

        if unicodedata.category(token[0])[0] == "M":
            return f"begins with the combining mark U+{ord(token[0]):04X}; separate the pieces with spaces"
    return None
