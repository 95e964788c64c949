"""Whether the copy of the database may be read, by who asks while another one looks."""

import threading

from surveys.replica import Freshness


def test_nobody_waits_for_a_look_that_hangs(monkeypatch):
    looks, answered = threading.Event(), threading.Event()

    def hangs(self: Freshness, now: float) -> str:
        looks.set()
        answered.wait()
        return ""

    monkeypatch.setattr(Freshness, "_problem", hangs)
    freshness = Freshness()
    first = threading.Thread(target=freshness.may_be_read)
    first.start()
    assert looks.wait()
    assert not freshness.may_be_read()  # nothing is known yet: the database itself is read
    answered.set()
    first.join()
    assert freshness.may_be_read()
