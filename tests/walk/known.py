"""Faults that the walk finds and that stand for now: what a fault says, and what will mend it.

A line goes as soon as what it waits for is there.
"""

KNOWN: dict[str, str] = {}
