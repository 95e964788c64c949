"""What may still change of a study, a panel or a researcher's budget.

Each amendment has a page that says what it does, and asks why.
"""

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db import IntegrityError
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _, gettext_lazy

from surveys.design import services as design, wording
from surveys.design.drafts import delete_draft, rename_draft
from surveys.design.models import Panel, Study
from surveys.design.panels import delete_panel
from surveys.ledger import services as ledger
from surveys.ledger.models import Budget, Side
from surveys.limits.forms import (
    AddressForm,
    AmendForm,
    DeleteForm,
    LowerForm,
    LowerShareForm,
    RetireForm,
    ShareForm,
    WeekForm,
    WhyForm,
)
from surveys.people import selectors as people
from surveys.people.models import Right

Text = str | Promise
Subject = Study | Panel | Budget
BudgetOf = Callable[[Any], Any]  # a budget, or None before it is open
STUDY_BUDGET: BudgetOf = attrgetter("budget")
PUBLICATIONS: BudgetOf = attrgetter("central_budget")  # of a panel's studies
ANSWERS: BudgetOf = attrgetter("local_budget")  # to a panel's studies


@dataclass(frozen=True, slots=True)
class Amendment:
    """One change of a study, a panel or a budget, and who may make it."""

    name: str  # the last part of its page's address
    title: Text
    button: Text
    done: Text
    form: type[AmendForm]
    means: Callable[[Any], list[str]]  # of its subject
    make: Callable[..., Any]  # (subject, cleaned data, who=, now=)
    budget: BudgetOf  # what it is about; none before it is open
    right: Right = Right.LAUNCH  # that it takes
    erases: bool = False
    field: str | None = None  # beside which a refusal stands
    of_drafts: bool = False
    leads_to: Callable[[Mapping[str, Any]], str] | None = None  # an address; else back

    def fits(self, subject: Subject) -> bool:
        """Tell whether it can be made at all, as things are."""
        budget = self.budget(subject)
        if self.of_drafts:
            return budget is None
        return budget is not None and budget.retired_on is None

    def is_for(self, user: AbstractBaseUser | AnonymousUser, subject: Subject) -> bool:
        return people.may(user, self.right, subject if isinstance(subject, Study) else None)


def open_share(
    study: Study, data: Mapping[str, Any], *, who: str, now: datetime.datetime
) -> Budget:
    """Open a researcher's budget within a study's."""
    try:
        return ledger.open_share(
            study_id=STUDY_BUDGET(study).pk,
            holder=data["researcher"].pseudonym,
            cap=data["cap"],
            why=data["why"],
            who=who,
            now=now,
        )
    except IntegrityError as taken:
        raise ledger.Refused(
            _("This person has a budget for this study already. Nothing was changed.")
        ) from taken


def itself(budget: Budget) -> Budget:
    return budget


def lower_share(share: Budget, data: Mapping[str, Any], **by: Any) -> Any:
    cap = {"epsilon" if share.measure == "ε" else "rho": data["cap"]}
    return ledger.lower_cap(budget_id=share.pk, **cap, why=data["why"], **by)


def lower_panel(side: Side, budget: BudgetOf, **texts: Any) -> Amendment:
    """Return the amendment of a panel's cap, for publications or for answers."""
    cap_of = attrgetter("local_cap" if side == Side.LOCAL else "cap")
    return Amendment(
        button=gettext_lazy("Lower the cap permanently"),
        done=gettext_lazy("The cap is lower now. It is written in the ledger."),
        form=LowerForm,
        means=lambda panel: wording.lowering_means(panel, cap_of(panel)),
        make=lambda panel, data, **by: design.lower_panel_cap(
            panel_id=panel.pk, side=side, new=data["new"], why=data["why"], **by
        ),
        budget=budget,
        right=Right.MANAGE_PANELS,
        field="new",
        **texts,
    )


def limit_week(budget: BudgetOf, title: Text, name: str = "week") -> Amendment:
    """Return the amendment of a budget's limit for seven days."""
    return Amendment(
        name=name,
        title=title,
        button=gettext_lazy("Set the limit"),
        done=gettext_lazy("The weekly limit is set. It is written in the ledger."),
        form=WeekForm,
        means=lambda _subject: [
            _("A release that does not fit into seven days waits, even if the cap allows it.")
        ],
        make=lambda subject, data, **by: ledger.set_weekly_limit(
            budget_id=budget(subject).pk,
            weekly=data["weekly"],
            why=data["why"],
            **by,
        ),
        budget=budget,
        right=Right.MANAGE_BUDGETS,
        field="weekly",
    )


