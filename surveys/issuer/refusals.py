"""What an issuer refuses: which part, what was expected, and with which status. Never a value."""

from http import HTTPStatus


class Refused(Exception):
    """A ticket that is not issued, or a verb that is not done; and when it may be asked again."""

    def __init__(
        self,
        field: str,
        expected: str,
        status: int = HTTPStatus.UNPROCESSABLE_ENTITY,
        wait: int = 0,
    ) -> None:
        super().__init__(f"{field}: {expected}")
        self.field, self.status = field, int(status)
        self.wait = wait  # seconds


class Away(Exception):
    """An issuer elsewhere that cannot be reached, or does not answer as one."""
