"""The remote encoder: batches, prompts, fingerprint, keys, and bots that use it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from embeddings_server import FakeServer, serving, serving_ours
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.artefact.store import load_artefact, save_artefact
from intentmatch.core.errors import ModelUnavailableError, SettingsError, StaleArtefactError
from intentmatch.core.settings import LOCAL, Settings, resolve
from intentmatch.core.types import Encoder, Kind, Vectors
from intentmatch.encoders import load_encoder
from intentmatch.encoders.remote import RemoteEncoder

SECRET = "sk-not-for-anyone's-eyes"
REGISTRY = Registry(
    (
        Intent("where", (Utterance("where is my order"), Utterance("track my parcel"))),
        Intent("stop", (Utterance("cancel my order"), Utterance("I do not want it any more"))),
    )
)


class PerturbedEncoder(WordHashEncoder):
    """Another model of the same name: each vector moves by `distance` in its own direction."""

    def __init__(self, distance: float, seed: int = 1) -> None:
        super().__init__()
        self.distance, self.seed = distance, seed

    def encode(self, texts: Any, *, kind: Kind = "utterance") -> Vectors:
        vectors = super().encode(texts, kind=kind)
        moves = np.random.default_rng(self.seed).normal(size=(64, 64)) / 8.0
        return np.asarray(vectors + self.distance * vectors @ moves, dtype=np.float32)


@pytest.fixture
def encoder(server: FakeServer) -> RemoteEncoder:
    """The remote encoder; the server's record of the probe request is cleared."""
    encoder = RemoteEncoder(server.openai, "m")
    server.asked.clear()
    return encoder


def sent(server: FakeServer) -> list[str]:
    return [text for body in server.asked for text in body.get("input", body.get("inputs"))]


def test_texts_are_sent_in_batches_of_32(server: FakeServer, encoder: RemoteEncoder) -> None:
    texts = [f"text number {number}" for number in range(70)]
    vectors = encoder.encode(texts)

    assert [len(body["input"]) for body in server.asked] == [32, 32, 6]
    assert np.allclose(vectors, server.encoder.encode(texts), atol=1e-6)


def test_blank_texts_give_zeros_and_are_not_sent(server: FakeServer, encoder: RemoteEncoder) -> None:
    vectors = encoder.encode(["", "hello", " \n"])

    assert sent(server) == ["hello"]
    assert vectors.any(axis=1).tolist() == [False, True, False]
    assert encoder.encode([]).shape == (0, 64)
    assert encoder.encode(["", ""]).shape == (2, 64)
    assert len(server.asked) == 1


def test_long_texts_are_cut_to_2000_characters(server: FakeServer, encoder: RemoteEncoder) -> None:
    encoder.encode(["x" * 10_000])

    assert sent(server) == ["x" * 2000]


def test_prompts_are_prefixed_by_kind_and_change_the_fingerprint(server: FakeServer) -> None:
    plain, prompted = (
        RemoteEncoder(server.openai, "m", prompts=prompts) for prompts in ({}, {"query": "ask: ", "utterance": "say: "})
    )
    server.asked.clear()
    prompted.encode(["hello"])
    prompted.encode(["hello", ""], kind="query")

    assert sent(server) == ["say: hello", "ask: hello"]
    assert not prompted.same_as(plain.fingerprint)


def test_e5_model_gets_its_usual_prompts_unless_settings_override(server: FakeServer) -> None:
    name = "intfloat/multilingual-e5-small"
    usual, given = RemoteEncoder(server.openai, name), RemoteEncoder(server.openai, name, prompts={"query": ""})
    server.asked.clear()
    for encoder in (usual, given):
        encoder.encode(["hello"], kind="query")

    assert sent(server) == ["query: hello", "hello"]


def test_changed_dimension_is_an_error(server: FakeServer, encoder: RemoteEncoder) -> None:
    server.script = [(200, {}, {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]})]

    with pytest.raises(ModelUnavailableError, match="its vectors had 64 numbers, now they have 3"):
        encoder.encode(["hello"])


def test_fingerprint_depends_on_the_model_name_not_the_url(server: FakeServer) -> None:
    here = RemoteEncoder(server.openai, "m")
    with serving(FakeServer()) as other:
        there = RemoteEncoder(other.tei, "m")

    assert here.fingerprint == there.fingerprint
    assert here.same_as(there.fingerprint)
    assert not here.same_as(RemoteEncoder(server.openai, "n").fingerprint)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("distance", "same"), [(1e-4, True), (1e-2, True), (0.8, False), (3.0, False)])
