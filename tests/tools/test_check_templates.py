"""Long lines and too many decisions are named; short and plain templates pass."""

from tools.check_templates import problems


def test_a_template_of_short_lines_and_few_decisions_passes(tmp_path):
    (tmp_path / "page.html").write_text("<p>{{ text }}</p>\n" * 24 + "{% if a %}b{% endif %}\n")
    assert problems(tmp_path) == []


def test_a_line_of_more_than_120_characters_is_named_with_its_file_and_number(tmp_path):
    (tmp_path / "page.html").write_text("short\n" + "x" * 120 + "\n" + "x" * 121 + "\n")
    assert problems(tmp_path) == [f"{tmp_path}/page.html:3: 121 characters, at most 120"]


def test_more_than_8_decisions_in_100_lines_are_too_many_over_all_templates(tmp_path):
    (tmp_path / "plain.html").write_text("x\n" * 96)
    (tmp_path / "page.html").write_text("{% if a %}{% if b %}c{% endif %}{% endif %}\n" * 4)
    assert problems(tmp_path) == []
    (tmp_path / "one.txt").write_text("{%- if c %}d{% endif %}\n")
    assert problems(tmp_path) == [f"{tmp_path}: 9 decisions in 101 lines, at most 0.08 each"]


def test_a_comment_that_does_not_end_on_its_line_is_named(tmp_path):
    (tmp_path / "page.html").write_text("{# fine #}\n{# shown\nto everybody #}\n")
    said = "a comment begins and ends on one line"
    assert problems(tmp_path) == [f"{tmp_path}/page.html:{number}: {said}" for number in (2, 3)]
