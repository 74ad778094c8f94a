"""Proposals for groups of messages."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest

from intentmatch import Matcher, Registry, read_registry
from intentmatch.inbox import ClusterDecision, Missed, edits_of, review
from intentmatch.registry.editing.edits import AddIntent, AddTest, AddUtterance

NOW = datetime(2025, 3, 1, tzinfo=timezone.utc)
SHIPPED = Path(__file__).parents[2] / "intents"


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    """A matcher of the shipped intents in English, which are enough for a calibrated confidence."""
    english = (
        replace(intent, utterances=tuple(u for u in intent.utterances if u.language == "en"), negatives=())
        for intent in read_registry(SHIPPED)
    )
    return Matcher.load(Registry(tuple(english)), cache="off")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Matcher:
    """A matcher of a registry that is too small for a calibrated confidence."""
    file = tmp_path_factory.mktemp("small") / "bot.yaml"
    file.write_text(
        "intents:\n  refund: {utterances: [I want my money back, refund my order, give me a refund]}\n"
        "  hours: {utterances: [when do you open, what are your opening hours, are you open on Sunday]}\n"
    )
    return Matcher.load(file, cache="off", threshold=0.95)


def missed(
    number: int,
    text: str | None,
    count: int = 1,
    *,
    corrections: Mapping[str | None, int] | None = None,
    language: str | None = "en",
) -> Missed:
    time = NOW + timedelta(days=number)
    return Missed(number, text, language, "out_of_scope", (), 0.3, count, time, time, corrections or {})


GIFTS = [
    missed(5, "wrap it as a present"),
    missed(3, "wrap it as a present for my mother"),
    missed(9, "can you wrap it as a present"),
]
OTHERS = [missed(1, "quantum chromodynamics"), missed(7, "do you sell dragon costumes")]


def test_messages_of_one_meaning_become_a_cluster(matcher: Matcher) -> None:
    """The cluster has the name of its most central message and the number of its oldest one."""
    first = review(matcher, [*GIFTS, *OTHERS]).clusters[0]

    assert {message.id for message in first.messages} == {3, 5, 9}
    assert (first.number, first.name, first.count) == (3, "wrap it as a present", 3)
    assert (first.first, first.last) == (NOW + timedelta(days=3), NOW + timedelta(days=9))
    assert first.languages == ["en"]


def test_unlikely_messages_are_asked_about_and_frequent_ones_may_be_an_intent(matcher: Matcher) -> None:
    """No proposal is sure: each is a question, which offers the nearest intents."""
    found = review(matcher, [*GIFTS, *OTHERS])

    assert [(c.proposal.action, c.proposal.intent) for c in found.clusters] == [
        ("new", "wrap_it_as_a_present"), ("ask", None), ("ask", None),
    ]  # fmt: skip
    assert found.clusters[0].proposal.because.startswith("received 3 times; ")
    assert found.clusters[1].proposal.because.startswith("received once; ")
    assert "is nearest, with a mean confidence of 0." in found.clusters[1].proposal.because
    assert [len(cluster.proposal.nearest) for cluster in found.clusters] == [3, 3, 3]
    assert [cluster.proposal.accepted for cluster in found.clusters] == [None, None, None]


def test_refusals_are_a_group_of_their_own_that_the_intent_must_not_match(matcher: Matcher) -> None:
    found = review(
        matcher, [missed(1, "I never asked you to cancel my order"), missed(2, "please don't cancel my order")]
    )

    (cluster,) = found.clusters
    assert (cluster.kind, cluster.proposal[:2]) == ("refuses", ("not", "order_cancel"))
    assert cluster.proposal.because.startswith("it refuses order_cancel")
    assert cluster.proposal.accepted == ("not", "order_cancel")


@pytest.mark.parametrize(
    ("message", "kind", "action"),
    [
        ("my order", "depends", "ignore"),
        ("yes but the blue one", "depends", "ignore"),
        ("my parcel arrived, everything fine", "settled", "test"),
        ("asdf zxcv", "noise", "ignore"),
    ],
)
def test_messages_that_ask_for_nothing_are_never_added(matcher: Matcher, message: str, kind: str, action: str) -> None:
    (cluster,) = review(matcher, [missed(1, message)]).clusters

    assert (cluster.kind, cluster.proposal.action, cluster.proposal.intent) == (kind, action, None)


def test_requests_come_first_then_what_asks_for_nothing(matcher: Matcher) -> None:
    messages = [
        "asdf zxcv",
        "I never asked you to cancel my order",
        "do you sell dragon costumes",
        "yes but the blue one",
    ]
    found = review(matcher, [missed(n, text, 4 - n) for n, text in enumerate(messages)])

    assert [cluster.kind for cluster in found.clusters] == ["asks", "refuses", "depends", "noise"]
    assert found.clusters[0].to_dict()["kind"] == "asks"


@pytest.mark.parametrize(
    ("corrections", "sure"),
    [({"refund": 2}, True), ({"refund": 1}, False), ({"refund": 2, "hours": 2}, False), ({"other": 3}, False)],
)
def test_correction_of_several_users_is_sure(small: Matcher, corrections: Mapping[str | None, int], sure: bool) -> None:
    (cluster,) = review(small, [missed(1, "quantum chromodynamics", corrections=corrections)]).clusters

    assert cluster.proposal.sure is sure


def test_nearest_intent_without_confidence_is_a_question(small: Matcher) -> None:
    (cluster,) = review(small, [missed(1, "I want my money back now please")]).clusters

    assert cluster.proposal.action == "ask"
    assert cluster.proposal.nearest[0] == "refund"


def test_likely_messages_are_a_question_too(matcher: Matcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """However high the confidence: "the wifi works again" has 0.99 for "no wifi"."""
    monkeypatch.setattr("intentmatch.inbox.inbox._SURE", 1.1)
    (cluster,) = review(matcher, [missed(1, "the shipment you delivered yesterday is nowhere to be found")]).clusters

    assert (cluster.proposal.action, cluster.proposal.accepted) == ("ask", None)
    assert cluster.proposal.nearest[0] == "package_not_received"
    assert "package_not_received is nearest, with a mean confidence of 0." in cluster.proposal.because


def test_scores_decide_without_a_confidence(small: Matcher) -> None:
    """A new intent is suggested if the score does not reach the cut of the clustering."""
    found = review(small, [missed(1, "I want my money back now please"), missed(2, "quantum chromodynamics", 3)])

    proposals = {cluster.name: cluster.proposal for cluster in found.clusters}
    assert proposals["I want my money back now please"][:2] == ("ask", None)
    assert "a mean score of 0." in proposals["I want my money back now please"].because
    assert proposals["quantum chromodynamics"][:2] == ("new", "quantum_chromodynamics")


@pytest.mark.parametrize(
    ("corrections", "count", "action", "intent", "because"),
    [
        ({"order_status": 1}, 1, "add", "order_status", "1 of 1 corrections say so"),
        ({"order_status": 2, "refund_status": 1, None: 1}, 1, "add", "order_status", "2 of 4 corrections say so"),
        ({"dragons": 2}, 1, "new", "dragons", "2 of 2 corrections say so"),
        (
            {None: 2, "order_status": 1},
            2,
            "ignore",
            None,
            "received 2 times; 2 of 3 corrections say that it is no intent",
        ),
        (
            {None: 2},
            3,
            "new",
            "tell_me_a_story_about_dragons",
            "received 3 times; 2 of 2 corrections say that it is no",
        ),
        ({"yes": 1, "no": 1}, 1, "add", "no", "1 of 2 corrections say so"),
    ],
)
def test_corrections_override_the_nearest_intent(
    matcher: Matcher, corrections: Mapping[str | None, int], count: int, action: str, intent: str, because: str
) -> None:
    found = review(matcher, [missed(1, "tell me a story about dragons", count, corrections=corrections)])

    (cluster,) = found.clusters
    assert cluster.proposal[:2] == (action, intent)
    assert cluster.proposal.because.startswith(because)


def test_corrected_clusters_come_first_then_the_largest(matcher: Matcher) -> None:
    found = review(
        matcher,
        [
            *GIFTS,
            missed(20, "quantum chromodynamics", 9),
            missed(30, "do you sell dragon costumes", corrections={"yes": 1}),
        ],
    )

    assert [cluster.number for cluster in found.clusters] == [30, 20, 3]


def test_messages_that_match_now_are_left_out(matcher: Matcher) -> None:
    """Unless corrections name another intent."""
    known = "where is my order"
    assert review(matcher, [missed(1, known)]) == ((), 1, ())
    assert review(matcher, [missed(1, known, corrections={"order_status": 3})]) == ((), 1, ())
    assert len(review(matcher, [missed(1, known, corrections={"order_cancel": 3})]).clusters) == 1


def test_hashed_messages_are_returned_unclustered(matcher: Matcher) -> None:
    hashed = [missed(1, None), missed(2, None)]

    assert review(matcher, [*hashed, *GIFTS]).hashed == tuple(hashed)


def test_review_does_not_depend_on_the_order_of_messages(matcher: Matcher) -> None:
    messages = [*GIFTS, *OTHERS, missed(40, "wo ist mein Drache", language="de"), missed(41, "any dragon here")]
    expected = [cluster.to_dict() for cluster in review(matcher, messages).clusters]

    for seed in range(5):
        random.Random(seed).shuffle(messages)
        assert [cluster.to_dict() for cluster in review(matcher, messages).clusters] == expected


def test_new_names_are_short_unique_and_made_of_the_message(small: Matcher) -> None:
    for text, name in [
        ("सामान कब पहुँचेगा?", "सामान_कब_पहुँचेगा"),
        ("价格是多少呢", "价格是多少呢"),
        ("one two three four five six seven eight nine ten eleven", "one_two_three_four_five_six_seven_eight"),
        ("a" * 100, "a" * 40),
        ("Hours!", "hours_2"),
    ]:
        (cluster,) = review(small, [missed(1, text, 3, corrections={None: 1})]).clusters
        assert cluster.proposal[:2] == ("new", name)


def test_decision_becomes_edits(matcher: Matcher) -> None:
    """A new intent starts with the most central message; language and file may be given."""
    (cluster,) = review(matcher, GIFTS).clusters
    texts = [message.text for message in cluster.messages]

    assert edits_of([ClusterDecision(cluster, "add", "yes")]) == [AddUtterance("yes", text, "en") for text in texts]
    assert edits_of([ClusterDecision(cluster, "new", "gift")], language="de", file=Path("gift.yaml")) == [
        AddIntent("gift", texts[0], "de", Path("gift.yaml")), *(AddUtterance("gift", text, "de") for text in texts[1:]),
    ]  # fmt: skip
    assert edits_of([ClusterDecision(cluster, "not", "yes")]) == [
        AddUtterance("yes", text, "en", True) for text in texts
    ]
    assert edits_of([ClusterDecision(cluster, "test")]) == [AddTest(text, None, "en") for text in texts]
    assert edits_of([ClusterDecision(cluster, "ignore")]) == []


def test_a_message_is_understood_in_the_context_of_its_correction(tmp_path: Path) -> None:
    """Users said what they meant; at that point of the conversation the tags of the intent were active."""
    file = tmp_path / "bot.yaml"
    file.write_text(
        "intents:\n  order_yes: {when: ordering, utterances: ['yes', order it now please]}\n"
        "  agree: {utterances: ['yes', that is quite right]}\n  hours: {utterances: [when do you open]}\n"
    )
    bot = Matcher.load(file, cache="off", threshold=0.9)

    def clusters(text: str, intent: str) -> int:
        return len(review(bot, [missed(1, text, corrections={intent: 2})]).clusters)

    assert [clusters("yes", "order_yes"), clusters("yes", "agree"), clusters("yes", "hours")] == [0, 0, 1]
    assert clusters("order it now, please", "order_yes") == 0
    assert clusters("that is quite right", "order_yes") == 1
