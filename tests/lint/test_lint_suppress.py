"""Suppressions: what they ignore, and the problems of invalid or unused ones."""

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
    """Return "LINE rule severity" of each problem; lines 3 and 6 have `few-utterances`."""
    file = tmp_path / "bot.yaml"
    file.write_text(text.format(head=head, on_intent=on_intent, on_line=on_line, on_flow=on_flow), encoding="utf-8")
    report = lint(file, encoder=WordHashEncoder(), **settings)
    return [f"{p.location.line} {p.rule} {p.severity}" for p in report.problems]


def test_everything_is_reported_without_suppressions(tmp_path):
    assert findings(tmp_path) == ["3 few-utterances warning", "6 few-utterances warning"]


@pytest.mark.parametrize(
    "comment",
    [
        "# lint: ignore few-utterances",
        "# lint: ignore few-utterances -- there is one way to say it",
        "#lint:ignore few-utterances",
    ],
)
def test_comment_applies_to_its_line(tmp_path, comment):
    """The text after two hyphens is the author's reason."""
    assert findings(tmp_path, on_intent=f"  {comment}") == ["6 few-utterances warning"]
    assert findings(tmp_path, on_intent=f"\n    {comment}") == [
        "3 few-utterances warning",
        "4 unused-suppression info",
        "7 few-utterances warning",
    ]


def test_comment_on_its_own_line_applies_to_the_next_line(tmp_path):
    """Here to `intents:` and everything indented below."""
    assert findings(tmp_path, head="# lint: ignore few-utterances") == []


def test_comment_may_name_several_rules(tmp_path):
    """The rules are separated by commas; each unused one is reported."""
    comment = "  # lint: ignore few-utterances, two-clusters"

    assert findings(tmp_path, on_intent=comment) == ["3 unused-suppression info", "6 few-utterances warning"]


def test_ignore_file_applies_to_its_whole_file_only(tmp_path):
    (tmp_path / "other.yaml").write_text("intents: {c: {utterances: [farewell]}}", encoding="utf-8")
    file = tmp_path / "bot.yaml"
    file.write_text(
        FEW.format(head="", on_intent="", on_line="", on_flow="\n# lint: ignore-file few-utterances"), encoding="utf-8"
    )

    report = lint(tmp_path, encoder=WordHashEncoder())

    assert [(Path(p.location.path).name, p.rule) for p in report.problems] == [("other.yaml", "few-utterances")]
    assert report.ignored == 2


def test_warning_of_validate_can_be_ignored(tmp_path):
    text = "intents:\n  a:\n    utterances:\n    - hello\n    - Hello!{on_line}\n    - good day to you\n"

    assert findings(tmp_path, text=text) == ["5 duplicate-utterance warning"]
    assert findings(tmp_path, text=text, on_line=" # lint: ignore duplicate-utterance") == []


@pytest.mark.parametrize(
    ("comment", "message", "hint"),
    [
        ("# lint: ignore few-utterence", "there is no rule 'few-utterence'", "did you mean `few-utterances`?"),
        ("# lint: ignore xyzzy", "there is no rule 'xyzzy'", "--rules"),
        ("# lint: ignore no-utterances", "'no-utterances' cannot be ignored", "correct the error"),
        ("# lint: ignore", "`lint: ignore` names no rule", "--rules"),
        ("# lint: ignore -- because", "`lint: ignore` names no rule", "--rules"),
        ("# lint: ingore few-utterances", "`lint: ingore` is unknown", "--rules"),
    ],
)
def test_invalid_comment_is_a_problem_and_ignores_nothing(tmp_path, comment, message, hint):
    file = tmp_path / "bot.yaml"
    file.write_text(FEW.format(head="", on_intent=f" {comment}", on_line="", on_flow=""), encoding="utf-8")

    problems = lint(file, encoder=WordHashEncoder()).problems
    (wrong,) = [problem for problem in problems if problem.rule == "bad-suppression"]

    assert (wrong.location.line, wrong.location.column, wrong.severity) == (3, 6, "warning")
    assert message in wrong.message
    assert hint in wrong.hint
    assert len(problems) == 3


def test_comment_that_mentions_lint_is_no_suppression(tmp_path):
    quoted = '"intents: # lint: ignore few-utterances"'

    assert "few-utterances" in str(findings(tmp_path, head=f"# {quoted}"))
    assert "few-utterances" in str(findings(tmp_path, head="# this file has lint: ignore few-utterances"))


def test_unused_suppression_can_be_ignored(tmp_path):
    """By a comment on its line, or by the setting."""
    idle = "  # lint: ignore two-clusters"

    assert "5 unused-suppression info" in findings(tmp_path, on_line=idle)
    assert "5 unused-suppression info" not in findings(tmp_path, on_line=idle + ", unused-suppression")
    assert "5 unused-suppression info" not in findings(tmp_path, on_line=idle, lint="unused-suppression=off")


def test_setting_turns_rules_off_and_changes_severities(tmp_path):
    yaml = "settings: {lint: {few-utterances: error}}".replace("{", "{{").replace("}", "}}")

    assert findings(tmp_path, lint={"few-utterances": "off"}) == []
    assert findings(tmp_path, lint="few-utterances=info") == ["3 few-utterances info", "6 few-utterances info"]
    assert findings(tmp_path, text=f"{yaml}\n{FEW}") == ["4 few-utterances error", "7 few-utterances error"]


def test_setting_with_an_unknown_rule_is_a_problem_at_its_place(tmp_path):
    """The place is the key in the YAML, or "argument"."""
    yaml = "settings:\n  lint: {{few-utterence: off, no-utterances: off}}\n"
    found = findings(tmp_path, text=yaml + FEW)

    assert found[:2] == ["2 bad-suppression warning", "2 bad-suppression warning"]
    problems = lint(tmp_path / "bot.yaml", encoder=WordHashEncoder(), lint="few-utterence=off").problems
    assert [p.location.path for p in problems if p.rule == "bad-suppression"] == ["argument"]


@pytest.mark.parametrize("value", ["few-utterances", "few-utterances=loud", 3, ""])
def test_setting_that_maps_no_rules_to_levels_is_refused(tmp_path, value):
    with pytest.raises(SettingsError, match="'lint'"):
        findings(tmp_path, lint=value)
