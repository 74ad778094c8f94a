"""What is checked of a decision, and in which order."""

from __future__ import annotations

import pytest

from intentmatch import Intent, Matcher, MatchResult, Registry, Slot, Utterance

CHECKS = ("without_values", "fragment", "negation", "acts")


def intent(name: str, *lines: str, **more: object) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines), **more)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(
        Registry(
            (
                intent("cancel_order", "cancel my order", "please cancel the order I made", "stop my order"),
                intent("order_status", "where is my order", "has my order been sent", "status of order A-1001"),
                intent(
                    "find_ticket",
                    "find ticket KLM-1234",
                    "open ticket number ABC-77",
                    "show me ticket XY-5",
                    slots=(Slot("ticket", "pattern", patterns=(r"[A-Z]{2,3}-\d+",)),),
                ),
            )
        ),
        cache="off",
    )


def checks(result: MatchResult) -> list[str]:
    return [stage.name for stage in result.trace.stages if stage.name in CHECKS]


def test_checks_come_in_one_order(matcher):
    result = matcher.match("please do not cancel the order for ticket KLM-9")

    assert checks(result) == sorted(checks(result), key=CHECKS.index)
    assert "negation" in checks(result)
    assert result.verdict != "matched"


def test_line_with_typing_mistakes_is_not_checked_for_values_or_lone_words(matcher):
    result = matcher.match("find tikcet KLM-1234")

    assert result.intent == "find_ticket"
    assert result.trace.decided_by in {"fuzzy", "exact"}
    assert not {"without_values", "fragment"} & {*checks(result)}


def test_utterance_with_another_value_is_checked_no_further(matcher):
    result = matcher.match("Could you find ticket KLM-9987?")

    assert (result.verdict, result.intent) == ("matched", "find_ticket")
    assert not {"negation", "acts"} & {*checks(result)}


def test_messages_checked_together_get_what_each_gets(matcher):
    """Acts are read in one pass for all messages of a batch."""
    messages = ["do not cancel my order", "thanks, where is my order", "cancel it. no wait, where is my order", "order"]

    together, alone = matcher.match_many(messages), [matcher.match(message) for message in messages]

    assert [(r.verdict, r.intent, checks(r)) for r in together] == [(r.verdict, r.intent, checks(r)) for r in alone]
    assert any(checks(r) for r in alone)


@pytest.mark.parametrize("article", ["nen", "einen"])
def test_shorthand_that_looks_like_a_refusal_refuses_nothing(article):
    """In German, "nen" is "einen"; in other languages it refuses."""
    lines = {
        "passport": ["ich brauche einen neuen Reisepass", "Reisepass beantragen", "mein Reisepass läuft ab"],
        "opening": ["wann habt ihr offen", "Öffnungszeiten", "habt ihr samstags geöffnet"],
    }
    bot = Matcher.load(
        Registry(tuple(Intent(name, tuple(Utterance(line, "de") for line in own)) for name, own in lines.items())),
        cache="off",
    )

    assert bot.match(f"ich brauch {article} neuen Reisepass", language="de").intent == "passport"


@pytest.mark.parametrize(
    ("message", "decided_by"),
    [
        ("please do not cancel the order", "negation"),
        ("nobody may cancel my order", "acts"),
        ("has the order been sent yet", "dense"),
    ],
)
def test_check_that_changed_the_decision_has_decided(matcher, message, decided_by):
    result = matcher.match(message)

    assert result.trace.decided_by == decided_by
    assert result.verdict == ("matched" if decided_by == "dense" else "ambiguous")
