from django.db import models
from django.db.migrations.state import ProjectState

from surveys.tables import Changes


def test_words_of_a_field_make_no_migration_and_a_column_makes_one():
    state = ProjectState()
    deconstructed = Changes(state, state).deep_deconstruct
    field = deconstructed(models.CharField(max_length=9, help_text="Who asks."))
    said = models.CharField("asker", max_length=9, choices=[("a", "A")], blank=True)
    assert deconstructed(said) == field
    assert deconstructed(models.CharField(max_length=8)) != field
    assert deconstructed(models.CharField(max_length=9, null=True)) != field
