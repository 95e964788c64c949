"""Read a report: bytes from a stranger to values that the Plan's channels can have made,
or that its other questions take.

Errors name the field and what was expected, never what was sent: a report is as private as
an answer, and logs are read by people.
"""

import base64
import dataclasses
import json
from collections import Counter
from dataclasses import dataclass
from http import HTTPStatus
from typing import Annotated, Any

import msgspec

from dpengine.local.channel import Channel
from surveys.design.models import Plan
from surveys.plan import tickets
from surveys.plan.content import PlanContent
from surveys.refusals import Refused as Refused

MAX_BODY = 65_536  # bytes; a report on 100 questions of 1,024 choices would fit
MAX_NAME = 40  # characters of an unknown field's name that an error repeats


class Ticket(msgspec.Struct, forbid_unknown_fields=True):
    """What proves that somebody on the Plan's list sends a report, and not who."""

    prefix: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    signature: Annotated[str, msgspec.Meta(pattern=r"^[0-9A-Za-z_-]{1,1000}\Z")]
    stratum: Annotated[int, msgspec.Meta(ge=0)]


class Envelope(msgspec.Struct, forbid_unknown_fields=True):
    """A report before its Plan is known."""

    plan: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    report_id: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}\Z")]
    answers: dict[str, Any]
    ticket: Ticket | None = None


WANTED = {
    "$": "an object with plan, report_id and answers",
    "$.plan": "the Plan's digest, 64 small hexadecimal digits",
    "$.report_id": "32 small hexadecimal digits",
    "$.answers": "an object with a value for every question",
    "$.ticket": "an object with prefix, signature and stratum",
}

_envelopes = msgspec.json.Decoder(Envelope)
encoded = json.JSONEncoder(separators=(",", ":")).encode
_encode_numbers = msgspec.json.Encoder().encode  # in the same bytes, sooner


@dataclass(frozen=True)
class Report:
    """A well-formed report: its id, and its values in the order of the Plan's `reports`, None of
    what was not asked; those sent as given apart.
    """

    report_id: str
    values: list[Any]
    given: dict[str, int] = dataclasses.field(default_factory=dict)
    stratum: int | None = None  # of the Plan's list, as its ticket proves

    @property
    def canonical_values(self) -> str:
        """Return what may be stored in the open: what chance has changed, which is whole numbers
        and lists of them.
        """
        return _encode_numbers(self.values).decode()

    @property
    def canonical_content(self) -> str:
        """Return all that the report says, for its digest only: with the id before it, nobody
        can guess it.
        """
        return encoded([*self.values, self.given]) if self.given else self.canonical_values


def open_envelope(body: bytes) -> Envelope:
    """Return the parts of a report, or raise Refused naming the part that is wrong."""
    if len(body) > MAX_BODY:
        raise Refused("body", f"expected at most {MAX_BODY} bytes, got more")
    try:
        # msgspec takes the last of two equal keys
        _decode(body.decode(json.detect_encoding(body), "surrogatepass"))
        return _envelopes.decode(body)
    except msgspec.ValidationError as error:
        raise _refusal(error) from None
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise Refused("body", "expected JSON in UTF-8") from None


def read_report(envelope: Envelope, plan: Plan) -> Report:
    """Return the report, each value one that the channel of its question, or of its joint block,
    can have made.
    """
    channels, cleartext = plan.content.reports, plan.content.cleartext
    for name in envelope.answers:
        if name not in channels and name not in cleartext:
            raise Refused(f"answers.{name[:MAX_NAME]}", _unknown(name, plan.content))
    asked = _asked(envelope.answers, plan.content)
    return Report(
        report_id=envelope.report_id,
        values=[
            _value(envelope.answers, name, channel) if name in asked else None
            for name, channel in channels.items()
        ],
        given={
            name: _value(envelope.answers, name, channel) for name, channel in cleartext.items()
        },
        stratum=_stratum(envelope, plan),  # last: it takes longest
    )


def _stratum(envelope: Envelope, plan: Plan) -> int | None:
    """Return the stratum whose key has signed the report's ticket; None where nobody is invited."""
    invited, ticket = plan.content.invited, envelope.ticket
    if invited is None:
        if ticket is None:
            return None
        raise Refused("ticket", "expected none: this study asks whoever has its link")
    if ticket is None:
        raise Refused("ticket", "expected one, got none", HTTPStatus.FORBIDDEN)
    message = tickets.message(bytes.fromhex(ticket.prefix), plan.digest)
    if envelope.report_id != tickets.report_id(message):
        raise Refused("report_id", "expected the one that the ticket makes, got another")
    if ticket.stratum >= len(invited.strata) or not tickets.verify(
        invited.strata[ticket.stratum].key, message, _signature(ticket)
    ):
        expected = "expected one of this Plan and stratum, got another"
        raise Refused("ticket", expected, HTTPStatus.FORBIDDEN)
    return ticket.stratum


def _signature(ticket: Ticket) -> bytes:
    """Return a signature's bytes: none of what is no base64."""
    try:
        return base64.urlsafe_b64decode(ticket.signature + "=" * (-len(ticket.signature) % 4))
    except ValueError:
        return b""


def _asked(answers: dict[str, Any], content: PlanContent) -> frozenset[str]:
    """Return what a report holds of all that is changed on the device: one of the sets."""
    held = frozenset(name for name in answers if name in content.reports)
    if content.drawn and held not in content.report_sets:
        raise Refused("answers", "expected the questions of one of this Plan’s sets, got others")
    return held if content.drawn else content.report_sets[0]


def _unknown(name: str, content: PlanContent) -> str:
    """Say why no report has a value of this name."""
    if name in content.channels:
        return f"expected in one answer with others, {content.sent_in(name)}"
    return "no such question in this Plan"


def _value(answers: dict[str, Any], name: str, channel: Channel) -> Any:
    if name not in answers:
        raise Refused(f"answers.{name}", f"expected {channel.expects()}, got nothing")
    value = answers[name]
    if not channel.accepts(value):
        raise Refused(f"answers.{name}", f"expected {channel.expects()}, got {_kind(value)}")
    return value


def _kind(value: Any) -> str:
    """Name the kind of a value, never the value."""
    names = {
        bool: "a truth value",
        int: "another integer",
        float: "a fraction",
        str: "a string",
        list: "another list",
    }
    return names.get(type(value), "an object" if isinstance(value, dict) else "null")


def _refusal(error: msgspec.ValidationError) -> Refused:
    """Turn msgspec's message into ours: the path, and what belongs there."""
    message, _, path = str(error).partition(" - at `")
    path = path.rstrip("`") or "$"
    for field in ("plan", "report_id", "answers"):
        if f"`{field}`" in message and "required" in message:
            return Refused(field, f"expected {WANTED[f'$.{field}']}, got nothing")
    if "unknown field" in message:
        name = message.split("`")[1][:MAX_NAME]
        return Refused(name, "no such field in a report")
    path = path.replace("$.ticket.", "$.ticket ").partition(" ")[0]
    known = path if path in WANTED else "$"
    return Refused(known.removeprefix("$.").replace("$", "body"), f"expected {WANTED[known]}")


def _unique(pairs: list[tuple[str, Any]]) -> None:
    """Refuse an object with two equal keys."""
    if len(dict(pairs)) == len(pairs):
        return
    for name, times in Counter(name for name, _value in pairs).items():
        if times > 1:
            raise Refused(name[:MAX_NAME], "expected once, got twice")


_decode = json.JSONDecoder(object_pairs_hook=_unique).decode
