"""The form's words in one more language: installed whole, or refused by message, and kept."""

import hashlib

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.utils.translation import ngettext, pgettext

from surveys import catalogues, languages
from surveys.design import words
from surveys.design.models import Catalogue
from surveys.design.refusals import Refused
from surveys.form_words import said_in
from surveys.ledger.models import Entry
from tests.conftest import NOW
from tests.words import PSEUDO, WELSH, po


def install(content):
    return words.install(po=content, who="root", why="A test.", now=NOW)


@pytest.fixture
def pseudo(db):
    return install(po())


def test_what_came_with_the_site_is_kept_since_it_was_migrated(db):
    kept = {each.tag: each for each in Catalogue.objects.filter(is_ours=True)}
    assert set(kept) == set(languages.ours())
    for tag, each in kept.items():
        written = (languages.FOLDER / f"{tag}.po").read_bytes()
        assert bytes(each.content) == written
        assert each.sha256 == hashlib.sha256(written).hexdigest()
    words.keep_ours()
    assert Catalogue.objects.count() == len(kept)


def test_a_language_that_is_installed_is_spoken_and_stands_in_the_ledger(pseudo):
    assert languages.words_of(PSEUDO) == (PSEUDO, pseudo.sha256, False, False)
    assert said_in(PSEUDO).decline == "⟦Prefer not to say⟧"
    row = Entry.objects.latest("position")
    assert (row.who, row.why) == ("root", "A test.")
    assert (row.what, row.old, row.new) == (
        "site: words of the form in qps",
        "none",
        pseudo.sha256,
    )


def test_a_newer_file_takes_the_place_of_one_and_both_are_kept(pseudo):
    newer = po().replace("⟦Prefer not to say⟧".encode(), "⟦Rather not⟧".encode())
    made = install(newer)
    assert said_in(PSEUDO).decline == "⟦Rather not⟧"
    assert Entry.objects.latest("position").old == pseudo.sha256
    assert Catalogue.objects.filter(tag=PSEUDO).count() == 2
    for again, says in ((newer, "installed already"), (po(), "a later file")):
        with pytest.raises(Refused, match=says):
            install(again)
    assert languages.words_of(PSEUDO).sha256 == made.sha256


@pytest.mark.parametrize("change", [{"content": b""}, {"sha256": "0" * 64}, None])
def test_none_is_changed_or_deleted(pseudo, change):
    own = Catalogue.objects.filter(pk=pseudo.pk)
    with (
        pytest.raises(IntegrityError, match="what respondents were told is kept"),
        transaction.atomic(),
    ):
        own.update(**change) if change else own._raw_delete(own.db)
    assert bytes(own.get().content) == po()


