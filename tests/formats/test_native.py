"""Tests for writing intentmatch YAML."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from contracts.format import FEATURES, NAMES, TEXTS, bare
from hypothesis import given
from hypothesis import strategies as st

from intentmatch import formats
from intentmatch.core.errors import Location
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.kit.draft import Draft, Label
from intentmatch.formats.kit.repair import repair
from intentmatch.formats.native import write
from intentmatch.registry import examine, read_registry
from intentmatch.text.normalize import fold

HERE = Location("here")
LANGUAGES = st.sampled_from([None, "en", "de", "pt-BR"])
ODD = st.text() | st.text(st.sampled_from("{}[]()<>|\\=:#-'\"%@`!&*?,. \n\taé你א😀")) | st.sampled_from(TEXTS)
WORDS = ODD.map(str.strip).filter(fold)
NAME = st.sampled_from(["a", "b_1", "größe", "x.y-z"])
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(-1e9, 1e9).filter(lambda n: not 0 < abs(n) < 1e-9)
    | ODD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def registries(draw: st.DrawFn) -> Registry:
    """Draw a registry that a draft can build, with languages grouped as a mapping groups them."""
    draft = Draft()
    for name in draw(st.lists(st.sampled_from(NAMES), unique=True, max_size=3)):
        intent = draft.intent(name, HERE)
        intent.title, intent.description = draw(st.none() | WORDS), draw(st.none() | WORDS)
        intent.threshold = draw(st.none() | st.floats(0, 1) | st.integers(0, 100).map("{}%".format))
        intent.metadata = draw(st.dictionaries(WORDS, JSON, max_size=2))
        intent.when = draw(st.lists(WORDS, max_size=2, unique=True))
        languages = draw(st.lists(st.sampled_from(["en", "de", "pt-BR"]), unique=True)) or [None]
        for language in languages:
            for text in draw(st.lists(WORDS, min_size=1, max_size=3)):
                labels = [Label(draw(NAME), 0, draw(st.integers(1, len(text))))] if draw(st.booleans()) else []
                intent.say(text, HERE, language, labels)
            for text in draw(st.lists(WORDS, max_size=2)):
                intent.deny(text, HERE, language)
            if draw(st.booleans()):
                intent.respond(draw(WORDS), HERE, language)
        if draw(st.booleans()):
            slot = intent.slot(draw(NAME), HERE)
            slot.required, slot.questions = True, {draw(st.sampled_from(["", "en"])): draw(WORDS)}
    for name in draw(st.lists(NAME, unique=True, max_size=2)):
        slot = draft.slot(name, HERE)
        language = draw(LANGUAGES)
        for value in draw(st.lists(WORDS, max_size=3, unique_by=fold)):
            slot.add(value, draw(st.lists(WORDS, max_size=2)), language)
        slot.kind = draw(st.sampled_from([None, "number", "any"])) if not slot.values else None
    for text in draw(st.lists(WORDS, max_size=2)):
        draft.test(text, draw(st.sampled_from([None, *draft.intents])), HERE, draw(LANGUAGES))
    return draft.registry()


def written(registry: Registry, folder: Path) -> Registry:
    """Write a registry and read it back."""
    for file in folder.iterdir():
        file.unlink()
    formats.write(registry, "intentmatch", folder)
    return read_registry(folder, expand=False)


def by_name(registry: Registry) -> Registry:
    """Sort the slots of each intent by name, because a skipped utterance changes their order."""
    intents = (replace(i, slots=tuple(sorted(i.slots, key=lambda slot: slot.name))) for i in registry)
    return replace(registry, intents=tuple(intents))


@given(registry=registries())
def test_registry_round_trips_except_for_locations(
    tmp_path_factory: pytest.TempPathFactory, registry: Registry
) -> None:
    expected, _ = repair(registry)
    folder = tmp_path_factory.getbasetemp() / "law"
    folder.mkdir(exist_ok=True)
    if not expected.intents:
        return

    assert by_name(bare(written(registry, folder))) == by_name(bare(expected))


@pytest.mark.parametrize("feature", FEATURES)
def test_every_feature_round_trips_without_loss(feature: str, tmp_path: Path) -> None:
    registry = FEATURES[feature]
    problems = formats.write(registry, "intentmatch", tmp_path)

    assert problems == []
    assert bare(read_registry(tmp_path, expand=False)) == registry


def test_shipped_intents_round_trip(tmp_path: Path) -> None:
    intents = Path(__file__).parents[2] / "intents"
    registry, problems = examine(intents, expand=False)
    formats.write(registry, "intentmatch", tmp_path)
    found, reread_problems = examine(tmp_path, expand=False)

    assert {intent.name: intent for intent in bare(found)} == {intent.name: intent for intent in bare(registry)}
    assert len(reread_problems) == len(problems)
    assert "account.yaml" in [file.name for file in tmp_path.iterdir()]


def test_yaml_layout() -> None:
    """Quotes only where needed, short lists on one line, the language once."""
    city = Slot(
        "city",
        "list",
        (SlotValue("Berlin"), SlotValue("New York", (Utterance("NYC"), Utterance("big apple")))),
    )
    order = Slot("order", "pattern", patterns=(r"\d{5}",))
    to_berlin = Utterance("to Berlin", "en", None, "to {city=Berlin}", (Mark("city", 3, 9),))
    registry = Registry(
        (
            Intent(
                "fly", (to_berlin, Utterance("no", "en")), slots=(replace(city, required=True),), title="Fly: where?"
            ),
            Intent("yes", (Utterance("yes", "en"), Utterance("12:30", "en")), metadata={"n": 1, "text": "1"}),
        ),
        slots=(city, order),
    )

    assert write(registry, []) == {
        "intents.yaml": """\
