"""Faults that the walk finds and that stand for now: what a fault says, and what will mend it.

A line goes as soon as what it waits for is there.
"""

KNOWN: dict[str, str] = {
    r"a joint answer is counted under change-one only|refuses “limits” \(500\)": "limits of joint drafts",
    r"retired it, and nothing was published in this step": "a wave that cannot pay",
    r"this study has closed and takes no more answers": "the same",
    r"answers 404, by a link on /studies/[\w-]+/releases/": "methods of what was asked for",
    r"people of the list are “”": "a list without strata",
    r"and no page had warned": "what will be learned, in a line",
    r"was typed, and it says that it is": "a typed ε under a δ",
}
