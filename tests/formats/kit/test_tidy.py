"""Tests for what an import leaves out so that lint has nothing to say about the import itself."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from intentmatch import formats
from intentmatch.cli.commands import cli
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Mark, Registry, Rule, Slot, SlotValue, Utterance
from intentmatch.formats.kit.tidy import tidy, unused_slots, with_unused_slots_ignored


def template(text: str) -> Utterance:
    return Utterance(text, None, None, text)


def lint(path: Path) -> list[str]:
    """The rules of the findings."""
    done = CliRunner().invoke(cli, ["lint", str(path), "--format", "json", "--fail-on", "never"])
    return [problem["rule"] for problem in json.loads(done.stdout)["problems"]]


CITY = Slot("city", "list", (SlotValue("Rome"), SlotValue("Oslo")))
MARKED = Utterance("to Rome", None, Location("a", 3), "to {city=Rome}", (Mark("city", 3, 7),))


def test_repeated_utterances_are_imported_once() -> None:
    """In each language; the wording of the first counts, and the place of both is reported."""
    lines = (
        Utterance("Hello!", "en", Location("a", 1)),
        Utterance("hello", "en", Location("a", 2)),
        Utterance("hello", "de", Location("a", 3)),
        Utterance("?!"),
        Utterance("..."),
        template("go [now]"),
        template("go [now]"),
        template("go"),
    )
    found, problems = tidy(Registry((Intent("greet", lines), Intent("other", (Utterance("hello", "en"),)))))

    assert [line.text for line in found["greet"].utterances] == ["Hello!", "hello", "?!", "...", "go [now]", "go"]
    assert len(found["other"].utterances) == 1
    assert [(p.rule, p.severity) for p in problems] == [("duplicate-utterance", "info")] * 2
    assert "“hello” is already at a:1; it is imported once" in [p.message for p in problems]


def test_marked_one_of_equal_utterances_is_kept() -> None:
    lines = (Utterance("to rome", None, Location("a", 1)), Utterance("home"), MARKED)
    found, problems = tidy(Registry((Intent("go", lines, slots=(CITY,)),), slots=(CITY,)))

    assert [line.template for line in found["go"].utterances] == ["to {city=Rome}", None]
    assert found.slots == (CITY,)
    assert [problem.location for problem in problems] == [Location("a", 3)]


def test_slot_goes_with_its_last_utterance() -> None:
    """Two labels of the same words: the slot of the second one is no longer used by the intent."""
    place = Slot("place", "list", (SlotValue("Rome"),))
    second = Utterance("to Rome", None, Location("a", 4), "to {place=Rome}", (Mark("place", 3, 7),))
    found, _ = tidy(Registry((Intent("go", (MARKED, second), slots=(CITY, place)),), slots=(CITY, place)))

    assert found["go"].slots == (CITY,)
    assert [problem.message for problem in unused_slots(found)] == ["no intent uses the slot 'place'"]


def test_unused_rules_are_left_out() -> None:
    """A rule may be used through another one."""
    rules = (Rule("polite", {"": "<please> do"}), Rule("please", {"": "please"}), Rule("loud", {"": "<louder>"}))
    found, problems = tidy(Registry((Intent("go", (template("<polite> go <gone>"),)),), rules=rules))

    assert [rule.name for rule in found.rules] == ["polite", "please"]
    assert [p.message for p in problems] == ["the rule 'loud' is not imported, because no utterance uses it"]


def test_unused_slots_get_a_comment_for_lint(tmp_path: Path) -> None:
    """In the slots alone, even if an intent has the same name."""
    listed = Slot("day", "date")
    intents = (Intent("city", (Utterance("hi"),), slots=(listed,)), Intent("go", (Utterance("go"),)))
    registry = Registry(intents, slots=(CITY, listed, Slot("x", "any")))
    files = with_unused_slots_ignored(formats.render(registry, "intentmatch")[0], registry)
    formats.put(files, tmp_path / "bot.yaml")

    text = (tmp_path / "bot.yaml").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if "#" in line] == [
        "  city:  # lint: ignore unused-slot",
        "  x:  # lint: ignore unused-slot",
    ]
    assert not {"unused-slot", "bad-suppression"} & set(lint(tmp_path / "bot.yaml"))


def test_tidy_registry_is_unchanged() -> None:
    registry = Registry((Intent("go", (MARKED,), slots=(CITY,)),), slots=(CITY,))

    assert tidy(registry) == (registry, [])


def test_import_of_a_rasa_bot_leaves_no_warning(tmp_path: Path) -> None:
    """Repetitions, lookup tables without an annotation, and a value that is also a synonym are usual in Rasa's bots."""
    nlu = """\
nlu:
- intent: go
  examples: |
    - to [NYC](city)
    - to [NYC](city:New York)
    - from [NYC](city:New York)
    - home
    - Home!
    - bring me home
- lookup: airline
  examples: |
    - Lufthansa
"""
    (tmp_path / "nlu.yml").write_text(nlu, encoding="utf-8")
    done = CliRunner().invoke(cli, ["import", str(tmp_path / "nlu.yml"), "-o", str(tmp_path / "bot")])

    assert done.exit_code == 0
    assert done.stdout.count("[duplicate-utterance]") == 2
    assert "no intent uses the slot 'airline'" in done.stdout
    assert "Lufthansa" in (tmp_path / "bot" / "intents.yaml").read_text(encoding="utf-8")
    assert set(lint(tmp_path / "bot")) <= {"near-duplicate", "few-utterances"}
