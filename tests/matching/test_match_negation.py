"""Messages that read like an utterance but for a negation are asked about."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tiers
import yaml

from intentmatch import Candidate, Intent, Matcher, Registry, Utterance
from intentmatch.core.result import Verdict
from intentmatch.matching.negation import check_negation
from intentmatch.matching.policy import Decision
from intentmatch.reading.text import ReadText

ROOT = Path(__file__).parents[2]
MESSAGES = yaml.safe_load((Path(__file__).parent / "negation.yaml").read_text(encoding="utf-8"))
FORMS = yaml.safe_load((Path(__file__).parent / "negation_forms.yaml").read_text(encoding="utf-8"))


def intent(name: str, *lines: str) -> Intent:
    return Intent(name, tuple(Utterance(line, "en") for line in lines))


CANCEL = intent("cancel", "cancel my order", "I changed my mind, please don't ship it", "stop my order right now")
ADDRESS = intent("address", "change my delivery address", "I want to move the delivery to my office")
PROBLEM = intent("problem", "my card does not work", "I can't log in", "the parcel isn't here yet")


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(Registry((CANCEL, ADDRESS, PROBLEM)), cache="off")


@pytest.fixture(scope="module")
def shipped() -> Matcher:
    return Matcher.load(ROOT / "intents")


def stages(result) -> dict[str, str]:
    return {stage.name: stage.says for stage in result.trace.stages}


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("please don't cancel my order", "cancel"),
        ("I do not want to cancel my order", "cancel"),
        ("thanks for the lamp, but please never cancel my order", "cancel"),
        ("don't change my delivery address", "address"),
    ],
)
def test_refusing_message_is_asked_about(matcher, message, intent):
    result = matcher.match(message)

    assert (result.verdict, result.intent, result.confirm) == ("ambiguous", None, False)
    assert [rival.intent for rival in result.rivals] == [intent]
    assert "but for the negation" in result.explain()
    assert list(stages(result)).index("negation") > list(stages(result)).index("decide")


@pytest.mark.parametrize(
    "message",
    [
        "my order should not be cancelled",
        "I'd rather you didn't cancel my order",
        "under no circumstances cancel my order",
        "stop cancelling my order",
        "cancel my order, no wait, don't",
        "annule pas ma commande",  # "annuler pas", after spelling correction
        "cancel my order? certainly not",
        "cancel my order? no!",
    ],
)
def test_other_negation_is_asked_about_if_it_alone_keeps_the_message_from_an_utterance(shipped, message):
    result = shipped.match(message)

    assert (result.verdict, [rival.intent for rival in result.rivals]) == ("ambiguous", ["order_cancel"])
    assert re.search("of order_cancel(?: but for the negation|, but “.+” refuses what it names)", result.explain())


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("meine Rückerstattung ist noch nicht da", "refund_status"),
        ("no puedo cancelar mi pedido", "order_cancel"),
        ("paket ist nicht angekommen", "package_not_received"),
        ("rabattkoden funkar inte", "discount_code"),
        ("pakken kom ikke frem", "package_not_received"),
        ("betalingen gikk ikke gjennom", "payment_failed"),
        ("mijn pakket is niet aangekomen", "package_not_received"),
        ("le paiement ne passe pas", "payment_failed"),
        ("интернет не работает", "internet_problem"),
    ],
)
def test_harmless_negation_is_matched(shipped, message, intent):
    assert shipped.match(message).intent == intent


def test_utterance_with_a_negation_lets_a_message_with_one_pass():
    lines = (Utterance("my order must not be cancelled", "en"), Utterance("keep my order as it is", "en"))
    matcher = Matcher.load(Registry((Intent("keep", lines), ADDRESS, PROBLEM)), cache="off")

    assert matcher.match("my order should not be cancelled").intent == "keep"


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("please cancel my order", "cancel"),
        ("I changed my mind, please don't ship it", "cancel"),  # the utterance itself
        ("oh, I changed my mind, so please don't ship it", "cancel"),  # the nearest utterance refuses too
        ("I can't log in today", "problem"),
        ("the parcel isn't here", "problem"),
    ],
)
def test_negation_of_the_intent_itself_is_matched(matcher, message, intent):
    assert matcher.match(message).intent == intent


def test_trace_says_why_nothing_is_asked(matcher):
    says = stages(matcher.match("oh, I changed my mind, so please don't ship it"))["negation"]

    assert says == "“don't” refuses, as does the nearest utterance of cancel"


def test_negation_in_another_clause_is_matched(matcher):
    result = matcher.match("do not be mad at me. cancel my order")

    assert result.intent == "cancel"
    assert "something other than cancel" in stages(result)["negation"]


@pytest.mark.parametrize("setting", [{"scorer": "cosine"}, {"fuzzy": 1.0}, {"threshold": 0.3}])
def test_refusals_are_asked_about_with_every_scorer(setting):
    matcher = Matcher.load(Registry((CANCEL, ADDRESS, PROBLEM)), cache="off", **setting)

    assert matcher.match("please don't cancel my order").verdict == "ambiguous"
    assert matcher.match("please cancel my order").intent == "cancel"


def test_result_says_that_its_intent_is_to_be_confirmed():
    cancel = Intent(CANCEL.name, CANCEL.utterances, confirm=True)
    matcher = Matcher.load(Registry((cancel, ADDRESS)), cache="off")

    assert matcher.match("please cancel my order").to_dict()["confirm"] is True
    assert matcher.match("change my delivery address").to_dict()["confirm"] is False


def test_many_messages_give_what_each_gives(matcher):
    messages = ["please don't cancel my order", "cancel my order", "don't change my delivery address"]

    assert [r.verdict for r in matcher.match_many(messages)] == [matcher.match(m).verdict for m in messages]


def test_lines_without_language_are_checked_by_words():
    lines = [Intent(one.name, tuple(Utterance(line.text) for line in one.utterances)) for one in (CANCEL, ADDRESS)]
    matcher = Matcher.load(Registry(tuple(lines)), cache="off")

    assert matcher.match("please don't cancel my order").verdict == "ambiguous"


def test_refused_part_of_several_requests_is_no_part(matcher):
    several = Matcher.load(Registry((CANCEL, ADDRESS, PROBLEM)), cache="off", several_intents=True, threshold=0.3)

    result = several.match("change my delivery address and please don't cancel my order")

    assert "cancel" not in [part.intent for part in result.parts]


def decision(*ranked: tuple[str, float, str], verdict: Verdict = "matched") -> Decision:
    candidates = tuple(Candidate(name, score, Utterance(line, "en")) for name, score, line in ranked)
    return Decision(verdict, candidates, (), None, doubtful=False, reason="")


def unlike(one: str, other: str) -> float:
    """Compare texts where nothing depends on it."""
    return 0.0


SHIP = ("cancel", 0.6, "I changed my mind, please don't ship it")
ORDER = ("cancel", 0.6, "cancel my order")
REFUND = ("refund", 0.7, "please refund me")


@pytest.mark.parametrize(
    ("text", "best", "without", "rivals"),
    [
        ("please don't cancel my order", ORDER, decision(("cancel", 0.59, "cancel my order")), ["cancel"]),
        ("please don't cancel my order", ORDER, decision(("cancel", 0.5, "cancel my order")), []),
        ("please don't ship it", SHIP, decision(("cancel", 0.7, "cancel my order")), []),
        # It refuses something else than its nearest utterance does.
        ("so please don't refund me", SHIP, decision(REFUND, SHIP), ["cancel", "refund"]),
        ("so please don't refund me", SHIP, decision(("refund", 0.59, "please refund me")), []),
        ("so please don't refund me", SHIP, decision(REFUND, verdict="out_of_scope"), []),
        # Nothing else is said.
        ("please don't refund me", ORDER, decision(REFUND), ["cancel", "refund"]),
        ("please don't refund me, cancel my order", ORDER, decision(REFUND), []),
        ("please don't refund me", ORDER, decision(("refund", 0.7, "please don't keep my money")), []),
    ],
)
def test_refused_intent_follows_from_the_clause_without_the_negation(text, best, without, rivals):
    checked = check_negation(decision(best), ReadText(text), ReadText(text), "en", lambda _: without, alike=unlike)

    assert [rival.intent for rival in checked.decision.rivals] == rivals
    assert checked.decision.verdict == ("ambiguous" if rivals else "matched")
    if rivals:
        assert f"of {rivals[-1]} but for the negation “don't”" in checked.decision.reason


@pytest.mark.parametrize(("without_it", "rivals"), [(0.62, ["cancel"]), (0.6, []), (0.5, [])])
def test_utterance_with_a_negation_excuses_no_message_that_is_nearer_to_another_without_it(without_it, rivals):
    """Its intent has "cancel my order" as well."""
    message, line = "please don't cancel it", SHIP[2]

    def alike(one: str, other: str) -> float:
        return {(message, line): 0.6, ("please cancel it", "cancel my order"): without_it}[one, other]

    checked = check_negation(
        decision(SHIP), ReadText(message), ReadText(message), "en", lambda _: decision(ORDER), alike=alike
    )

    assert [rival.intent for rival in checked.decision.rivals] == rivals


@pytest.fixture(scope="module")
def dentist() -> Matcher:
    """A bot whose line "streichen Sie" takes a request back elsewhere, and whose other line refuses."""
    lines = {
        "absagen": [
            "ich muss meinen Termin absagen",
            "Termin stornieren",
            "bitte streichen Sie meinen Termin am Dienstag",
            "den Termin brauche ich nicht mehr",
        ],
        "vereinbaren": ["ich möchte einen Termin", "haben Sie diese Woche noch einen freien Termin"],
        "verschieben": ["kann ich meinen Termin verschieben", "ich brauche einen anderen Termin"],
        "zeiten": ["wann haben Sie geöffnet", "Öffnungszeiten"],
    }
    intents = [Intent(name, tuple(Utterance(line, "de") for line in some)) for name, some in lines.items()]
    return Matcher.load(Registry(tuple(intents)), cache="off")


@pytest.mark.parametrize(
    ("message", "verdict"),
    [
        ("bitte den Termin nicht streichen", "ambiguous"),
        ("bitte streichen Sie meinen Termin nicht", "ambiguous"),
        ("streichen Sie meinen Termin am Dienstag nicht", "ambiguous"),
        ("bitte streichen Sie meinen Termin am Mittwoch", "matched"),
        ("meinen Termin brauche ich nicht", "matched"),
    ],
)
def test_message_is_asked_about_although_its_intent_has_utterances_that_refuse(dentist, message, verdict):
    result = dentist.match(message)

    assert result.verdict == verdict
    assert [one.intent for one in result.rivals] == (["absagen"] if verdict == "ambiguous" else [])
    assert result.candidates[0].intent == "absagen"


@pytest.mark.parametrize(("text", "asked"), [("nerušte mou objednávku", True), ("nechci", False)])
def test_word_without_its_prefix_may_score_less(text, asked):
    """“rušte” falls into other pieces than “nerušte”; a word alone is no clause with a prefix."""
    without = decision(("cancel", 0.52, "zrušte objednávku"))

    checked = check_negation(decision(ORDER), ReadText(text), ReadText(text), "cs", lambda _: without, alike=unlike)

    assert (checked.decision.verdict == "ambiguous") is asked


@pytest.mark.parametrize(
    ("without", "verdict"),
    [(decision(ORDER), "ambiguous"), (decision(ORDER, verdict="out_of_scope"), "out_of_scope")],
)
def test_refused_message_is_asked_about_if_its_clause_would_be_matched(without, verdict):
    """A negation lowers the confidence, but the message is about the intent all the same."""
    far = decision(("cancel", 0.4, "cancel my order"), verdict="out_of_scope")

    message = "please don't cancel my order"
    checked = check_negation(far, ReadText(message), ReadText(message), "en", lambda _: without, alike=unlike)

    assert checked.decision.verdict == verdict
    assert [rival.intent for rival in checked.decision.rivals] == (["cancel"] if verdict == "ambiguous" else [])


BLOCK = ("block", 0.6, "block my card")


@pytest.mark.parametrize(
    ("message", "behind", "verdict"),
    [
        ("I found my card, don't block it", decision(("block", 0.62, "block my card")), "ambiguous"),
        # The negation lowers the score by nothing, but the clause alone is nearest to the intent.
        ("I found my card, don't block it", decision(BLOCK), "ambiguous"),
        ("I found my card, don't block it", decision(("block", 0.59, "block my card")), "matched"),
        # A negation that belongs to the intent.
        ("I found my card, don't block it", decision(("block", 0.62, "please don't accept my card")), "matched"),
        ("I found my card, don't block it", decision(("found", 0.62, "I found my card")), "matched"),
        # It refuses nothing of what comes after it.
        ("don't wait, block my card", decision(("block", 0.9, "block my card")), "matched"),
    ],
)
def test_clause_may_refuse_what_the_clauses_before_it_name(message, behind, verdict):
    """The clause alone, "block it", is of no intent."""
    unknown = decision(("block", 0.2, "block my card"), verdict="out_of_scope")

    def read(text: str) -> Decision:
        return behind if "card" in text else unknown

    checked = check_negation(decision(BLOCK), ReadText(message), ReadText(message), "en", read, alike=unlike)

    assert checked.decision.verdict == verdict


ALLOWED = {"development": 1, "kept": 1}
"""How many messages of the lists may be matched all the same. One lies at the cut: the last bits of a processor's
arithmetic decide."""


@pytest.mark.corpus
@pytest.mark.parametrize("part", ["development", "kept"])
def test_shipped_registry_asks_about_refusals(shipped, part):
    """In every language of the registry, and in most others that the encoder knows."""
    rows = tiers.rows_of([(language, text) for language, rows in MESSAGES[part].items() for text, _ in rows])
    known = shipped.registry.languages

    results = [shipped.match(text, language=None if language in known else language) for language, text in rows]

    verdicts = [result.verdict for result in results]
    assert verdicts.count("matched") <= ALLOWED[part]
    assert verdicts.count("ambiguous") >= len(rows) - ALLOWED[part] - 1


def test_lists_name_intents_of_the_shipped_registry(shipped):
    rows = [row for part in MESSAGES.values() for rows in part.values() for row in rows]

    assert all(intent in shipped.registry for _, intent in rows)
    assert len({text for text, _ in rows}) == len(rows)


@pytest.mark.parametrize(
    ("message", "intent"),
    [
        ("I never asked for this newsletter, unsubscribe me", "newsletter_unsubscribe"),
        ("ignore my previous email and cancel the order", "order_cancel"),
        ("vergesst meine letzte Nachricht, storniert die Bestellung", "order_cancel"),
    ],
)
def test_request_after_a_refusal_of_something_else_is_matched(shipped, message, intent):
    result = shipped.match(message)

    assert (result.verdict, result.intent) == ("matched", intent)
    assert f"asks for {intent}" in stages(result)["negation"]


@pytest.mark.parametrize(
    "message",
    ["forget about the cancellation, I want to keep my order", "don't cancel my order, don't cancel anything"],
)
def test_clause_after_a_refusal_that_asks_less_clearly_changes_nothing(shipped, message):
    assert shipped.match(message).verdict == "ambiguous"


@pytest.mark.corpus
def test_most_forms_of_negated_requests_are_not_matched(shipped):
    """Requests of many forms; those that are matched as "no" or "thanks" are answered rightly."""
    messages = [message for rows in FORMS["requests"].values() for message in rows]
    some = tiers.rows_of(messages)
    matched = [message for message in some if shipped.match(message).intent not in {None, "no", "thanks"}]

    assert len(messages) == 1303
    assert len(matched) <= tiers.share_of(36, messages, some), matched


@pytest.mark.corpus
def test_negated_requests_that_chose_no_rule_are_not_matched(shipped):
    messages = [(message, intent) for rows in FORMS["kept"].values() for message, intent in rows]
    some = tiers.rows_of(messages)
    matched = [message for message, intent in some if shipped.match(message).intent == intent]

    assert len(messages) == 262
    assert len(matched) <= tiers.share_of(18, messages, some), len(matched)


@pytest.mark.corpus
def test_messages_that_describe_a_problem_are_not_taken_for_negated_requests(shipped):
    messages = [message for rows in FORMS["problems"].values() for message in rows]
    asked = [m for m in tiers.rows_of(messages) if "would be" in stages(shipped.match(m)).get("negation", "")]

    assert len(messages) == 342
    assert len(asked) <= 1, asked


# Parts of `consent.yaml`, whose bot is the same, and the four lists of `consent_fresh.yaml`. The bounds are what was
# measured: of 64 statements and of 32 messages that ask for an intent, and of 100 and 60 and of 72 and 40 in the third
# and fourth list.
@pytest.mark.parametrize(
    ("file", "parts", "opposite", "same"),
    [
        ("consent.yaml", ("looked at", "kept"), 8, 25),
        ("consent_fresh.yaml", ("first",), 11, 20),
        ("consent_fresh.yaml", ("second",), 16, 15),
        ("consent_fresh.yaml", ("third",), 20, 43),
        ("consent_fresh.yaml", ("fourth",), 17, 29),
    ],
)
def test_statements_of_consent_and_their_opposite(file, parts, opposite, same):
    """A known weakness: refusals in a verb of their own ("I withhold my consent") may be matched with the opposite."""
    content = yaml.safe_load((Path(__file__).parent / file).read_text(encoding="utf-8"))
    lists = [content[part] for part in parts]
    lines_of = content["intents"] if "intents" in content else lists[0]["intents"]
    intents = [
        Intent(name, tuple(Utterance(text, code) for code, texts in lines.items() for text in texts))
        for name, lines in lines_of.items()
    ]
    bot = Matcher.load(Registry(tuple(intents)), cache="off")

    def matched(kind: str) -> int:
        texts = [text for one in lists for some in one[kind].values() for text in some]
        return sum(bot.match(text).verdict == "matched" for text in texts)

    assert matched("opposite") <= opposite
    assert matched("same") >= same


def test_line_that_reads_like_a_refusal_is_compared_as_one_of_its_intent():
    """The network takes the first line for a refusal (0.87), which excused each refusal near it."""
    agrees = "Ich bin mit der Weitergabe meiner Daten an Partner einverstanden"
    lines = {
        "share": [agrees, "Meine Daten dürfen weitergegeben werden", "Teilt meine Daten ruhig mit Partnern"],
        "bill": ["Ich möchte meine Rechnung sehen", "wo ist meine Rechnung", "ich brauche die Rechnung vom Mai"],
    }
    intents = [Intent(name, tuple(Utterance(text, "de") for text in texts)) for name, texts in lines.items()]
    bot = Matcher.load(Registry(tuple(intents)), cache="off")

    assert bot.match(agrees.replace("einverstanden", "nicht einverstanden")).verdict == "ambiguous"
    assert bot.match(agrees.replace("Partner", "eure Partner")).intent == "share"


@pytest.fixture(scope="module")
def citizens_office() -> Matcher:
    """Bots about matters that happen to people have lines in words that are neither requests nor refusals."""
    lines = {
        "lost": ["my passport was stolen", "I lost my identity card", "mein Pass wurde gestohlen", "Ausweis verloren"],
        "blocked": ["my pin does not work", "mein Zugang funktioniert nicht", "my login is blocked"],
        "renew": ["renew my passport", "my passport has expired", "ich brauche einen neuen Pass"],
    }
    return Matcher.load(
        Registry(tuple(Intent(name, tuple(Utterance(text) for text in texts)) for name, texts in lines.items())),
        cache="off",
    )


@pytest.mark.parametrize(
    ("message", "word", "intent"),
    [("mein Pass wurde nicht gestohlen", "nicht", "lost"), ("hi, my passport was not stolen", "not", "lost")],
)
def test_statement_that_is_denied_by_one_word_is_asked_about(citizens_office, message, word, intent):
    """It hardly reads like a refusal, but without the word it is the utterance."""
    result = citizens_office.match(message)

    assert (result.verdict, [rival.intent for rival in result.rivals]) == ("ambiguous", [intent])
    assert f"but for “{word}”" in result.trace.reason


@pytest.mark.parametrize(
    ("message", "intent"),
    [("my pin doesn't work", "blocked"), ("mein Zugang funktioniert heute nicht", "blocked")],
)
def test_problem_in_words_of_denial_is_matched(citizens_office, message, intent):
    assert citizens_office.match(message).intent == intent


def test_part_that_may_refuse_does_not_answer_a_message_that_nobody_understands():
    """“don't block it” is nearest to a line that refuses, in another language; the whole message is of no intent."""
    bot = Matcher.load(ROOT / "intents" / "orders.yaml")

    assert bot.match("I found my card, don't block it").verdict == "out_of_scope"


@pytest.mark.parametrize(
    ("message", "intent"),
    [("absagen", "appointment_cancel"), ("Reklam maili almak istemiyorum", "newsletter_unsubscribe")],
)
def test_denial_is_compared_with_an_utterance_in_its_language(shipped, message, intent):
    """A word of that utterance denies nothing of it, whatever it reads like alone."""
    assert shipped.match(message).intent == intent


def test_denied_utterance_that_reads_like_courtesy_is_asked_about():
    """The network takes "this is an emergency" for courtesy; the other utterances show that the intent is none."""
    lines = {
        "emergency": (
            "this is an emergency",
            "my dog was hit by a car",
            "she can't breathe properly",
            "he is bleeding a lot",
            "he has collapsed",
            "he ate chocolate, what should I do",
            "she was bitten by a snake",
        ),
        "prices": ("what does a check-up cost", "how much is a vaccination", "what do you charge"),
    }
    intents = (Intent(name, tuple(Utterance(text, "en") for text in texts)) for name, texts in lines.items())
    bot = Matcher.load(Registry(tuple(intents)), cache="off")

    assert bot.match("this is an emergency!").intent == "emergency"
    assert [rival.intent for rival in bot.match("it's not an emergency").rivals] == ["emergency"]
