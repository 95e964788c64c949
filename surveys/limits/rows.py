"""The ledger for people: rows found and checked, each with an address of its own. Everyone may read all of it."""

import datetime
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from surveys.ledger import queries as ledger
from surveys.ledger.queries import Filter
from surveys.spreadsheets import csv_line

ON_A_PAGE = 25
LONGEST = 100  # characters of what is looked for
LARGEST_POSITION = 2**63 - 1
LARGEST_AMOUNT = Decimal(1000)
WHOSE = {
    "study": gettext_lazy("a study"),
    "panel": gettext_lazy("a panel"),
    "researcher": gettext_lazy("a researcher"),
    "site": gettext_lazy("the whole site"),
}
KINDS = {"charge": gettext_lazy("charges"), "act": gettext_lazy("acts")}
SORTS = {
    "newest": gettext_lazy("newest first"),
    "oldest": gettext_lazy("oldest first"),
    "dearest": gettext_lazy("largest ε first"),
    "who": gettext_lazy("by who"),
}
COLUMNS = (
    *("position", "at", "kind", "budget", "number", "epsilon", "rho", "delta", "reason", "mechanism", "sensitivity"),
    *("part", "what", "old", "new", "why", "who", "statistic", "published", "previous", "digest"),
)


class Asked:
    """What a reader looks for, read from an address: what cannot be read is said, and narrows nothing."""

    def __init__(self, request: HttpRequest) -> None:
        self.typed = {name: _clean(request.GET.get(name, "")) for name in NAMES}
        self.problems: dict[str, str] = {}
        typed = self.typed
        self.filter = Filter(
            study=typed["study"],
            whose=typed["whose"] if typed["whose"] in WHOSE else "",
            kind=typed["kind"] if typed["kind"] in KINDS else "",
            who=typed["who"],
            text=typed["q"],
            since=self._day("since"),
            until=self._day("until"),
            least=self._amount("least"),
            most=self._amount("most"),
            sort=typed["sort"] if typed["sort"] in SORTS else "newest",
        )

    @property
    def query(self) -> str:
        kept = {name: value for name, value in self.typed.items() if value}
        return urlencode(kept) + "&" if kept else ""

    @property
    def narrows(self) -> bool:
        return any(value for name, value in self.typed.items() if name != "sort")

    @property
    def narrows_more(self) -> bool:
        """Tell whether something is asked for that is folded away."""
        return any(self.typed[name] for name in ("whose", "who", "since", "until", "least", "most"))

    def _day(self, name: str) -> datetime.date | None:
        text = self.typed[name]
        try:
            return datetime.date.fromisoformat(text) if text else None
        except ValueError:
            self.problems[name] = _("This must be a day, such as 2026-12-31.")
            return None

    def _amount(self, name: str) -> Decimal | None:
        text = self.typed[name]
        if not text:
            return None
        try:
            amount = Decimal(text)
        except InvalidOperation:
            amount = Decimal("NaN")
        if not (amount.is_finite() and 0 <= amount < LARGEST_AMOUNT):
            self.problems[name] = _("This must be an ε from 0 to below 1,000.")
            return None
        return amount.quantize(Decimal("1e-9"))


NAMES = ("study", "whose", "kind", "who", "q", "since", "until", "least", "most", "sort")


@require_safe
def ledger_page(request: HttpRequest) -> HttpResponse:
    """List the rows that are looked for, newest first unless asked otherwise; each is checked as it is shown."""
    asked = Asked(request)
    page = Paginator(ledger.positions(asked.filter), ON_A_PAGE).get_page(request.GET.get("page"))
    head, length = ledger.head()
    context = {
        "asked": asked,
        "typed": asked.typed,
        "problems": asked.problems,
        "page": page,
        "rows": ledger.read(list(page)),
        "query": asked.query,
        "head": head,
        "length": length,
        "whose": WHOSE,
        "kinds": KINDS,
        "sorts": SORTS,
        "authors": ledger.authors(),
    }
    return render(request, "limits/ledger.html", context)


@require_safe
def row(request: HttpRequest, position: int) -> HttpResponse:
    """Show one row: what it says, what is hashed, and whether it holds."""
    found = ledger.read([position]) if position <= LARGEST_POSITION else []
    if not found:
        raise Http404("the ledger has no row of this number")
    head, length = ledger.head()
    context = {"row": found[0], "head": head, "length": length, "before": position - 1, "after": position + 1}
    return render(request, "limits/row.html", {**context, "is_last": position >= length})


@require_safe
def as_csv(request: HttpRequest) -> StreamingHttpResponse:
    """Give the rows that are looked for as a table."""
    lines = _lines(ledger.read_all(ledger.positions(Asked(request).filter)))
    response = StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="candor-ledger.csv"'
    return response


@require_safe
def as_json(request: HttpRequest) -> JsonResponse:
    """Give the rows that are looked for as they are hashed, each with its digest, and the end of the whole chain."""
    head, length = ledger.head()
    rows = [
        {**found.document, "position": found.position, "digest": found.digest, "sound": found.is_sound}
        for found in ledger.read_all(ledger.positions(Asked(request).filter))
        if found.position <= length
    ]
    return JsonResponse({"head": head, "length": length, "rows": rows}, json_dumps_params={"indent": 1})


def _lines(rows: Iterator[ledger.Row]) -> Iterator[str]:
    yield csv_line(COLUMNS)
    for found in rows:
        said = {**found.document, "position": found.position, "digest": found.digest}
        yield csv_line([said.get(name) for name in COLUMNS])


def _clean(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable())[:LONGEST].strip()
