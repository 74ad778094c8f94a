"""Templates in `lint`: rules look at lines, and report a pair of lines once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.lint import LintReport, lint

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


def lint_bot(folder: Path, other: str, wide: str = WIDE) -> LintReport:
    (folder / "bot.yaml").write_text(BOT.replace("{wide}", wide).replace("{other}", other), encoding="utf-8")
    return lint(folder, encoder=WordHashEncoder(), cache="off")


def found(report: LintReport) -> list[str]:
    return [f"{problem.location.line} {problem.rule}" for problem in report.problems]


def test_lines_are_counted_and_not_sentences(tmp_path: Path):
    """Two lines are few, although one of them stands for many sentences; the coverage counts lines too."""
    report = lint_bot(tmp_path, "track the delivery")

    assert [problem.rule for problem in report.problems].count("few-utterances") == 1
    assert "'cancel' has 2 utterances; the median of this registry's intents is 2" in report.problems[0].message
    assert report.coverage == {"cancel": {"": 2}, "status": {"": 3}}


def test_sentences_of_one_line_are_not_duplicates(tmp_path: Path):
    report = lint_bot(tmp_path, "(track|follow) [the|my] (delivery|parcel) [now|please]")

    assert not {"near-duplicate", "uniform-utterances", "duplicate-utterance"} & {p.rule for p in report.problems}


def test_pair_of_lines_is_reported_once(tmp_path: Path):
    """Although many sentences of one line are near many of the other."""
    report = lint_bot(tmp_path, "[please] (cancels|stops|ends) [my] (order|purchase) [now]")

    assert set(Counter(found(report)).values()) == {1}
    assert "11 near-conflict" in found(report)
    assert all(overlap.lines == 5 for overlap in report.overlaps)


@pytest.mark.parametrize(("groups", "count"), [(4, 0), (6, 0), (8, 1)])
def test_sampled_template_is_a_note(tmp_path: Path, groups, count):
    wide = " ".join(f"(a{n}|b{n})" for n in range(groups))

    notes = [problem for problem in lint_bot(tmp_path, "track it", wide).problems if problem.rule == "sampled-template"]

    assert len(notes) == count
    assert all((note.severity, note.location.line) == ("info", 5) for note in notes)
