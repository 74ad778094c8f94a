"""What a chat model is asked for: each intent and language, missing languages, groups of the inbox."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timezone

import pytest

from intentmatch.authoring.growing.tasks import from_clusters, paraphrases, translations
from intentmatch.core.errors import UnknownNameError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.inbox import Cluster, Missed, Proposal


def lines(*texts: str, language: str | None = None) -> tuple[Utterance, ...]:
    return tuple(Utterance(text, language) for text in texts)


SHOP = Registry(
    (
        Intent("status", lines("where is it", "track it", language="en") + lines("wo ist es", language="de")),
        Intent("cancel", lines("cancel it", language="en") + lines("storniere es", language="de"), title="Cancel"),
        Intent("greet", lines("hello", language="en"), description="The user says hello."),
    )
)
UNTAGGED = Registry((Intent("greet", lines("hello")), Intent("leave", lines("bye"))))


def test_paraphrases_begin_with_the_fewest_lines() -> None:
    found = paraphrases(SHOP)

    assert [(task.intent, task.language) for task in found] == [
        ("status", "de"), ("cancel", "en"), ("cancel", "de"), ("greet", "en"), ("status", "en"),
    ]  # fmt: skip
    assert found[-1].shown == ("where is it", "track it")
    assert [task.title for task in found[:2]] == ["status", "Cancel"]
    assert str(found[0]) == "status, de: paraphrase"


def test_sentences_of_a_template_are_shown_once() -> None:
    template = tuple(Utterance(text, "en", template="(cancel|stop) it") for text in ("cancel it", "stop it"))

    assert paraphrases(Registry((Intent("cancel", template),)))[0].shown == ("cancel it",)


def test_translations_are_to_the_languages_of_most_intents() -> None:
    (only,) = translations(SHOP)

    assert (only.intent, only.language, only.shown, only.description) == (
        "greet", "de", ("hello",), "The user says hello.",
    )  # fmt: skip


def test_translations_to_named_languages() -> None:
    found = translations(SHOP, ["cancel", "greet"], ["fr", "de"])

    assert [(task.intent, task.language) for task in found] == [("cancel", "fr"), ("greet", "fr"), ("greet", "de")]


def test_lines_without_language_are_translated_only_to_named_languages() -> None:
    assert translations(UNTAGGED) == []
    assert [task.language for task in translations(UNTAGGED, ["greet"], ["fr"])] == ["fr"]
    assert [task.language for task in paraphrases(UNTAGGED)] == [None, None]


@pytest.mark.parametrize(
    "make", [paraphrases, translations, lambda registry, names: from_clusters(registry, [], names)]
)
def test_unknown_intent_is_an_error(make) -> None:
    with pytest.raises(UnknownNameError, match=r"unknown intent 'canc'.*Did you mean 'cancel'"):
        make(SHOP, ["canc"])


def cluster(action: str, intent: str | None, *texts: str, sure: bool = True, nearest: Sequence[str] = ()) -> Cluster:
    now = datetime(2026, 11, 1, tzinfo=timezone.utc)
    messages = [Missed(n, text, "de", "out_of_scope", (), None, 1, Counter(), now, now) for n, text in enumerate(texts)]
    return Cluster(tuple(messages), Proposal(action, intent, "", sure, tuple(nearest)))


def test_only_groups_that_belong_to_an_intent_are_sent_and_redacted() -> None:
    groups = [
        cluster("add", "cancel", "bitte weg damit", "schreib an anna@example.com"),
        cluster("new", "gift", "a gift"),
        cluster("ignore", None, "blah"),
        cluster("add", "cancel", "that one user corrected", sure=False),
        cluster("ask", None, "a question", sure=False, nearest=["cancel", "greet"]),
        cluster("add", "gone", "an intent that was removed"),
    ]

    (only,) = from_clusters(SHOP, groups)

    assert (only.kind, only.intent, only.language) == ("inbox", "cancel", "de")
    assert only.shown == ("bitte weg damit", "schreib an ‹email›")
    assert from_clusters(SHOP, groups, ["greet"]) == []
    named = from_clusters(SHOP, groups, ["cancel"])
    assert [task.shown[0] for task in named] == ["bitte weg damit", "that one user corrected", "a question"]
    assert from_clusters(UNTAGGED, [cluster("add", "greet", "moin")])[0].language is None
