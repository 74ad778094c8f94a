"""Findings as a list of things to do, with mends that can be planned and written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import InputError
from intentmatch.evaluation.insight.issues import Issue, issues, mends
from intentmatch.lint import lint
from intentmatch.registry.editing.plan import plan

TEXT = """\
version: 1
language: en
intents:
  book:
    utterances:
      - book a visit now
      - book a visit tomorrow
      - reserve a visit today
      - reserve a visit soon
      - drop the order again
      - book a visit now!
  cancel:
    utterances:
      - drop the order now
      - drop the order today
      - drop the order please
      - stop the order soon
      - stop the order today
"""


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    (tmp_path / "bot.yaml").write_text(TEXT, encoding="utf-8")
    return tmp_path


def found_in(bot: Path) -> list[Issue]:
    return issues(lint(bot, encoder=WordHashEncoder(), cache="off"), bot)


def test_misplaced_line_is_shown_with_what_attracts_it_and_a_mend(bot: Path):
    issue = next(one for one in found_in(bot) if one.problem.rule == "misplaced-utterance")

    assert issue.lines[0].line.text == "drop the order again"
    assert [line.intent for line in issue.lines] == ["book", "cancel"]
    assert issue.id == "misplaced-utterance:bot.yaml:10:9"
    assert issue.mend is not None
    assert issue.mend.title == "Move it to cancel"
    assert issue.problem.hint.startswith("give 'book' more lines like it, reword it")


def test_moved_line_does_not_count_as_won(bot: Path):
    """It would find the intent that it was moved to because it was moved there."""
    issue = next(one for one in found_in(bot) if one.problem.rule == "misplaced-utterance")

    assert issue.mend is not None
    assert issue.mend.gain == 0
    assert issue.value == issue.misread == 1


def test_mend_ends_the_finding(bot: Path):
    found = found_in(bot)
    wanted = [one.problem.rule for one in found if one.mend is not None]

    for rule in wanted:
        now = found_in(bot)
        plan(bot, mends(now, [one.id for one in now if one.problem.rule == rule])).write()

    left = [one for one in found_in(bot) if one.mend is not None]
    assert wanted
    assert left == []
    text = (bot / "bot.yaml").read_text(encoding="utf-8")
    assert text.index("cancel:") < text.index("drop the order again")
    assert "book a visit now!" not in text


def test_most_valuable_comes_first(bot: Path):
    values = [one.value for one in found_in(bot)]

    assert values == sorted(values, reverse=True)
    assert values[0] > 0


def test_errors_come_before_everything(bot: Path):
    (bot / "broken.yaml").write_text("version: 1\nintents:\n  empty:\n    utterances: []\n", encoding="utf-8")

    assert found_in(bot)[0].problem.severity == "error"


def test_duplicate_is_shown_with_the_first_line(bot: Path):
    issue = next(one for one in found_in(bot) if one.problem.rule == "duplicate-utterance")

    assert [line.line.text for line in issue.lines] == ["book a visit now!", "book a visit now"]
    assert issue.mend is not None
    assert issue.mend.gain == 0


def test_line_in_another_language_moves_to_its_list(tmp_path: Path):
    english = ["where is my order", "where is my parcel now", "i want my money back", "is the shop open today"]
    german = ["wo ist meine bestellung", "wo ist mein paket jetzt", "ist der laden heute offen", "ich will mein geld"]
    listed = {"en": [*english, "wo ist mein geld und meine bestellung jetzt"], "de": german * 1}
    text = ["version: 1", "intents:", "  one:", "    utterances:"]
    for code, lines in listed.items():
        text += [f"      {code}:", *(f"        - {line}" for line in lines)]
    text += ["  two:", "    utterances:", "      en: [is my parcel open, my order is open]"]
    text += ["      de: [ist mein paket offen, ist meine bestellung jetzt offen]", ""]
    (tmp_path / "bot.yaml").write_text("\n".join(text), encoding="utf-8")
    found = found_in(tmp_path)
    issue = next(one for one in found if one.problem.rule == "other-language")

    changes = plan(tmp_path, mends(found, [issue.id]))

    assert issue.mend is not None
    assert issue.mend.title == "Move it to the lines in de"
    (moved,) = [line for line in changes.registry["one"].utterances if "geld und" in line.text]
    assert moved.language == "de"


def test_template_gets_no_mend(bot: Path):
    text = TEXT.replace("- drop the order again", "- drop the order [again]")
    (bot / "bot.yaml").write_text(text, encoding="utf-8")

    found = [one for one in found_in(bot) if one.problem.location.line == 10]

    assert all(one.mend is None for one in found)


def test_mends_that_change_answers_are_made_one_at_a_time(bot: Path):
    found = found_in(bot)
    some = [one.id for one in found if one.mend is not None]

    assert len(some) == 2
    with pytest.raises(InputError, match="must be mended alone"):
        mends(found, some)


def test_duplicates_are_removed_together(bot: Path):
    (bot / "bot.yaml").write_text(TEXT + "      - stop the order today!\n", encoding="utf-8")
    found = found_in(bot)
    some = [one.id for one in found if one.problem.rule == "duplicate-utterance"]

    (edit,) = mends(found, some)

    assert len(some) == len(edit.places) == 2


def test_unknown_id_is_refused(bot: Path):
    with pytest.raises(InputError, match="may have changed"):
        mends(found_in(bot), ["misplaced-utterance:bot.yaml:99:9"])


def test_finding_without_a_mend_is_refused(bot: Path):
    text = TEXT + "  greet:\n    utterances: [hello there]\n"
    (bot / "bot.yaml").write_text(text, encoding="utf-8")
    found = found_in(bot)
    without = next((one for one in found if one.mend is None), None)

    assert without is not None
    with pytest.raises(InputError, match="no mend"):
        mends(found, [without.id])


def test_json_says_why(bot: Path):
    values = [one.to_dict() for one in found_in(bot)]

    assert all(value["why"] and value["file"] == "bot.yaml" for value in values)
    json.dumps(values)


def test_registry_without_utterances_has_its_problems(tmp_path: Path):
    (tmp_path / "bot.yaml").write_text("version: 1\nintents: {}\n", encoding="utf-8")

    assert [one.problem.rule for one in found_in(tmp_path)] == ["no-intents"]
