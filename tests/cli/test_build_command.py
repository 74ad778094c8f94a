"""`intentmatch build`."""

from __future__ import annotations

import json
from pathlib import Path

from command_line import run
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat


def test_match_reads_the_artefact_without_the_yaml(shop: str, tmp_path: Path) -> None:
    target = str(tmp_path / "out" / "shop.intentmatch")

    done = run("build", shop, "-o", target)
    Path(shop, "shop.yaml").unlink()

    assert done.exit_code == 0
    assert "2 intents, 8 utterances" in done.stdout
    assert run("match", "-i", target, "cancel my order").stdout.startswith("cancel")


def test_build_warns_of_languages_that_the_encoder_does_not_cover(shop: str, tmp_path: Path) -> None:
    """The warning has its place, and the file is written."""
    more = "intents:\n  hi:\n    utterances: {en: [hello], ln: [mbote]}\n"
    Path(shop, "more.yaml").write_text(more, encoding="utf-8")
    target = tmp_path / "shop.intentmatch"

    done = run("build", shop, "-o", str(target))

    assert (done.exit_code, target.exists()) == (0, True)
    assert "more.yaml:3:36: warning [language-not-covered] static was not trained on ln" in done.stdout


def test_artefact_finds_the_same_slots_as_the_yaml(booking: str, tmp_path: Path) -> None:
    built = str(tmp_path / "booking.intentmatch")
    assert run("build", booking, "-o", built).exit_code == 0

    for message in ("book a table for three in Munchen", "book a table and bring my dog", "einen Tisch in Roma buchen"):
        fresh, kept = (json.loads(run("match", "-i", where, "--json", message).stdout) for where in (booking, built))
        assert fresh["entities"]
        assert (fresh["entities"], fresh["missing"]) == (kept["entities"], kept["missing"])


def test_signed_artefact_is_required_with_the_flag(shop: str, tmp_path: Path) -> None:
    """`--require-signature` is one of the settings, so that `--set` and the environment give it too."""
    key = Ed25519PrivateKey.generate()
    (tmp_path / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    public = tmp_path / "public.pem"
    public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    target = str(tmp_path / "shop.intentmatch")

    done = run("build", shop, "-o", target, "--sign", str(tmp_path / "key.pem"))
    assert f"signed with {tmp_path / 'key.pem'}" in done.stdout
    for option in (["--require-signature", str(public)], ["--set", f"require_signature={public}"]):
        assert run("match", "-i", target, *option, "cancel my order").stdout.startswith("cancel")

    run("build", shop, "-o", target)
    refused = run("match", "-i", target, "--require-signature", str(public), "cancel my order")
    assert refused.exit_code != 0
    assert "is not signed, and a signature is required" in refused.stderr
