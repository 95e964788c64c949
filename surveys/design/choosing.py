"""Say in the reader's language why a channel was chosen, and what the next best would cost.

The engine says it in English (`dpengine.local.choose`), in these sentences.
"""

from django.utils.translation import gettext_noop as _

from surveys.retelling import Sentences

WAYS = (  # what each device would do (dpengine.local.choose)
    _("keep the answer %(own)s times of 100 and turn it otherwise"),
    _("force answers, three yes for one no"),
    _("send a bit for every answer, each turned as often"),
    _("send a bit for every answer, ones turned more often"),
    _("name one answer"),
    _("name one answer, the true one more often than another"),
    _("name %(size)s of the %(all)s answers, the true one more often than another"),
)
PRICES = (
    _("would need %(share)s %% fewer people, but cannot be had"),
    _("needs as many people"),
    _("needs %(share)s %% more people to be as precise"),
    _("needs %(times)s times as many people to be as precise"),
)
WHY = _(
    "Each device would %(way)s; at ε = %(epsilon)s the next best of the ways compared, to %(other_way)s, %(price)s."
)
SENTENCES = Sentences(
    (WHY, *WAYS, *PRICES),
    one_of={},
    numbers=("own", "size", "all", "share", "times", "epsilon"),
    kinds={"price": "(?:would need|needs) [^,]+(?:, but cannot be had)?"},
    in_parts=("way", "other_way", "price"),
)


def told(why: str) -> str:
    """Return the engine's reason in the language of whoever reads."""
    return SENTENCES.told(why)
