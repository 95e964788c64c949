"""Faults that the walk finds and that stand for now: what a fault says, and what will mend it.

A line goes as soon as what it waits for is there.
"""

KNOWN: dict[str, str] = {
    r"shows the digits of a float: '\de\+": "scales of noise beyond a million, as 4.1943e+06",
}
