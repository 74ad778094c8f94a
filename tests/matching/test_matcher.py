"""Loading, reloading, threads."""

from __future__ import annotations

import asyncio
import threading
from datetime import datetime
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import (
    ArtefactError,
    InputError,
    MissingExtraError,
    RegistryError,
    SettingsError,
    UnknownNameError,
)
from intentmatch.core.types import Intent, Registry, Slot, Utterance
from intentmatch.matching.matcher import Matcher


def write(folder: Path, **intents: list[str]) -> Path:
    """A registry on disk: intent name to its utterances."""
    lines = ["intents:"]
    for name, utterances in intents.items():
        lines += [f"  {name}:", "    utterances:", *(f"      - {line}" for line in utterances)]
    (folder / "bot.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_loads_a_folder_a_file_and_a_registry(tmp_path: Path) -> None:
    """The three ways to name intents give the same answers."""
    write(tmp_path, greet=["hello there"], leave=["goodbye then"])
    in_code = Registry((Intent("greet", (Utterance("hello there"),)), Intent("leave", (Utterance("goodbye then"),))))

    sources = (tmp_path, str(tmp_path / "bot.yaml"), in_code)
    answers = [Matcher.load(source, encoder=WordHashEncoder()).match("hello you there") for source in sources]

    assert {(a.verdict, a.intent, round(a.score, 6)) for a in answers} == {
        ("matched", "greet", round(answers[0].score, 6))
    }


def test_settings_win_in_their_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument beats the environment, that beats the YAML, and each says where it came from."""
    write(tmp_path, greet=["hello there"])
    (tmp_path / "settings.yaml").write_text("settings:\n  threshold: 0.3\n  margin: 0.2\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_THRESHOLD", "0.4")

    settings = Matcher.load(tmp_path, encoder=WordHashEncoder(), top_k=2).settings

    assert (settings.threshold, settings.origin("threshold")) == ({"default": 0.4}, "environment INTENTMATCH_THRESHOLD")
    assert (settings.margin, settings.origin("margin")) == (0.2, f"{tmp_path / 'settings.yaml'}:3")
    assert (settings.top_k, settings.origin("top_k")) == (2, "argument")
    assert (settings.encoder, settings.origin("aggregation")) == (WordHashEncoder().name, "default")


def test_what_is_wrong_is_said_by_its_kind(tmp_path: Path) -> None:
    """Bad YAML, a bad setting, an unknown encoder, a file that is no artefact: each raises its own error."""
    write(tmp_path, greet=["hello there"])
    (tmp_path / "other.bin").write_bytes(b"\0" * 100)

    with pytest.raises(RegistryError, match="not-found"):
        Matcher.load(tmp_path / "missing")
    with pytest.raises(SettingsError, match="threshold"):
        Matcher.load(tmp_path, threshold=7)
    with pytest.raises(SettingsError, match="did you mean 'threshold'"):
        Matcher.load(tmp_path, treshold=0.7)
    with pytest.raises(UnknownNameError, match="known are onnx, remote, sentence_transformer, static"):
        Matcher.load(tmp_path, encoder="word2vec")
    with pytest.raises(ArtefactError, match="not an artefact"):
        Matcher.load(tmp_path / "other.bin")


def test_reload_takes_over_an_edit(tmp_path: Path) -> None:
    """After a reload the new utterance answers, and only it was encoded."""
    encoder = WordHashEncoder()
    matcher = Matcher.load(write(tmp_path, greet=["hello there"], leave=["goodbye then"]), encoder=encoder)
    encoder.encoded.clear()
    write(tmp_path, greet=["hello there"], leave=["goodbye then", "see you soon"])

    matcher.reload()

    assert set(encoder.encoded) <= {"see you soon", "hello there"}
    assert matcher.match("see you soon").intent == "leave"


def test_a_failed_reload_changes_nothing(tmp_path: Path) -> None:
    """Broken files are reported with their places, and the old registry goes on answering."""
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]), encoder=WordHashEncoder())
    before = matcher.artefact
    (tmp_path / "bot.yaml").write_text("intents:\n  greet:\n    uterances: [hi]\n", encoding="utf-8")

    with pytest.raises(RegistryError, match="unknown-key"):
        matcher.reload()

    assert matcher.artefact is before
    assert matcher.match("hello there").intent == "greet"


def test_reload_keeps_the_loaded_encoder(tmp_path: Path) -> None:
    """Reading the YAML again does not load the model again."""
    matcher = Matcher.load(write(tmp_path, greet=["hello there"]))
    encoder = matcher.encoder

    matcher.reload()

    assert matcher.encoder is encoder


def test_sixteen_threads_match_while_the_registry_is_swapped(tmp_path: Path) -> None:
    """No error and no mixed state: an intent only ever comes with an utterance of the same registry."""
    generations = [write_generation(tmp_path / str(number), number) for number in range(2)]
    live = tmp_path / "live"
    live.mkdir()
    (live / "bot.yaml").write_bytes((generations[0] / "bot.yaml").read_bytes())
    matcher = Matcher.load(live, encoder=WordHashEncoder(), threshold=0.1, cache="off")
    stop = threading.Event()
    wrong: list[str] = []
    seen: set[str] = set()

    def ask() -> None:
        while not stop.is_set():
            try:
                for result in (matcher.match("line of topic 3"), *matcher.match_many(["a line of topic 5", "words"])):
                    generation = {c.intent.split("_")[0] for c in result.candidates}
                    lines = {c.utterance.text.split()[-1] for c in result.candidates if c.utterance}
                    seen.update(generation)
                    if len(generation) > 1 or lines != generation:
                        wrong.append(f"{generation} {lines}")
            except Exception as error:  # noqa: BLE001 - any error at all is what this test looks for
                wrong.append(repr(error))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    # By their number and not by the clock: a busy machine may need a second for each.
    for swap in range(1, 7):
        replacement = live / ".next"
        replacement.write_bytes((generations[swap % 2] / "bot.yaml").read_bytes())
        replacement.replace(live / "bot.yaml")
        matcher.reload()
    stop.set()
    for thread in threads:
        thread.join()

    assert wrong == []
    assert seen == {"old", "new"}


def write_generation(folder: Path, number: int) -> Path:
    folder.mkdir()
    name = ("old", "new")[number]
    return write(folder, **{f"{name}_{n}": [f"line of topic {n} {name}", f"topic {n} it is {name}"] for n in range(8)})


def test_an_async_caller_is_not_held_up(tmp_path: Path) -> None:
    """While a slow encoder works, the event loop goes on."""
    go_on = threading.Event()

    class Slow(WordHashEncoder):
        def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
            assert kind == "utterance" or go_on.wait(10)
            return super().encode(texts, kind=kind)

    matcher = Matcher.load(write(tmp_path, greet=["hello there"]), encoder=Slow())

    async def main() -> str | None:
        task = asyncio.create_task(matcher.amatch("hello over there"))
        await asyncio.sleep(0.01)
        assert not task.done()
        go_on.set()
        return (await task).candidates[0].intent

    assert asyncio.run(main()) == "greet"


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A registry that asks for a transformer on a light install says what to install."""
    write(tmp_path, greet=["hello there"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[torch\]"'):
        Matcher.load(tmp_path, encoder="sentence_transformer:all-MiniLM-L6-v2")


def test_uncovered_languages_are_not_silent(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """They are logged when the registry is taken into use, and stand among the matcher's problems with its rules'."""
    encoder = WordHashEncoder()
    encoder.languages = frozenset({"en"})  # type: ignore[attr-defined]
    (tmp_path / "bot.yaml").write_text(
        "intents:\n  a:\n    utterances:\n      en: [hello, Hello!]\n      xh: [molo]\n", encoding="utf-8"
    )

    matcher = Matcher.load(tmp_path, encoder=encoder)

    assert [(p.rule, p.location.line) for p in matcher.problems] == [
        ("duplicate-utterance", 4), ("language-not-covered", 5),
    ]  # fmt: skip
    assert ["fake was not trained on xh" in message for message in caplog.messages] == [True]
    matcher.reload()
    assert len(caplog.messages) == 2


BOOK = Intent(
    "book",
    (Utterance("book a table", "en"), Utterance("einen Tisch reservieren", "de")),
    slots=(Slot("day", "date", required=True), Slot("guests", "number"), Slot("wish", "any")),
)
TABLES = Registry((BOOK, Intent("greet", (Utterance("hello", "en"),))))


def test_the_answer_to_a_question_fills_a_slot() -> None:
    """In the language of the call or the one that it reads like, from the caller's day."""
    bot = Matcher.load(TABLES, encoder=WordHashEncoder())
    now = datetime(2026, 11, 21)

    def fill(message: str, slots: list[str] | None = None, **more: object) -> list[tuple[str, object]]:
        return [(e.slot, e.value) for e in bot.fill(message, "book", slots, now=now, **more)]  # type: ignore[arg-type]

    assert fill("tomorrow", ["day"], language="en") == [("day", "2026-11-22")]
    assert fill("reservieren morgen", ["day"]) == [("day", "2026-11-22")]
    assert fill("four", ["guests"], language="EN_us") == [("guests", 4)]
    assert fill(" by the window, please! ", ["wish"]) == [("wish", "by the window, please")]
    assert fill("four of us on 2026-12-01", ["day", "guests"], language="en") == [("guests", 4), ("day", "2026-12-01")]
    assert fill("", ["day"]) == fill("?!", None) == []
    assert bot.fill("hello", "greet") == ()


def test_a_match_counts_days_from_the_callers_time() -> None:
    """Alone, in a batch and in another thread."""
    bot = Matcher.load(TABLES, encoder=WordHashEncoder(), threshold=0.1)
    message, now = "book a table tomorrow", datetime(2026, 12, 31)

    results = [
        bot.match(message, language="en", now=now),
        bot.match_many([message], language="en", now=now)[0],
        asyncio.run(bot.amatch(message, language="en", now=now)),
    ]

    assert [result.entities[0].value for result in results] == ["2027-01-01"] * 3


def test_what_cannot_be_filled_is_an_input_error() -> None:
    """No text, no such intent, no such slot, no language, no time."""
    bot = Matcher.load(TABLES, encoder=WordHashEncoder())

    with pytest.raises(UnknownNameError, match=r"unknown intent 'bok'.*Did you mean 'book'"):
        bot.fill("x", "bok")
    with pytest.raises(UnknownNameError, match="unknown slot 'dya': known are day, guests, wish"):
        bot.fill("x", "book", ["dya"])
    with pytest.raises(UnknownNameError, match="unknown slot 'day': known are none"):
        bot.fill("x", "greet", ["day"])
    with pytest.raises(InputError, match="a message must be text"):
        bot.fill(5, "book")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not a language code"):
        bot.fill("x", "book", language="english")
    with pytest.raises(InputError, match="now must be a datetime, not str"):
        bot.match("x", now="2026-11-21")  # type: ignore[arg-type]


def test_slots_that_cannot_be_read_are_told_at_load_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken pattern, and a kind whose package is not installed."""
    broken = Intent("broken", (Utterance("hi"),), slots=(Slot("code", "pattern", patterns=("(",)),))

    with pytest.raises(RegistryError, match=r"regular expression of slot .code. cannot be read: missing \)"):
        Matcher.load(Registry((broken,)), encoder=WordHashEncoder())
    monkeypatch.setattr("intentmatch.core.plugins.installed", lambda module: module != "dateparser")
    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[dates\]"'):
        Matcher.load(TABLES, encoder=WordHashEncoder())
