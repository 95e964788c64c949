"""The admin's screens in a real browser: by keyboard alone, without a complaint of axe-core; and
openings in a race.
"""

from playwright.sync_api import expect

from tests.journeys.test_accessibility import complaints

NARROW = {"width": 320, "height": 700}
DRAFT = """
import json
from decimal import Decimal
from surveys.design import services
for number in range({drafts}):
    services.draft_study(
        study=dict(slug=f"{name}-{{number}}", title="Night work", organisation="Norrvik", purpose="To learn.",
                   contact="a@example.org", cap=Decimal("1.5"), release_epsilon=Decimal("0.75"), expected=1200),
        questions=[dict(name="awake", kind="yes_no", text="Have you?", label="Took something"),
                   dict(name="hard", kind="likert", text="Nights are hard.", label="Nights are hard")],
    )
print(json.dumps("made"))
"""
OPEN = """
import datetime
from surveys.design import services
from surveys.design.models import Study
print("ready", flush=True)
input()
try:
    pk = Study.objects.get(slug="race-{number}").pk
    services.open_study(why="A test.", study_id=pk, who="ada", now=datetime.datetime.now(datetime.UTC))
    print("opened")
except services.CannotOpen:
    print("refused")
"""
LIMIT = """
import datetime
from decimal import Decimal
from surveys.design import site
print("ready", flush=True)
input()
site.set_site_limits(epsilon_floor=Decimal("0.01"), epsilon_ceiling=Decimal("{ceiling}"), cap_ceiling=Decimal(8),
                         who="ada", why="a race", now=datetime.datetime.now(datetime.UTC))
print("limited")
"""
ORDER = """
import json
from surveys.ledger import selectors
rows = [(row.position, row.document["what"], row.document["budget"]) for row in
        selectors.read(list(selectors.positions(selectors.Filter(sort="oldest"))))]
limits = [position for position, what, budget in rows if what == "site: greatest ε of one answer"]
opened = [position for position, what, budget in rows if what == "opened wave 1" and "race-" in (budget or "")]
print(json.dumps([limits[-1], opened]))
"""
DRAFTS = 3
PAGES = (
    *(
        "/studies/night-0/limits/",
        "/studies/medicines-and-help/limits/",
        "/studies/medicines-and-help/limits/lower/",
    ),
    *(
        "/studies/medicines-and-help/limits/week/",
        "/studies/medicines-and-help/limits/retire/",
        "/limits/",
        "/ledger/",
    ),
    *(
        "/ledger/?q=nothing-like-it",
        "/ledger/?since=x&least=y&whose=study",
        "/ledger/3/",
        "/health/",
        "/admin/",
    ),
)


def signed_in(chromium, site, **options):
    site.python(DRAFT.format(drafts=1, name="night"))
    context = chromium.new_context(base_url=site.base, bypass_csp=True, **options)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.fill("#id_login", "admin")
    page.fill("#id_password", "demo-admin")
    page.keyboard.press("Enter")
    page.wait_for_url("**/studies/")
    return page


def tab_to(page, selector, most=80):
    """Press Tab until the focus is there, and see that it shows."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"no focus on {selector}")


def test_the_admins_pages_have_no_faults_and_fit_a_narrow_screen(chromium, site):
    page = signed_in(chromium, site, viewport=NARROW)
    found, wide = [], []
    for address in PAGES:
        page.goto(address)
        found += complaints(page)
        if page.evaluate(
            "document.documentElement.scrollWidth > document.documentElement.clientWidth"
        ):
            wide.append(address)
    page.goto("/studies/medicines-and-help/limits/lower/")
    page.get_by_role("button", name="Lower the cap").click()
    page.get_by_role("alert").wait_for()
    found += complaints(page)
    page.context.close()
    assert (found, wide) == ([], [])


def test_an_admin_sets_a_limit_by_keyboard_alone_and_members_read_why_but_no_ledger_does(
    chromium, site
):
    page = signed_in(chromium, site)
    page.goto("/studies/night-0/limits/")
    tab_to(page, 'input[type="range"]')
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    page.get_by_text("75 send “Yes” and 25 send “No”").wait_for()  # 1.10, and nothing was saved
    tab_to(page, "#id_why")
    page.keyboard.type("Decided by the board.")
    tab_to(page, "form button:not([name])")
    page.keyboard.press("Enter")
    page.get_by_role("status").get_by_text(
        "Saved. Members of the study can read what was changed"
    ).wait_for()
    assert page.input_value("#id_epsilon-awake") == "1.1"
    tab_to(page, "details.fold summary")
    page.keyboard.press("Enter")
    page.get_by_text("Decided by the board.").first.wait_for()
    page.goto("/ledger/?study=night-0")
    page.get_by_role("heading", name="The ledger").wait_for()
    assert page.get_by_text("Decided by the board.").count() == 0
    page.context.close()


def test_an_error_takes_the_focus_and_leads_to_its_field(chromium, site):
    page = signed_in(chromium, site)
    page.goto("/studies/night-0/limits/")
    page.fill("#id_epsilon-hard", "9")
    page.fill("#id_why", "To see.")
    page.get_by_role("button", name="Save these limits").click()
    page.get_by_role("alert").first.wait_for()
    expect(page.locator(".errors")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#id_epsilon-hard")).to_be_focused()
    assert page.input_value("#id_epsilon-hard") == "9"
    page.context.close()


def test_without_scripts_the_same_is_done(chromium, site):
    page = signed_in(chromium, site, java_script_enabled=False)
    page.goto("/studies/night-0/limits/")
    assert not page.locator('input[type="range"]').first.is_visible()
    page.fill("#id_epsilon-awake", "2")
    page.get_by_role("button", name="Preview them").click()
    page.get_by_text("88 send “Yes” and 12 send “No”").wait_for()
    assert page.input_value("#id_epsilon-awake") == "2"
    page.context.close()


def test_a_worker_and_a_scheduler_are_seen(site):
    read = "json.dumps([sign.name for sign in Sign.objects.all()])"
    signs = f"import json; from surveys.operations.models import Sign; print({read})"
    site.wait_for(
        lambda: {"worker", "scheduler"} <= set(site.python(signs)),
        "no sign of worker and scheduler",
    )


def test_a_backup_of_the_running_site_can_be_opened(site, tmp_path):
    said = site.manage("backup", "--to", str(tmp_path))
    assert "The keys are not in it" in said
    (made,) = tmp_path.iterdir()
    assert made.stat().st_mode & 0o077 == 0
    assert made.stat().st_size > 10_000


def test_no_wave_opens_after_the_limits_forbid_it(site):
    """Three openings and one change of limits at once: every wave that opened did so before the
    change.
    """
    site.python(DRAFT.format(drafts=DRAFTS, name="race"))
    codes = [OPEN.format(number=number) for number in range(DRAFTS)]
    racers = [site.begin(code) for code in (*codes[:2], LIMIT.format(ceiling="0.5"), *codes[2:])]
    for racer in racers:
        assert racer.stdout.readline().strip() == "ready"
    for racer in racers:  # all wait at the same line
        racer.stdin.write("\n")
        racer.stdin.flush()
    said = [racer.communicate()[0].strip() for racer in racers]
    limited, opened = site.python(ORDER)
    assert said.count("opened") == len(opened)
    assert said.count("opened") + said.count("refused") == DRAFTS
    assert all(position < limited for position in opened)
    site.begin(LIMIT.format(ceiling="8")).communicate("\n")  # other tests share this site