version: 1
language: en

slots:
  city:
    values:
      Berlin:
      New York: [NYC, big apple]
  order:
    pattern:
      - \\d{5}

intents:
  fly:
    title: 'Fly: where?'
    slots:
      city:
        required: true
    utterances:
      - to {city=Berlin}
      - no

  yes:
    utterances:
      - yes
      - 12:30
    metadata:
      n: 1
      text: "1"
"""
    }


def test_many_intents_are_split_by_prefix() -> None:
    names = [f"{group}_{n}" for group in ("order", "Account", "faq/x") for n in range(11)] + ["alone"]
    registry = Registry(
        tuple(Intent(name, (Utterance(f"say {name}"),)) for name in names), slots=(Slot("x", "number"),)
    )

    assert list(write(registry, [])) == ["_shared.yaml", "order.yaml", "account.yaml", "faq.yaml", "intents.yaml"]


def test_utterances_without_language_get_a_separate_file_if_mixed(tmp_path: Path) -> None:
    lines = (Utterance("hello"), Utterance("hallo", "de"))
    registry = Registry(
        (Intent("greet", lines, responses={"": "Hi", "de": "Na"}), Intent("leave", (Utterance("bye"),)))
    )
    found = written(registry, tmp_path)

    assert sorted(file.name for file in tmp_path.iterdir()) == ["intents.yaml", "without_language.yaml"]
    assert {(u.text, u.language) for u in found["greet"].utterances} == {("hello", None), ("hallo", "de")}
    assert found["greet"].responses == {"": "Hi", "de": "Na"}


def test_mixed_slot_text_with_and_without_language_is_reported() -> None:
    """Synonyms are repeated for all languages; a question without a language is lost."""
    synonyms = (Utterance("NYC"), Utterance("Neu York", "de"))
    slot = Slot("city", "list", (SlotValue("New York", synonyms),), questions={"": "Where?", "de": "Wohin?"})
    problems = []
    (text,) = write(Registry((Intent("a", (Utterance("hi", "de"),)),), slots=(slot,)), problems).values()

    assert "New York:\n        de: [NYC, Neu York]" in text
    assert [problem.message for problem in problems] == [
        "this format cannot express synonyms or examples of the slot 'city' without a language beside others with one",
        "this format cannot express “Where?”, a text without a language beside others with one",
    ]
