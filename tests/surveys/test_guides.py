"""What the guides say is so: their pages, links, numbers, and the names of pages and buttons."""

import re
from decimal import Decimal
from fractions import Fraction
from urllib.parse import urljoin

import pytest
from django.conf import settings

from dpengine.local.table import Table
from dpengine.local.ways import Importance
from surveys.catalogues import forms, messages
from surveys.design.goal import Goal, Outcome, Topic
from surveys.guesses import even_guess_within, of_hundred
from surveys.guides import DOCS, GUIDES, IN_ENGLISH
from tools.gather_messages import HOUSE, form_catalogues, of_site, read

FOLDER = settings.BASE_DIR / GUIDES
TEXTS = {"en": FOLDER, "zh-hans": FOLDER / "zh-hans"}
NAMES = sorted(path.stem for path in FOLDER.glob("*.md"))  # in both languages
LED = re.compile(r"'glossary' %}#([\w-]+)")
LINK = re.compile(r"\]\([./]*([\w-]+)\.md\)")
EMPHASISED = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
ROW = re.compile(r"^\| ([\d.]+) \| (\d+) \| (.+) \|$", re.MULTILINE)
SAID = {
    "en": (
        "**ε = {epsilon}**: Of 100 people who answer “yes”, {own} send “yes” and {rest} send “no”. "
        "Between two equally likely answers, a guess is right at most {guess} times in 100. "
        "A blind guess is right 50 times."
    ),
    "zh-hans": (
        "**ε = {epsilon}**：每 100 位回答“是”的人当中，{own} 人发送“是”，{rest} 人发送“否”。"  # noqa: RUF001
        "在两个同样可能的回答之间猜测，100 次中最多猜对 {guess} 次；瞎猜是 50 次。"  # noqa: RUF001
    ),
}
SHAPE = re.compile(r"^(#+ |\d\. |- |\||>$|\*\*)", re.MULTILINE)


def source(name, language):
    """Return the file of a page, as a reader of this language gets it."""
    return (DOCS if name in IN_ENGLISH else TEXTS[language]) / f"{name}.md"


def article(client, name, language):
    page = client.get(f"/help/{name}/", headers={"accept-language": language})
    assert page.status_code == 200
    written = page.content.decode()
    return written[written.index("<article") : written.index("</article>")]


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("name", [*NAMES, *IN_ENGLISH])
def test_each_document_is_a_page_whose_links_lead_somewhere(client, name, language):
    written = article(client, name, language)
    title = (settings.BASE_DIR / source(name, language)).read_text().partition("\n")[0]
    assert f"<h1>{title.removeprefix('# ')}</h1>" in written
    assert ('lang="en"' in written.partition(">")[0]) == (name in IN_ENGLISH)
    for link in re.findall('href="([^"]+)"', written):
        path, _, part = urljoin(f"/help/{name}/", link).partition("#")
        there = client.get(path, headers={"accept-language": language})
        assert there.status_code == 200, link
        assert not part or f'id="{part}"' in there.content.decode(), link
    assert not re.search(r"\.md\)|\]\(", written)


@pytest.mark.parametrize("language", TEXTS)
def test_the_contents_name_each_document_once_and_say_where_it_is_in_english(client, language):
    text = (TEXTS[language] / "index.md").read_text()
    assert sorted(LINK.findall(text)) == sorted({*NAMES, *IN_ENGLISH} - {"index"})
    english = {"en": "(in English)", "zh-hans": "（英文）"}[language]  # noqa: RUF001
    before, _, after = text.rpartition("## ")
    for line in before.splitlines():
        for name in LINK.findall(line):
            assert (english in line) == (name in IN_ENGLISH), name
    assert english.strip("()（）") in after.partition("- ")[0]  # noqa: RUF001
    assert set(LINK.findall(after)) <= set(IN_ENGLISH)
    written = client.get("/help/", headers={"accept-language": language}).content.decode()
    assert all(f'href="/help/{name}/"' in written for name in LINK.findall(text))


