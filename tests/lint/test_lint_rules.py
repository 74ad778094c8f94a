"""Each rule on chosen vectors: one registry that it must report, and one that it must not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from subjects import around, lines, subject

from intentmatch.lint import rules, shape
from intentmatch.lint.rules import overlaps
from intentmatch.lint.run import LINE_RULES, SENTENCE_RULES
from intentmatch.lint.subject import Subject

EYE = np.eye(12).tolist()


def found(rule, about) -> list[tuple[int, int, str]]:
    """Return line, column and rule of each problem."""
    return [(p.location.line, p.location.column, p.rule) for p in rule(about)]


def two_intents(extra=(), aggregation="mean2"):
    """Make two distant intents of five lines each; `extra` lines follow in the first intent."""
    first = lines("hello", around(EYE[0], 5, 0.1, seed=1))
    return subject({"a": [*first, *extra], "b": lines("bye", around(EYE[1], 5, 0.1, seed=2))}, aggregation)


@pytest.mark.parametrize("aggregation", ["mean2", "max"])
def test_line_among_those_of_another_intent_is_misplaced(aggregation):
    """The message names the nearest line of the other intent."""
    about = two_intents([("see you", "en", EYE[1])], aggregation)

    (problem,) = rules.misplaced_utterance(about)

    assert str(problem.location) == "bot.yaml:106:7"
    assert (problem.severity, problem.rule) == ("warning", "misplaced-utterance")
    assert problem.message.startswith("“see you” is nearer to 'b' (")
    assert "at bot.yaml:20" in problem.message
    assert problem.hint == "give 'a' more lines like it, or reword it"


def test_line_slightly_nearer_to_another_intent_is_not_misplaced():
    leaning = [0.99, 1.0] + [0.0] * 10

    assert found(rules.misplaced_utterance, two_intents()) == []
    assert found(rules.misplaced_utterance, two_intents([("hello and bye", "en", leaning)])) == []


def test_only_line_in_a_language_is_not_misplaced():
    """Some encoders place lines of one language near each other, whatever their intents."""
    english, german = np.asarray(EYE[5]), np.asarray(EYE[6])

    def both(direction, language, count, seed):
        return around((np.asarray(direction) + 3.0 * language).tolist(), count, 0.1, seed)

    greeting = lines("hello", both(EYE[0], english, 5, 1))
    lone = ("hallo", "de", (np.asarray(EYE[0]) + 3.0 * german).tolist())
    leaving = [*lines("bye", both(EYE[1], english, 5, 2)), *lines("tschüss", both(EYE[1], german, 5, 3), "de")]

    assert found(rules.misplaced_utterance, subject({"a": [*greeting, lone], "b": leaving})) == []
    # With undeclared languages, the line is compared with all lines of the other intent.
    undeclared = {
        "a": [(text, None, v) for text, _, v in [*greeting, lone]],
        "b": [(text, None, v) for text, _, v in leaving],
    }
    assert found(rules.misplaced_utterance, subject(undeclared)) == [(106, 7, "misplaced-utterance")]


def test_intents_with_lines_nearer_to_each_other_overlap():
    """The place is that of the worst line's intent; the pair with the most errors comes first."""
    mixed = around(EYE[0], 12, 0.3, seed=4)
    other = around(EYE[2], 12, 0.3, seed=5)
    about = subject(
        {
            "a": lines("a", mixed[:6]),
            "b": lines("b", mixed[6:]),
            "c": lines("c", [*other[:6], *around(EYE[4], 6, 0.05, seed=8)]),
            "d": lines("d", [*other[6:], *around(EYE[5], 6, 0.05, seed=9)]),
            "e": lines("e", around(EYE[7], 6, 0.1, seed=6)),
        }
    )

    ranked = overlaps(about)
    problems = list(rules.overlapping_intents(about))

    assert {(pair.first, pair.second) for pair in ranked} == {("a", "b"), ("c", "d")}
    assert [pair.errors for pair in ranked] == sorted((pair.errors for pair in ranked), reverse=True)
    for rank, (pair, problem) in enumerate(zip(ranked, problems, strict=True), 1):
        assert problem.location == pair.location
        assert problem.location.line in {"a": (100, 200), "c": (300, 400)}[pair.first]
        assert f"{pair.errors} of their {pair.lines} utterances" in problem.message
        assert f"(number {rank} of 2 such pairs)" in problem.message
        assert all(f"“{line.text}” at {line.location.short}" in problem.message for line in (pair.worst, pair.near))


