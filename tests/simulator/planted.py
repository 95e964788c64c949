"""Bugs to find: each is a line that a hurried hand could have written."""

from tests.bench.planted_faults import Fault

COMMIT = "transaction.get_connection()._commit()"
SWEEP, DOOR, GROUP, DRAW, LEDGER = (
    "surveys/aggregation/services.py",
    "surveys/intake/services.py",
    "surveys/intake/group.py",
    "surveys/releases/services.py",
    "surveys/ledger/services.py",
)
ONE_WRITER = {"a budget that is read without its lock"}  # no bug on SQLite, which has one writer
BUGS = (
    Fault(
        "a sweep that deletes outside of its transaction",
        SWEEP,
        "    tally.reports += len(reports)\n",
        f"    {COMMIT}\n    tally.reports += len(reports)\n",
    ),
    Fault(
        "a receipt committed apart from its report",
        GROUP,
        "        raise Overtaken\n",
        f"        raise Overtaken\n    {COMMIT}\n",
    ),
    Fault(
        "a charge committed apart from what was drawn for it",
        DRAW,
        "    release.save(force_insert=True)\n    return release\n",
        f"    {COMMIT}\n    release.save(force_insert=True)\n    return release\n",
    ),
    Fault(
        "a retry that draws again",
        DRAW,
        "if done := selectors.drawn(request):\n        return done",
        "selectors.drawn(request)",
    ),
    Fault(
        "a budget that is read without its lock",
        LEDGER,
        "Budget.objects.select_for_update().filter(pk__in=budget_ids)",
        "Budget.objects.filter(pk__in=budget_ids)",
    ),
    Fault(
        "a sweep that takes as few as there are",
        SWEEP,
        '"least": least_batch(plan)',
        '"least": 1',
    ),
    Fault(
        "a retirement that leaves the key",
        DOOR,
        "            keys.delete()\n",
        "            pass\n",
    ),
)
