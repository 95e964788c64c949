"""How many questions each person is asked, as a term of a draft."""

import pytest
from django.core.exceptions import ValidationError

from surveys.design import documents, services, terms
from surveys.design.drafts import save_study
from surveys.design.models import DraftChange
from surveys.design.readiness import Readiness
from surveys.design.services import CannotOpen
from surveys.drafting.forms import TextsForm
from surveys.drafting.plan_text import term_lines
from tests.conftest import NOW, draft_of_drawn


def test_a_plan_says_blocks_and_sets_and_a_person_s_loss(db):
    content = documents.compose(draft_of_drawn())
    assert content.blocks[0].questions == ["copied", "caught"]
    assert len(content.drawn) == 6
    whole = documents.compose(draft_of_drawn(slug="whole", asked=None))
    assert 1 < content.loss < whole.loss


def test_what_follows_from_another_question_is_drawn_with_it_even_if_all_are_asked_it(db):
    draft = draft_of_drawn(follow_ups="everybody")
    content = documents.compose(draft)
    assert content.question("caught").asked_if is None
    assert content.blocks[0].questions == ["copied", "caught"]


def test_more_than_there_are_is_refused_by_name(db):
    draft = draft_of_drawn(asked=5)
    (problem,) = Readiness(draft).problems(NOW)
    assert "Questions for each person: 5, but only 4 can be drawn" in str(problem.text)
    with pytest.raises(CannotOpen, match="only 4 can be drawn"):
        services.open_study(why="A test.", study_id=draft.pk, who="ada", now=NOW)


def test_none_is_refused(db):
    draft = draft_of_drawn()
    draft.asked = 0
    with pytest.raises(ValidationError) as refusal:
        draft.full_clean()
    assert "asked" in refusal.value.message_dict


def test_where_taking_part_is_hidden_everybody_is_asked_everything(db):
    draft = draft_of_drawn()
    draft.neighbours = "add-remove"
    assert "is public" in terms.problems(draft)["asked"]


def form_of(draft, **typed):
    form = TextsForm(instance=draft)
    fields = {name: form[name].value() for name in form.fields}
    data = {name: value for name, value in {**fields, **typed}.items() if value is not None}
    return TextsForm(data, instance=draft)


def test_the_draft_s_page_has_a_control(db):
    draft = draft_of_drawn(asked=None)
    form = form_of(draft, asked="2")
    assert form.is_valid(), form.errors
    save_study(study=form.instance, fields=form.changed_data, who="ada", now=NOW)
    assert documents.compose(form.instance).drawn
    assert "only 4 can be drawn" in form_of(draft, asked="9").errors["asked"][0]
    assert form_of(draft, asked="0").errors["asked"]
    assert form_of(draft, asked="").is_valid()


def test_what_would_be_frozen_says_it(db):
    lines = term_lines(documents.compose(draft_of_drawn()))
    assert lines["asked"][1].startswith(
        "2 of these, drawn by their device out of 6 sets: “Copied” + "
    )
    assert "asked" not in term_lines(documents.compose(draft_of_drawn(slug="all", asked=None)))


def test_a_change_of_it_is_a_line_of_the_draft_s_history(db):
    draft = draft_of_drawn(asked=None)
    draft.asked = 1
    save_study(study=draft, fields=["asked"], who="ada", now=NOW, why="Safer.")
    change = DraftChange.objects.get(study=draft)
    assert (change.what, change.old, change.new) == ("questions each person is asked", "none", "1")
