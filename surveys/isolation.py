"""Do the same for many rows, so that one that fails does not keep the others waiting."""

from collections.abc import Callable, Iterable
from typing import TypeVar

import structlog
from django.db import models

log = structlog.get_logger(__name__)

Row = TypeVar("Row", bound=models.Model)
Result = TypeVar("Result")


def isolate_failures(rows: Iterable[Row], act: Callable[[Row], Result]) -> list[Result]:
    """Act on every row; return the results, or raise the first failure once all have had their
    turn.

    A failure's text may hold what a row holds: only its kind is logged.
    """
    results, failures = [], []
    for row in rows:
        try:
            results.append(act(row))
        except Exception as failure:
            log.error("failed", what=act.__qualname__, row=row.pk, kind=type(failure).__name__)
            failures.append(failure)
    if failures:
        raise failures[0]
    return results
