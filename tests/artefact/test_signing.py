"""Signatures of artefacts: only what the key's owner built is loaded."""

from __future__ import annotations

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from intentmatch import Intent, Matcher, Registry, Utterance, load_artefact, save_artefact
from intentmatch.core.errors import ArtefactError, InputError
from intentmatch.storage.sealed import read_sealed


def write_keys(folder: Path, name: str) -> tuple[Path, Path]:
    """Write a new pair of keys; return the files of the private and the public one."""
    key = Ed25519PrivateKey.generate()
    private, public = folder / f"{name}.pem", folder / f"{name}-public.pem"
    private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return private, public


@pytest.fixture(scope="module")
def matcher() -> Matcher:
    return Matcher.load(Registry((Intent("a", (Utterance("hello"),)), Intent("b", (Utterance("bye"),)))), cache="off")


@pytest.fixture
def signed(matcher: Matcher, tmp_path: Path) -> tuple[Path, Path]:
    private, public = write_keys(tmp_path, "mine")
    save_artefact(matcher.artefact, tmp_path / "bot.intentmatch", key=private)
    return tmp_path / "bot.intentmatch", public


def test_signed_artefact_is_loaded_with_and_without_the_key(signed: tuple[Path, Path]) -> None:
    file, public = signed
    assert Matcher.load(file, require_signature=str(public)).match("hello").intent == "a"
    assert Matcher.load(file).match("hello").intent == "a"
    assert load_artefact(file, public_key=public).fingerprint == load_artefact(file).fingerprint


def test_signature_of_another_key_is_refused(signed: tuple[Path, Path], tmp_path: Path) -> None:
    _, other = write_keys(tmp_path, "other")
    with pytest.raises(ArtefactError, match=r"was signed with another key than .*other-public\.pem"):
        load_artefact(signed[0], public_key=other)


def test_signature_moved_to_another_artefact_is_refused(
    signed: tuple[Path, Path], matcher: Matcher, tmp_path: Path
) -> None:
    signature = read_sealed(signed[0]).signature
    assert signature is not None
    forged = Registry((Intent("a", (Utterance("bye"),)), Intent("b", (Utterance("hello"),))))
    save_artefact(Matcher.load(forged, cache="off").artefact, tmp_path / "forged.intentmatch")
    whole = (tmp_path / "forged.intentmatch").read_bytes()
    (tmp_path / "forged.intentmatch").write_bytes(whole.replace(b"0" * 128, signature.hex().encode()))

    assert Matcher.load(tmp_path / "forged.intentmatch").match("hello").intent == "b"
    with pytest.raises(ArtefactError, match="signed with another key"):
        load_artefact(tmp_path / "forged.intentmatch", public_key=signed[1])


def test_unsigned_artefacts_and_yaml_are_refused(matcher: Matcher, tmp_path: Path, signed: tuple[Path, Path]) -> None:
    save_artefact(matcher.artefact, tmp_path / "plain.intentmatch")
    with pytest.raises(ArtefactError, match="is not signed, and a signature is required"):
        Matcher.load(tmp_path / "plain.intentmatch", require_signature=str(signed[1]))
    (tmp_path / "bot.yaml").write_text("intents: {a: {utterances: [hello]}}")
    with pytest.raises(ArtefactError, match="is not a signed artefact"):
        Matcher.load(tmp_path / "bot.yaml", require_signature=str(signed[1]))


def test_unusable_keys_are_explained(matcher: Matcher, tmp_path: Path, signed: tuple[Path, Path]) -> None:
    file, public = signed
    (tmp_path / "text.pem").write_text("no key")
    other = ec.generate_private_key(ec.SECP256R1())
    (tmp_path / "ec.pem").write_bytes(other.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    for key, message in (
        ("nowhere", "cannot be read"),
        ("text.pem", "no private key"),
        ("ec.pem", "no ed25519 private"),
    ):
        with pytest.raises(InputError, match=message):
            save_artefact(matcher.artefact, tmp_path / "x", key=tmp_path / key)
    assert not (tmp_path / "x").exists()
    with pytest.raises(InputError, match=r"mine\.pem is no public key"):
        load_artefact(file, public_key=tmp_path / "mine.pem")
    with pytest.raises(InputError, match="is no private key"):
        save_artefact(matcher.artefact, tmp_path / "x", key=public)
