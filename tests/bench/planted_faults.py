"""Break the code on purpose, and see that an assertion of a test fails.

Each fault is planted in a copy of the tree, and the tests named beside it are run there. A fault is
found if a test says that something is not as it should be; a test that could not be read, set up or
run to its assertion has found nothing, for any slip of the pen breaks it. Faults that are not found
are printed as MISSED, and the exit status says so. tests/test_planted_faults.py sees to it that
every line to break is there, once.

    python -m tests.bench.planted_faults [WORDS]     all, or those with these words in their names
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

HOUSE = Path(__file__).parent.parent.parent
PYTEST = (
    sys.executable,
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "--maxfail=20",
    "--junitxml=found.xml",
)
# caches change while they are copied
NOT_COPIED = (".venv", ".git", "node_modules", "var", "*.pyc", ".*_cache", ".hypothesis")
NODE = ("node", "--test", "--test-reporter=tap", "tests/browser/")
BROWSER = "surveys/intake/static/intake"
# What an assertion says: assert, pytest.raises and pytest.fail, Node's assert. Whatever else was
# raised is an accident.
ASSERTED = re.compile(r"AssertionError|assert |Failed: |ERR_ASSERTION")


@dataclass(frozen=True)
class Fault:
    name: str
    file: str
    old: str
    new: str
    command: tuple[str, ...] = ()


FAULTS = (
    Fault(
        "answer sent raw",
        f"{BROWSER}/waves.js",
        "return randomise(question, input, reader(words));",
        "return input;",
        NODE,
    ),
    Fault(
        "keep off by one in JS only",
        f"{BROWSER}/subset.js",
        "words() < keep",
        "words() <= keep",
        NODE,
    ),
    Fault(
        "one of many off by one in JS only",
        f"{BROWSER}/one_of.js",
        "words() < keep",
        "words() <= keep",
        NODE,
    ),
    Fault(
        "a table's limit off by one in JS only",
        f"{BROWSER}/table.js",
        "drawn < (",
        "drawn <= (",
        NODE,
    ),
    Fault(
        "JS draws alike for all answers",
        f"{BROWSER}/waves.js",
        "(canonical(question))),\n  input,\n];",
        "(canonical(question))),\n];",
        NODE,
    ),
    Fault(
        "JS draws alike for two questions",
        f"{BROWSER}/waves.js",
        "[\n  await digestOf(bytesOf(canonical(question))),",
        "[",
        NODE,
    ),
    Fault(
        "JS: who is not asked sends nothing",
        f"{BROWSER}/branches.js",
        ": standIn({ questions }, index, answers);",
        ": undefined;",
        NODE,
    ),
    Fault(
        "JS rejects no word",
        f"{BROWSER}/words.js",
        "while (word >= limit) word = words();",
        "",
        NODE,
    ),
    Fault(
        "JS lets a smaller declared loss pass",
        f"{BROWSER}/verify.js",
        ">= found[0] * declared[1]",
        ">= 0n",
        NODE,
    ),
    Fault(
        "an import across a wall",
        "surveys/intake/services.py",
        "from surveys.intake import group, receipt_tables, report_tables, selectors",
        "from surveys.intake import group, receipt_tables, report_tables, selectors\n"
        "from surveys.ledger import services as ledger  # noqa: F401",
        (*PYTEST, "tests/test_floor_plan.py"),
    ),
    Fault(
        "equal ids of one group that are both taken",
        "surveys/intake/group.py",
        "known[kept.id_digest] = kept",
        "known.pop(kept.id_digest, None)",
        (*PYTEST, "tests/surveys/intake/test_group.py"),
    ),
    Fault(
        "a group that is written in the order in which it came",
        "surveys/intake/group.py",
        "_write(sorted(new))",
        "_write(new)",
        (*PYTEST, "tests/surveys/intake/test_group.py"),
    ),
    Fault(
        "a Plan that is not held open by the group",
        "surveys/intake/group.py",
        "terms is None or kept.day > terms.last",
        "terms is None",
        (*PYTEST, "tests/surveys/intake/test_group.py"),
    ),
    Fault(
        "a second draw on retry",
        "surveys/releases/services.py",
        "if done := selectors.drawn(request):\n        return done",
        "selectors.drawn(request)",
        (*PYTEST, "tests/surveys/releases/test_publishing.py"),
    ),
    Fault(
        "a charge without a release",
        "surveys/releases/services.py",
        "with transaction.atomic():\n            drawn = _publish",
        "if request:\n            drawn = _publish",
        (*PYTEST, "tests/surveys/releases/test_publishing.py"),
    ),
    Fault(
        "the cap off by a hair",
        "dpengine/accounting/filters.py",
        "self.sum_of(charges, _epsilon) <= self.cap",
        "self.sum_of(charges, _epsilon) <= self.cap + Fraction(1, 10**9)",
        (*PYTEST, "tests/dpengine/accounting/test_filters.py"),
    ),
    Fault(
        "parts that nobody moves between, where people can",
        "dpengine/accounting/filters.py",
        "return 1 if self.fixed_parts or self.neighbours == Neighbours.ADD_REMOVE else 2",
        "return 1",
        (*PYTEST, "tests/dpengine/accounting/test_filters.py"),
    ),
    Fault(
        "a threshold without its noise",
        "dpengine/central/sparse_vector.py",
        "noisy >= threshold + state.noise",
        "noisy >= threshold",
        (*PYTEST, "tests/dpengine/central/test_sparse_vector.py"),
    ),
    Fault(
        "a counter that counts one step of its horizon",
        "dpengine/central/counter.py",
        "squared = moves * factor(strategy, horizon).squares",
        "squared = moves * factor(strategy, 1).squares",
        (*PYTEST, "tests/dpengine/central/test_counter.py"),
    ),
    Fault(
        "an answer sent as given, stored in the clear",
        "surveys/aggregation/services.py",
        'seal(answers, about=about) if plan.content.cleartext else b""',
        'answers if plan.content.cleartext else b""',
        (*PYTEST, "tests/surveys/aggregation/test_given.py"),
    ),
    Fault(
        "a row whose hash leaves out why",
        "surveys/ledger/chain.py",
        "values = {field.name: _said(field, columns[name]) for name, field in HASHED.items()}",
        "values = {field.name: _said(field, columns[name]) for name, field in HASHED.items() if "
        'name != "why"}',
        (*PYTEST, "tests/surveys/ledger/test_chain.py"),
    ),
    Fault(
        "a budget that is not locked",
        "surveys/ledger/services.py",
        "Budget.objects.select_for_update().filter(pk__in=budget_ids)",
        "Budget.objects.filter(pk__in=budget_ids)",
        (
            sys.executable,
            "-m",
            "tests.services",
            "postgres",
            "--",
            *PYTEST,
            "tests/journeys/test_budget.py",
        ),
    ),
    Fault(
        "a sweep that takes fewer than hide one another",
        "surveys/intake/report_tables.py",
        "if len(ids) < least:",
        "if not ids:",
        (*PYTEST, "tests/surveys/aggregation/test_sweeps.py"),
    ),
    Fault(
        "rounding away from privacy",
        "dpengine/local/subset.py",
        "keep = int(WORD * (size * loss) / (size * loss + choices - size))",
        "keep = 1 + int(WORD * (size * loss) / (size * loss + choices - size))",
        (*PYTEST, "tests/dpengine/local/test_subset.py"),
    ),
    Fault(
        "one of many rounded away from privacy",
        "dpengine/local/one_of.py",
        "keep = int(WORD * loss / (2**size - 1 + loss))",
        "keep = 1 + int(WORD * loss / (2**size - 1 + loss))",
        (*PYTEST, "tests/dpengine/local/test_one_of.py"),
    ),
    Fault(
        "the true ticks can be sent in place of themselves",
        "dpengine/local/one_of.py",
        "other + (other >= own)",
        "other + (other > own)",
        (*PYTEST, "tests/dpengine/local/test_one_of.py"),
    ),
    Fault(
        "the true ticks can be sent in place of themselves in JS only",
        f"{BROWSER}/one_of.js",
        "other + Number(other >= own)",
        "other + Number(other > own)",
        NODE,
    ),
    Fault(
        "ticks of the ring counted for the options before",
        "dpengine/local/one_of.py",
        ".sum(axis=1), place)",
        ".sum(axis=1), -place)",
        (*PYTEST, "tests/dpengine/local/test_one_of.py"),
    ),
    Fault(
        "what stays together drawn apart",
        "surveys/design/blocks.py",
        'for own in groups(changed, "drawn_in").values() for each in own',
        'for own in groups(changed, "drawn_in").values() for each in own[:1]',
        (*PYTEST, "tests/surveys/design/test_together.py"),
    ),
    Fault(
        "published counts estimated again without their known sum",
        "surveys/planning/published.py",
        'if row.get("known_sum") else drawn',
        'if row.get("no_sum") else drawn',
        (*PYTEST, "tests/surveys/results/test_joint.py"),
    ),
    Fault(
        "one of many that takes n/m for n_j",
        "dpengine/local/one_of.py",
        "[(yes, no + yes) for",
        "[(yes, sum(tally) // self.options) for",
        (*PYTEST, "tests/dpengine/local/test_one_of.py"),
    ),
    Fault(
        "drawn questions charged by the set that loses least",
        "dpengine/local/blocks.py",
        "return max(loss_of_all(",
        "return min(loss_of_all(",
        (*PYTEST, "tests/dpengine/local/test_blocks.py"),
    ),
    Fault(
        "a joint answer's question that takes all its cells for one",
        "dpengine/local/joint.py",
        "found = [Cells(self.channel, self.together)] * self.answered",
        "found = [Cells(self.channel, 1)] * self.answered",
        (*PYTEST, "tests/dpengine/local/test_joint.py"),
    ),
    Fault(
        "a joint answer whose digits the browser reads from the end",
        f"{BROWSER}/blocks.js",
        "cell * sizes[i] + answer - Number(answer > declining[i])",
        "cell + (answer - Number(answer > declining[i])) * sizes[i]",
        NODE,
    ),
    Fault(
        "a device that draws its questions anew at each look",
        f"{BROWSER}/drawn.js",
        "before() ?? sets[set];",
        "sets[set];",
        NODE,
    ),
    Fault(
        "a browser that takes the loss of the first set for all",
        f"{BROWSER}/verify.js",
        ".reduce(larger)",
        ".reduce((first) => first)",
        NODE,
    ),
    Fault(
        "intervals that take a noisy number of people for exact",
        "surveys/releases/statistics.py",
        "over_people(at, self.n, reach,",
        "over_people(at, self.n, 0,",
        (*PYTEST, "tests/surveys/releases/test_units.py", "-k", "noise_in_n"),
    ),
    Fault(
        "a cost of one of some sets that is the least of them",
        "dpengine/privacy.py",
        "epsilon=max(known) if",
        "epsilon=min(known) if",
        (*PYTEST, "tests/dpengine/test_privacy.py"),
    ),
    Fault(
        "a part of the budget rounded up",
        "dpengine/local/budget.py",
        "[round_down(Fraction(total)",
        '[Decimal("1e-9") + round_down(Fraction(total)',
        (*PYTEST, "tests/dpengine/local/test_budget.py"),
    ),
    Fault(
        "a forced yes that is counted as a no",
        "dpengine/designs.py",
        "return _binary(truth + always, always)",
        "return _binary(truth + never, never)",
        (*PYTEST, "tests/dpengine/test_designs.py"),
    ),
    Fault(
        "a decoder with a wrong denominator",
        "dpengine/local/decoder.py",
        "factor = Fraction(sum(weights[0]), determinant)",
        "factor = Fraction(sum(weights[0]) - 1, determinant)",
        (*PYTEST, "tests/dpengine/local/test_decoder.py"),
    ),
    Fault(
        "an interval that forgets the noise",
        "dpengine/estimates.py",
        "@ noise.tail(count - _parts(noise) * holding))",
        "@ (count - _parts(noise) * holding <= 0))",
        (*PYTEST, "tests/dpengine/test_estimates.py"),
    ),
    Fault(
        "published before the smallest batch",
        "surveys/releases/services.py",
        "if new < (1 if series else rule.smallest_batch) or not",
        "if not",
        (*PYTEST, "tests/surveys/releases/test_publishing.py"),
    ),
    Fault(
        "a closing that a sweep overlooks, because it knew the study before",
        "surveys/aggregation/services.py",
        '    plan.refresh_from_db(fields=("closed_on",))  # which the mark may have been about\n',
        "",
        (*PYTEST, "tests/surveys/aggregation/test_sweeps.py"),
    ),
    Fault(
        "two schedulers are heard in one period",
        "surveys/turns.py",
        "if not takes_turn(name=name, every=every, now=now):",
        "if takes_turn(name=name, every=every, now=now) is None:",
        (*PYTEST, "tests/surveys/test_turns.py"),
    ),
    Fault(
        "batches keep the order of arrival",
        "surveys/aggregation/services.py",
        "mixed = shuffled(reports)",
        "mixed = reports",
        (*PYTEST, "tests/surveys/aggregation/test_sweeps.py"),
    ),
    Fault(
        "a double key passes",
        "surveys/intake/reports.py",
        "json.JSONDecoder(object_pairs_hook=_unique)",
        "json.JSONDecoder()",
        (*PYTEST, "tests/surveys/intake/test_reports.py"),
    ),
    Fault(
        "an error repeats the value",
        "surveys/intake/reports.py",
        "got {_kind(value)}",
        "got {value}",
        (*PYTEST, "tests/surveys/intake/test_reports.py"),
    ),
    Fault(
        "the server lets a smaller declared loss pass",
        "surveys/plan/verification.py",
        '(declared := fraction(question["loss"])) < channel.loss',
        '(declared := fraction(question["loss"])) < 1',
        (*PYTEST, "tests/surveys/design/test_plans.py"),
    ),
    Fault(
        "sent as given, “Not asked” tells a hidden answer",
        "surveys/design/questions.py",
        "if asked is not None and question.protection == PUBLICATION and asked.protection == "
        "DEVICE:",
        "if False:",
        (*PYTEST, "tests/surveys/design/test_kinds.py", "tests/surveys/plan/test_losses.py"),
    ),
    Fault(
        "a device that wakes late sends at once",
        "surveys/intake/static/intake/moments.js",
        "call(late <= LATE);",
        "call(true);",
        NODE,
    ),
    Fault(
        "moments are counted from when somebody is done",
        "surveys/intake/static/intake/moments.js",
        "(Math.floor(time / step) + 1) * step",
        "time + step",
        NODE,
    ),
    Fault(
        "a turned tick counts for one",
        "dpengine/local/one_of.py",
        "2 * self.together, 4 * self.together)",
        "2 * self.together, 2 * self.together)",
        (*PYTEST, "tests/surveys/aggregation/test_tallies.py"),
    ),
    Fault(
        "a reader asks for more",
        "surveys/people/selectors.py",
        "rights |= RIGHTS[Role(membership.role)]",
        "rights |= set(Right)",
        (*PYTEST, "tests/surveys/people/test_roles.py"),
    ),
    Fault(
        "a second factor that was not shown",
        "surveys/people/middleware.py",
        "(has_shown(request, user) and has_factor(user))",
        "has_factor(user)",
        (*PYTEST, "tests/surveys/people/test_second_factor.py"),
    ),
    Fault(
        "a plus that a spreadsheet takes for a formula",
        "surveys/spreadsheets.py",
        'FORMULA = ("=", "+", "-", "@",',
        'FORMULA = ("=", "-", "@",',
        (*PYTEST, "tests/surveys/test_spreadsheets.py"),
    ),
    Fault(
        "plain answers that are said where they may be few",
        "dpengine/estimates.py",
        "FEW_PLAIN = 30",
        "FEW_PLAIN = 3",
        (*PYTEST, "tests/dpengine/test_estimates.py"),
    ),
    Fault(
        "a module changed, and its bundle not",
        f"{BROWSER}/words.js",
        "while (word >= limit) word = words();",
        "while (word > limit) word = words();",
        (*PYTEST, "tests/surveys/intake/test_bundles.py"),
    ),
)


def main(words: list[str]) -> int:
    asked = [fault for fault in FAULTS if all(word in fault.name for word in words)]
    missed = [fault.name for fault in asked if not found(fault)]
    print(f"{len(asked) - len(missed)} of {len(asked)} planted faults found")
    return 1 if missed else 0


def planted(fault: Fault) -> str:
    """Return the text of the file with the fault in it."""
    text = (HOUSE / fault.file).read_text()
    if text.count(fault.old) != 1:
        raise ValueError(
            f"{fault.name}: expected the line to break once in {fault.file}, got "
            f"{text.count(fault.old)}"
        )
    return text.replace(fault.old, fault.new)


@contextlib.contextmanager
def copy_with(fault: Fault) -> Iterator[Path]:
    """Yield a copy of the tree with the fault in it."""
    with tempfile.TemporaryDirectory(prefix="candor-fault-") as folder:
        copy = Path(folder) / "house"
        shutil.copytree(
            HOUSE,
            copy,
            ignore=shutil.ignore_patterns(*NOT_COPIED),
        )
        (copy / "node_modules").symlink_to(HOUSE / "node_modules")
        (copy / fault.file).write_text(planted(fault))
        yield copy


def found(fault: Fault) -> bool:
    """Plant one fault in a copy of the tree; tell whether a test asserts that something is
    wrong.
    """
    with copy_with(fault) as copy:
        environment = {**os.environ, "CANDOR_DATA": f"{copy.parent}/data"}
        done = subprocess.run(
            fault.command, cwd=copy, env=environment, capture_output=True, text=True, check=False
        )
        failed = failures(copy / "found.xml", done.stdout)
    asserted = [said for said in failed if ASSERTED.match(said)]
    print(f"{'found ' if asserted else 'MISSED'}  {fault.name}", flush=True)
    if not asserted:
        print(f"        {failed[:1] or done.stdout[-300:]}", flush=True)
    return bool(asserted)


def failures(report: Path, printed: str) -> list[str]:
    """Return what failing tests said: pytest keeps what broke before or after a test apart, as
    errors.
    """
    if not report.exists():  # Node's
        return re.findall(r"^ +code: '(\w+)'$", printed, re.MULTILINE)
    tests = ElementTree.parse(report).iter("failure")  # noqa: S314 (pytest wrote it)
    return [test.get("message", "") for test in tests]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