def test_there_are_no_others(client):
    for name in ("design", "README", "look", "nothing"):
        assert client.get(f"/help/{name}/").status_code == 404


@pytest.mark.parametrize("name", NAMES)
def test_both_languages_have_the_same_parts(name):
    english, chinese = (
        SHAPE.findall((folder / f"{name}.md").read_text()) for folder in TEXTS.values()
    )
    assert english == chinese


@pytest.mark.parametrize("language", TEXTS)
def test_what_is_emphasised_is_written_on_a_page(language):
    paths = [of_site(HOUSE, "zh_Hans"), *form_catalogues()]
    found = [each for path in paths for each in messages(read(path)).values()]
    known = {
        form
        for message in found
        for form in forms(message.id if language == "en" else message.string)
    }
    for name in NAMES:
        for label in EMPHASISED.findall((TEXTS[language] / f"{name}.md").read_text()):
            assert label in known, f"{name}.md names “{label}”, which stands nowhere"


@pytest.mark.parametrize("folder", TEXTS.values(), ids=TEXTS)
def test_the_table_of_people_needed_is_worked_out(folder):
    rows = ROW.findall((folder / "choose-epsilon.md").read_text())
    assert [row[0] for row in rows] == ["0.5", "1", "2", "3", "4"]
    for epsilon, guess, cells in rows:
        assert guess == even_guess_within(Decimal(epsilon))
        needed = [
            Outcome(
                Goal(
                    800,
                    Decimal(epsilon),
                    (Topic("yes_no", 2, importance=Importance.USEFUL),) * questions,
                    half=Decimal(half),
                )
            ).people_needed
            for questions in (1, 6)
            for half in (10, 5)
        ]
        assert [int(re.sub(r"\D", "", cell)) for cell in cells.split("|")] == needed


@pytest.mark.parametrize(("language", "sentence"), SAID.items(), ids=SAID)
def test_what_is_said_to_a_respondent_is_worked_out(language, sentence):
    text = (TEXTS[language] / "choose-epsilon.md").read_text().replace("\n> ", " ")
    assert text.count("**ε = ") == 3
    for epsilon in map(Decimal, "123"):
        own, other = Table.binary(epsilon).weights[0]
        share = of_hundred(Fraction(own, own + other))
        guess = even_guess_within(epsilon)
        said = sentence.format(epsilon=epsilon, own=share, rest=100 - share, guess=guess)
        assert f"{said}\n" in text


@pytest.mark.parametrize("folder", TEXTS.values(), ids=TEXTS)
def test_twelve_questions_are_twelve(folder):
    questions = re.findall(r"^\*\*[^*]+\*\*", (folder / "questions.md").read_text(), re.MULTILINE)
    assert len(questions) == 12


def test_the_glossary_has_the_same_words_in_both_languages():
    row = re.compile(
        r'^\| <dfn id="([\w-]+)">(.+)</dfn> \| .+ \| <span lang="(?:en|zh-Hans)">(.+)</span> \| (.*) \|$',
        re.MULTILINE,
    )
    english, chinese = (
        row.findall((folder / "glossary.md").read_text()) for folder in TEXTS.values()
    )
    assert len(english) >= 40
    assert [(key, other, word, code) for key, word, other, code in english] == chinese
    assert len({key for key, *_ in english}) == len(english)


def test_files_that_proofs_are_said_to_be_in_are_there():
    for folder in TEXTS.values():
        paths = re.findall(r"`([\w./]+/[\w./]*)`", (folder / "proofs.md").read_text())
        assert len(paths) > 30
        assert [path for path in paths if not (settings.BASE_DIR / path).exists()] == []


def test_words_that_lead_to_the_glossary_are_in_it():
    templates = (settings.BASE_DIR / "templates").rglob("*.html")
    led = {key for each in templates for key in LED.findall(each.read_text())}
    assert len(led) >= 9
    text = (FOLDER / "glossary.md").read_text()
    assert [key for key in led if f'<dfn id="{key}">' not in text] == []
