import django.db.models.deletion
from django.db import migrations, models

from surveys.triggers import forbid


class Migration(migrations.Migration):
    """Columns that may be empty: SQLite adds them without making the table anew, which would
    lose its triggers.
    """

    dependencies = (("ledger", "0002_append_only"),)
    operations = (
        migrations.AddField(
            model_name="entry",
            name="published",
            field=models.CharField(
                blank=True, help_text="SHA-256 of what came of it.", max_length=64, null=True
            ),
        ),
        migrations.AlterField(
            model_name="entry",
            name="who",
            field=models.CharField(
                help_text="A person’s pseudonym, or what acted by itself.", max_length=150
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="within",
            field=models.ForeignKey(
                blank=True,
                help_text="The budget that is charged too: of the study that this is a share of.",
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="shares",
                to="ledger.budget",
            ),
        ),
        migrations.AddField(
            model_name="budget",
            name="holder",
            field=models.CharField(
                blank=True, help_text="Whose share it is, by pseudonym.", max_length=150, null=True
            ),
        ),
        migrations.AddConstraint(
            model_name="budget",
            constraint=models.UniqueConstraint(
                condition=models.Q(("holder__isnull", False)),
                fields=("within", "holder"),
                name="one_share_per_person",
            ),
        ),
        forbid(
            "ledger_budget",
            verb="UPDATE",
            message="a share keeps its holder",
            columns=("holder", "within_id"),
            when="OLD.holder IS NOT NULL AND (NEW.holder IS NULL OR NEW.holder <> OLD.holder "
            "OR NEW.within_id IS NULL OR NEW.within_id <> OLD.within_id)",
            name="keeps_its_holder",
        ),
    )
