"""Suppressions: what they ignore, and what is said of those that are wrong or idle."""

from __future__ import annotations

from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import SettingsError
from intentmatch.lint import lint

FEW = """\
{head}
intents:
  a:{on_intent}
    utterances:
      - hello there{on_line}
  b:
    utterances: [see you later]{on_flow}
"""


def findings(tmp_path: Path, head="", on_intent="", on_line="", on_flow="", text=FEW, **settings) -> list[str]:
    """LINE rule severity of each problem; two intents of one line each have `few-utterances` in lines 3 and 6."""
    file = tmp_path / "bot.yaml"
    file.write_text(text.format(head=head, on_intent=on_intent, on_line=on_line, on_flow=on_flow), encoding="utf-8")
    report = lint(file, encoder=WordHashEncoder(), **settings)
    return [f"{p.location.line} {p.rule} {p.severity}" for p in report.problems]


def test_without_any_all_is_reported(tmp_path):
    """What the tests below leave out."""
    assert findings(tmp_path) == ["3 few-utterances warning", "6 few-utterances warning"]


@pytest.mark.parametrize(
    "comment",
    [
        "# lint: ignore few-utterances",
        "# lint: ignore few-utterances -- there is one way to say it",
        "#lint:ignore few-utterances",
    ],
)
def test_a_comment_is_for_its_line(tmp_path, comment):
    """On the line of an intent; what follows two hyphens is the reason."""
    assert findings(tmp_path, on_intent=f"  {comment}") == ["6 few-utterances warning"]
    assert findings(tmp_path, on_intent=f"\n    {comment}") == [
        "3 few-utterances warning",
        "4 unused-suppression info",
        "7 few-utterances warning",
    ]


def test_a_comment_on_its_own_line_is_for_what_comes_next(tmp_path):
    """Here for `intents:` and so for all that is below it."""
    assert findings(tmp_path, head="# lint: ignore few-utterances") == []


def test_a_comment_may_name_several_rules(tmp_path):
    """With commas between; each is held to have work."""
    comment = "  # lint: ignore few-utterances, two-clusters"

    assert findings(tmp_path, on_intent=comment) == ["3 unused-suppression info", "6 few-utterances warning"]


def test_a_comment_may_be_for_its_file_only(tmp_path):
    """`ignore-file`, wherever it stands, is for its file and no other."""
    (tmp_path / "other.yaml").write_text("intents: {c: {utterances: [farewell]}}", encoding="utf-8")
    file = tmp_path / "bot.yaml"
    file.write_text(
        FEW.format(head="", on_intent="", on_line="", on_flow="\n# lint: ignore-file few-utterances"), encoding="utf-8"
    )

    report = lint(tmp_path, encoder=WordHashEncoder())

    assert [(Path(p.location.path).name, p.rule) for p in report.problems] == [("other.yaml", "few-utterances")]
    assert report.ignored == 2


def test_a_rule_of_validate_may_be_ignored_when_it_warns(tmp_path):
    """`duplicate-utterance` is the author's to judge; an error is not."""
    text = "intents:\n  a:\n    utterances:\n    - hello\n    - Hello!{on_line}\n    - good day to you\n"

    assert findings(tmp_path, text=text) == ["5 duplicate-utterance warning"]
    assert findings(tmp_path, text=text, on_line=" # lint: ignore duplicate-utterance") == []


@pytest.mark.parametrize(
    ("comment", "message", "hint"),
    [
        ("# lint: ignore few-utterence", "there is no rule 'few-utterence'", "did you mean `few-utterances`?"),
        ("# lint: ignore xyzzy", "there is no rule 'xyzzy'", "--rules"),
        ("# lint: ignore no-utterances", "'no-utterances' cannot be ignored", "mend what it finds"),
        ("# lint: ignore", "`lint: ignore` names no rule", "--rules"),
        ("# lint: ignore -- because", "`lint: ignore` names no rule", "--rules"),
        ("# lint: ingore few-utterances", "`lint: ingore` is not known here", "--rules"),
    ],
)
def test_a_wrong_comment_is_a_problem_at_its_place(tmp_path, comment, message, hint):
    """With the rule that was probably meant; and it ignores nothing."""
    file = tmp_path / "bot.yaml"
    file.write_text(FEW.format(head="", on_intent=f" {comment}", on_line="", on_flow=""), encoding="utf-8")

    problems = lint(file, encoder=WordHashEncoder()).problems
    (wrong,) = [problem for problem in problems if problem.rule == "bad-suppression"]

    assert (wrong.location.line, wrong.location.column, wrong.severity) == (3, 6, "warning")
    assert message in wrong.message
    assert hint in wrong.hint
    assert len(problems) == 3


def test_a_text_about_lint_is_no_suppression(tmp_path):
    """Neither in quotes nor in other words."""
    quoted = '"intents: # lint: ignore few-utterances"'

    assert "few-utterances" in str(findings(tmp_path, head=f"# {quoted}"))
    assert "few-utterances" in str(findings(tmp_path, head="# this file has lint: ignore few-utterances"))


def test_an_idle_suppression_may_be_ignored_too(tmp_path):
    """By a comment for its line, or by the setting."""
    idle = "  # lint: ignore two-clusters"

    assert "5 unused-suppression info" in findings(tmp_path, on_line=idle)
    assert "5 unused-suppression info" not in findings(tmp_path, on_line=idle + ", unused-suppression")
    assert "5 unused-suppression info" not in findings(tmp_path, on_line=idle, lint="unused-suppression=off")


def test_the_setting_turns_rules_off_and_changes_their_severity(tmp_path):
    """From an argument, and from the YAML as a mapping."""
    yaml = "settings: {lint: {few-utterances: error}}".replace("{", "{{").replace("}", "}}")

    assert findings(tmp_path, lint={"few-utterances": "off"}) == []
    assert findings(tmp_path, lint="few-utterances=info") == ["3 few-utterances info", "6 few-utterances info"]
    assert findings(tmp_path, text=f"{yaml}\n{FEW}") == ["4 few-utterances error", "7 few-utterances error"]


def test_a_setting_that_names_no_rule_is_a_problem_where_it_stands(tmp_path):
    """In the YAML at its key; from an argument as such. An error of the YAML stays one."""
    yaml = "settings:\n  lint: {{few-utterence: off, no-utterances: off}}\n"
    found = findings(tmp_path, text=yaml + FEW)

    assert found[:2] == ["2 bad-suppression warning", "2 bad-suppression warning"]
    problems = lint(tmp_path / "bot.yaml", encoder=WordHashEncoder(), lint="few-utterence=off").problems
    assert [p.location.path for p in problems if p.rule == "bad-suppression"] == ["argument"]


@pytest.mark.parametrize("value", ["few-utterances", "few-utterances=loud", 3, ""])
def test_a_setting_of_another_form_is_refused(tmp_path, value):
    """It maps rules to levels."""
    with pytest.raises(SettingsError, match="'lint'"):
        findings(tmp_path, lint=value)
