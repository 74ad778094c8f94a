"""The built file: identical answers without YAML, and nothing believed that does not check."""

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

from intentmatch.artefact import store as room
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError, StaleArtefactError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.matching.matcher import Matcher

SHIPPED = Path(__file__).parents[2] / "intents"
MESSAGES = ["wo ist mein Paket?", "no", "cancle my order", "write me a poem", "where is my stuff", "", "我要退货吗"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Matcher, Path]:
    """The project's own intents, matched from YAML, and their artefact."""
    matcher = Matcher.load(SHIPPED, cache="off", threshold={"de": 0.4}, margin=0.05)
    path = tmp_path_factory.mktemp("built") / "shop.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_answers_are_identical(built: tuple[Matcher, Path]) -> None:
    """A matcher from the artefact gives equal results, traces and places included, and equal settings."""
    matcher, path = built
    loaded = Matcher.load(path)

    assert [loaded.match(m) for m in MESSAGES] == [matcher.match(m) for m in MESSAGES]
    assert loaded.settings.to_dict() == matcher.settings.to_dict()
    assert loaded.artefact.fingerprint == matcher.artefact.fingerprint
    assert loaded.registry.fingerprint == matcher.registry.fingerprint


def test_settings_can_still_be_given(built: tuple[Matcher, Path]) -> None:
    """An argument wins over what the artefact was built with; another aggregation is calibrated afresh."""
    _, path = built

    assert Matcher.load(path, margin=0.2).settings.margin == 0.2
    assert load_artefact(path).settings.origin("cache") == "default"
    fresh = Matcher.load(SHIPPED, aggregation="max", cache="off").artefact.calibration
    assert Matcher.load(path, aggregation="max").artefact.calibration == fresh


def test_building_twice_writes_the_same_bytes(built: tuple[Matcher, Path], tmp_path: Path) -> None:
    """An artefact depends on its content alone."""
    matcher, path = built
    save_artefact(matcher.artefact, tmp_path / "again.intentmatch")

    assert (tmp_path / "again.intentmatch").read_bytes() == path.read_bytes()


def test_the_manifest_describes_the_file(built: tuple[Matcher, Path]) -> None:
    """Format, versions, fingerprints, settings and calibration are readable JSON in the header."""
    matcher, path = built
    with safe_open(path, framework="numpy") as file:
        manifest = json.loads(file.metadata()["intentmatch"])

    assert manifest["format"] == room.FORMAT
    assert manifest["fingerprint"] == matcher.artefact.fingerprint
    assert manifest["encoder"] == {"name": "static", "fingerprint": matcher.encoder.fingerprint}
    assert manifest["settings"]["margin"] == 0.05
    assert not {"device", "precision", "cache"} & set(manifest["settings"])


def test_another_encoder_is_refused(built: tuple[Matcher, Path]) -> None:
    """Vectors of one encoder are never searched with another's."""
    with pytest.raises(StaleArtefactError, match=r"built with the encoder static .* in use is"):
        Matcher.load(built[1], encoder=WordHashEncoder())


