"""What a program is refused: which part, what was expected, with which status. Never a value."""

from http import HTTPStatus


class Refused(Exception):
    """A report that is not taken, a ticket that is not issued, or a verb that is not done; and when
    it may be asked again.
    """

    def __init__(
        self,
        field: str,
        expected: str,
        status: int = HTTPStatus.UNPROCESSABLE_ENTITY,
        wait: int = 0,
    ) -> None:
        super().__init__(f"{field}: {expected}")
        self.field = field
        self.status = int(status)
        self.wait = wait  # seconds
