"""The reranker that aligns words."""

from __future__ import annotations

import pytest

from intentmatch import Matcher
from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.core.types import Reranker
from intentmatch.matching.reranker import load_reranker
from intentmatch.matching.word_reranker import WordReranker


def test_setting_words_needs_no_model() -> None:
    """A cross-encoder of that name can still be had by its kind."""
    for setting in ("words", "words:"):
        reranker = load_reranker(Settings(reranker=setting))
        assert isinstance(reranker, WordReranker)
        assert isinstance(reranker, Reranker)


def test_model_behind_the_name_is_an_error() -> None:
    with pytest.raises(SettingsError, match="takes no model"):
        load_reranker(Settings(reranker="words:large"))


def test_utterance_with_the_words_of_the_message_scores_highest() -> None:
    """By meaning, in any order and in another language."""
    scores = WordReranker().score(
        "cancel the order", ["cancel the order", "order, cancel", "Bestellung stornieren", "where is the parcel"]
    )

    assert scores[0] == pytest.approx(1.0, abs=1e-5)
    assert min(scores[:3]) > 0.8 > 0.4 > scores[3]


def test_content_words_count_more_than_common_ones() -> None:
    content, common = WordReranker().score("the parcel", ["parcel", "the"])

    assert content > common + 0.3


def test_texts_without_known_words_score_0() -> None:
    assert WordReranker().score("cancel", ["ᚠᚢᚦ", "cancel", ""]).tolist() == [0.0, pytest.approx(1.0), 0.0]
    assert WordReranker().score("ᚠᚢᚦ", ["cancel"]).tolist() == [0.0]
    assert WordReranker().score("cancel", []).shape == (0,)


def test_reranker_is_asked_in_doubt_only() -> None:
    bot = Matcher.load("intents", reranker="words", band=1.0)

    doubtful, exact = bot.match("my thing has not come"), bot.match("cancel my order")

    assert doubtful.trace.decided_by == "reranker"
    assert any(stage.name == "reranker" and "words moved" in stage.says for stage in doubtful.trace.stages)
    assert exact.trace.decided_by == "exact"
