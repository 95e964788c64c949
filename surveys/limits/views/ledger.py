"""The ledger for people: rows found and checked, each at an address of its own, for everyone."""

from decimal import Decimal
from itertools import chain
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from surveys.ledger import selectors as ledger
from surveys.ledger.selectors import Filter
from surveys.limits.presenters import ShownRow
from surveys.spreadsheets import csv_line
from surveys.streams import json_lines, streamed

ON_A_PAGE = 25
MAX_TEXT = 100  # characters of what is looked for
MAX_POSITION = 2**63 - 1
DAY = gettext_lazy("This must be a day, such as 2026-12-31.")
AMOUNT = gettext_lazy("This must be an ε from 0 to below 1,000.")
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
    *(
        "position",
        "at",
        "kind",
        "budget",
        "number",
        "epsilon",
        "rho",
        "delta",
        "reason",
        "mechanism",
        "sensitivity",
    ),
    *(
        "part",
        "what",
        "old",
        "new",
        "why",
        "who",
        "statistic",
        "published",
        "reads",
        "previous",
        "digest",
    ),
)


class LedgerSearch(forms.Form):
    """What a reader looks for, by the address: what cannot be read is said, and narrows nothing."""

    q = study = kind = sort = whose = who = forms.CharField(required=False)
    since = until = forms.DateField(
        required=False, input_formats=["%Y-%m-%d"], error_messages={"invalid": DAY}
    )
    least = most = forms.DecimalField(
        required=False,
        min_value=0,
        max_value=Decimal("999.999999999"),
        error_messages={"invalid": AMOUNT, "min_value": AMOUNT, "max_value": AMOUNT},
    )

    def __init__(self, request: HttpRequest) -> None:
        typed = {name: request.GET.get(name, "") for name in self.base_fields}
        super().__init__({name: _printable(text) for name, text in typed.items()})

    @property
    def filter(self) -> Filter:
        self.full_clean()
        typed = self.cleaned_data
        for name in ("least", "most"):
            if typed.get(name):
                typed[name] = typed[name].quantize(Decimal("1e-9"))  # as the ledger keeps them
        for name, known in (("kind", KINDS), ("whose", WHOSE)):
            if typed[name] not in known:  # it narrows nothing
                typed[name] = ""
        return Filter(text=typed.pop("q"), **typed)

    @property
    def query(self) -> str:
        typed = {name: value for name, value in self.data.items() if value}
        return urlencode(typed) + "&" if typed else ""

    @property
    def narrows(self) -> bool:
        return any(value for name, value in self.data.items() if name != "sort")

    @property
    def narrows_more(self) -> bool:
        """Tell whether something is asked for that is folded away."""
        return any(self.data[name] for name in ("whose", "who", "since", "until", "least", "most"))


def _printable(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable())[:MAX_TEXT].strip()


@require_safe
def ledger_page(request: HttpRequest) -> HttpResponse:
    """List the rows that are looked for, newest first by default, each checked as it is shown."""
    search = LedgerSearch(request)
    head, length = ledger.head()
    rows = Paginator(ledger.positions(search.filter), ON_A_PAGE)
    if not search.narrows:
        rows.count = length  # counting all of them takes as long as there are many
    page = rows.get_page(request.GET.get("page"))
    context = {
        "search": search,
        "typed": search.data,
        "problems": search.errors,
        "page": page,
        "rows": [ShownRow(row) for row in ledger.read(list(page))],
        "query": search.query,
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
    rows = ledger.read([position]) if position <= MAX_POSITION else []
    if not rows:
        raise Http404("the ledger has no row of this number")
    head, length = ledger.head()
    context = {
        "row": ShownRow(rows[0]),
        "head": head,
        "length": length,
        "before": position - 1,
        "after": position + 1,
    }
    return render(request, "limits/row.html", {**context, "is_last": position >= length})


@require_safe
def as_csv(request: HttpRequest) -> HttpResponseBase:
    """Give the rows that are looked for as a table."""
    rows = ledger.read_all(ledger.positions(LedgerSearch(request).filter))
    documents = ({**row.document, "position": row.position, "digest": row.digest} for row in rows)
    table = (csv_line([document.get(name) for name in COLUMNS]) for document in documents)
    return streamed(
        chain([csv_line(COLUMNS)], table),
        "text/csv; charset=utf-8",
        **{"Content-Disposition": 'attachment; filename="candor-ledger.csv"'},
    )


@require_safe
def as_json(request: HttpRequest) -> HttpResponseBase:
    """Give these rows as they are hashed, each with its digest, and the end of the whole chain."""
    head, length = ledger.head()
    rows = (
        {**row.document, "position": row.position, "digest": row.digest, "sound": row.is_sound}
        for row in ledger.read_all(ledger.positions(LedgerSearch(request).filter))
        if row.position <= length
    )
    return streamed(json_lines({"head": head, "length": length}, rows), "application/json")