@pytest.mark.parametrize(("strays", "overlap"), [(1, False), (2, False), (3, True)])
def test_three_misplaced_lines_are_an_overlap(strays, overlap):
    """Each lies in another part of the other intent."""
    places = EYE[1], EYE[2], EYE[3]
    first = lines("hello", around(EYE[0], 5, 0.1, seed=1))
    first += [(f"stray {n}", "en", around(place, 1, 0.05, seed=9)[0]) for n, place in enumerate(places[:strays])]
    second = [line for n, place in enumerate(places) for line in lines(f"bye {n}", around(place, 3, 0.05, seed=n))]
    pairs = overlaps(subject({"a": first, "b": second}))

    assert [pair.errors for pair in pairs] == [strays][:overlap]


def test_intent_without_utterances_has_not_few():
    """Another rule reports it."""
    assert found(shape.few_utterances, subject({"a": [], "b": lines("b", around(EYE[1], 5, 0.1))})) == []


def test_nearly_the_same_line_is_reported_at_the_later_one():
    """A note within one intent, a warning across two; each names the other line."""
    close = (np.asarray(EYE[0]) + 0.01 * np.asarray(EYE[3])).tolist()
    spread = [*around(EYE[0], 5, 0.3, seed=1)]
    within = subject({"a": [*lines("x", spread), ("y", "en", EYE[0]), ("z", "en", close)], "b": lines("b", [EYE[1]])})
    across = subject({"a": [*lines("x", spread), ("y", "en", EYE[0])], "b": [("z", "en", close)]})

    (note,) = rules.near_duplicate(within)
    (warning,) = rules.near_conflict(across)

    assert (note.location.line, note.severity) == (107, "info")
    assert "“z” is nearly the same as “y” (bot.yaml:106)" in note.message
    assert (warning.location.line, warning.severity) == (201, "warning")
    assert "“z” of 'b' is nearly the same as “y” of 'a' (bot.yaml:106)" in warning.message
    assert list(rules.near_conflict(within)) == list(rules.near_duplicate(across)) == []


def test_same_text_and_translations_are_not_near_duplicates():
    """The rule `duplicate-utterance` reports the same text; a translation is intended."""
    spread = lines("x", around(EYE[0], 5, 0.3, seed=1))

    assert found(rules.near_duplicate, subject({"a": [*spread, ("y", "en", EYE[0]), ("Y!", "en", EYE[0])]})) == []
    assert found(rules.near_duplicate, subject({"a": [*spread, ("y", "en", EYE[0]), ("z", "de", EYE[0])]})) == []


@pytest.mark.parametrize(("count", "others", "expected"), [(2, 4, 1), (3, 4, 0), (3, 20, 1), (10, 100, 0), (1, 1, 2)])
def test_few_is_fewer_than_three_or_a_quarter_of_the_median(count, others, expected):
    """The place is that of the intent; ten lines are always enough."""
    intents = {"a": lines("a", [EYE[0]] * count), "b": lines("b", [EYE[1]] * others)}
    if expected < 2:
        intents["c"] = lines("c", [EYE[2]] * others)

    problems = found(shape.few_utterances, subject(intents))

    assert len(problems) == expected
    assert problems[:1] == [(100, 3, "few-utterances")][:expected]


def test_lines_much_more_alike_than_the_median_are_uniform():
    """The place is that of the intent; equally similar intents are not reported."""
    usual = {name: lines(name, around(EYE[n], 6, 0.2, seed=n)) for n, name in enumerate("abc")}
    uniform = lines("d", around(EYE[4], 6, 0.02, seed=9))

    assert found(shape.uniform_utterances, subject({**usual, "d": uniform})) == [(400, 3, "uniform-utterances")]
    assert found(shape.uniform_utterances, subject(usual)) == []


