"""Sizes in words."""


def bytes_text(size: int) -> str:
    """A number of bytes: 812 bytes, 1.5 MiB."""
    if size < 1024:
        return f"{size} bytes"
    amount = size / 1024
    for unit in ("KiB", "MiB", "GiB", "TiB", "PiB"):
        if amount < 1023.95:
            return f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:,.0f} EiB"
