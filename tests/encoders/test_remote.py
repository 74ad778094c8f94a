"""The model of a server behind the protocol: what it is asked, what it is told by, and a bot that rests on it."""

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
from intentmatch.core.settings import LOCAL, Settings
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


class MovedEncoder(WordHashEncoder):
    """Another model of the same name: each vector is so far from what it was, in a direction of its own."""

    def __init__(self, distance: float, seed: int = 1) -> None:
        super().__init__()
        self.distance, self.seed = distance, seed

    def encode(self, texts: Any, *, kind: Kind = "utterance") -> Vectors:
        vectors = super().encode(texts, kind=kind)
        moves = np.random.default_rng(self.seed).normal(size=(64, 64)) / 8.0
        return np.asarray(vectors + self.distance * vectors @ moves, dtype=np.float32)


@pytest.fixture
def encoder(server: FakeServer) -> RemoteEncoder:
    """Whose server has forgotten what it was asked first."""
    encoder = RemoteEncoder(server.openai, "m")
    server.asked.clear()
    return encoder


def sent(server: FakeServer) -> list[str]:
    return [text for body in server.asked for text in body.get("input", body.get("inputs"))]


def test_texts_go_in_bounded_batches(server: FakeServer, encoder: RemoteEncoder) -> None:
    """Of 32, in order."""
    texts = [f"text number {number}" for number in range(70)]
    vectors = encoder.encode(texts)

    assert [len(body["input"]) for body in server.asked] == [32, 32, 6]
    assert np.allclose(vectors, server.encoder.encode(texts), atol=1e-6)


def test_blank_texts_are_not_sent(server: FakeServer, encoder: RemoteEncoder) -> None:
    """Servers refuse them; they are rows of zeros. Without any text nobody is asked."""
    vectors = encoder.encode(["", "hello", " \n"])

    assert sent(server) == ["hello"]
    assert vectors.any(axis=1).tolist() == [False, True, False]
    assert encoder.encode([]).shape == (0, 64)
    assert encoder.encode(["", ""]).shape == (2, 64)
    assert len(server.asked) == 1


def test_long_texts_are_cut(server: FakeServer, encoder: RemoteEncoder) -> None:
    """To what servers take."""
    encoder.encode(["x" * 10_000])

    assert sent(server) == ["x" * 2000]


def test_prompts_go_before_the_text(server: FakeServer) -> None:
    """By the kind of text; the fingerprint tells them apart."""
    plain, prompted = (
        RemoteEncoder(server.openai, "m", prompts=prompts) for prompts in ({}, {"query": "ask: ", "utterance": "say: "})
    )
    server.asked.clear()
    prompted.encode(["hello"])
    prompted.encode(["hello", ""], kind="query")

    assert sent(server) == ["say: hello", "ask: hello"]
    assert not prompted.same_as(plain.fingerprint)


def test_a_model_named_e5_is_prompted_as_such(server: FakeServer) -> None:
    """As it is where it runs here; what the settings say wins."""
    name = "intfloat/multilingual-e5-small"
    usual, given = RemoteEncoder(server.openai, name), RemoteEncoder(server.openai, name, prompts={"query": ""})
    server.asked.clear()
    for encoder in (usual, given):
        encoder.encode(["hello"], kind="query")

    assert sent(server) == ["query: hello", "hello"]


def test_another_number_of_numbers_is_told(server: FakeServer, encoder: RemoteEncoder) -> None:
    """A model that was swapped for a larger one while this ran."""
    server.script = [(200, {}, {"data": [{"index": 0, "embedding": [1.0, 2.0, 3.0]}]})]

    with pytest.raises(ModelUnavailableError, match="its vectors had 64 numbers and have 3 now"):
        encoder.encode(["hello"])


def test_the_fingerprint_is_that_of_the_model_and_not_of_the_place(server: FakeServer) -> None:
    """Another address and another dialect have the same; another name has another."""
    here = RemoteEncoder(server.openai, "m")
    with serving(FakeServer()) as other:
        there = RemoteEncoder(other.tei, "m")

    assert here.fingerprint == there.fingerprint
    assert here.same_as(there.fingerprint)
    assert not here.same_as(RemoteEncoder(server.openai, "n").fingerprint)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("distance", "same"), [(1e-4, True), (1e-2, True), (0.8, False), (3.0, False)])
