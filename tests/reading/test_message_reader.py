"""What is known about a message before it is encoded."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.reading.reader import MAX_CHARACTERS, MessageReader, Reading
from intentmatch.reading.resolved_options import ResolvedOptions
from intentmatch.reading.text import ReadText


def intent(name: str, *lines: str) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines))


REGISTRY = Registry(
    (
        intent("status", "where is my parcel", "track the delivery of my parcel"),
        intent("cancel", "cancel my order", "stop the purchase", "até logo"),
    )
)
READER = MessageReader(REGISTRY, Settings())
ANY = ResolvedOptions(top_k=5)


def stages(reading: Reading) -> list[str]:
    return [stage.name for stage in reading.stages.recorded()]


def test_message_that_equals_an_utterance_needs_no_vector() -> None:
    reading = READER.read("Cancel my ORDER!", ANY)

    assert {n: hit.row for n, hit in reading.exact.items()} == {1: 2}
    assert not reading.needs_vector
    assert stages(reading) == ["language", "exact"]


def test_utterance_of_an_intent_that_may_not_answer_is_no_hit() -> None:
    reading = READER.read("cancel my order", ANY._replace(allowed=frozenset({0})))

    assert reading.exact == {}
    assert reading.needs_vector
    assert 1 in reading.hits


def test_typing_mistakes_are_read_as_what_was_meant() -> None:
    reading = READER.read("track teh  delivrey of my parcell today", ANY)

    assert reading.typed.text == "track teh delivrey of my parcell today"
    assert reading.meant.text == "track the delivery of my parcel today"
    assert stages(reading) == ["language", "exact", "fuzzy", "spelling"]


@pytest.mark.parametrize(
    ("language", "line", "message"),
    [
        (
            "de",
            "die Heizung wird nicht warm",
            "ähm sehr geehrte Damen, es dröhnt nah an der Decke, Putz bröckelt",
        ),
        ("en", "change my name", "cheers, how do I change my surname?"),
    ],
)
def test_words_that_only_other_languages_or_no_language_have_are_not_what_was_meant(
    language: str, line: str, message: str
) -> None:
    """Not "häm", "gehrte", "dörhnt", "anh" and "börckelt", nor "Cheres" and "suriname"."""
    reader = MessageReader(Registry((Intent("heating", (Utterance(line, language),)),)), Settings())

    assert reader.read(message, ANY).meant.text == message


def test_message_that_is_an_utterance_once_corrected_is_a_hit() -> None:
    reading = READER.read("tarck the delivrey of my parcell", ANY)

    assert {n: hit.row for n, hit in reading.hits.items()} == {0: 1}
    assert 0.8 < reading.hits[0].similarity < 1.0


@pytest.mark.parametrize(
    ("message", "reason", "is_noise"),
    [("?!", "has no words", False), ("", "has no words", False), ("xkjqz wqpzk fghjd", "reads like no language", True)],
)
def test_message_that_means_nothing_is_refused(message: str, reason: str, is_noise: bool) -> None:
    reading = READER.read(message, ANY)

    assert reason in reading.refused
    assert reading.is_noise == is_noise
    assert not reading.needs_vector


def test_nothing_is_read_if_no_intent_may_answer() -> None:
    reading = READER.read("cancel my order", ANY._replace(allowed=frozenset()))

    assert "no intent may answer" in reading.refused
    assert stages(reading) == []


def test_language_of_the_message_is_part_of_the_options() -> None:
    guessed = READER.read("please bring the parcel to my house", ANY)
    given = READER.read("please bring the parcel to my house", ANY._replace(language="en-GB"))

    assert (guessed.options.language, given.options.language) == ("en", "en-GB")
    assert stages(given)[0] == "exact"


def test_language_that_the_registry_lacks_is_noted_with_its_calibration() -> None:
    message = "ich möchte bitte wissen, wo meine Bestellung gerade ist"

    plain, calibrated = (READER.read(message, ANY, calibrates_foreign=foreign) for foreign in (False, True))

    assert plain.options.foreign
    assert plain.options.language == "de"
    assert (
        plain.stages.recorded()[0].says
        == "guessed de, which the registry does not have: no calibration for other languages"
    )
    assert calibrated.stages.recorded()[0].says.endswith(": calibrated for other languages")


def test_end_of_a_long_message_is_left_out() -> None:
    reading = READER.read("my order " * MAX_CHARACTERS, ANY)

    assert len(reading.meant.text) <= MAX_CHARACTERS
    assert stages(reading)[0] == "clean"


@pytest.mark.parametrize(
    ("message", "read"),
    [
        ("hi\nwhere is my parcel\n\n48213\n", "hi. where is my parcel. 48213"),
        ("my order:\r\nnumber 12!\r\nthanks", "my order: number 12! thanks"),
        ("नमस्ते\nमेरा पार्सल", "नमस्ते. मेरा पार्सल"),
        ("你好\n我的包裹到哪了", "你好。 我的包裹到哪了"),
        (
            "a mail program that wraps its lines parts them in the middle\nof a sentence",
            "a mail program that wraps its lines parts them in the middle of a sentence",
        ),
    ],
)
def test_line_of_its_own_is_read_as_a_sentence(message: str, read: str) -> None:
    assert READER.read(message, ANY).typed.text == read


def test_fuzzy_setting_of_one_reads_messages_as_written() -> None:
    reading = MessageReader(REGISTRY, Settings(fuzzy=1.0)).read("tarck the delivrey", ANY)

    assert reading.meant.text == "tarck the delivrey"
    assert reading.hits == {}


def test_hits_of_a_text_are_exact_or_but_for_typing_mistakes() -> None:
    assert {n: hit.similarity for n, hit in READER.hits_of(ReadText("cancel my order")).items()} == {1: 1.0}
    assert {*READER.hits_of(ReadText("cancle my order"))} == {1}
    assert READER.hits_of(ReadText("cancel the parcel")) == {}


def test_text_that_is_no_text_raises_input_error() -> None:
    with pytest.raises(InputError, match="must be text, not int"):
        READER.read(3, ANY)  # type: ignore[arg-type]
