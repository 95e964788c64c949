"""Print how far the words of pages and documents are from plain ones; exit 1 beyond the bar.

    python tools/check_words.py                    # the table
    python tools/check_words.py --list respondent  # every finding of one group, with its place

Findings are constructions that a native editor would not let pass, counted in 1,000 words. They are
less than half of what a reader finds: read every sentence aloud as well.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

POS = Path("locale/zh_Hans/LC_MESSAGES/django.po"), Path("locale/form/zh-hans.po")
RESPONDENT = (
    "templates/intake",
    "surveys/intake",
    "templates/invited/letter",
    "templates/invited/stop",
    "templates/promises",
    "templates/4",
    "templates/5",
    "surveys/results/invitations.py",
    "templates/results/poster",
)
ENGLISH = {
    "who-clause": (
        r"(?:^|[.;:,(] |\b(?:for|to|by|from|of|and|that|than|if) )[Ww]ho (?:is|was|has"
        r"|had|reads|knows|sees|sends|learns|runs|opens?|opened|came|answer\w*|fetch\w*"
        r"|keeps?|works|loses?|lost|gets|tries|leaves?|happened|wrote|looks|watches"
        r"|controls|took|shows|holds|pays|asks)\b(?!.*\?$)"
    ),
    "whoever/whom": r"\b(?:[Ww]hoever|[Ww]hom)\b",
    "what-clause": (
        r"(?:^|[.;:] )What (?:leaves?|comes?|came|is (?:sent|published|left|spent"
        r"|asked)|was|chance|does not|this)\b(?!.*\?$)"
    ),
    "stand = be shown": r"\b(?:stands?|stood)\b(?! for| out)",
    "come = arrive": r"\b(?:has|have|had) come\b|\bas (?:they|it) came\b|\bwhat came\b",
    "tell = reveal": (
        r"\btold of\b|\btell(?:s|ing)? (?:nothing|more|most|little|of|whose|apart)\b"
        r"|\b(?:would|could) tell\b|\btold apart\b"
    ),
    "so many": r"\bso (?:many|much|close|wide|few)\b(?! that)",
    "is no NOUN": (
        r"\b(?:is|are|was) no (?!longer|more\b|limit)[a-z]+|\bnone of (?:this|that"
        r"|these)\b"
    ),
    "for good": r"\bfor good\b|\bfor ever\b|\bever after\b",
    "no more": (r"\b(?:takes?|gets?|opens|writes|publishes|asked) (?:\w+ ){0,4}(?:no|any) more\b"),
    "else = otherwise": r"(?:^|[.;:,] )[Ee]lse\b",
    "somebody": r"\b(?:[Ss]ome|[Nn]o|[Ee]very)body\b",
    "throw": r"\bthrow[ns]?\b",
    "given/chance idiom": (
        r"\b(?:sent|send|leaves?) as (?:it is |you |they )?g(?:ive|ave|iven)\b"
        r"|\b[Cc]hance (?:changes?|changed|draws?|decides?|left|put|made|kept|moved"
        r"|picked|was added|in )|\bwith chance\b"
    ),
    "luck alone": r"\bluck[,;]? ?alone\b",
    "met/fit/good for": (
        r"\bhas met\b|\bmeets? (?:a|several|other) stud|\bfit for\b|\b(?:is"
        r"|are) good for\b"
    ),
}
CHINESE = {  # to replace, and by what
    "世界协调时": "协调世界时",
    "本项研究": "本研究",
    "这项研究": "本研究",
    "接受回答": "接收回答",
    "％": "%",
    "截止本轮": "结束本轮",
    "截止研究": "结束研究",
    "这台设备": "您的设备",
    "按概率改变": "随机改动",
    "按原样发送": "原样发送（不做随机改动）",
}
CODE = re.compile(r"```.*?```|(?<=\n\n)(?: {4}[^\n]*\n+)+|`[^`]*`|\|", re.DOTALL)


class Bar(NamedTuple):
    findings: float  # in 1,000 words
    sentence: int  # words


BARS = {"respondent": Bar(2, 20), "other pages": Bar(4, 25), "docs": Bar(4, 25)}
Text = tuple[str, str]  # where it is, and what it says


def entries() -> Iterator[tuple[str, str, str]]:
    """Yield the places, the English and the Chinese of every text of the pages."""
    for block in "\n\n".join(path.read_text() for path in POS).split("\n\n"):
        places = " ".join(re.findall(r"^#: (.*)", block, re.MULTILINE))
        english = said(block, "msgid")
        if places and english:
            yield places, english, said(block, "msgstr") or said(block, r"msgstr\[0\]")


def said(block: str, key: str) -> str:
    found = re.search(rf'^{key} ((?:".*"\n?)+)', block + "\n", re.MULTILINE)
    text = "".join(re.findall(r'"(.*)"', found[1])) if found else ""
    return text.replace('\\"', '"').replace("\\n", " ")


def plain(text: str) -> str:
    return re.sub(r"<[^>]+>", "", re.sub(r"%\(\w+\)[sd]|\{\w+\}", "X", text))


def documents() -> Iterator[Text]:
    """Yield the paragraphs of the documents, without code."""
    for path in sorted([*Path().glob("*.md"), *Path("docs").rglob("*.md")]):
        parts = re.split(r"\n\n+|\n- |\n\d+\. ", CODE.sub(" ", path.read_text()))
        yield from ((str(path), part) for part in parts if part.strip())


def found(texts: list[Text], longest: int) -> tuple[list[str], list[str]]:
    """Return a line for each finding, and for each sentence that is too long."""
    hits, long = [], []
    for place, text in texts:
        shown = " ".join(text.split())
        for rule, pattern in ENGLISH.items():
            hits += [f"{place}: {rule}: {shown}"] * len(re.findall(pattern, text))
        for sentence in re.split(r"(?<=[.!?;])\s+", text):
            if (words := len(sentence.split())) > longest:
                long.append(f"{place}: {words} words: {' '.join(sentence.split())}")
    return hits, long


def main() -> bool:
    """Print the table; tell whether a group is beyond its bar."""
    groups: dict[str, list[Text]] = {name: [] for name in BARS}
    chinese = []
    for places, english, translated in entries():
        is_read = any(place.startswith(RESPONDENT) for place in places.split())
        name = "respondent" if is_read else "other pages"
        groups[name].append((places.split()[0], plain(english)))
        wrong = [word for word in CHINESE if word in translated]
        chinese += [f"{places.split()[0]}: {word} -> {CHINESE[word]}" for word in wrong]
    groups["docs"] = list(documents())
    show = sys.argv[2] if sys.argv[1:2] == ["--list"] else None
    is_beyond = bool(chinese)
    for name, texts in groups.items():
        words, bar = sum(len(text.split()) for _, text in texts), BARS[name]
        hits, long = found(texts, bar.sentence)
        rate = 1000 * len(hits) / words
        is_beyond |= rate > bar.findings
        print(
            f"{name}: {len(hits)} findings in {words:,} words, {rate:.1f} in 1,000 "
            f"({bar.findings:g} at most); {len(long)} sentences of more than {bar.sentence} words"
        )
        if show == name:
            print(*hits, *long, sep="\n")
    print(
        f"Chinese words to replace: {len(chinese)}",
        *(chinese if show == "chinese" else []),
        sep="\n",
    )
    return is_beyond


if __name__ == "__main__":
    sys.exit(main())