WRONG = {
    "a hole": ("⟦Prefer not to say⟧", "", "“Prefer not to say”: not translated"),
    "no placeholder": ("⟦Hello {name},⟧", "Hello", "“Hello {name},”: expected the placeholders {name}"),
    "another placeholder": ("⟦Prefer not to say⟧", "{name}", "“Prefer not to say”: expected the placeholders none, got {name}"),
    "another format": ("⟦Prefer not to say⟧", "%(name)s", "“Prefer not to say”: expected the placeholders none"),
    "markup": ("⟦Prefer not to say⟧", "<b>Go</b>", "“Prefer not to say”: expected the markup none, got </b>, <b>"),
    "a script": ("⟦Prefer not to say⟧", "<script src=x>", "“Prefer not to say”: expected the markup none"),
    "an entity": ("⟦Prefer not to say⟧", "&lt;b&gt;", "“Prefer not to say”: expected the markup none"),
    "half a tag": ("⟦Prefer not to say⟧", "<b", "“Prefer not to say”: it holds the sign '<'"),
    "the end of an attribute": ("⟦Prefer not to say⟧", 'a\\" onclick=x', "“Prefer not to say”: it holds the sign '\"'"),
    "a sign of formats": ("⟦Prefer not to say⟧", "100 %", "“Prefer not to say”: it holds the sign '%'"),
    "a turned direction": ("⟦Prefer not to say⟧", "\u202ea", "“Prefer not to say”: it holds the sign '\\u202e'"),
    "a link": ("⟦Prefer not to say⟧", "https://a.example", "“Prefer not to say”: it holds a link"),
    "an address": ("⟦Prefer not to say⟧", "www.a.example", "“Prefer not to say”: it holds a link"),
    "no plurals": ("Plural-Forms:", "Plurals:", "its header has no Plural-Forms"),
    "plurals that are no code": ("plural=(n != 1)", "plural=(n !! 1)", "Plural-Forms cannot be read"),
    "plurals that divide by nothing": ("plural=(n != 1)", "plural=(n%0)", "Plural-Forms cannot be read"),
    "too few plurals": ("plural=(n != 1)", "plural=(n%3)", "has 2 forms, and chooses form 2"),
    "no language": ("Language: qps", "Language: ../x", "expected a header with the tag"),
    "a language of the site": ("Language: qps", "Language: zh_Hans", "zh-hans: the words of this"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_catalogue_is_refused_by_message_and_language_and_not_installed(db, wrong):
    was, becomes, says = WRONG[wrong]
    before = Catalogue.objects.count(), Entry.objects.count()
    content = po().decode()
    assert was in content
    with pytest.raises(Refused) as refusal:
        install(content.replace(was, becomes).encode())
    assert says in str(refusal.value)
    assert PSEUDO in str(refusal.value) or "a header" in says or "zh-hans" in says
    assert (Catalogue.objects.count(), Entry.objects.count()) == before
    assert languages.words_in(PSEUDO) is None


@pytest.mark.parametrize(
    "content", [b"", b'"Language: qps\\n"\nPlural-Forms:', po()[:5000], b"\xff"]
)
def test_what_is_no_catalogue_is_refused(db, content):
    with pytest.raises(Refused):
        install(content)
    assert languages.words_in(PSEUDO) is None


def test_plural_forms_are_those_of_cldr(db):
    with pytest.raises(Refused, match="cy: its Plural-Forms is not that of the language, by CLDR"):
        install(po("cy"))
    install(po("cy", WELSH))
    assert languages.samples("cy") == [2, 3, 6, 4]
    one, many = next(m.id for m in catalogues.read(po()) if m.pluralizable)
    with languages.speaking("cy"):
        assert [ngettext(one, many, n)[-1] for n in (0, 1, 2, 3, 6, 101)] == list("012345")


def test_the_command_says_all_that_is_wrong_and_what_it_installed(db, tmp_path, capsys):
    file = tmp_path / "qps.po"
    file.write_bytes(
        po().replace("⟦Prefer not to say⟧".encode(), b"").replace("⟦Not asked⟧".encode(), b"<i>")
    )
    with pytest.raises(CommandError) as refusal:
        call_command("install_language", file, why="A test.")
    assert str(refusal.value).splitlines() == [
        "qps: “Prefer not to say”: not translated",
        "qps: “Not asked”: expected the markup none, got <i>",
        "Nothing was installed.",
    ]
    file.write_bytes(po())
    call_command("install_language", file, why="A test.")
    assert capsys.readouterr().out.startswith("Installed: qps (qps), ")
    assert Entry.objects.latest("position").who == "the console"


def test_a_sentence_that_another_catalogue_says_otherwise_is_named(pseudo, monkeypatch):
    assert languages.misread(PSEUDO) == ""
    monkeypatch.setattr(languages, "_", lambda sentence: "other words")
    assert languages.misread(PSEUDO) == "%(day)s (%(zone)s)"


@pytest.mark.parametrize(
    ("tag", "served"),
    [
        ("zh-hans", "zh-hans"),
        ("zh-cn", "zh-hans"),
        ("zh-sg", "zh-hans"),
        ("zh-hans-cn", "zh-hans"),
        ("en-gb", "en"),
        ("en-gb-oxendict", "en"),
        ("en-xa", "en"),
        ("zh", None),
        ("en-shaw", None),
        ("EN", None),
        ("en-1", None),
        ("e", None),
        ("", None),
        ("en\n", None),
    ],
)
def test_a_language_is_served_from_its_base_and_never_in_another_script(db, tag, served):
    found = languages.words_of(tag)
    assert (found.tag if found else None) == served


def test_a_catalogue_of_its_own_comes_before_that_of_the_base(pseudo):
    assert languages.words_of("qps-xa").tag == "qps"
    assert languages.words_of("en-gb").tag == "en"
    with languages.speaking("en-gb"):
        assert pgettext("answer", "Yes") == "Yes"
