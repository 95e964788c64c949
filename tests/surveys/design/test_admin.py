"""Django's admin as an admin uses it: studies are found and read there, and changed elsewhere."""

import pytest

from surveys.design.models import Panel, Study


@pytest.fixture
def admin(client, admin_user):
    client.force_login(admin_user)
    return client


def test_an_admin_finds_a_study_and_the_screens_on_which_it_is_changed(admin, plan):
    assert "collecting" in admin.get("/admin/design/study/?q=exam").content.decode()
    page = admin.get(f"/admin/design/study/{plan.study_id}/change/").content.decode()
    for name in ("build", "limits", "launch", "people"):
        assert f'href="/studies/exam-honesty/{name}/"' in page
    assert "To learn how common copying is." in page


def test_a_panel_is_found_with_the_way_to_its_screen(admin):
    panel = Panel.objects.create(slug="class-of-26", name="Class of 26")
    assert "Class of 26" in admin.get("/admin/design/panel/").content.decode()
    page = admin.get(f"/admin/design/panel/{panel.pk}/change/").content.decode()
    assert 'href="/panels/class-of-26/"' in page


@pytest.mark.parametrize("model", ["study", "panel"])
def test_nothing_is_added_changed_or_deleted_by_hand(admin, admin_user, draft, model):
    admin_user.is_superuser = True
    admin_user.save()
    Panel.objects.create(pk=draft.pk, slug="class-of-26", name="Class of 26")
    for act in ("add", f"{draft.pk}/change", f"{draft.pk}/delete"):
        assert admin.post(f"/admin/design/{model}/{act}/", {"title": "x"}).status_code == 403
    data = {"action": "delete_selected", "_selected_action": [draft.pk], "post": "yes"}
    admin.post(f"/admin/design/{model}/", data)
    assert (Study.objects.get().title, Panel.objects.get().name) == ("Exam honesty", "Class of 26")


def test_a_researcher_is_not_let_in(client, researcher):
    client.force_login(researcher)
    assert client.get("/admin/design/study/").status_code == 302


def test_reports_and_tallies_are_not_in_the_admin(admin):
    page = admin.get("/admin/").content.decode().lower()
    assert all(word not in page for word in ("report", "receipt", "tally", "tallies", "batches"))


def test_an_admin_cannot_make_a_superuser_of_anyone(admin, admin_user):
    page = admin.get(f"/admin/people/user/{admin_user.pk}/change/").content.decode()
    for field in ("is_staff", "is_superuser", "groups", "user_permissions"):
        assert f'name="{field}"' not in page
    admin.post(f"/admin/people/user/{admin_user.pk}/change/", {"is_superuser": "on"})
    admin_user.refresh_from_db()
    assert not admin_user.is_superuser
