"""Pages as tests read them."""

import re


def one_line(page: str) -> str:
    """Return a page on one line, without the white space between a tag and its text."""
    return re.sub(r"\s*(?<=>)\s+|\s+(?=<)", "", re.sub(r"\s+", " ", page))
