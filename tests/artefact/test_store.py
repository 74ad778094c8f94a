"""The artefact file: it gives identical answers without YAML, and damage is detected."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fakes import WordHashEncoder
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

from intentmatch.artefact import store
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError, StaleArtefactError
from intentmatch.core.types import Case, Intent, Registry, Utterance
from intentmatch.matching.matcher import Matcher
from intentmatch.storage import sealed

SHIPPED = Path(__file__).parents[2] / "intents"
MESSAGES = ["wo ist mein Paket?", "no", "cancle my order", "write me a poem", "where is my stuff", "", "我要退货吗"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Matcher, Path]:
    """A matcher for the project's own intents, read from YAML, and its artefact."""
    matcher = Matcher.load(SHIPPED, cache="off", threshold={"de": 0.4}, margin=0.05)
    path = tmp_path_factory.mktemp("built") / "shop.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_loaded_artefact_gives_identical_results(built: tuple[Matcher, Path]) -> None:
    """Traces, places and settings included."""
    matcher, path = built
    loaded = Matcher.load(path)

    assert [loaded.match(m) for m in MESSAGES] == [matcher.match(m) for m in MESSAGES]
    assert loaded.settings.to_dict() == matcher.settings.to_dict()
    assert loaded.artefact.fingerprint == matcher.artefact.fingerprint
    assert loaded.registry.fingerprint == matcher.registry.fingerprint


def test_explicit_settings_override_the_artefact(built: tuple[Matcher, Path]) -> None:
    """Another aggregation is calibrated again."""
    _, path = built

    assert Matcher.load(path, margin=0.2).settings.margin == 0.2
    assert load_artefact(path).settings.origin("cache") == "default"
    fresh = Matcher.load(SHIPPED, aggregation="max", cache="off").artefact.calibration
    assert Matcher.load(path, aggregation="max").artefact.calibration == fresh


def test_saving_twice_writes_the_same_bytes(built: tuple[Matcher, Path], tmp_path: Path) -> None:
    matcher, path = built
    save_artefact(matcher.artefact, tmp_path / "again.intentmatch")

    assert (tmp_path / "again.intentmatch").read_bytes() == path.read_bytes()


def test_manifest_describes_the_file(built: tuple[Matcher, Path]) -> None:
    """In readable JSON in the header."""
    matcher, path = built
    with safe_open(path, framework="numpy") as file:
        manifest = json.loads(file.metadata()["intentmatch"])

    assert manifest["format"] == store.FORMAT
    assert manifest["fingerprint"] == matcher.artefact.fingerprint
    assert manifest["encoder"] == {"name": "static", "fingerprint": matcher.encoder.fingerprint}
    assert manifest["settings"]["margin"] == 0.05
    assert not {"device", "precision", "cache"} & set(manifest["settings"])


def test_another_encoder_is_refused(built: tuple[Matcher, Path]) -> None:
    with pytest.raises(StaleArtefactError, match=r"built with the encoder static .* in use is"):
        Matcher.load(built[1], encoder=WordHashEncoder())