OF_STUDY = (
    Amendment(
        name="lower",
        title=gettext_lazy("Lower the cap"),
        button=gettext_lazy("Lower the cap permanently"),
        done=gettext_lazy("The cap is lower now. It is written in the ledger."),
        form=LowerForm,
        means=lambda study: wording.lowering_means(study, study.cap),
        make=lambda study, data, **by: design.lower_cap(
            study_id=study.pk, new=data["new"], why=data["why"], **by
        ),
        budget=STUDY_BUDGET,
        field="new",
    ),
    replace(
        limit_week(STUDY_BUDGET, gettext_lazy("Limit a week")),
        means=lambda study: [
            _(
                "A publication that would pass the limit waits until a week after those before it. "
                "The cap stays what it is."
            ),
            " ".join([_("Leave it empty for no limit."), wording.spending(study.budget_id)]),
        ],
        make=lambda study, data, **by: design.set_weekly_limit(
            study_id=study.pk, weekly=data["weekly"], why=data["why"], **by
        ),
        right=Right.LAUNCH,
    ),
    Amendment(
        name="retire",
        title=gettext_lazy("End this study"),
        button=gettext_lazy("End it, and delete the answers"),
        done=gettext_lazy("The study has ended. Its answers are being deleted."),
        form=RetireForm,
        means=wording.retiring_means,
        make=lambda study, data, **by: design.retire(study_id=study.pk, because=data["why"], **by),
        budget=STUDY_BUDGET,
        erases=True,
    ),
    Amendment(
        name="researcher",
        title=gettext_lazy("Open a researcher’s budget"),
        button=gettext_lazy("Open this budget"),
        done=gettext_lazy("The researcher’s budget is open. It is written in the ledger."),
        form=ShareForm,
        means=lambda _study: [
            _(
                "This person’s queries use the study’s budget and their own, and "
                "must fit under both caps."
            )
        ],
        make=open_share,
        budget=STUDY_BUDGET,
        right=Right.MANAGE_BUDGETS,
    ),
    Amendment(
        name="address",
        title=gettext_lazy("Change the link"),
        button=gettext_lazy("Change the link"),
        done=gettext_lazy("Link changed."),
        form=AddressForm,
        means=lambda study: [
            _("It is %(link)s now, and can change until the study first opens.")
            % {"link": study.get_absolute_url()}
        ],
        make=lambda study, data, **_by: rename_draft(study_id=study.pk, slug=data["slug"]),
        budget=STUDY_BUDGET,
        right=Right.MANAGE_STUDIES,
        field="slug",
        of_drafts=True,
        leads_to=lambda data: reverse("limits:study", args=[data["slug"]]),
    ),
    Amendment(
        name="delete",
        title=gettext_lazy("Delete this draft"),
        button=gettext_lazy("Delete the draft permanently"),
        done=gettext_lazy("The draft is deleted."),
        form=DeleteForm,
        means=lambda _study: [
            _("Its questions, its translations, its history and its list of people go with it."),
            _("The ledger keeps nothing of it: it has never opened. This cannot be undone."),
        ],
        make=lambda study, _data, **_by: delete_draft(study_id=study.pk),
        budget=STUDY_BUDGET,
        right=Right.DELETE_DRAFTS,
        erases=True,
        of_drafts=True,
        leads_to=lambda _data: reverse("dashboard:studies"),
    ),
)
OF_PANEL = (
    lower_panel(
        Side.CENTRAL,
        PUBLICATIONS,
        name="lower",
        title=gettext_lazy("Lower the cap for publications"),
    ),
    lower_panel(
        Side.LOCAL,
        ANSWERS,
        name="lower-answers",
        title=gettext_lazy("Lower the cap for answers"),
    ),
    limit_week(PUBLICATIONS, gettext_lazy("Limit publications in a week")),
    limit_week(ANSWERS, gettext_lazy("Limit answers in a week"), name="week-answers"),
    Amendment(
        name="delete",
        title=gettext_lazy("Delete this panel"),
        button=gettext_lazy("Delete the panel permanently"),
        done=gettext_lazy("The panel is deleted."),
        form=DeleteForm,
        means=lambda _panel: [
            _("No study is in it, and none ever was opened in it. This cannot be undone.")
        ],
        make=lambda panel, _data, **_by: delete_panel(panel_id=panel.pk),
        budget=PUBLICATIONS,
        right=Right.DELETE_PANELS,
        erases=True,
        of_drafts=True,
        leads_to=lambda _data: reverse("limits:panels"),
    ),
)
OF_SHARE = (
    Amendment(
        name="lower",
        title=gettext_lazy("Lower the cap"),
        button=gettext_lazy("Lower the cap permanently"),
        done=gettext_lazy("The cap is lower now. It is written in the ledger."),
        form=LowerShareForm,
        means=lambda _share: [_("A cap can only fall, and not below what is spent.")],
        make=lower_share,
        budget=itself,
        right=Right.MANAGE_BUDGETS,
        field="cap",
    ),
    limit_week(itself, gettext_lazy("Set the weekly limit")),
    Amendment(
        name="retire",
        title=gettext_lazy("End the budget"),
        button=gettext_lazy("End it permanently"),
        done=gettext_lazy("The budget has ended. The ledger says so."),
        form=WhyForm,
        means=lambda _share: [_("It is not used again. You can’t undo this.")],
        make=lambda share, data, **by: ledger.retire_budget(
            budget_id=share.pk, why=data["why"], **by
        ),
        budget=itself,
        right=Right.MANAGE_BUDGETS,
    ),
)
