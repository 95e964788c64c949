"""Why a study, a panel or a draft stays as it is. Nothing was changed; the text says why, and can be told to anyone."""


class Refused(Exception):
    """The study's state or its terms do not allow it."""


class CannotOpen(Refused):
    """The study is not fit to be answered; the message says what is missing."""
