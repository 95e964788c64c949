"""A pseudonym for everybody; it finds a researcher's share of a budget, which was found by their
name before.
"""

from django.db import migrations, models

from surveys.people.models import new_pseudonym


def name_everybody(apps, schema_editor):
    people = apps.get_model("people", "User")._default_manager
    for user in people.filter(pseudonym=None):
        people.filter(pk=user.pk).update(pseudonym=new_pseudonym())


def find_shares(apps, schema_editor):
    """Give each share its holder and its study's budget. One of somebody who has no account
    stays nobody's.
    """
    budgets = apps.get_model("ledger", "Budget")._default_manager
    people = apps.get_model("people", "User")._default_manager
    for budget in budgets.filter(name__startswith="researcher:", holder=None):
        username, _, study = budget.name.removeprefix("researcher:").rpartition("@study:")
        holder, within = (
            people.filter(username=username).first(),
            budgets.filter(name=f"study:{study}").first(),
        )
        if holder and within:
            budgets.filter(pk=budget.pk).update(holder=holder.pseudonym, within=within)


class Migration(migrations.Migration):
    dependencies = (("people", "0001_initial"), ("ledger", "0003_shares_and_what_was_published"))
    operations = (
        migrations.AddField(
            model_name="user",
            name="pseudonym",
            field=models.CharField(default=None, editable=False, max_length=40, null=True),
        ),
        migrations.RunPython(name_everybody, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="user",
            name="pseudonym",
            field=models.CharField(
                default=new_pseudonym, editable=False, max_length=40, unique=True
            ),
        ),
        migrations.RunPython(find_shares, migrations.RunPython.noop),
    )
