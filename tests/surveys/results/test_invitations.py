"""What people are invited with says how often they are asked, and what their device keeps."""

import pytest
from msgspec.structs import replace

from surveys.results.invitations import invitations


@pytest.mark.parametrize(
    ("waves", "draws", "said", "not_said"),
    [
        (1, "fresh", "asks 2 questions", "times"),
        (2, "fresh", "asked 2 times", "keeps a key"),
        (2, "kept", "Your device keeps a key", "1 times"),
    ],
)
def test_who_is_asked_again_is_told_so(plan, waves, draws, said, not_said):
    content = replace(plan.content, waves=waves, draws=draws)
    (letter, _message) = invitations(content, "https://example.org/s/exam-honesty/", "")
    assert said in letter.text
    assert not_said not in letter.text
