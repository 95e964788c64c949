from django.conf import settings
from django.contrib.auth.models import UserManager
from django.db import migrations, models
from django.utils import timezone

from surveys.people.models import new_pseudonym
from surveys.triggers import Statements, forbid, forbid_replace

ROWS = "rows of the audit are only ever added"


class Migration(migrations.Migration):
    initial = True
    replaces = [("people", "0003_audit")]
    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("design", "0001_release_0_9"),
    ]
    operations = [
        migrations.CreateModel(
            name="User",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("password", models.CharField(max_length=128)),
                ("last_login", models.DateTimeField(null=True)),
                ("is_superuser", models.BooleanField(default=False)),
                ("username", models.CharField(max_length=150, unique=True)),
                ("first_name", models.CharField(max_length=150)),
                ("last_name", models.CharField(max_length=150)),
                ("email", models.EmailField(max_length=254)),
                ("is_staff", models.BooleanField(default=False)),
                ("is_active", models.BooleanField(default=True)),
                ("date_joined", models.DateTimeField(default=timezone.now)),
                (
                    "groups",
                    models.ManyToManyField(
                        "auth.group", related_name="user_set", related_query_name="user"
                    ),
                ),
                (
                    "user_permissions",
                    models.ManyToManyField(
                        "auth.permission", related_name="user_set", related_query_name="user"
                    ),
                ),
                ("pseudonym", models.CharField(default=new_pseudonym, max_length=40, unique=True)),
            ],
            options={"verbose_name": "user", "verbose_name_plural": "users"},
            managers=[("objects", UserManager())],
        ),
        migrations.CreateModel(
            name="Membership",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("role", models.CharField(default="reader", max_length=10)),
                (
                    "study",
                    models.ForeignKey("design.study", models.CASCADE, related_name="memberships"),
                ),
                (
                    "user",
                    models.ForeignKey(
                        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("user", "study"), name="one_membership_per_study"
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="AuditRow",
            fields=[
                ("id", models.BigAutoField(primary_key=True)),
                ("at", models.DateTimeField()),
                ("what", models.CharField(max_length=10)),
                ("who", models.CharField(max_length=40)),
                ("whom", models.CharField(max_length=40)),
                ("role", models.CharField(max_length=10)),
                ("many", models.PositiveIntegerField(null=True)),
                (
                    "study",
                    models.ForeignKey(
                        "design.study",
                        models.DO_NOTHING,
                        null=True,
                        related_name="+",
                        db_constraint=False,
                    ),
                ),
            ],
            options={
                "db_table": "people_audit",
                "ordering": ("-pk",),
                "indexes": [
                    models.Index(fields=["study", "-id"], name="people_audit_of_study"),
                    models.Index(fields=["whom", "-id"], name="people_audit_of_account"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Untold",
            fields=[
                (
                    "row",
                    models.OneToOneField(
                        "people.auditrow", models.DO_NOTHING, primary_key=True, related_name="+"
                    ),
                ),
                ("former", models.EmailField(max_length=254)),
            ],
        ),
        # by the name that it got where accounts were there first
        Statements(
            postgresql=[
                "ALTER TABLE people_user RENAME CONSTRAINT people_user_pseudonym_key TO "
                "people_user_pseudonym_564a17cc_uniq"
            ]
        ),
        forbid("people_audit", verb="UPDATE", message=ROWS),
        forbid("people_audit", verb="DELETE", message=ROWS),
        forbid_replace("people_audit", message=ROWS, keys=(("id",),)),
    ]
