"""One way to refuse an argument."""


def require(holds: object, message: str, *values: object) -> None:
    """Raise ValueError with the message, its braces filled with the values, unless this holds."""
    if not holds:
        raise ValueError(message.format(*values))
