"""Templates in `lint`: rules look at lines, and say a thing once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.lint import Report, lint

WIDE = "[please] (cancel|stop|end) [my] (order|purchase) [now]"
BOT = """
intents:
  cancel:
    utterances:
      - "{wide}"
      - take everything back
  status:
    utterances:
      - where is it
      - when does my parcel arrive
      - "{other}"
"""


def report(folder: Path, other: str, wide: str = WIDE) -> Report:
    (folder / "bot.yaml").write_text(BOT.replace("{wide}", wide).replace("{other}", other), encoding="utf-8")
    return lint(folder, encoder=WordHashEncoder(), cache="off")


def found(some: Report) -> list[str]:
    return [f"{problem.location.line} {problem.rule}" for problem in some.problems]


def test_lines_are_counted_and_not_sentences(tmp_path: Path):
    """Two lines are few, however many sentences one of them stands for; and so many are shown in each language."""
    some = report(tmp_path, "track the delivery")

    assert [problem.rule for problem in some.problems].count("few-utterances") == 1
    assert "'cancel' has 2 utterances; the median of this registry's intents is 2" in some.problems[0].message
    assert some.coverage == {"cancel": {"": 2}, "status": {"": 3}}


def test_sentences_of_a_line_do_not_complain_of_each_other(tmp_path: Path):
    """They are nearly the same, and meant to be."""
    some = report(tmp_path, "(track|follow) [the|my] (delivery|parcel) [now|please]")

    assert not {"near-duplicate", "uniform-utterances", "duplicate-utterance"} & {p.rule for p in some.problems}


def test_two_lines_are_one_message(tmp_path: Path):
    """Although many sentences of the one are near many of the other."""
    some = report(tmp_path, "[please] (cancels|stops|ends) [my] (order|purchase) [now]")

    assert set(Counter(found(some)).values()) == {1}
    assert "11 near-conflict" in found(some)
    assert all(overlap.lines == 5 for overlap in some.overlaps)


@pytest.mark.parametrize(("groups", "count"), [(4, 0), (6, 0), (8, 1)])
def test_a_sampled_template_is_a_note(tmp_path: Path, groups, count):
    """With both numbers; the setting and comments of `lint` are for it as for any rule."""
    wide = " ".join(f"(a{n}|b{n})" for n in range(groups))

    notes = [problem for problem in report(tmp_path, "track it", wide).problems if problem.rule == "sampled-template"]

    assert len(notes) == count
    assert all((note.severity, note.location.line) == ("info", 5) for note in notes)
