"""What other rooms may ask: how precise a study's publications will be, and how few plain answers would do as well."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from dpengine.privacy import Neighbours
from surveys.design import queries as design
from surveys.design.models import Study
from surveys.planning.laws import law_of
from surveys.planning.topics import HALF, drawn_of, is_on_request
from surveys.planning.widths import width_of
from surveys.planning.worked import half_width, unit_of


@dataclass(frozen=True, slots=True)
class HalfWidth:
    """Half of a 95 % interval: of shares in shares of one, of a mean in its unit; and the same in words."""

    total: float
    sampling: float  # of which who happened to answer
    device: float  # and answers changed on devices
    plain: int  # plain answers that would be as precise
    is_mean: bool
    said: str  # such as 4.0
    unit: str  # such as points


def half_widths(
    study: Study, contents: Sequence[dict[str, Any]], n: int, release_epsilon: Decimal | None = None
) -> dict[str, HalfWidth]:
    """Return how precise one publication of n answers will be, by question, in the worst case: half would say yes.

    `contents` are the Plan's questions, all of them; a number sent as given has none, for no rule publishes it.
    """
    asked = [content for content in contents if not is_on_request(content)]
    planned = copy.copy(study)
    planned.release_epsilon = release_epsilon or study.release_epsilon
    publication = design.publication_terms(planned)
    neighbours = Neighbours(study.neighbours)
    return {content["name"]: _half_width(content, neighbours, len(asked), publication, n) for content in asked}


def _half_width(
    content: dict[str, Any], neighbours: Neighbours, parts: int, publication: dict[str, Any], n: int
) -> HalfWidth:
    drawn = drawn_of(content, neighbours)
    width = width_of(drawn, law_of(drawn.tally, parts, publication), n, HALF)
    return HalfWidth(
        total=width.half,
        sampling=width.sampling,
        device=width.device,
        plain=width.plain,
        is_mean=drawn.is_mean,
        said=half_width(width.half, drawn),
        unit=unit_of(drawn),
    )