def test_same_as_tolerates_rounding_but_not_another_model(
    server: FakeServer, encoder: RemoteEncoder, distance: float, same: bool, seed: int
) -> None:
    server.encoder = PerturbedEncoder(distance, seed)
    again = RemoteEncoder(server.openai, "m")

    assert again.same_as(encoder.fingerprint) is same
    assert encoder.same_as(again.fingerprint) is same
    if not same:
        assert again.fingerprint != encoder.fingerprint


@pytest.mark.parametrize("change", ["", "-", "none", "word-hash-1", "{}-", "{}-zz", "{}-" + "z" * 32, "{}", "--"])
def test_same_as_refuses_malformed_fingerprints(encoder: RemoteEncoder, change: str) -> None:
    assert not encoder.same_as(change.format(encoder.fingerprint.partition("-")[0]))


def test_small_dimension_has_a_fingerprint(server: FakeServer) -> None:
    server.script = [(200, {}, [[1.0, -2.0, 3.0]] * 4), (200, {}, [[1.0, 2.0, 3.0]] * 4)]
    first, second = RemoteEncoder(server.tei), RemoteEncoder(server.tei)

    assert first.dim == 3
    assert first.same_as(first.fingerprint)
    assert not first.same_as(second.fingerprint)


def build_artefact(server: FakeServer, path: Path) -> Path:
    """Build an artefact with the server's model."""
    save_artefact(Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off").artefact, path)
    return path


def test_bot_is_built_and_answers_with_the_key_of_the_environment(
    server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The artefact does not contain the key, and is not given it either: the operator names the server."""
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY", SECRET)
    file = build_artefact(server, tmp_path / "bot.intentmatch")
    with pytest.raises(SettingsError, match="set INTENTMATCH_REMOTE_KEY_HOSTS=http://127"):
        Matcher.load(file, cache="off")
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY_HOSTS", server.openai.removesuffix("/v1/embeddings"))
    matcher = Matcher.load(file, cache="off")
    words = {stage.name: stage.says for stage in matcher.match("please cancel my orders").trace.stages}

    assert words["encode"] == f"encoded by remote:{server.openai}#m"
    assert matcher.match("cancel my orders").candidates[0].intent == "stop"
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {SECRET}"}
    assert SECRET.encode() not in file.read_bytes()
    assert asyncio.run(matcher.amatch("where is the order")).candidates[0].intent == "where"


def test_artefact_works_with_the_same_model_at_another_url(server: FakeServer, tmp_path: Path) -> None:
    file = build_artefact(server, tmp_path / "bot.intentmatch")
    with serving(FakeServer(PerturbedEncoder(1e-2))) as other:
        matcher = Matcher.load(file, encoder=f"remote:{other.openai}#m")

        assert matcher.match("cancel my orders").candidates[0].intent == "stop"


def test_artefact_is_stale_for_another_model_of_the_same_name(server: FakeServer, tmp_path: Path) -> None:
    file = build_artefact(server, tmp_path / "bot.intentmatch")
    server.encoder = PerturbedEncoder(1.0)

    with pytest.raises(StaleArtefactError, match="Run `intentmatch build` again"):
        Matcher.load(file)


def test_artefact_with_malformed_fingerprint_is_stale(
    server: FakeServer, encoder: RemoteEncoder, tmp_path: Path
) -> None:
    artefact = load_artefact(build_artefact(server, tmp_path / "bot.intentmatch"))

    with pytest.raises(StaleArtefactError):
        replace(artefact, encoder_fingerprint="5").check_encoder(encoder)


def test_vectors_are_cached(server: FakeServer, tmp_path: Path) -> None:
    """A second start sends only the probes and the self-test."""
    for _ in range(2):
        server.asked.clear()
        Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache=str(tmp_path))

    assert "track my parcel" not in sent(server)


def test_matcher_recovers_after_a_server_error(server: FakeServer, tmp_path: Path) -> None:
    """A failed message raises; exact hits need no model; the next message is answered."""
    matcher = Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off")
    server.script = [(400, {}, {"error": "the model is being changed"})]

    with pytest.raises(ModelUnavailableError, match="the model is being changed"):
        matcher.match("something else")
    assert matcher.match("track my parcel").intent == "where"
    assert matcher.match("something else").candidates


def test_intentmatch_server_works_as_embedding_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results equal those of the embedded encoder; a missing key is reported."""
    pytest.importorskip("uvicorn", reason="needs the extra [server]")
    messages = ["wo ist mein Paket", "cancel", "what a lovely day", "x" * 5000, "👩‍👩‍👧"]
    with serving_ours(Matcher.load(REGISTRY, cache="off"), keys=[SECRET]) as url:
        with pytest.raises(ModelUnavailableError, match="asks for a key"):
            Matcher.load(REGISTRY, encoder=f"remote:{url}/v1/embeddings#embedded", cache="off")
        monkeypatch.setenv("INTENTMATCH_REMOTE_KEY", SECRET)
        there = Matcher.load(REGISTRY, encoder=f"remote:{url}/v1/embeddings#embedded", cache="off").match_many(messages)
    here = Matcher.load(REGISTRY, cache="off").match_many(messages)

    assert [result.verdict for result in there] == [result.verdict for result in here]
    assert np.allclose([result.score for result in there], [result.score for result in here], atol=1e-5)


def test_webhook_answers_503_while_the_remote_encoder_fails(server: FakeServer) -> None:
    pytest.importorskip("fastapi", reason="needs the extra [server]")
    from starlette.testclient import TestClient

    from intentmatch.server import create_app

    matcher = Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off")
    with TestClient(create_app(matcher)) as client:
        server.script = [(404, {}, b"")]
        answers = [client.post("/match", json={"text": f"number {turn}"}) for turn in range(2)]

    assert [answer.status_code for answer in answers] == [503, 200]
    assert "gives no vectors: it answered with status 404" in answers[0].json()["detail"]


def test_reload_replaces_the_encoder_when_remote_seconds_changes(server: FakeServer, tmp_path: Path) -> None:
    """Otherwise the encoder is reused."""
    file = tmp_path / "bot.yaml"
    text = f"settings: {{encoder: 'remote:{server.openai}#m', cache: off}}\nintents: {{a: {{utterances: [hello]}}}}\n"
    file.write_text(text, encoding="utf-8")
    matcher = Matcher.load(file)
    first = matcher.encoder
    matcher.reload()
    assert matcher.encoder is first

    file.write_text(text.replace("cache", "remote_seconds: 3, cache"), encoding="utf-8")
    matcher.reload()
    assert matcher.encoder is not first


def test_key_is_read_from_a_file(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the line end."""
    (tmp_path / "key").write_text(f"{SECRET}\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY_FILE", str(tmp_path / "key"))
    load_encoder(resolve({"encoder": f"remote:{server.tei}"}))

    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("name", "value", "content", "expected"),
    [
        ("INTENTMATCH_REMOTE_KEY", "", None, "must be printable ASCII and not empty"),
        ("INTENTMATCH_REMOTE_KEY", "a\nb", None, "must be printable ASCII"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", None, "'key' cannot be read: No such file"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", b"\xff", "'key' cannot be read: it is not UTF-8"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", b"\n", "must be printable ASCII and not empty"),
    ],
)
def test_invalid_key_is_refused_before_any_request(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    content: bytes | None,
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    with pytest.raises(SettingsError, match=expected):
        load_encoder(Settings(encoder=f"remote:{server.tei}"))
    assert server.asked == []


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ({"encoder": "remote"}, "the encoder remote needs a URL: write remote:https://"),
        ({"encoder": "remote:#m"}, "the encoder remote needs a URL"),
        ({"encoder": "remote:text-embedding-3-small"}, "write remote:https://"),
        ({"encoder": "remote:http://host/embed", "precision": "float16"}, "a remote encoder's server chooses it"),
    ],
)
def test_invalid_settings_say_what_to_write(setting: dict[str, str], expected: str) -> None:
    with pytest.raises(SettingsError, match=expected):
        load_encoder(Settings(**setting))  # type: ignore[arg-type]


def test_remote_seconds_is_passed_on_and_local(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default of the class is the default of the setting."""
    asked: list[float] = []
    plain: Callable[..., None] = RemoteEncoder.__init__

    def init(self: RemoteEncoder, *args: Any, **options: Any) -> None:
        asked.append(options["seconds"])
        plain(self, *args, **options)

    monkeypatch.setattr(RemoteEncoder, "__init__", init)
    load_encoder(Settings(encoder=f"remote:{server.tei}"))
    load_encoder(Settings(encoder=f"remote:{server.tei}", remote_seconds=3.0))

    assert asked == [(plain.__kwdefaults__ or {})["seconds"], 3.0]
    assert "remote_seconds" in LOCAL


def test_remote_encoder_follows_the_protocol(encoder: RemoteEncoder) -> None:
    """It prefers batches and declares no languages."""
    assert isinstance(encoder, Encoder)
    assert encoder.batches
    assert not hasattr(encoder, "languages")
