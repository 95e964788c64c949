"""What is too large is refused before a byte of it is read, whoever sends it and wherever."""

import pytest

from surveys.operations.uploads import LARGEST


class Unread:
    """A body that fails the test if it is looked at."""

    def readline(self, *args):
        raise AssertionError("the body was read")

    read = readline


@pytest.mark.parametrize("address", ["/accounts/login/", "/api/v1/studies/a/reports", "/receipts/", "/nowhere/"])
@pytest.mark.parametrize("length", [str(LARGEST + 1), "9" * 5000])
def test_what_is_too_large_is_refused_unread(client, db, address, length):
    more = {"CONTENT_LENGTH": length, "CONTENT_TYPE": "multipart/form-data; boundary=x", "wsgi.input": Unread()}
    answer = client.generic("POST", address, **more)
    assert answer.status_code == 413
    assert "larger than 10 MB" in answer.content.decode()
    assert not answer.cookies


def test_what_is_not_is_read(client, db):
    assert client.post("/receipts/", {"receipt": "x" * 1000}).status_code == 422