def test_the_last_digits_are_another_matter_than_another_model(
    server: FakeServer, encoder: RemoteEncoder, distance: float, same: bool, seed: int
) -> None:
    """What half precision and batches move is the same model; a direction that is not is another."""
    server.encoder = MovedEncoder(distance, seed)
    again = RemoteEncoder(server.openai, "m")

    assert again.same_as(encoder.fingerprint) is same
    assert encoder.same_as(again.fingerprint) is same
    if not same:
        assert again.fingerprint != encoder.fingerprint


@pytest.mark.parametrize("change", ["", "-", "none", "word-hash-1", "{}-", "{}-zz", "{}-" + "z" * 32, "{}", "--"])
def test_fingerprints_of_others_are_others(encoder: RemoteEncoder, change: str) -> None:
    """Whatever they look like."""
    assert not encoder.same_as(change.format(encoder.fingerprint.partition("-")[0]))


def test_a_small_model_has_a_fingerprint_too(server: FakeServer) -> None:
    """As long as that of a large one."""
    server.script = [(200, {}, [[1.0, -2.0, 3.0]] * 4), (200, {}, [[1.0, 2.0, 3.0]] * 4)]
    first, second = RemoteEncoder(server.tei), RemoteEncoder(server.tei)

    assert first.dim == 3
    assert first.same_as(first.fingerprint)
    assert not first.same_as(second.fingerprint)


