"""The encoder behind a handle: the laws of an encoder, replicas that die or are slow, and batches of several calls."""

from __future__ import annotations

import numpy as np
import pytest
from contracts.encoder import LAWS
from fakes import WordHashEncoder

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.errors import ModelUnavailableError
from intentmatch.deploy.ray import encoders
from intentmatch.deploy.ray.encoders import Description, RayEncoder, encode_calls


class LostError(Exception):
    """A replica has died."""


class ShortEncoder(WordHashEncoder):
    """An encoder that says which queries are too long."""

    def beyond(self, text):
        return (len(text), 20) if len(text) > 20 else None


class Deployment:
    """A handle of Serve with one replica in this process; `troubles` are raised first."""

    def __init__(self, encoder=None, *, texts_at_once=4, troubles=()):
        self.encoder, self.texts_at_once, self.troubles = encoder or WordHashEncoder(), texts_at_once, list(troubles)
        self.calls = []
        self.describe, self.encode = _Method(self, self._describe), _Method(self, self._encode)

    def _describe(self):
        encoder = self.encoder
        return Description(
            encoder.name, encoder.dim, encoder.fingerprint, encoder.tolerance, None, None, False, self.texts_at_once
        )

    def _encode(self, texts, kind):
        self.calls.append((texts, kind))
        return encode_calls(self.encoder, [(texts, kind)])[0]


class _Method:
    def __init__(self, deployment, call):
        self._deployment, self._call = deployment, call

    def remote(self, *arguments):
        return _Response(self._deployment, self._call, arguments)


class _Response:
    def __init__(self, deployment, call, arguments):
        self._deployment, self._call, self._arguments = deployment, call, arguments

    def result(self, *, timeout_s):
        assert timeout_s > 0.0
        if self._deployment.troubles:
            raise self._deployment.troubles.pop(0)
        return self._call(*self._arguments)


@pytest.fixture(autouse=True)
def _without_ray(monkeypatch):
    monkeypatch.setattr(encoders, "is_lost", lambda error: isinstance(error, LostError))
    monkeypatch.setattr(encoders, "SECONDS_BETWEEN_TRIES", 0.0)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_it_obeys_the_laws_of_an_encoder(law):
    law(RayEncoder(Deployment()))


def test_it_has_the_identity_of_the_encoder_there():
    there = WordHashEncoder("there", "fingerprint-1")
    encoder = RayEncoder(Deployment(there))

    assert (encoder.name, encoder.dim, encoder.fingerprint, encoder.tolerance) == ("there", 64, "fingerprint-1", 1e-6)


def test_texts_are_sent_in_parts():
    deployment = Deployment()

    vectors = RayEncoder(deployment).encode([f"text {number}" for number in range(10)], kind="query")

    assert [(len(texts), kind) for texts, kind in deployment.calls] == [(4, "query"), (4, "query"), (2, "query")]
    assert np.array_equal(vectors, WordHashEncoder().encode([f"text {number}" for number in range(10)]))


def test_matcher_answers_as_with_the_encoder_itself():
    lines = {"status": ("where is my order", "track my parcel"), "cancel": ("cancel my order", "call it off")}
    registry = Registry(
        tuple(Intent(name, tuple(Utterance(line, "en") for line in said)) for name, said in lines.items())
    )
    own = Matcher.load(registry, encoder=WordHashEncoder(), cache="off")
    behind = Matcher.load(registry, encoder=RayEncoder(Deployment(texts_at_once=32)), cache="off")

    for text in ("where is my parcel", "cancel it please", "something else"):
        assert own.match(text).candidates == behind.match(text).candidates


def test_lost_replica_is_tried_again():
    encoder = RayEncoder(deployment := Deployment(troubles=[LostError()]))
    deployment.troubles += [LostError(), LostError()]

    assert encoder.encode(["hello"]).any()


def test_lost_replicas_are_given_up_in_the_end():
    encoder = RayEncoder(deployment := Deployment(), seconds=0.01)
    deployment.troubles += [LostError()] * 1_000_000

    with pytest.raises(ModelUnavailableError, match=r"no replica of the encoder answered within 0\.01 seconds"):
        encoder.encode(["hello"])


def test_slow_replica_is_given_up():
    encoder = RayEncoder(deployment := Deployment())
    deployment.troubles.append(TimeoutError())

    with pytest.raises(ModelUnavailableError):
        encoder.encode(["hello"])


def test_error_of_the_encoder_is_raised():
    encoder = RayEncoder(deployment := Deployment())
    deployment.troubles.append(ZeroDivisionError())

    with pytest.raises(ZeroDivisionError):
        encoder.encode(["hello"])


def test_it_says_which_queries_are_too_long():
    encoder = RayEncoder(Deployment(ShortEncoder()))
    long = "a text that is too long for it"
    encoder.encode([long, "short"], kind="query")

    assert (encoder.beyond(long), encoder.beyond("short")) == ((30, 20), None)


def test_it_forgets_old_queries_that_were_too_long():
    encoder = RayEncoder(Deployment(ShortEncoder(), texts_at_once=5000))
    texts = [f"a text that is too long, number {number}" for number in range(1500)]
    encoder.encode(texts, kind="query")

    assert encoder.beyond(texts[0]) is None
    assert encoder.beyond(texts[-1]) is not None


def test_calls_are_encoded_together_and_keep_their_rows():
    encoder = WordHashEncoder()
    calls = [(["a", "b"], "query"), (["c"], "utterance"), ([], "query"), (["d"], "query")]

    found = encode_calls(encoder, calls)

    assert encoder.encoded == ["a", "b", "d", "c"]
    for (texts, _), one in zip(calls, found, strict=True):
        assert np.array_equal(one.vectors, WordHashEncoder().encode(texts))
