from django.db import migrations, models

SALT = "Hashed with the numbers: whoever may not read them cannot guess them from their digest."


def name_who_waits(apps, schema_editor):
    """Have what is not drawn yet wait under its asker's pseudonym. What is drawn keeps who paid,
    as its row does.
    """
    people = apps.get_model("people", "User")._default_manager
    requests = apps.get_model("releases", "Request")._default_manager
    for request in requests.filter(release=None, series=None):
        asker = people.filter(username=request.who).first()
        if asker is not None:
            requests.filter(pk=request.pk).update(who=asker.pseudonym)


class Migration(migrations.Migration):
    dependencies = (("releases", "0003_steps_stay"), ("people", "0002_pseudonyms"))
    operations = (
        migrations.AddField(
            model_name="release",
            name="salt",
            field=models.CharField(max_length=32, null=True, help_text=SALT),
        ),
        migrations.AddField(
            model_name="step",
            name="salt",
            field=models.CharField(max_length=32, null=True, help_text=SALT),
        ),
        migrations.RunPython(name_who_waits, migrations.RunPython.noop),
    )
