"""Which proposed lines are kept: planted good and bad lines for four bots.

The bounds were chosen on the lines of the library. Those of the other bots were used for no choice.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from intentmatch import Matcher
from intentmatch.authoring.growing.line_filter import LineFilter
from intentmatch.authoring.growing.tasks import Task
from intentmatch.core.types import Intent, Registry, Utterance

HERE = Path(__file__).parent


def task(intent: str, language: str | None = "en") -> Task:
    return Task("paraphrase", intent, language, intent, None, ())


def kept(bot: str, matcher: Matcher) -> tuple[Counter[str], Counter[str]]:
    """The numbers of kept lines and of all lines, by what is wrong with them."""
    line_filter, found, every = LineFilter(matcher), Counter[str](), Counter[str]()
    for row in (HERE / f"planted_{bot}.tsv").read_text(encoding="utf-8").splitlines():
        kind, intent, language, text = row.split("\t")
        (proposal,) = line_filter.filtered(task(intent, language), [text.replace("\\n", "\n")])
        every[kind] += 1
        found[kind] += proposal.refused is None
    return found, every


def shares(found: Counter[str], every: Counter[str]) -> tuple[float, float]:
    """The shares of good and of bad lines that are kept."""
    bad = every.total() - every["good"]
    return found["good"] / every["good"], (found.total() - found["good"]) / bad


def test_lines_that_the_bounds_were_chosen_on(library: Matcher) -> None:
    good, bad = shares(*kept("library", library))

    assert good >= 0.9
    assert bad <= 0.05


def test_lines_that_nothing_was_chosen_on() -> None:
    """89% of the good lines are kept, 9% of the bad ones: half of the messages near the intent but out of scope."""
    found, every = Counter[str](), Counter[str]()
    for bot in ("gym", "clinic"):
        of_bot = kept(bot, Matcher.load(HERE / f"{bot}.yaml", cache="off"))
        found.update(of_bot[0])
        every.update(of_bot[1])
    good, bad = shares(found, every)

    assert good >= 0.85
    assert bad <= 0.12
    del found["near"], every["near"]
    assert shares(found, every)[1] <= 0.02


def test_lines_off_by_one_word_pass_too_often() -> None:
    """89% of the good lines are kept and 26% of the bad ones: 45 of these 100 are off by a word, and 25 of them pass.

    "cancel my magazine subscription" is near "cancel my booking". Of the other bad lines 1 of 55 passes.
    """
    found, every = kept("hotel", Matcher.load(HERE / "hotel.yaml", cache="off"))
    good, bad = shares(found, every)

    assert every["good"] == every.total() - every["good"] == 100
    assert good >= 0.85
    assert bad <= 0.3
    del found["near"], every["near"]
    assert shares(found, every)[1] <= 0.02


@pytest.mark.parametrize(
    ("intent", "line", "reason"),
    [
        ("renew_loan", "Please extend my loan!", "the same as “please extend my loan” of renew_loan"),
        ("renew_loan", "please extend my laon", "only by spelling from “please extend my loan” of renew_loan"),
        ("pay_fine", "could you give me another week with this book", "the same as the test “could you"),
        ("pay_fine", "what time do you open on Tuesday", "opening_hours claims it"),
        ("renew_loan", "extend my loan {title}", "a template or markup"),
        ("wifi_help", "quelle est la capitale du Pérou", "it reads like fr, not en"),
        ("renew_loan", "paint my kitchen green", "does not claim it|claims it"),
        ("lost_card", "my credit card application was rejected", "no line of lost_card has words like its own"),
    ],
)  # fmt: skip
def test_reason_is_told(library: Matcher, intent: str, line: str, reason: str) -> None:
    (found,) = LineFilter(library).filtered(task(intent), [line])

    assert found.refused is not None
    assert any(part in found.refused for part in reason.split("|"))


def test_kept_line_is_known_from_then_on(library: Matcher) -> None:
    line_filter = LineFilter(library)
    line = "may I have this novel for another week"

    first, second = line_filter.filtered(task("renew_loan"), [line, f"{line}!"])
    (third,) = line_filter.filtered(task("renew_loan"), [line])

    assert (first.refused, first.text) == (None, line)
    assert first.confidence is not None
    assert first.confidence > 0.7
    assert second.refused == third.refused == f"it is the same as “{line}”, proposed before"


def test_line_that_something_else_refuses_is_no_line(library: Matcher) -> None:
    line_filter, line = LineFilter(library), "may I have this novel for another week"
    (first,) = line_filter.filtered(task("renew_loan"), [line])

    line_filter.forget([first])

    assert line_filter.filtered(task("renew_loan"), [line]) == [first]


def test_negative_is_no_line() -> None:
    registry = Registry(
        (
            Intent("cancel", (Utterance("cancel my order"),), negatives=(Utterance("cancel my flight"),)),
            Intent("greet", (Utterance("hello there"),)),
        )
    )
    (found,) = LineFilter(Matcher.load(registry, cache="off")).filtered(task("cancel", None), ["Cancel my flight"])

    assert found.refused == "it is the same as “cancel my flight”, which is no line of cancel"


def test_small_registry_without_confidence_goes_by_the_verdict() -> None:
    registry = Registry(
        (
            Intent("cancel", (Utterance("cancel my order please"), Utterance("stop the order"))),
            Intent("greet", (Utterance("hello there"), Utterance("good morning"))),
        )
    )
    line_filter = LineFilter(Matcher.load(registry, cache="off"))

    near, far = line_filter.filtered(task("cancel", None), ["please stop my order", "quantum chromodynamics"])

    assert (near.refused, near.confidence) == (None, None)
    assert far.refused is not None


def test_intent_with_tags_claims_its_lines_in_its_context() -> None:
    registry = Registry(
        (
            Intent("confirm", (Utterance("yes please do that"), Utterance("go ahead and do it")), when=("asked",)),
            Intent("greet", (Utterance("hello there"), Utterance("good morning"))),
        )
    )
    (found,) = LineFilter(Matcher.load(registry, cache="off")).filtered(task("confirm", None), ["please go ahead"])

    assert found.refused is None