def test_another_version_is_refused(built: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of another text version or format says so and how to get a new one."""
    monkeypatch.setattr(room, "TEXT_VERSION", 99)
    with pytest.raises(StaleArtefactError, match="intentmatch build"):
        load_artefact(built[1])
    monkeypatch.undo()
    monkeypatch.setattr(room, "FORMAT", 99)
    with pytest.raises(StaleArtefactError, match="reads 99"):
        load_artefact(built[1])


def test_damage_anywhere_is_an_error(built: tuple[Matcher, Path], tmp_path: Path) -> None:
    """A truncated file, or a flipped byte in the header, the vectors or the registry, is never believed."""
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


def test_a_large_file_is_mapped_and_answers_alike(built: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of a large artefact stay in the file, cannot be written to, and are the very numbers that were saved."""
    monkeypatch.setattr(room, "_MAPPED_FROM", 0)
    matcher, path = built
    loaded = Matcher.load(path)

    assert not loaded.artefact.vectors.flags.owndata
    assert not loaded.artefact.vectors.flags.writeable
    assert (loaded.artefact.vectors == matcher.artefact.vectors).all()
    assert [loaded.match(m) for m in MESSAGES] == [matcher.match(m) for m in MESSAGES]
    assert Matcher.load(path, aggregation="max").match(MESSAGES[0]).candidates


def test_a_mapped_file_may_be_replaced_while_it_answers(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new artefact is swapped in; who has mapped the old one goes on with the old."""
    monkeypatch.setattr(room, "_MAPPED_FROM", 0)
    path = tmp_path / "shop.intentmatch"
    path.write_bytes(built[1].read_bytes())
    loaded = Matcher.load(path)
    before = [loaded.match(m) for m in MESSAGES]

    save_artefact(Matcher.load(Registry((Intent("a", (Utterance("a"),)),)), cache="off").artefact, path)

    assert [loaded.match(m) for m in MESSAGES] == before
    loaded.reload()
    assert len(loaded.registry) == 1


def test_damage_of_a_mapped_file_is_an_error(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is mapped is checked as everything else is."""
    monkeypatch.setattr(room, "_MAPPED_FROM", 0)
    test_damage_anywhere_is_an_error(built, tmp_path)


def test_other_safetensors_files_are_refused(tmp_path: Path, built: tuple[Matcher, Path]) -> None:
    """A model file is not an artefact, and neither is one whose manifest is not ours."""
    tensors = load_file(built[1])
    save_file(tensors, tmp_path / "model.safetensors")
    save_file(tensors, tmp_path / "odd.safetensors", {"intentmatch": "[]"})

    for name in ("model.safetensors", "odd.safetensors"):
        with pytest.raises(ArtefactError, match="not an artefact"):
            Matcher.load(tmp_path / name)


def test_a_failed_write_leaves_the_old_file(
    built: tuple[Matcher, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is there whole, old or new, and no scrap of a failed write stays behind."""
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
    """A registry just large enough to have a head, under the fake encoder, and its artefact."""
    things = ("parcel", "bill", "password", "table", "flight", "doctor", "heating", "salary", "printer", "holiday")
    forms = ("my {}", "what about the {} then", "help me with a {}", "{} please", "is the {} there")
    registry = Registry(tuple(Intent(t, tuple(Utterance(f.format(t), "en") for f in forms)) for t in things))
    matcher = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")
    path = tmp_path_factory.mktemp("small") / "bot.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_what_was_learned_is_kept_to_the_last_bit(small: tuple[Matcher, Path]) -> None:
    """Head, words and calibration come back as they were, and so do scores, evidence and confidence."""
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
    ],
)
def test_other_settings_learn_again(small: tuple[Matcher, Path], settings: dict[str, Any]) -> None:
    """What decides what is learned may be given to an artefact: it is then as if it had been built so."""
    matcher, path = small

    loaded = Matcher.load(path, encoder=WordHashEncoder(), **settings)

    anew = Matcher.load(matcher.registry, encoder=WordHashEncoder(), cache="off", **settings)
    assert loaded.artefact.calibration == anew.artefact.calibration != matcher.artefact.calibration
    assert (loaded.artefact.trained_head is None) == ("scorer" in settings)
    assert loaded.match("where is the bill") == anew.match("where is the bill")


def test_settings_that_teach_nothing_learn_nothing_again(
    small: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A threshold or a margin is taken as it is, and the head stays that of the file."""
    monkeypatch.setattr("intentmatch.matching.loader.load_or_train", None)

    loaded = Matcher.load(small[1], encoder=WordHashEncoder(), threshold=0.3, margin=0.1, fuzzy=0.9, top_k=2)

    assert loaded.artefact.calibration == small[0].artefact.calibration
    assert loaded.match("where is the bill").trace.threshold == 0.3


def test_a_file_without_a_head_has_none(small: tuple[Matcher, Path], tmp_path: Path) -> None:
    """Under `scorer: cosine` nothing of a head or of words is written, nor made up when it is read."""
    matcher = Matcher.load(small[0].registry, encoder=WordHashEncoder(), cache="off", scorer="cosine")
    save_artefact(matcher.artefact, tmp_path / "bot.intentmatch")

    assert set(load_file(tmp_path / "bot.intentmatch")) == {"utterances", "negatives", "labels", "registry"}
    assert load_artefact(tmp_path / "bot.intentmatch").trained_head is None
    assert Matcher.load(tmp_path / "bot.intentmatch", encoder=WordHashEncoder()).match("where is the bill") == (
        matcher.match("where is the bill")
    )


def test_words_of_another_version_are_refused(small: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """A head that knows other places of words is not listened to, and the error names what differs."""
    monkeypatch.setattr(room, "TOKEN_FEATURES_VERSION", 99)

    with pytest.raises(StaleArtefactError, match=r"words version 1.*reads .*99.*intentmatch build"):
        load_artefact(small[1])


@pytest.fixture(scope="module")
def halved(built: tuple[Matcher, Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Matcher, Path]:
    """The same intents, with vectors of float16."""
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    matcher = Matcher.load(SHIPPED, cache="off", threshold={"de": 0.4}, margin=0.05, vectors="float16")
    path = tmp_path_factory.mktemp("halved") / "shop.intentmatch"
    save_artefact(matcher.artefact, path)
    return matcher, path


def test_vectors_of_float16_take_half_the_room_and_decide_alike(
    built: tuple[Matcher, Path], halved: tuple[Matcher, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores move in the fourth digit; the file, read or mapped, answers as the matcher that wrote it."""
    matcher, path = halved
    whole, half = (load_artefact(file).vectors for file in (built[1], path))
    assert (whole.dtype, half.dtype, half.nbytes) == (np.float32, np.float16, whole.nbytes // 2)

    for message in MESSAGES:
        expected, found = built[0].match(message), matcher.match(message)
        assert (found.verdict, found.intent) == (expected.verdict, expected.intent)
        assert found.score == pytest.approx(expected.score, abs=1e-3)
        assert found.confidence == pytest.approx(expected.confidence, abs=1e-2)
    for mapped_from in (1 << 26, 1):
        monkeypatch.setattr(room, "_MAPPED_FROM", mapped_from)
        loaded = Matcher.load(path)
        assert [loaded.match(message) for message in MESSAGES] == [matcher.match(message) for message in MESSAGES]
        assert loaded.match_many(MESSAGES)[0].intent == matcher.match(MESSAGES[0]).intent


def test_vectors_are_kept_as_the_settings_of_a_loaded_file_say(
    built: tuple[Matcher, Path], halved: tuple[Matcher, Path]
) -> None:
    """Float16 of a file that has float32, and the other way round; what is learned again is learned of them."""
    whole, half = Matcher.load(halved[1], vectors="float32"), Matcher.load(built[1], vectors="float16")

    assert whole.artefact.vectors.dtype == np.float32
    assert np.array_equal(half.artefact.vectors, halved[0].artefact.vectors)
    again = Matcher.load(halved[1], aggregation="max").artefact
    fresh = Matcher.load(SHIPPED, aggregation="max", cache="off", vectors="float16").artefact
    assert (again.vectors.dtype, again.calibration) == (np.float16, fresh.calibration)


@pytest.mark.parametrize(("before", "after"), [("float16", "float32"), ("float32", "float16")])
def test_vectors_are_those_of_a_build_when_the_setting_is_edited(tmp_path: Path, before: str, after: str) -> None:
    """What was rounded is not taken over for what shall not be."""
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    file = tmp_path / "bot.yaml"
    text = (SHIPPED / "orders.yaml").read_text(encoding="utf-8")
    file.write_text(f"settings: {{vectors: {before}}}\n{text}", encoding="utf-8")
    matcher = Matcher.load(file, cache="off")
    file.write_text(f"settings: {{vectors: {after}}}\n{text}", encoding="utf-8")
    matcher.reload()

    assert matcher.artefact.vectors.dtype == after
    assert np.array_equal(matcher.artefact.vectors, Matcher.load(file, cache="off").artefact.vectors)


def test_an_edit_of_vectors_of_float16_is_what_a_build_is(tmp_path: Path) -> None:
    """Vectors that are taken over have been rounded before, and come out the same."""
    pytest.importorskip("numkong", reason="the extra [ann] is not installed")
    file = tmp_path / "bot.yaml"
    text = (SHIPPED / "orders.yaml").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    matcher = Matcher.load(file, cache="off", vectors="float16")
    file.write_text(text.replace("- where is my order\n", "- where is my order\n        - where did my order go\n"))
    matcher.reload()

    assert file.read_text(encoding="utf-8") != text
    fresh = Matcher.load(file, cache="off", vectors="float16")
    assert np.array_equal(matcher.artefact.vectors, fresh.artefact.vectors)
    assert matcher.artefact.calibration == fresh.artefact.calibration


def test_artefact_of_release_0_1_0_is_read() -> None:
    """An artefact that release 0.1.0 built answers without being built again."""
    old = Matcher.load(Path(__file__).parent / "data" / "shop-0.1.0.intentmatch")

    assert [intent.name for intent in old.registry] == ["order_status", "order_cancel", "opening_hours"]
    assert old.match("siparişim nerede").intent == "order_status"
    assert old.match("how tall is the Eiffel tower").verdict == "out_of_scope"