def test_intent_of_two_halves_is_reported_with_typical_lines():
    whole = {f"i{n}": lines(f"i{n}", around(EYE[n], 8, 0.1, seed=n)) for n in range(8)}
    split = [*around(EYE[10], 5, 0.1, seed=20), *around(EYE[11], 5, 0.1, seed=21)]
    mixture = np.asarray(EYE[10]) + EYE[8]
    beside = {"j0": lines("j0", around(mixture.tolist(), 8, 0.1, seed=22)), "j1": lines("j1", split)}
    beside["j2"] = lines("j2", around((np.asarray(EYE[11]) + EYE[9]).tolist(), 8, 0.1, seed=23))
    about = subject({**whole, **beside})

    (problem,) = shape.two_clusters(about)

    assert (problem.location.line, problem.rule, problem.severity) == (1000, "two-clusters", "info")
    assert problem.message.count("5 lines") == 2
    assert found(shape.two_clusters, subject(whole)) == []


def test_two_languages_are_not_two_clusters():
    """The mean vector of each language is subtracted first."""
    intents = {}
    for n in range(9):
        english = around((np.asarray(EYE[n]) + 3.0 * np.asarray(EYE[10])).tolist(), 4, 0.1, seed=n)
        german = around((np.asarray(EYE[n]) + 3.0 * np.asarray(EYE[11])).tolist(), 4, 0.1, seed=50 + n)
        intents[f"i{n}"] = [*lines(f"e{n}", english), *lines(f"d{n}", german, "de")]

    assert found(shape.two_clusters, subject(intents)) == []


@pytest.mark.parametrize("rule", [*LINE_RULES, *SENTENCE_RULES], ids=lambda rule: rule.__name__)
def test_rule_finds_nothing_if_there_is_nothing_to_compare(rule):
    """One intent; lines that the encoder does not know, alone and with others."""
    zero = [0.0] * 12

    for intents in ({"a": [EYE[0]] * 3}, {"a": [zero] * 3, "b": [zero] * 3}, {"a": [zero] * 3, "b": [EYE[0]] * 3}):
        assert found(rule, subject({name: lines(name, vectors) for name, vectors in intents.items()})) == []


def with_tags(about, **tags):
    """Return the subject with `when` for some of its intents."""
    intents = (replace(intent, when=tuple(tags.get(intent.name, "").split())) for intent in about.registry)
    return Subject(replace(about.registry, intents=tuple(intents)), about.vectors, about.aggregation)


def twins():
    """Two intents with the same five lines, and each with another that is near the lines of both."""
    same = [(f"line {number}", "en", direction) for number, direction in enumerate(around(EYE[0], 5, 0.2))]
    return subject(
        {
            "a": [*same, ("only a", "en", around(EYE[0], 1, 0.02, seed=4)[0])],
            "b": [*same, ("only b", "en", around(EYE[0], 1, 0.02, seed=5)[0])],
            "c": lines("bye", around(EYE[1], 5, 0.2, seed=2)),
        }
    )


RULES_OF_NEIGHBOURS = (rules.misplaced_utterance, rules.overlapping_intents, rules.near_conflict)


def test_intents_that_are_never_active_at_once_are_not_compared():
    about = with_tags(twins(), a="ordering", b="closing")

    assert [found(rule, about) for rule in RULES_OF_NEIGHBOURS] == [[], [], []]
    assert overlaps(about) == []
    assert found(rules.near_conflict, with_tags(twins(), a="ordering", b="ordering")) != []


def test_lines_that_an_intent_with_and_one_without_when_share_are_not_compared():
    """Their other lines are: both intents may answer while the tag is active."""
    about = with_tags(twins(), a="ordering")

    assert overlaps(about) == []
    assert [line for line, _, _ in found(rules.near_conflict, about)] == [206]


def test_lines_of_an_intent_with_when_are_compared_with_those_of_all_others():
    about = with_tags(two_intents([("see you", "en", EYE[1])]), a="ordering")

    assert [line for line, _, _ in found(rules.misplaced_utterance, about)] == [106]
