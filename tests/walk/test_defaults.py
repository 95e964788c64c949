"""Every way to begin a study, with all else as it is offered, walked to its end."""

import pytest

from tests.walk.studies import Wanted, defaults
from tests.walk.walking import walk_whole


@pytest.mark.parametrize("wanted", defaults(), ids=lambda wanted: wanted.name)
def test_what_is_offered_can_be_walked_to_its_end(site: None, wanted: Wanted) -> None:
    walk = walk_whole(wanted)
    assert walk.waves, f"{wanted} never opened: {walk.refusals}"
