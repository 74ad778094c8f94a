"""The matcher: threads, async calls, and filling slots."""

from __future__ import annotations

import asyncio
import copy
import gc
import multiprocessing
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from datetime import datetime
from pathlib import Path

import pytest
from fakes import WordHashEncoder

from intentmatch.core.errors import (
    InputError,
    UnknownNameError,
)
from intentmatch.core.types import Intent, Registry, Slot, SlotValue, Utterance
from intentmatch.matching.matcher import Matcher


def write(folder: Path, **intents: list[str]) -> Path:
    """Write a registry from intent names and their utterances, and return the folder."""
    lines = ["intents:"]
    for name, utterances in intents.items():
        lines += [f"  {name}:", "    utterances:", *(f"      - {line}" for line in utterances)]
    (folder / "bot.yaml").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_each_match_sees_one_registry_during_reloads(tmp_path: Path) -> None:
    """Intents and utterances of a result are of the same registry."""
    generations = [write_generation(tmp_path / str(number), number) for number in range(2)]
    live = tmp_path / "live"
    live.mkdir()
    (live / "bot.yaml").write_bytes((generations[0] / "bot.yaml").read_bytes())
    matcher = Matcher.load(live, encoder=WordHashEncoder(), threshold=0.1, cache="off")
    stop = threading.Event()
    errors: list[str] = []
    seen: set[str] = set()

    def ask() -> None:
        while not stop.is_set():
            try:
                for result in (matcher.match("line of topic 3"), *matcher.match_many(["a line of topic 5", "words"])):
                    generation = {c.intent.split("_")[0] for c in result.candidates}
                    lines = {c.utterance.text.split()[-1] for c in result.candidates if c.utterance}
                    seen.update(generation)
                    if len(generation) > 1 or lines != generation:
                        errors.append(f"{generation} {lines}")
            except Exception as error:  # noqa: BLE001 - the test fails on any error
                errors.append(repr(error))

    threads = [threading.Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    # A number of swaps, not a time: a busy machine may need a second for each.
    for swap in range(1, 7):
        replacement = live / ".next"
        replacement.write_bytes((generations[swap % 2] / "bot.yaml").read_bytes())
        replacement.replace(live / "bot.yaml")
        matcher.reload()
    stop.set()
    for thread in threads:
        thread.join()

    assert errors == []
    assert seen == {"old", "new"}


def write_generation(folder: Path, number: int) -> Path:
    folder.mkdir()
    name = ("old", "new")[number]
    return write(folder, **{f"{name}_{n}": [f"line of topic {n} {name}", f"topic {n} it is {name}"] for n in range(8)})


def test_amatch_does_not_block_the_event_loop(tmp_path: Path) -> None:
    go_on = threading.Event()

    class Slow(WordHashEncoder):
        def encode(self, texts, *, kind="utterance"):  # type: ignore[no-untyped-def]
            assert kind == "utterance" or go_on.wait(60)
            return super().encode(texts, kind=kind)

    matcher = Matcher.load(write(tmp_path, greet=["hello there"]), encoder=Slow())

    async def main() -> str | None:
        task = asyncio.create_task(matcher.amatch("hello over there"))
        await asyncio.sleep(0.01)
        assert not task.done()
        go_on.set()
        return (await task).candidates[0].intent

    assert asyncio.run(main()) == "greet"


BOOK = Intent(
    "book",
    (Utterance("book a table", "en"), Utterance("einen Tisch reservieren", "de")),
    slots=(Slot("day", "date", required=True), Slot("guests", "number"), Slot("wish", "any")),
)
TABLES = Registry((BOOK, Intent("greet", (Utterance("hello", "en"),))))


def test_fill_reads_slots_from_an_answer() -> None:
    """In the given or guessed language, from the caller's day."""
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


def test_match_counts_days_from_now_argument() -> None:
    """Alone, in a batch and async."""
    bot = Matcher.load(TABLES, encoder=WordHashEncoder(), threshold=0.1)
    message, now = "book a table tomorrow", datetime(2026, 12, 31)

    results = [
        bot.match(message, language="en", now=now),
        bot.match_many([message], language="en", now=now)[0],
        asyncio.run(bot.amatch(message, language="en", now=now)),
    ]

    assert [result.entities[0].value for result in results] == ["2027-01-01"] * 3


def test_fill_raises_input_error_for_invalid_arguments() -> None:
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


def intent_of(matcher: Matcher, message: str) -> str | None:
    return matcher.match(message).intent


def test_pickled_matcher_answers_in_another_process(tmp_path: Path) -> None:
    """A pickled matcher loads its files again, with the same settings."""
    write(tmp_path, hello=["hello there", "good day"], pizza=["a pizza please", "order a pizza"])
    matcher = Matcher.load(tmp_path, cache="off", top_k=1)

    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert pool.submit(intent_of, matcher, "a pizza please").result() == "pizza"
    assert len(pickle.loads(pickle.dumps(matcher)).match("hello there").candidates) == 1


def test_pickled_matcher_of_a_registry_made_in_code_keeps_the_registry() -> None:
    registry = Registry((Intent("a", (Utterance("one thing"),)), Intent("b", (Utterance("other things"),))))
    matcher = Matcher.load(registry, cache="off")

    assert pickle.loads(pickle.dumps(matcher)).fingerprint == matcher.fingerprint


def test_matcher_with_ready_made_encoder_says_why_it_cannot_be_pickled(tmp_path: Path) -> None:
    matcher = Matcher.load(write(tmp_path, hello=["hello there"]), encoder=WordHashEncoder(), cache="off")

    with pytest.raises(pickle.PicklingError, match=r"call Matcher\.load in each process"):
        pickle.dumps(matcher)
    with pytest.raises(pickle.PicklingError, match="save_artefact"):
        pickle.dumps(matcher.snapshot())


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copied_matcher_reloads_by_itself(tmp_path: Path, copied: Callable[[Matcher], Matcher]) -> None:
    write(tmp_path, hello=["hello there"])
    matcher = Matcher.load(tmp_path, encoder=WordHashEncoder(), cache="off")
    twin, kept = copied(matcher), copied(matcher.snapshot())
    write(tmp_path, hello=["hello there"], bye=["see you soon"])

    twin.reload()

    assert [len(one.registry) for one in (matcher, twin, kept)] == [1, 2, 1]
    matcher.reload()
    assert len(matcher.registry) == 2


def test_replaced_registry_needs_no_garbage_collector() -> None:
    """Its vectors and tables may take hundreds of megabytes, and the collector looks for cycles seldom."""
    room = Slot("room", "list", values=(SlotValue("kitchen"),))
    light = Intent("light", (Utterance("kitchen on", "en"), Utterance("yes", "en")), slots=(room,), when=("light",))
    door = Intent("door", (Utterance("Tür auf", "de"), Utterance("yes", "en")), when=("door",))
    matcher = Matcher.load(Registry((light, door)), cache="off")
    matcher.match("cellar on please")
    gc.collect()
    gc.disable()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        matcher.reload()
        gc.collect()
        in_cycles = {type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("intentmatch")}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()
    assert in_cycles == set()


def test_registry_without_slots_imports_no_slots() -> None:
    code = """
import sys
from intentmatch import Intent, Matcher, Registry, Utterance
intents = Intent("hello", (Utterance("hello there"),)), Intent("bye", (Utterance("see you soon"),))
Matcher.load(Registry(intents), cache="off").match("hello you there")
print([name for name in sys.modules if name.startswith("intentmatch.slots")])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


class Column:
    """A column of a table, as of pandas: it has rows and is no `Sequence`."""

    def __init__(self, *rows: object) -> None:
        self.rows = rows

    def __iter__(self):
        return iter(self.rows)


def test_match_many_takes_any_iterable() -> None:
    bot = Matcher.load(Registry((Intent("greet", (Utterance("hello"),)),)), encoder=WordHashEncoder(), cache="off")

    for messages in (Column("hello", "hello"), (text for text in ("hello", "hello")), {"hello": 1}.keys()):
        assert {result.intent for result in bot.match_many(messages)} == {"greet"}
    assert bot.match_many(Column()) == []


@pytest.mark.parametrize("wrong", [None, float("nan"), 7, [], [("hello", -1)]])
def test_match_many_says_which_message_is_wrong(wrong) -> None:
    bot = Matcher.load(Registry((Intent("greet", (Utterance("hello"),)),)), encoder=WordHashEncoder(), cache="off")

    with pytest.raises(InputError, match=r"^messages\[2\]: "):
        bot.match_many(["hello", "hello", wrong, None])


@pytest.mark.parametrize("wrong", ["hello", b"hello", None, 7, {"hello": 1}])
def test_match_many_needs_messages(wrong) -> None:
    bot = Matcher.load(Registry((Intent("greet", (Utterance("hello"),)),)), encoder=WordHashEncoder(), cache="off")

    with pytest.raises(InputError, match=r"^messages must be a list of messages, not "):
        bot.match_many(wrong)
