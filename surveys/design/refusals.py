"""Why a study, a panel or a draft stays as it is, in a text that can be shown to anyone."""


class Refused(Exception):
    """The study's state or its terms do not allow it."""


class CannotOpen(Refused):
    """The study is not fit to be answered; the message says what is missing."""


class NotDecided(Refused):
    """Some values cannot be: which, and why. A question's ε goes by the question's name."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems
