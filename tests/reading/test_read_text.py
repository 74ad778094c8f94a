"""A text that is split once for all who read it."""

from __future__ import annotations

import pytest

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.pieces.embedded import embedded_tokenizer, known_pieces
from intentmatch.pieces.unigram import UnigramTokenizer
from intentmatch.reading.text import ReadText
from intentmatch.text.normalize import clean


@pytest.mark.parametrize(
    "message", ["Where's my ORDER, please?", "wo ist das Paket 12", "ᚠᚢᚦ", "注文をキャンセル", "", "?!"]
)
def test_words_are_those_of_the_folded_text_and_pieces_those_of_the_tokenizer(message: str) -> None:
    text = ReadText(clean(message))

    assert " ".join(text.words) == text.key
    assert text.distinct == {*text.words}
    assert text.pieces == embedded_tokenizer().encode(text.text, 512)
    assert text.known_pieces == known_pieces(text.text)


def registry(intents: int) -> Registry:
    names = [f"{verb} {thing}" for verb in ("send", "lose", "find", "sell") for thing in "abcdefghij"][:intents]
    lines = ("please {} now", "i want to {} today", "can you {} for me")
    return Registry(
        tuple(Intent(f"n{n}", tuple(Utterance(x.format(name)) for x in lines)) for n, name in enumerate(names))
    )


@pytest.mark.parametrize("intents", [3, 40])
def test_a_message_is_tokenized_once(intents: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """For its language, its vector, its token features and the alignment of its words, with and without a shortlist."""
    matcher = Matcher.load(registry(intents), cache="off")
    message = "could you please send a to me today"
    matcher.match(message)
    texts: list[str] = []
    encode = UnigramTokenizer.encode

    def counted(tokenizer: UnigramTokenizer, text: str, most: int) -> list[int]:
        texts.append(text)
        return encode(tokenizer, text, most)

    monkeypatch.setattr(UnigramTokenizer, "encode", counted)
    result = matcher.match(message)

    assert result.trace.decided_by in ("head", "dense")
    assert texts == [message]
    texts.clear()
    matcher.match_many([message, "please find c for me today"])
    assert sorted(texts) == [message, "please find c for me today"]
