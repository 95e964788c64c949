"""Words that every form has, in any language: they become part of a Plan."""

from dataclasses import dataclass

from django.utils.translation import pgettext

from surveys.languages import speaking


@dataclass(frozen=True, slots=True)
class Said:
    """What every form says in one language, and what becomes part of a Plan."""

    decline: str
    not_asked: str  # which nobody chooses: it stands for who was not asked
    does_not_apply: str
    only_if: str
    named: str  # an answer, in a sentence
    either: str  # between answers
    usual: dict[str, list[str]]  # choices that need not be written, by kind


def said_in(tag: str) -> Said:
    with speaking(tag):
        return Said(
            # Translators: these are choices that a question offers.
            decline=pgettext("answer", "Prefer not to say"),
            not_asked=pgettext("answer", "Not asked"),
            does_not_apply=pgettext("answer", "Does not apply"),
            only_if=pgettext(
                "above a question",
                "Only if you answered %(answers)s to “%(question)s”. If not, choose “Does not "
                "apply”.",
            ),
            named=pgettext("an answer in a sentence", "“%(answer)s”"),
            either=pgettext("between answers", " or "),
            usual={
                "yes_no": [pgettext("answer", "No"), pgettext("answer", "Yes")],
                "likert": [
                    pgettext("answer", "Strongly disagree"),
                    pgettext("answer", "Disagree"),
                    pgettext("answer", "Neither"),
                    pgettext("answer", "Agree"),
                    pgettext("answer", "Strongly agree"),
                ],
            },
        )
