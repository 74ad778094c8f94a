"""Every public function refuses arguments of a wrong type with an error of the library."""

from __future__ import annotations

import asyncio
import inspect
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import intentmatch
from intentmatch import (
    Dialogue,
    Intent,
    IntentMatchError,
    Matcher,
    MemoryStore,
    Registry,
    Slot,
    Utterance,
    load_artefact,
    plan_utterances,
    read_registry,
    save_artefact,
)
from intentmatch.inbox import Inbox
from intentmatch.matching.snapshot import BaseMatcher

REGISTRY = Registry(
    (
        Intent("greeting", (Utterance("hello"), Utterance("good day"))),
        Intent("pizza", (Utterance("a pizza"), Utterance("order a pizza")), slots=(Slot("size", "any"),)),
    )
)
MATCHER = Matcher.load(REGISTRY, cache="off")
RESULT = MATCHER.match("hello")

VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 5), st.floats(), st.text(max_size=3), st.binary(max_size=2),
    st.sampled_from([object(), RESULT, REGISTRY, Path("nowhere"), (1, 2), {3}, bytearray(b"x")]),
    st.lists(st.one_of(st.integers(), st.text(max_size=2), st.none()), max_size=2),
    st.dictionaries(st.one_of(st.text(max_size=2), st.integers()), st.integers(), max_size=2),
)  # fmt: skip


def intent_with(**fields: Any) -> Matcher:
    return Matcher.load(Registry((Intent(**fields),)), cache="off")


def registry_with(**fields: Any) -> Matcher:
    return Matcher.load(Registry(**fields), cache="off")


def match_each_with(**options: Any) -> None:
    (answer,) = MATCHER.match_each([("hello", options)])
    if isinstance(answer, Exception):
        raise answer


def calls(folder: Path) -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return every public function, with valid arguments."""
    file = folder / "bot.yaml"
    file.write_text("intents:\n  greeting:\n    utterances: [hello, good day]\n", encoding="utf-8")
    dialogue = Dialogue(MATCHER)
    return {
        "match": (MATCHER.match, {"message": "hello"}),
        "match_many": (MATCHER.match_many, {"messages": ["hello"]}),
        "match_each": (MATCHER.match_each, {"asked": [("hello", {})]}),
        "match_each options": (match_each_with, {"language": None, "top_k": None, "allowed": None, "now": None}),
        "amatch": (MATCHER.amatch, {"message": "hello"}),
        "fill": (MATCHER.fill, {"message": "large", "intent": "pizza"}),
        "word_matches": (MATCHER.word_matches, {"result": RESULT}),
        "explain": (MATCHER.explain, {"result": RESULT}),
        "load": (Matcher.load, {"path": file, "cache": "off", "top_k": 3, "threshold": 0.4, "fuzzy": 0.9}),
        "Dialogue": (Dialogue, {"matcher": MATCHER}),
        "take": (dialogue.take, {"message": "hello", "conversation": "1"}),
        "atake": (dialogue.atake, {"message": "hello", "conversation": "1"}),
        "forget": (dialogue.forget, {"conversation": "1"}),
        "MemoryStore": (MemoryStore, {}),
        "read_registry": (read_registry, {"path": file}),
        "load_artefact": (load_artefact, {"path": file}),
        "save_artefact": (save_artefact, {"artefact": MATCHER.artefact, "path": folder / "saved"}),
        "plan_utterances": (plan_utterances, {"path": file, "intent": "greeting", "utterances": ["hi"]}),
        "Inbox": (Inbox, {"path": folder / "inbox"}),
        "Intent": (intent_with, {"name": "a", "utterances": (Utterance("b"),), "titles": {}, "when": (), "slots": ()}),
        "Registry": (registry_with, {"intents": REGISTRY.intents, "settings": {}, "tests": (), "rules": ()}),
    }


CASES = calls(Path(tempfile.mkdtemp()))


def parameters(function: Callable[..., Any], valid: dict[str, Any]) -> list[str]:
    named = [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_KEYWORD]
    return sorted({*named, *valid})


@pytest.mark.parametrize("name", CASES)
@settings(deadline=None, max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_wrong_arguments_raise_errors_of_the_library(
    name: str, data: st.DataObject, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    function, valid = CASES[name]
    wrong = data.draw(st.sampled_from(parameters(function, valid)), label="argument")
    value = data.draw(VALUES, label="value")
    try:
        result = function(**{**valid, wrong: value})
        if inspect.isawaitable(result):
            asyncio.run(result)  # type: ignore[arg-type]
    except IntentMatchError:
        pass


NAMES = {"too long": "x" * 300, "NUL": "a\0b", "surrogate": "\ud800", "circle": "circle"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("use", [
    Matcher.load,
    MATCHER.trial,
    read_registry,
    load_artefact,
    lambda path: load_artefact("bot.intentmatch", public_key=path),
    lambda path: save_artefact(MATCHER.artefact, f"{path}/bot.intentmatch"),
    lambda path: save_artefact(MATCHER.artefact, "bot.intentmatch", key=path),
    lambda path: Matcher.load(REGISTRY, encoder=f"static:{path}"),
    lambda path: Matcher.load(REGISTRY, encoder=f"onnx:{path}"),
    lambda path: Matcher.load(REGISTRY, encoder=f"sentence_transformer:./{path}"),
    lambda path: Matcher.load(REGISTRY, reranker=f"onnx:{path}"),
])  # fmt: skip
def test_names_that_no_file_can_have_raise_errors_of_the_library(
    use: Callable[[str], object], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("circle").symlink_to("circle")
    with pytest.raises(IntentMatchError):
        use(NAMES[name])


@pytest.mark.parametrize("name", [*NAMES, "~no-such-user/x"])
@pytest.mark.parametrize("setting", ["encoder: 'static:{}'", "reranker: 'onnx:{}'", "cache: '{}'", "inbox: '{}'"])
def test_names_in_yaml_that_no_file_can_have_raise_errors_of_the_library(
    setting: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cache and an inbox that cannot be used cost a warning."""
    monkeypatch.chdir(tmp_path)
    Path("circle").symlink_to("circle")
    text = (
        setting.format(NAMES.get(name, name).encode("unicode_escape").decode())
        .replace("'", '"')
        .replace("\\x00", "\\0")
    )
    text = f"settings:\n  {text}\nintents:\n  greeting:\n    utterances: [hello]\n"
    Path("bot.yaml").write_text(text, encoding="utf-8")
    with suppress(IntentMatchError):
        Matcher.load("bot.yaml", confine=True)


def test_public_functions_are_all_tested() -> None:
    """Types that only the library makes need no test, nor do the dataclasses inside `Intent` and `Registry`."""
    made_by_the_library = {
        "Artefact", "Candidate", "Choice", "Entity", "Location", "MatchResult", "Missing", "Problem", "Trait",
        "Turn", "WordMatch",
    }  # fmt: skip
    checked_inside = {"Phrases", "Rule", "Settings", "Slot", "SlotValue", "TraitQuestion", "Utterance", "Matcher"}
    protocols = {"Encoder", "Reranker", "Store"}
    errors = {name for name in intentmatch.__all__ if name.endswith("Error")}

    assert {*intentmatch.__all__} - made_by_the_library - checked_inside - protocols - errors <= {*CASES}
    public = {
        name for name in vars(BaseMatcher) if not name.startswith("_") and inspect.isfunction(vars(BaseMatcher)[name])
    }
    assert public - {"snapshot"} <= {*CASES}
