"""Options of one match, resolved against a registry."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import InputError, UnknownNameError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching.options import MatchOptions
from intentmatch.matching.options_resolver import OptionsResolver, ResolvedOptions


def intent(name: str, *when: str) -> Intent:
    return Intent(name, (Utterance(name, "en"),), when=when)


ALWAYS, AFTER_OFFER, AFTER_ORDER = intent("greet"), intent("yes", "offer"), intent("cancel", "order", "offer")


def test_options_without_values_take_those_of_the_registry() -> None:
    assert OptionsResolver(Registry((ALWAYS,)), top_k=4).resolve(MatchOptions()) == ResolvedOptions(4)


def test_language_code_is_checked() -> None:
    resolver = OptionsResolver(Registry((ALWAYS,)), top_k=4)

    assert resolver.resolve(MatchOptions(language="pt_br", top_k=1)) == ResolvedOptions(1, "pt-BR")
    with pytest.raises(InputError, match="language"):
        resolver.resolve(MatchOptions(language="?"))


@pytest.mark.parametrize(
    ("context", "expected"),
    [((), {0}), (("offer",), {0, 1, 2}), (("order",), {0, 2}), (("other",), {0})],
)
def test_intents_with_when_answer_while_a_tag_of_theirs_is_active(context: tuple[str, ...], expected: set[int]) -> None:
    resolver = OptionsResolver(Registry((ALWAYS, AFTER_OFFER, AFTER_ORDER)), top_k=4)

    assert resolver.permitted(None, context) == expected


def test_all_intents_answer_if_none_has_when() -> None:
    assert OptionsResolver(Registry((ALWAYS,)), top_k=4).permitted(None, ["offer"]) is None


def test_named_intents_answer_whatever_their_tags() -> None:
    resolver = OptionsResolver(Registry((ALWAYS, AFTER_OFFER)), top_k=4)

    assert resolver.permitted(["yes"]) == {1}
    assert resolver.permitted([]) == frozenset()
    with pytest.raises(UnknownNameError, match="no"):
        resolver.permitted(["no"])
