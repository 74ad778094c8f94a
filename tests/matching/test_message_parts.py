"""Decisions on a message by what its parts do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from intentmatch.core.result import Candidate
from intentmatch.core.types import Utterance
from intentmatch.matching.message_parts import decide_on_parts
from intentmatch.matching.parted_message import PartedMessage
from intentmatch.matching.policy import Decision
from intentmatch.reading.dialogue_acts import NO_ACTS, Acts
from intentmatch.reading.parts import MessagePart
from intentmatch.reading.text import ReadText

REFUSES = NO_ACTS._replace(refuses=0.95)
SETTLED = NO_ACTS._replace(settled=0.96)
UNDECIDED = NO_ACTS._replace(undecided=0.9)
COURTESY = NO_ACTS._replace(courtesy=0.95)
TALE = NO_ACTS._replace(tale=0.95)


def decision(intent: str, confidence: float = 0.9, verdict: str = "matched", *others: str) -> Decision:
    ranked = [Candidate(intent, 0.8, Utterance(f"line of {intent}", "en"), confidence=confidence)]
    ranked += [Candidate(other, 0.5, Utterance(f"line of {other}", "en"), confidence=0.01) for other in others]
    return Decision(verdict, tuple(ranked), (), None, False, "")


def decide(
    whole: Decision,
    *parts: tuple[str, Acts],
    read: Mapping[str, Decision] | None = None,
    lines: Mapping[str, Acts] | None = None,
    acts: Acts | None = None,
    begins: float = 4.0,
    by_reranker: bool = False,
) -> tuple[str, str | None, list[str]]:
    """Verdict, intent if matched, and rivals.

    `lines` holds what the nearest utterance of an intent does, `acts` what the message does as one text; without it,
    it does all that its parts do. `begins` is how clearly a part begins.
    """
    message = PartedMessage(
        ReadText(" ".join(text for text, _ in parts)),
        whole,
        Acts(*map(max, zip(*(of_part for _, of_part in parts), strict=True))) if acts is None else acts,
        [MessagePart(ReadText(text), does, begins if number else 0.0) for number, (text, does) in enumerate(parts)],
        (),
        read=lambda text: (read or {})[text.text],
        line_acts=lambda candidate: (lines or {}).get(candidate.intent, NO_ACTS),
        denied_acts=lambda candidate, _: (lines or {}).get(candidate.intent, NO_ACTS),
        by_reranker=by_reranker,
    )
    checked = decide_on_parts(message)
    found = checked.decision
    intent = found.ranked[0].intent if found.verdict == "matched" else None
    return found.verdict, intent, [rival.intent for rival in found.rivals]


NOTHING = decision("weather", 0.02, "out_of_scope")


def test_request_alone_is_matched():
    assert decide(decision("cancel"), ("cancel it", NO_ACTS)) == ("matched", "cancel", [])


@pytest.mark.parametrize("acts", [REFUSES, SETTLED])
def test_refusal_and_settled_matter_are_asked_about(acts):
    assert decide(decision("cancel"), ("don't cancel it", acts)) == ("ambiguous", None, ["cancel"])


def test_settled_matter_is_asked_about_however_certain_the_match():
    assert decide(decision("find_luggage", 0.99), ("i found my luggage", SETTLED)) == (
        "ambiguous",
        None,
        ["find_luggage"],
    )


def test_part_that_either_refuses_or_is_settled_is_asked_about():
    part = "the transfer isn't pending anymore", NO_ACTS._replace(refuses=0.4, settled=0.6)
    assert decide(decision("pending"), part) == ("ambiguous", None, ["pending"])


def test_courtesy_with_words_of_refusal_is_matched():
    assert decide(decision("yes"), ("no worries, fine by me", REFUSES._replace(courtesy=0.9)))[0] == "matched"


@pytest.mark.parametrize(("line", "verdict"), [(0.1, "ambiguous"), (0.8, "matched")])
def test_words_that_the_utterance_shares_do_not_deny(line, verdict):
    """ "The parcel has arrived damaged" sounds settled, and so does the utterance that it is nearest to."""
    part = "the parcel has arrived damaged", NO_ACTS._replace(settled=0.97)
    assert decide(decision("damaged"), part, lines={"damaged": NO_ACTS._replace(settled=line)})[0] == verdict


@pytest.mark.parametrize(
    ("settled", "line", "score", "verdict"),
    [
        (0.88, 0.02, 0.6, "ambiguous"),
        (0.88, 0.2, 0.6, "matched"),
        (0.8, 0.02, 0.6, "matched"),
        (0.88, 0.02, 0.8, "matched"),
    ],
)
def test_part_that_may_be_settled_is_compared_with_the_utterance(settled, line, score, verdict):
    """ "I have already booked for Thursday" is far more settled than any line that books, and unlike them."""
    part = "i have already booked for thursday", NO_ACTS._replace(settled=settled)
    whole = decision("book")
    whole = replace(whole, ranked=(replace(whole.ranked[0], score=score),))
    assert decide(whole, part, lines={"book": NO_ACTS._replace(settled=line)})[0] == verdict


@pytest.mark.parametrize(("line", "verdict"), [(0.0, "ambiguous"), (0.5, "matched")])
def test_what_is_only_considered_is_asked_about_unless_the_utterance_considers_it(line, verdict):
    part = "I am thinking about cancelling", UNDECIDED
    lines = {"cancel": NO_ACTS._replace(undecided=line)}
    assert decide(decision("cancel"), part, lines=lines)[0] == verdict


def test_request_beside_what_is_only_considered_decides():
    parts = [("I am thinking about cancelling", UNDECIDED), ("what does it cost?", NO_ACTS)]
    read = {"what does it cost?": decision("cost")}
    assert decide(decision("cancel", 0.5, "out_of_scope"), *parts, read=read)[1] == "cost"


def test_settled_matter_is_no_refusal_of_the_author():
    """ "Come si paga la tassa" sounds like a refusal; "l'ho già pagata" is none, and settled all the same."""
    part = "l'ho già pagata in posta", SETTLED
    assert decide(decision("pay"), part, lines={"pay": NO_ACTS._replace(refuses=0.7)})[0] == "ambiguous"


def test_two_settled_parts_are_asked_about():
    parts = ("i'm not having any trouble", SETTLED), ("i know how to do it", SETTLED)
    assert decide(decision("exchange"), *parts) == ("ambiguous", None, ["exchange"])


@pytest.mark.parametrize(("together", "verdict"), [(0.96, "ambiguous"), (0.9, "matched")])
def test_parts_that_are_settled_together_are_asked_about(together, verdict):
    """ "Hat sich erledigt, der Schlüssel lag im Auto": either half might be a tale."""
    parts = [(text, NO_ACTS._replace(settled=0.8)) for text in ("that is settled", "the key was in the car")]
    assert decide(decision("keys"), *parts, acts=NO_ACTS._replace(settled=together))[0] == verdict


@pytest.mark.parametrize(("intent", "verdict"), [("timer", "ambiguous"), ("alarm", "matched")])
def test_settled_part_is_asked_about_if_the_message_is_matched_because_of_it(intent, verdict):
    alone = {"what happened": NOTHING, "a timer is set": decision(intent)}
    assert decide(decision("timer"), ("a timer is set", SETTLED), ("what happened", NO_ACTS), read=alone)[0] == verdict


def test_utterance_that_refuses_itself_is_matched():
    found = decide(decision("no"), ("I don't want it", REFUSES), lines={"no": REFUSES})

    assert found == ("matched", "no", [])


def test_utterance_that_tells_of_a_settled_matter_excuses_another_but_no_refusal():
    """ "My pin was blocked" is an utterance of many bots, and "my pin was not blocked" is none of it."""
    lines = {"pin_blocked": SETTLED}

    settled = decide(decision("pin_blocked"), ("my pin was blocked again", SETTLED), lines=lines)
    refused = decide(decision("pin_blocked"), ("my pin was not blocked", REFUSES), lines=lines)

    assert settled == ("matched", "pin_blocked", [])
    assert refused == ("ambiguous", None, ["pin_blocked"])


def test_message_out_of_scope_stays_so():
    assert decide(NOTHING, ("don't rain", REFUSES)) == ("out_of_scope", None, [])


def test_tale_and_courtesy_stand_beside_the_request():
    read = {"where is my order": decision("status")}
    parts = ("hello", COURTESY), ("we moved last week", TALE), ("where is my order", NO_ACTS)

    assert decide(NOTHING, *parts, read=read) == ("matched", "status", [])


def test_courtesy_yields_to_a_request_however_certain_it_is():
    read = {"where is my order": decision("status", 0.6)}
    parts = ("hello", COURTESY), ("where is my order", NO_ACTS)

    found = decide(decision("greeting", 0.99), *parts, read=read, lines={"greeting": COURTESY})

    assert found == ("matched", "status", [])


@pytest.mark.parametrize(("courtesy", "asked"), [(0.6, ["cancel", "deposit"]), (0.95, [])])
def test_part_that_may_be_courtesy_asks_for_what_it_is_matched_with(courtesy, asked):
    read = {"i want to quit": decision("cancel"), "when is the deposit back": decision("deposit")}
    parts = ("i want to quit", NO_ACTS._replace(courtesy=courtesy)), ("when is the deposit back", NO_ACTS)

    assert decide(NOTHING, *parts, read=read)[2] == asked
    assert decide(NOTHING, *parts, read=read, lines={"cancel": COURTESY})[2] == []


def test_courtesy_yields_to_a_request_out_of_scope():
    parts = ("hello", COURTESY), ("who won the cup", NO_ACTS)

    found = decide(decision("greeting"), *parts, read={"who won the cup": NOTHING}, lines={"greeting": COURTESY})

    assert found == ("out_of_scope", None, [])


def test_courtesy_alone_is_matched():
    parts = ("hello", COURTESY), ("how are you", COURTESY)

    assert decide(decision("greeting"), *parts, lines={"greeting": COURTESY}) == ("matched", "greeting", [])


def test_courtesy_is_no_answer_beside_a_part_that_may_ask():
    """ "Buongiorno, mi saprebbe dire gentilmente gli orari?": polite words make the request look like courtesy."""
    polite = NO_ACTS._replace(courtesy=0.6)
    read = {"hello": decision("greeting"), "could you kindly say when": NOTHING}
    parts = ("hello", COURTESY), ("could you kindly say when", polite)

    assert decide(NOTHING, *parts, read=read, lines={"greeting": COURTESY}) == ("out_of_scope", None, [])


def test_message_as_one_text_decides_if_it_is_surer():
    read = {"my card is gone": decision("lost", 0.7)}
    parts = ("hello", COURTESY), ("my card is gone", NO_ACTS)

    assert decide(decision("stolen", 0.9), *parts, read=read) == ("matched", "stolen", [])
    assert decide(decision("lost", 0.6), *parts, read=read) == ("matched", "lost", [])


def test_part_that_contradicts_a_reranker_is_asked_about():
    """No reranker reads the parts, so the part does not know better."""
    read = {"my card is gone": decision("lost", 0.7)}
    whole = decision("help", 0.6)
    whole = replace(whole, ranked=(*whole.ranked, replace(whole.ranked[0], intent="lost", confidence=0.2)))
    parts = ("hello", COURTESY), ("my card is gone", NO_ACTS)

    assert decide(whole, *parts, read=read, by_reranker=True) == ("ambiguous", None, ["help", "lost"])
    assert decide(decision("lost", 0.6), *parts, read=read, by_reranker=True) == ("matched", "lost", [])


@pytest.mark.parametrize(
    ("chance", "expected"), [(0.05, ("ambiguous", None, ["help", "lost"])), (0.2, ("matched", "lost", []))]
)
def test_part_and_whole_that_contradict_each_other_are_asked_about(chance, expected):
    read = {"my card is gone": decision("lost", 0.7)}
    whole = decision("help", 0.6)
    lost = replace(whole.ranked[0], intent="lost", confidence=chance)
    whole = replace(whole, ranked=(*whole.ranked, lost))

    assert decide(whole, ("hello", COURTESY), ("my card is gone", NO_ACTS), read=read) == expected


@pytest.mark.parametrize(
    ("intent", "expected"), [("lost", ("matched", "lost", [])), ("other", ("ambiguous", None, ["help", "lost"]))]
)
def test_part_decides_between_the_intents_that_the_whole_may_mean(intent, expected):
    ranked = [Candidate(name, 0.8, Utterance("line", "en"), confidence=0.4) for name in ("help", "lost")]
    whole = Decision("ambiguous", tuple(ranked), tuple(ranked), None, True, "")
    read = {"my card is gone": decision(intent, 0.7)}

    assert decide(whole, ("hello", COURTESY), ("my card is gone", NO_ACTS), read=read) == expected


@pytest.mark.parametrize(
    ("sure", "expected"), [(0.95, ("ambiguous", None, ["loud", "drips"])), (0.8, ("matched", "drips", []))]
)
def test_tale_that_says_surely_what_the_whole_is_matched_with_is_another_request(sure, expected):
    whole = decision("loud", 0.54)
    whole = replace(whole, ranked=(*whole.ranked, replace(whole.ranked[0], intent="drips", confidence=0.46)))
    read = {"the tap is dripping": decision("drips", 0.99), "the neighbours are loud": decision("loud", sure)}
    parts = ("the tap is dripping", NO_ACTS), ("the neighbours are loud", SETTLED)

    assert decide(whole, *parts, read=read) == expected


def test_request_without_confidences_decides_beside_courtesy():
    def small(intent: str, score: float) -> Decision:
        return Decision("matched", (Candidate(intent, score, Utterance("line", "en")),), (), None, False, "")

    parts = ("hello", COURTESY), ("where is my parcel", NO_ACTS)
    read = {"where is my parcel": small("status", 0.66)}

    assert decide(small("status", 0.5), *parts, read=read) == ("matched", "status", [])


def test_settled_clause_of_a_message_that_asks_is_not_asked_about():
    """ "The card worked until today, please check it": as one text, it does not say that all is well."""
    parts = ("it worked until today", SETTLED), ("please check it", NO_ACTS)
    read = {"it worked until today": decision("broken"), "please check it": NOTHING}

    assert decide(decision("broken"), *parts, read=read) == ("ambiguous", None, ["broken"])
    assert decide(decision("broken"), *parts, read=read, acts=NO_ACTS) == ("matched", "broken", [])


def test_clauses_of_one_sentence_do_not_decide_if_the_whole_is_matched():
    read = {"do the cards": decision("cards", 0.9), "have a limit": NOTHING}
    parts = ("do the cards", NO_ACTS), ("have a limit", NO_ACTS)

    assert decide(decision("limit", 0.6), *parts, read=read) == ("matched", "limit", [])
    assert decide(NOTHING, *parts, read=read) == ("matched", "cards", [])


def test_requests_of_two_intents_are_asked_about():
    read = {"cancel my order": decision("cancel", 0.9), "refund me": decision("refund", 0.8)}
    parts = ("cancel my order", NO_ACTS), ("refund me", NO_ACTS)

    assert decide(decision("cancel", 0.7), *parts, read=read) == ("ambiguous", None, ["cancel", "refund"])
    assert decide(decision("cancel", 0.97), *parts, read=read) == ("matched", "cancel", [])
    read |= {"cancel my order": decision("cancel", 0.94), "refund me": decision("refund", 0.94)}
    assert decide(decision("cancel", 0.99), *parts, read=read) == ("ambiguous", None, ["cancel", "refund"])
    read["refund me"] = decision("refund", 0.45)
    assert decide(decision("cancel", 0.7), *parts, read=read) == ("matched", "cancel", [])


def test_clauses_without_a_clear_boundary_are_one_request():
    read = {"cancel my order": decision("cancel", 0.9), "refund me": decision("refund", 0.8)}
    parts = ("cancel my order", NO_ACTS), ("refund me", NO_ACTS)

    assert decide(decision("cancel", 0.7), *parts, read=read, begins=0.5) == ("matched", "cancel", [])


def test_question_about_two_requests_offers_what_the_message_means_as_one_text():
    read = {"why was it declined": decision("declined"), "how do I top up": decision("top_up")}
    parts = ("why was it declined", NO_ACTS), ("how do I top up", NO_ACTS)

    assert decide(decision("failed", 0.7), *parts, read=read) == ("ambiguous", None, ["failed", "declined", "top_up"])
    assert decide(NOTHING, *parts, read=read) == ("ambiguous", None, ["declined", "top_up"])


@pytest.mark.parametrize(("of_line", "verdict"), [(0.01, "ambiguous"), (0.03, "matched")])
def test_statement_that_may_refuse_is_compared_with_the_utterance(of_line, verdict):
    part = "there is no fee", NO_ACTS._replace(refuses=0.7)
    assert decide(decision("fee"), part, lines={"fee": NO_ACTS._replace(refuses=of_line)})[0] == verdict


@pytest.mark.parametrize("settled", [0.0, 0.55])
def test_refusal_is_compared_with_how_much_the_utterance_refuses(settled):
    """ "My card was stolen" sounds settled, and "my card was not stolen" refuses it all the same."""
    part = "my card was not stolen", NO_ACTS._replace(refuses=0.7)
    assert decide(decision("stolen"), part, lines={"stolen": NO_ACTS._replace(settled=settled)})[0] == "ambiguous"


def test_refused_part_leaves_the_other_request():
    read = {"no newsletter": decision("newsletter"), "where is my order": decision("status")}
    parts = ("no newsletter", REFUSES), ("where is my order", NO_ACTS)

    assert decide(NOTHING, *parts, read=read) == ("matched", "status", [])


@pytest.mark.parametrize("of_refusal", [NOTHING, decision("cancel", 0.7), decision("status", 0.4, "ambiguous")])
def test_request_that_is_taken_back_is_asked_about(of_refusal):
    read = {"cancel my order": decision("cancel"), "no wait, don't": of_refusal}
    parts = ("cancel my order", NO_ACTS), ("no wait, don't", REFUSES)

    assert decide(decision("cancel"), *parts, read=read) == ("ambiguous", None, ["cancel"])


@pytest.mark.parametrize(
    ("part", "whole", "of_part", "verdict"),
    [
        (0.8, 0.75, NOTHING, "ambiguous"),
        (0.8, 0.6, NOTHING, "matched"),
        (0.6, 0.75, NOTHING, "matched"),
        (0.8, 0.75, decision("send", 0.9), "matched"),
    ],
)
def test_later_part_that_may_refuse_and_names_nothing_takes_back(part, whole, of_part, verdict):
    read = {"cancel my order": decision("cancel"), "oh well, bring it": of_part}
    parts = ("cancel my order", NO_ACTS), ("oh well, bring it", NO_ACTS._replace(refuses=part))

    found = decide(decision("cancel", 0.99), *parts, read=read, acts=NO_ACTS._replace(refuses=whole), begins=-9.0)

    assert found[0] == verdict


def test_refusal_beside_a_tale_is_asked_about():
    read = {"don't block it": decision("block")}

    found = decide(decision("block"), ("I found my card", SETTLED), ("don't block it", REFUSES), read=read)

    assert found == ("ambiguous", None, ["block"])


def test_message_that_is_asked_about_stays_so():
    whole = decision("cancel")
    asked = Decision("ambiguous", whole.ranked, whole.ranked, None, False, "")

    assert decide(asked, ("no", REFUSES)) == ("ambiguous", None, ["cancel"])


def test_decision_without_candidates_stays_as_it_is():
    nothing = Decision("out_of_scope", (), (), None, False, "")

    assert decide(nothing, ("hello", COURTESY), ("there", NO_ACTS)) == ("out_of_scope", None, [])


def test_courtesy_with_a_tale_is_what_it_is():
    read = {
        "thanks for your help": decision("thanks", 0.9),
        "I am on the train": decision("times", 0.2, "out_of_scope"),
    }
    parts = ("thanks for your help", COURTESY), ("I am on the train", TALE)

    lines = {"thanks": COURTESY}
    assert decide(decision("thanks", 0.4, "out_of_scope"), *parts, read=read, lines=lines) == ("matched", "thanks", [])
    assert decide(decision("thanks", 0.4, "out_of_scope"), *parts, read=read)[0] == "out_of_scope"


def test_request_refused_before_it_is_made_is_made():
    """What is refused after a request is taken back; before it, the clearer one counts."""
    read = {"I never asked for it": decision("unsubscribe", 0.6), "unsubscribe me": decision("unsubscribe", 0.9)}
    refusal, request = ("I never asked for it", REFUSES), ("unsubscribe me", NO_ACTS)

    assert decide(decision("unsubscribe", 0.8), refusal, request, read=read)[0] == "matched"
    assert decide(decision("unsubscribe", 0.8), request, refusal, read=read)[0] == "ambiguous"
