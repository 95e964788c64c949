"""What the guides say is so: their pages, links, numbers, and the names of pages and buttons."""

import re
from decimal import Decimal
from urllib.parse import urljoin

import pytest
from django.conf import settings

from dpengine.local.ways import Importance
from surveys.catalogues import forms, messages
from surveys.design.goal import Goal, Outcome, Topic
from surveys.guesses import even_guess_within
from surveys.guides import GUIDES, NAMES
from tools.gather_messages import HOUSE, form_catalogues, of_site, read

FOLDER = settings.BASE_DIR / GUIDES
TEXTS = {"en": FOLDER, "zh-hans": FOLDER / "zh-hans"}
EMPHASISED = re.compile(r"(?<!\*)\*([^*\n]+)\*(?!\*)")
ROW = re.compile(r"^\| ([\d.]+) \| (\d+) \| (.+) \|$", re.MULTILINE)
SHAPE = re.compile(r"^(#+ |\d\. |- |\||>$|\*\*)", re.MULTILINE)


@pytest.mark.parametrize("language", TEXTS)
@pytest.mark.parametrize("name", NAMES)
def test_each_guide_is_a_page_whose_links_lead_somewhere(client, name, language):
    headers = {"accept-language": language}
    page = client.get(f"/help/{name}/", headers=headers)
    assert page.status_code == 200
    written = page.content.decode()
    article = written[written.index("<article") : written.index("</article>")]
    title = (TEXTS[language] / f"{name}.md").read_text().partition("\n")[0].removeprefix("# ")
    assert f"<h1>{title}</h1>" in article
    assert title in client.get("/help/", headers=headers).content.decode()
    for link in re.findall('href="([^"]+)"', article):
        assert client.get(urljoin(f"/help/{name}/", link)).status_code == 200, link
    assert ".md" not in article.replace("docs/check.md", "")


def test_there_are_no_others(client):
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == sorted(NAMES)
    assert client.get("/help/theory/").status_code == 404


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