def built(server: FakeServer, path: Path) -> Path:
    """An artefact of the server's model."""
    save_artefact(Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off").artefact, path)
    return path


def test_a_bot_is_built_and_answers(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its name in the settings, from YAML and as an artefact, with the key of the environment, which stays there."""
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY", SECRET)
    file = built(server, tmp_path / "bot.intentmatch")
    matcher = Matcher.load(file, cache="off")
    said = {stage.name: stage.says for stage in matcher.match("please cancel my orders").trace.stages}

    assert said["encode"] == f"encoded by remote:{server.openai}#m"
    assert matcher.match("cancel my orders").candidates[0].intent == "stop"
    assert {headers["authorization"] for headers in server.headers} == {f"Bearer {SECRET}"}
    assert SECRET.encode() not in file.read_bytes()
    assert asyncio.run(matcher.amatch("where is the order")).candidates[0].intent == "where"


def test_an_artefact_goes_on_at_another_address(server: FakeServer, tmp_path: Path) -> None:
    """Built where one server is, served where another has the same model, last digits aside."""
    file = built(server, tmp_path / "bot.intentmatch")
    with serving(FakeServer(MovedEncoder(1e-2))) as other:
        matcher = Matcher.load(file, encoder=f"remote:{other.openai}#m")

        assert matcher.match("cancel my orders").candidates[0].intent == "stop"


def test_another_model_under_the_same_name_is_found_out(server: FakeServer, tmp_path: Path) -> None:
    """The artefact is stale."""
    file = built(server, tmp_path / "bot.intentmatch")
    server.encoder = MovedEncoder(1.0)

    with pytest.raises(StaleArtefactError, match="Run `intentmatch build` again"):
        Matcher.load(file)


def test_a_tampered_fingerprint_is_stale(server: FakeServer, encoder: RemoteEncoder, tmp_path: Path) -> None:
    """And nothing worse."""
    artefact = load_artefact(built(server, tmp_path / "bot.intentmatch"))

    with pytest.raises(StaleArtefactError):
        replace(artefact, encoder_fingerprint="5").check_encoder(encoder)


def test_vectors_are_cached_as_of_any_encoder(server: FakeServer, tmp_path: Path) -> None:
    """A second start asks for nothing but the probes and the self-test."""
    for _ in range(2):
        server.asked.clear()
        Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache=str(tmp_path))

    assert "track my parcel" not in sent(server)


def test_a_server_that_goes_away_is_told_and_comes_back(server: FakeServer, tmp_path: Path) -> None:
    """A message fails with the error that names it; exact hits need no model; the next message is answered."""
    matcher = Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off")
    server.script = [(400, {}, {"error": "the model is being changed"})]

    with pytest.raises(ModelUnavailableError, match="the model is being changed"):
        matcher.match("something else")
    assert matcher.match("track my parcel").intent == "where"
    assert matcher.match("something else").candidates


def test_our_own_webhook_is_such_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bot rests on the embedded encoder of another, with the key that one asks for, and answers as that would."""
    pytest.importorskip("uvicorn", reason="needs the extra [server]")
    messages = ["wo ist mein Paket", "cancel", "what a lovely day", "x" * 5000, "👩‍👩‍👧"]
    with serving_ours(Matcher.load(REGISTRY, cache="off"), keys=[SECRET]) as url:
        with pytest.raises(ModelUnavailableError, match="asks for a key"):
            Matcher.load(REGISTRY, encoder=f"remote:{url}#embedded", cache="off")
        monkeypatch.setenv("INTENTMATCH_REMOTE_KEY", SECRET)
        there = Matcher.load(REGISTRY, encoder=f"remote:{url}#embedded", cache="off").match_many(messages)
    here = Matcher.load(REGISTRY, cache="off").match_many(messages)

    assert [result.verdict for result in there] == [result.verdict for result in here]
    assert np.allclose([result.score for result in there], [result.score for result in here], atol=1e-5)


def test_a_webhook_whose_encoder_is_away_says_so(server: FakeServer) -> None:
    """503, with the reason, and 200 again when it is back."""
    pytest.importorskip("fastapi", reason="needs the extra [server]")
    from starlette.testclient import TestClient

    from intentmatch.server import create_app

    matcher = Matcher.load(REGISTRY, encoder=f"remote:{server.openai}#m", cache="off")
    with TestClient(create_app(matcher)) as client:
        server.script = [(404, {}, b"")]
        answers = [client.post("/match", json={"text": f"number {turn}"}) for turn in range(2)]

    assert [answer.status_code for answer in answers] == [503, 200]
    assert "gives no vectors: it answered with the status 404" in answers[0].json()["detail"]


def test_another_time_to_wait_is_taken_up(server: FakeServer, tmp_path: Path) -> None:
    """When a registry that says so is loaded anew; otherwise the encoder stays, and nobody asks for its probes."""
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


def test_the_key_may_stand_in_a_file(server: FakeServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As secrets are mounted; without the line end."""
    (tmp_path / "key").write_text(f"{SECRET}\n", encoding="utf-8")
    monkeypatch.setenv("INTENTMATCH_REMOTE_KEY_FILE", str(tmp_path / "key"))
    load_encoder(Settings(encoder=f"remote:{server.tei}"))

    assert server.headers[0]["authorization"] == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("name", "value", "content", "told"),
    [
        ("INTENTMATCH_REMOTE_KEY", "", None, "must be printable ASCII, and not empty"),
        ("INTENTMATCH_REMOTE_KEY", "a\nb", None, "must be printable ASCII"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", None, "'key' cannot be read: No such file"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", b"\xff", "'key' cannot be read: it is not UTF-8"),
        ("INTENTMATCH_REMOTE_KEY_FILE", "key", b"\n", "must be printable ASCII, and not empty"),
    ],
)
def test_a_key_that_is_none_is_told(
    server: FakeServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    value: str,
    content: bytes | None,
    told: str,
) -> None:
    """Before anyone is asked without it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(name, value)
    if content is not None:
        (tmp_path / "key").write_bytes(content)

    with pytest.raises(SettingsError, match=told):
        load_encoder(Settings(encoder=f"remote:{server.tei}"))
    assert server.asked == []


@pytest.mark.parametrize(
    ("setting", "told"),
    [
        ({"encoder": "remote"}, "write where the model is: remote:https://"),
        ({"encoder": "remote:#m"}, "write where the model is"),
        ({"encoder": "remote:text-embedding-3-small"}, "write remote:https://"),
        ({"encoder": "remote:http://host/embed", "precision": "float16"}, "the server of a remote encoder chooses it"),
    ],
)
def test_settings_that_cannot_be_are_refused(setting: dict[str, str], told: str) -> None:
    """With what to write."""
    with pytest.raises(SettingsError, match=told):
        load_encoder(Settings(**setting))  # type: ignore[arg-type]


def test_how_long_to_wait_is_a_setting_of_the_machine(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which does not travel; the default of the class is that of the setting."""
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


def test_it_is_an_encoder(encoder: RemoteEncoder) -> None:
    """One that likes batches, and says nothing of languages."""
    assert isinstance(encoder, Encoder)
    assert encoder.batches
    assert not hasattr(encoder, "languages")
