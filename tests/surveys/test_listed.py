"""Labels of questions stand in a sentence without two marks after each other."""

import re
from pathlib import Path

import pytest
from django.conf import settings

from surveys.messages import listed


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["Copied", "How often"], "Copied, How often"),
        (["How often last week?", "My home is safe"], "“How often last week?”, “My home is safe”"),
        (["Copied."], "“Copied.”"),
        ([], ""),
    ],
)
def test_labels_are_listed(labels, said):
    assert listed(labels) == said


def test_a_spent_cap_is_drawn_as_wide_as_any_other():
    """A rule for a cell of the registry's table must not hold for the meter within it."""
    style = (Path(settings.BASE_DIR) / "surveys/static/candor/work.css").read_text()
    narrowed = re.findall(r"([^{}]*\.full)\s*{\s*inline-size", style)
    assert [each.split()[-1] for each in narrowed] == ["td.full"]
