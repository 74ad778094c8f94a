"""The languages of the embedded tokenizer's pieces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.pieces import languages
from intentmatch.pieces.embedded import EMBEDDED, embedded_tokenizer
from intentmatch.pieces.languages import (
    FILE,
    PieceLanguages,
    piece_languages,
    pieces_of,
    read_piece_languages,
)
from intentmatch.storage.sealed import seal


@pytest.fixture
def small() -> PieceLanguages:
    """Piece 0 is English or German, piece 1 only Swedish, piece 2 is a number."""
    first = np.array([[0, 1, 2, 2], [2, 0, 0, 0], [0, 0, 0, 0]], dtype=np.uint8)
    levels = np.array([5 | 4 << 4, 15, 0], dtype=np.uint16)
    return PieceLanguages(("en", "de", "sv"), first, levels, np.array([0.0, -1.0, -2.0], dtype=np.float32))


def guess(text: str) -> str | None:
    known = piece_languages()
    evidence = known.evidence_of(text)
    return None if evidence is None else known.codes[int((evidence + known.prior).argmax())]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("where is my order?", "en"),
        ("wo ist mein Paket?", "de"),
        ("var är mitt paket?", "sv"),
        ("jag vill avbryta min beställning", "sv"),
        ("де моє замовлення?", "uk"),
        ("где мой заказ?", "ru"),
        ("¿dónde está mi pedido?", "es"),
        ("cancelar a minha encomenda, por favor", "pt"),
        ("我的包裹在哪里", "zh"),
        ("荷物はどこですか", "ja"),
        ("บริการของฉันอยู่ที่ไหน", "th"),
        ("أريد إلغاء الطلب", "ar"),
        ("سفارش من کجاست؟", "fa"),
    ],
)
def test_language_of_a_short_message(text: str, language: str) -> None:
    assert guess(text) == language


@pytest.mark.parametrize("text", ["", "12345", "50 %", "😭👍", "?!", "ᎭᏩ"])
def test_text_without_letters_that_the_tokenizer_knows_has_no_language(text: str) -> None:
    assert piece_languages().evidence_of(text) is None


def test_evidence_adds_up_over_different_pieces(small: PieceLanguages) -> None:
    """A repeated piece counts once, and a piece without evidence changes nothing."""
    assert small.evidence([0]) == pytest.approx([4.0, 3.2, 0.0])
    assert small.evidence([0, 1, 0, 2]) == pytest.approx([4.0, 3.2, 12.0])
    assert small.evidence([2]) is None
    assert small.evidence([]) is None


@pytest.mark.parametrize("text", ["where is my order?", "wo ist mein Paket?", "荷物はどこですか", "taxi hotel", "12"])
def test_bound_is_never_below_the_distance_to_the_likeliest_language(text: str) -> None:
    known, pieces = piece_languages(), embedded_tokenizer().encode(text, 512)
    evidence = known.evidence(pieces)
    likely = known.prior if evidence is None else evidence + known.prior

    for language in range(len(known.codes)):
        assert known.most_behind(pieces, language) >= float(likely.max() - likely[language]) - 1e-6


def test_bound_is_exact_for_a_single_piece(small: PieceLanguages) -> None:
    assert small.most_behind([0], 0) == pytest.approx(0.0)
    assert small.most_behind([0], 2) == pytest.approx(2.0 + 4.0)
    assert small.most_behind([2, 2], 1) == pytest.approx(1.0)


def test_saved_languages_are_read_as_they_were(small: PieceLanguages, tmp_path: Path) -> None:
    small.save(tmp_path)
    read = read_piece_languages(tmp_path)

    assert read.codes == small.codes
    assert read.prior.tolist() == small.prior.tolist()
    assert read.evidence([0, 1]) == pytest.approx(small.evidence([0, 1]))


def test_bad_file_is_refused(small: PieceLanguages, tmp_path: Path) -> None:
    """A missing one, a damaged one, one without codes, one byte of it, and one whose tables do not fit together."""
    reasons = []
    for broken in ("missing", "damaged", "without codes", "another byte", "wrong shape", "unknown language"):
        if broken == "damaged":
            (tmp_path / FILE).write_bytes(b"\x08\0\0\0\0\0\0\0 broken ")
        elif broken == "without codes":
            (tmp_path / FILE).write_bytes(seal({"languages": small.languages}, {}))
        elif broken == "another byte":
            small.save(tmp_path)
            (tmp_path / FILE).write_bytes((tmp_path / FILE).read_bytes()[:-1] + b"\x7f")
        elif broken == "wrong shape":
            PieceLanguages(small.codes, small.languages[:2], small.levels, small.prior).save(tmp_path)
        elif broken == "unknown language":
            PieceLanguages(small.codes[:2], small.languages, small.levels, small.prior[:2]).save(tmp_path)
        with pytest.raises(ModelUnavailableError, match="cannot be read") as raised:
            read_piece_languages(tmp_path)
        reasons.append(str(raised.value))

    assert len({*reasons}) == 5
    assert "do not fit together" in reasons[-1]


def test_file_of_another_tokenizer_is_refused(
    small: PieceLanguages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small.save(tmp_path)
    monkeypatch.setattr(languages, "EMBEDDED", tmp_path)

    with pytest.raises(ModelUnavailableError, match="another tokenizer"):
        piece_languages.__wrapped__()


def test_shipped_file_fits_the_embedded_tokenizer_and_one_megabyte() -> None:
    assert len(piece_languages().levels) == embedded_tokenizer().size
    assert len(set(piece_languages().codes)) == len(piece_languages().codes) > 100
    assert (EMBEDDED / FILE).stat().st_size <= 1_000_000


def test_advantage_counts_the_pieces_that_a_language_makes_likelier() -> None:
    """A title in another language does not reduce it."""
    known = piece_languages()
    danish, english = known.codes.index("da"), np.array([known.codes.index("en")])

    def advantage(text: str) -> float:
        return known.advantage(pieces_of(text), danish, english)

    assert advantage("find filmen med titlen for mig") > 7.0
    assert advantage("find filmen med titlen louder than bombs for mig") >= advantage("find filmen med titlen for mig")
    assert advantage("louder than bombs") < 3.0
    assert advantage("12345") == 0.0
