"""Templates in evaluations: the sentences of a template are held out together and sampled."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from fakes import WordHashEncoder

from intentmatch import Matcher
from intentmatch.evaluation import evaluate
from intentmatch.evaluation.compare.diff import compare
from intentmatch.evaluation.curve import _thinned
from intentmatch.evaluation.run import held_out

SHOP = """
intents:
  cancel:
    utterances:
      - "[please] (cancel|stop|end) [my] (order|purchase) [now]"
      - nothing of this kind any more
      - take everything back
  status:
    utterances:
      - where is it
      - when does my parcel arrive
      - track the delivery of this thing
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(SHOP, encoding="utf-8")
    return tmp_path


def load(path: Path) -> Matcher:
    return Matcher.load(path, encoder=WordHashEncoder(), cache="off")


def test_template_sentences_are_not_matched_by_each_other(shop: Path):
    matcher = load(shop)

    part = held_out(matcher, folds=3)

    inside = [outcome for outcome in part.outcomes if outcome.case.expected is not None]
    expanded = [outcome for outcome in inside if outcome.case.location.line == 5]
    assert len(matcher.registry.utterances) == 48 + 5
    assert len(expanded) == 3
    assert len(inside) == 3 + 5
    assert not any(outcome.nearest and outcome.nearest.template for outcome in expanded)
    assert not any(outcome.right for outcome in expanded)


def test_progress_counts_only_evaluated_sentences(shop: Path):
    steps: list[tuple[int, int]] = []

    report = evaluate(load(shop), folds=3, curve=True, progress=lambda what, done, total: steps.append((done, total)))

    assert all(done <= total for done, total in steps)
    assert report.parts[0].not_asked == 0
    assert len(report.parts[0].outcomes) == 16


@pytest.mark.parametrize("part", [0.25, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("seed", range(4))
def test_learning_curve_keeps_or_drops_whole_templates(shop: Path, part, seed):
    registry = load(shop).registry
    order = np.random.default_rng(seed).permutation(len(registry.utterances)).tolist()

    kept = _thinned(registry, frozenset(), order, part)

    lines = [{registry.lines[row] for row in kept if registry.owners[row] == intent} for intent in (0, 1)]
    assert [len(kept_lines) for kept_lines in lines] == [math.ceil(part * 3)] * 2
    assert kept == {row for row, line in enumerate(registry.lines) if line in lines[0] | lines[1]}


def test_edited_template_is_held_out_as_a_whole_on_both_sides(shop: Path):
    old = load(shop)
    (shop / "shop.yaml").write_text(SHOP.replace("|end)", "|end|drop)"), encoding="utf-8")
    new = load(shop)

    found = compare(old, new, folds=3)

    (asked,) = found.asked
    for outcome in (*asked.old, *asked.new):
        if outcome.case.location.line == 5:
            assert outcome.nearest is None or outcome.nearest.template is None
    assert any(outcome.case.location.line == 5 for outcome in asked.new)
    assert [(row.intent, row.added, row.removed) for row in found.intents if row.added] == [("cancel", 1, 1)]


def test_expanded_template_is_held_out_as_a_whole(shop: Path):
    """One side has the sentences as lines and the other has the template."""
    old = load(shop)
    lines = "\n".join(f"      - {utterance.text}" for utterance in old.registry.utterances[:48])
    text = SHOP.replace('      - "[please] (cancel|stop|end) [my] (order|purchase) [now]"', lines)
    (shop / "shop.yaml").write_text(text, encoding="utf-8")

    (asked,) = compare(old, load(shop), folds=3).asked

    texts = {utterance.text for utterance in old.registry.utterances[:48]}
    for outcome in (*asked.old, *asked.new):
        assert outcome.case.text not in texts or outcome.nearest is None or outcome.nearest.text not in texts
