"""Whether the copy of the database may be read, by who asks while another one looks."""

import threading
import time

from surveys.replica import LAG, Freshness


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


def test_what_was_known_long_ago_is_not_gone_by():
    freshness = Freshness()
    freshness.found, freshness.looked = "", time.monotonic() - LAG
    with freshness.lock:  # another one looks
        assert not freshness.may_be_read()
        freshness.looked = time.monotonic()
        assert freshness.may_be_read()
        freshness.lost()
        assert not freshness.may_be_read()
