"""Lines that make answers wrong are left out, those that cannot be written too."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from intentmatch import Matcher
from intentmatch.authoring.growing import trial
from intentmatch.authoring.growing.line_filter import Proposal
from intentmatch.authoring.growing.tasks import Task
from intentmatch.authoring.growing.trial import edits_of, planned, tried
from intentmatch.core.types import Utterance

YAML = """\
language: en
intents:
  status:
    utterances: [where is my order, track my parcel, has it been shipped yet]
  cancel:
    utterances: [cancel my order, I do not want it any more, call off my purchase]
  copied: {utterances: &lines [say it again, repeat that]}
tests:
  - {text: kindly annul the purchase, intent: cancel}
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.yaml").write_text(YAML, encoding="utf-8")
    return tmp_path


def proposal(intent: str, text: str, refused: str | None = None, kind: Any = "paraphrase") -> Proposal:
    return Proposal(Task(kind, intent, "en", intent, None, ("x",)), text, 0.9, refused)


def test_edits_carry_a_comment(shop: Path) -> None:
    proposals = [
        proposal("cancel", "stop: my order", kind="translate"),
        proposal("cancel", "nonsense", "it is nonsense"),
        proposal("status", "'any' news"),
    ]

    found, changes = planned(shop, proposals, "tiny\n# lint: ignore")

    assert found == proposals
    assert "+      - 'stop: my order'  # grown: translate, tiny# lint: ignore\n" in changes.diff.replace('"', "'")
    assert "# grown: paraphrase, tiny" in changes.diff
    assert "nonsense" not in changes.diff
    assert len(edits_of(proposals, "tiny")) == 2
    assert [u.text for u in changes.registry["cancel"].utterances][-1] == "stop: my order"


def test_line_that_cannot_be_written_is_left_out(shop: Path) -> None:
    file = shop / "shop.yaml"
    file.write_text(YAML.replace("tests:", "  other: {utterances: *lines, when: [x]}\ntests:"), encoding="utf-8")

    found, changes = planned(shop, [proposal("copied", "once more"), proposal("cancel", "stop it")], "tiny")

    assert "cannot be edited automatically" in (found[0].refused or "")
    assert found[1].refused is None
    assert "stop it" in changes.diff
    assert "once more" not in changes.diff


def test_good_lines_are_kept_with_their_effect(shop: Path) -> None:
    matcher = Matcher.load(shop, cache="off")

    done = tried(matcher, shop, [proposal("cancel", "annul my purchase please")], "tiny", seconds=60.0)

    assert [one.refused for one in done.proposals] == [None]
    assert done.effect is not None
    assert done.effect.diff is not None
    assert not done.effect.diff.failed("worse")


def test_line_that_takes_a_test_of_another_intent_is_left_out(shop: Path) -> None:
    (shop / "shop.yaml").write_text(YAML.replace("annul the purchase", "call off the thing"), encoding="utf-8")
    matcher = Matcher.load(shop, cache="off", threshold=0.2)
    assert matcher.match("kindly call off the thing").intent == "cancel"

    done = tried(matcher, shop, [proposal("status", "kindly call off that thing")], "tiny", seconds=60.0)

    assert done.proposals[0].refused == "it makes more answers wrong than right"
    assert done.effect is None


def test_nothing_kept_needs_no_comparison(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "effect_of", lambda *_, **__: pytest.fail("compared"))
    done = tried(Matcher.load(shop, cache="off"), shop, [proposal("cancel", "x", "bad")], "tiny", seconds=9.0)

    assert (done.effect, len(done.proposals)) == (None, 1)


def effect(*changes: tuple[str, str, str, str], negative: bool = True) -> Any:
    """An effect with changes of (effect, expected, answer, nearest line)."""
    found = [
        SimpleNamespace(
            effect=kind,
            new=SimpleNamespace(leading=answer, nearest=Utterance(nearest), case=SimpleNamespace(expected=expected)),
        )
        for kind, expected, answer, nearest in changes
    ]
    return SimpleNamespace(diff=SimpleNamespace(changes=found, failed=lambda _: negative))


def test_lines_go_first_then_intents_then_all(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step is taken only if the effect measured before it is negative still."""
    effects = [
        effect(("worse", "status", "cancel", "stop it"), ("worse", "status", "cancel", "other line")),
        effect(("worse", "status", "cancel", "other line"), ("better", "copied", "copied", "again")),
        effect(("worse", "copied", "status", "x")),
    ]
    monkeypatch.setattr(trial, "effect_of", lambda *_, **__: effects.pop(0))
    proposals = [proposal("cancel", "stop it"), proposal("cancel", "end it"), proposal("greet", "hi")]
    proposals[2] = proposal("copied", "once again")

    done = tried(Matcher.load(shop, cache="off"), shop, proposals, "tiny", seconds=9.0)

    assert [one.refused for one in done.proposals] == [
        "it makes more answers wrong than right",
        "with the other lines of its intent it makes more answers wrong than right",
        "all lines together make more answers wrong than right",
    ]
    assert effects == []


def test_line_with_as_many_gains_as_losses_is_kept(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    effects = [
        effect(
            ("worse", "status", "cancel", "stop it"),
            ("worse", "status", "cancel", "end it"),
            ("better", "cancel", "cancel", "end it"),
        ),
        effect(negative=False),
    ]
    monkeypatch.setattr(trial, "effect_of", lambda *_, **__: effects.pop(0))
    proposals = [proposal("cancel", "stop it"), proposal("cancel", "end it")]

    done = tried(Matcher.load(shop, cache="off"), shop, proposals, "tiny", seconds=9.0)

    assert [one.refused is None for one in done.proposals] == [False, True]


def test_positive_effect_keeps_lines_of_an_intent_with_losses(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    positive = effect(("worse", "status", "cancel", "other line"), negative=False)
    monkeypatch.setattr(trial, "effect_of", lambda *_, **__: positive)

    done = tried(Matcher.load(shop, cache="off"), shop, [proposal("cancel", "end it")], "tiny", seconds=9.0)

    assert (done.proposals[0].refused, done.effect) == (None, positive)


def test_nothing_compared_in_time_refuses_nothing(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial, "effect_of", lambda *_, **__: SimpleNamespace(diff=None))

    done = tried(Matcher.load(shop, cache="off"), shop, [proposal("cancel", "end it")], "tiny", seconds=9.0)

    assert done.proposals[0].refused is None
