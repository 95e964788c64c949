"""What rehearsals came to, as it is read."""

from surveys.planning.presenters import rehearsal as presenters
from tests.surveys.planning.test_rehearsal import rehearsal_of, rehearsed


def results_of(*names, runs=20, people=60):
    rehearsal, population = rehearsal_of(*names)
    record, truths = rehearsed(runs, people, *names), population.truths()
    return [
        presenters.results_of(each.question, record, truths[each.name])
        for each in rehearsal.questions
    ]


def test_every_question_says_how_often_it_holds_and_what_it_assumed():
    share, mean = results_of("yes_no", "mean")
    assert share.coverage.low <= share.coverage.share <= share.coverage.high
    assert [row.label for row in share.rows] == ["Yes", "No"], "as people see them"
    assert share.rows[0].holds.split()[1] == "50.0%"
    assert (share.question.unit, mean.question.unit) == ("points", "units")
    assert [row.label for row in mean.rows] == ["Mean"]


def test_the_worst_row_is_the_one_with_the_largest_bias():
    (question,) = results_of("single")
    assert abs(question.worst.bias) == max(abs(row.bias) for row in question.rows)
    assert question.worst.bias_text[0] in "+−0"