def test_another_version_is_refused(built: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the command that builds a new one."""
    monkeypatch.setattr(store, "TEXT_VERSION", 99)
    with pytest.raises(StaleArtefactError, match="intentmatch build"):
        load_artefact(built[1])
    monkeypatch.undo()
    monkeypatch.setattr(store, "FORMAT", 99)
    with pytest.raises(StaleArtefactError, match="reads 99"):
        load_artefact(built[1])


def test_damaged_file_is_an_error(built: tuple[Matcher, Path], tmp_path: Path) -> None:
    """Truncated, or with one bit flipped in header, vectors or registry."""
    whole = built[1].read_bytes()
    broken = tmp_path / "broken.intentmatch"
    for size in (0, 4, 100, len(whole) // 2, len(whole) - 1):
        broken.write_bytes(whole[:size])
        with pytest.raises(ArtefactError):
            load_artefact(broken)
    header = int.from_bytes(whole[:8], "little")
    for position in (3, 20, header + 100, len(whole) // 2, len(whole) - 10):
        broken.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(ArtefactError):
            load_artefact(broken)


def test_large_file_is_mapped_and_gives_identical_results(
    built: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its vectors are read-only."""
    monkeypatch.setattr(sealed, "_MAPPED_FROM", 0)
    matcher, path = built
    loaded = Matcher.load(path)

    assert not loaded.artefact.vectors.flags.owndata
    assert not loaded.artefact.vectors.flags.writeable
    assert (loaded.artefact.vectors == matcher.artefact.vectors).all()
    assert [loaded.match(m) for m in MESSAGES] == [matcher.match(m) for m in MESSAGES]
    assert Matcher.load(path, aggregation="max").match(MESSAGES[0]).candidates


def test_mapped_file_may_be_replaced_while_in_use(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loaded matcher keeps the old content until it reloads."""
    monkeypatch.setattr(sealed, "_MAPPED_FROM", 0)
    path = tmp_path / "shop.intentmatch"
    path.write_bytes(built[1].read_bytes())
    loaded = Matcher.load(path)
    before = [loaded.match(m) for m in MESSAGES]

    save_artefact(Matcher.load(Registry((Intent("a", (Utterance("a"),)),)), cache="off").artefact, path)

    assert [loaded.match(m) for m in MESSAGES] == before
    loaded.reload()
    assert len(loaded.registry) == 1


def test_damaged_mapped_file_is_an_error(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sealed, "_MAPPED_FROM", 0)
    test_damaged_file_is_an_error(built, tmp_path)


def test_other_safetensors_files_are_refused(tmp_path: Path, built: tuple[Matcher, Path]) -> None:
    """Without a manifest, or with an invalid one."""
    tensors = load_file(built[1])
    save_file(tensors, tmp_path / "model.safetensors")
    save_file(tensors, tmp_path / "odd.safetensors", {"intentmatch": "[]"})

    for name in ("model.safetensors", "odd.safetensors"):
        with pytest.raises(ArtefactError, match="not an artefact"):
            Matcher.load(tmp_path / name)


def test_failed_write_leaves_the_old_file(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And no temporary file."""
    matcher, _ = built
    target = tmp_path / "shop.intentmatch"
    target.write_bytes(b"old")

    def fail(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)

    with pytest.raises(ArtefactError, match="No space left"):
        save_artefact(matcher.artefact, target)
    assert target.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["shop.intentmatch"]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Matcher, Path]:
    """A registry just large enough to have a head, with the fake encoder, and its artefact."""
    things = ("parcel", "bill", "password", "table", "flight", "doctor", "heating", "salary", "printer", "holiday")
    forms = ("my {}", "what about the {} then", "help me with a {}", "{} please", "is the {} there")
    registry = Registry(tuple(Intent(t, tuple(Utterance(f.format(t), "en") for f in forms)) for t in things))
    matcher = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")
    path = tmp_path_factory.mktemp("small") / "bot.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_head_and_calibration_round_trip_to_the_last_bit(small: tuple[Matcher, Path]) -> None:
    matcher, path = small
    before, after = matcher.artefact, load_artefact(path)

    assert before.trained_head is not None
    assert after.trained_head is not None
    for one, other in [
        (before.trained_head.head.weights, after.trained_head.head.weights),
        (before.trained_head.vectorizer.rarity, after.trained_head.vectorizer.rarity),
        (before.vectors, after.vectors),
    ]:
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    assert after.calibration == before.calibration
    loaded = Matcher.load(path, encoder=WordHashEncoder())
    messages = ["where is the bill", "the doctor in the flight", "quantum"]
    for one_result, other_result in zip(matcher.match_many(messages), loaded.match_many(messages), strict=True):
        assert one_result == other_result
        assert [c.evidence for c in one_result.candidates] == [c.evidence for c in other_result.candidates]


@pytest.mark.parametrize(
    "settings",
    [
        {"scorer": "cosine"},
        {"aggregation": "max"},
        {"target": {"false_accept": 0.1}},
        {"target": "balance", "scorer": "cosine"},
        {"out_of_scope_share": 0.4},
    ],
)
def test_changed_training_settings_train_again(small: tuple[Matcher, Path], settings: dict[str, Any]) -> None:
    """The result equals a build with these settings."""
    matcher, path = small

    loaded = Matcher.load(path, encoder=WordHashEncoder(), **settings)

    fresh = Matcher.load(matcher.registry, encoder=WordHashEncoder(), cache="off", **settings)
    assert loaded.artefact.calibration == fresh.artefact.calibration != matcher.artefact.calibration
    assert (loaded.artefact.trained_head is None) == ("scorer" in settings)
    assert loaded.match("where is the bill") == fresh.match("where is the bill")


def test_artefact_keeps_the_tests_that_it_learns_from(tmp_path: Path) -> None:
    """So that it can be trained again, and is loaded as it was built."""
    encoder, words = WordHashEncoder(), ["order", "parcel", "invoice", "refund", "card", "door", "light", "music"]
    intents = (Intent(w, tuple(Utterance(f"{s} the {w}") for s in ("cancel", "show", "find", "send"))) for w in words)
    tests = tuple(Case(f"please {start} my {w}", w) for w in words for start in ("cancel", "show", "find", "send"))
    bot = Registry(tuple(intents), tests=(*tests, Case("rain?", None)))
    learned = Matcher.load(bot, encoder=encoder, out_of_scope_share="tests", cache="off")
    save_artefact(learned.artefact, tmp_path / "learned.intentmatch")

    loaded = Matcher.load(tmp_path / "learned.intentmatch", encoder=encoder)
    balanced = Matcher.load(tmp_path / "learned.intentmatch", encoder=encoder, target="balance")
    told = Matcher.load(tmp_path / "learned.intentmatch", encoder=encoder, out_of_scope_share=0.4)

    assert loaded.registry.tests == bot.tests
    assert loaded.artefact.calibration == learned.artefact.calibration
    assert loaded.artefact.calibration.labelled.cases == balanced.artefact.calibration.labelled.cases == 33
    assert loaded.artefact.fingerprint == learned.artefact.fingerprint
    assert (told.artefact.calibration.labelled, told.artefact.out_of_scope_share) == (None, 0.4)
    assert told.artefact.calibration.cut != loaded.artefact.calibration.cut


def test_other_settings_do_not_train_again(small: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intentmatch.matching.loader.load_or_train", None)

    loaded = Matcher.load(small[1], encoder=WordHashEncoder(), threshold=0.3, margin=0.1, fuzzy=0.9, top_k=2)

    assert loaded.artefact.calibration == small[0].artefact.calibration
    assert loaded.match("where is the bill").trace.threshold == 0.3


def test_cosine_scorer_writes_no_head(small: tuple[Matcher, Path], tmp_path: Path) -> None:
    matcher = Matcher.load(small[0].registry, encoder=WordHashEncoder(), cache="off", scorer="cosine")
    save_artefact(matcher.artefact, tmp_path / "bot.intentmatch")

    assert set(load_file(tmp_path / "bot.intentmatch")) == {"utterances", "negatives", "labels", "registry"}
    assert load_artefact(tmp_path / "bot.intentmatch").trained_head is None
    assert Matcher.load(tmp_path / "bot.intentmatch", encoder=WordHashEncoder()).match("where is the bill") == (
        matcher.match("where is the bill")
    )


def test_other_token_features_version_is_refused(small: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "TOKEN_FEATURES_VERSION", 99)

    with pytest.raises(StaleArtefactError, match=r"words version 1.*reads .*99.*intentmatch build"):
        load_artefact(small[1])


@pytest.fixture(scope="module")
def half_precision(built: tuple[Matcher, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Matcher, Path]:
    """The same intents, with vectors of float16."""
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    matcher = Matcher.load(SHIPPED, cache="off", threshold={"de": 0.4}, margin=0.05, vectors="float16")
    path = tmp_path_factory.mktemp("half_precision") / "shop.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_float16_vectors_take_half_the_space_and_give_the_same_verdicts(
    built: tuple[Matcher, Path], half_precision: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores differ by at most 0.001."""
    matcher, path = half_precision
    whole, half = (load_artefact(file).vectors for file in (built[1], path))
    assert (whole.dtype, half.dtype, half.nbytes) == (np.float32, np.float16, whole.nbytes // 2)

    for message in MESSAGES:
        expected, found = built[0].match(message), matcher.match(message)
        assert (found.verdict, found.intent) == (expected.verdict, expected.intent)
        assert found.score == pytest.approx(expected.score, abs=1e-3)
        assert found.confidence == pytest.approx(expected.confidence, abs=1e-2)
    for mapped_from in (1 << 26, 1):
        monkeypatch.setattr(sealed, "_MAPPED_FROM", mapped_from)
        loaded = Matcher.load(path)
        assert [loaded.match(message) for message in MESSAGES] == [matcher.match(message) for message in MESSAGES]
        assert loaded.match_many(MESSAGES)[0].intent == matcher.match(MESSAGES[0]).intent


def test_vectors_setting_converts_the_vectors_of_a_loaded_file(
    built: tuple[Matcher, Path], half_precision: tuple[Matcher, Path]
) -> None:
    """Training again uses the converted vectors."""
    whole, half = Matcher.load(half_precision[1], vectors="float32"), Matcher.load(built[1], vectors="float16")

    assert whole.artefact.vectors.dtype == np.float32
    assert np.array_equal(half.artefact.vectors, half_precision[0].artefact.vectors)
    again = Matcher.load(half_precision[1], aggregation="max").artefact
    fresh = Matcher.load(SHIPPED, aggregation="max", cache="off", vectors="float16").artefact
    assert (again.vectors.dtype, again.calibration) == (np.float16, fresh.calibration)


@pytest.mark.parametrize(("before", "after"), [("float16", "float32"), ("float32", "float16")])
def test_edited_vectors_setting_encodes_rounded_vectors_again(tmp_path: Path, before: str, after: str) -> None:
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    file = tmp_path / "bot.yaml"
    text = (SHIPPED / "orders.yaml").read_text(encoding="utf-8")
    file.write_text(f"settings: {{vectors: {before}}}\n{text}", encoding="utf-8")
    matcher = Matcher.load(file, cache="off")
    file.write_text(f"settings: {{vectors: {after}}}\n{text}", encoding="utf-8")
    matcher.reload()

    assert matcher.artefact.vectors.dtype == after
    assert np.array_equal(matcher.artefact.vectors, Matcher.load(file, cache="off").artefact.vectors)


def test_reload_with_float16_vectors_equals_a_build(tmp_path: Path) -> None:
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    file = tmp_path / "bot.yaml"
    text = (SHIPPED / "orders.yaml").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    matcher = Matcher.load(file, cache="off", vectors="float16")
    file.write_text(text.replace("- where is my order\n", "- where is my order\n        - where did my order go\n"))
    matcher.reload()

    assert file.read_text(encoding="utf-8") != text
    fresh = Matcher.load(file, cache="off", vectors="float16")
    # Some processors round a line otherwise beside others: by a bit of float32, and so of float16 once in a while.
    kept, made = (bot.artefact.vectors for bot in (matcher, fresh))
    assert kept.dtype == made.dtype == np.float16
    assert np.allclose(kept.astype(np.float32), made.astype(np.float32), rtol=1e-3, atol=1e-6)
    assert matcher.artefact.calibration.cases == fresh.artefact.calibration.cases
    # As far apart as the vectors may be: .0003 on such a processor.
    assert matcher.artefact.calibration.sharpness == pytest.approx(fresh.artefact.calibration.sharpness, rel=1e-3)


def test_calibration_for_other_languages_is_stored(built: tuple[Matcher, Path]) -> None:
    """Another target trains it again with the encoder's translations."""
    matcher, path = built

    assert matcher.artefact.foreign is not None
    assert load_artefact(path).foreign == matcher.artefact.foreign
    again = Matcher.load(path, target={"precision": 0.8}).artefact.foreign
    assert again == Matcher.load(SHIPPED, cache="off", target={"precision": 0.8}).artefact.foreign
    assert again != matcher.artefact.foreign


def test_artefact_of_an_earlier_release_asks_for_a_new_build() -> None:
    """Its digest does not cover its header."""
    with pytest.raises(StaleArtefactError, match=r"has format 4.*this one reads 8.*Run `intentmatch build` again"):
        load_artefact(Path(__file__).parent / "data" / "shop-0.1.0.intentmatch")
