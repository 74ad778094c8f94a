"""The certificate of a running server is read again when its files change."""

from __future__ import annotations

import asyncio
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from uvicorn import Server

from intentmatch.server.process import certificates
from intentmatch.server.process.certificates import CIPHERS, CertificateConfig

PATIENCE = 60.0


def write_certificate(folder: Path, name: str, key: str = "ec -pkeyopt ec_paramgen_curve:prime256v1") -> None:
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the program openssl to make a certificate")
    words = f"req -x509 -newkey {key} -nodes -days 2 -subj /CN={name} -out {folder / 'new-cert.pem'}"
    subprocess.run([openssl, *words.split(), "-keyout", folder / "new-key.pem"], check=True, capture_output=True)
    for part in ("key", "cert"):
        (folder / f"new-{part}.pem").replace(folder / f"{part}.pem")


async def app(scope: dict, receive: object, send: object) -> None:
    raise RuntimeError("no request is sent")


@pytest.fixture
def port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The port of a server with the certificate of `tmp_path`."""
    monkeypatch.setattr(certificates, "SECONDS_BETWEEN_LOOKS", 0.05)
    write_certificate(tmp_path, "old")
    options = {"ssl_certfile": str(tmp_path / "cert.pem"), "ssl_keyfile": str(tmp_path / "key.pem")}
    listener = socket.create_server(("127.0.0.1", 0))
    config = CertificateConfig(app, lifespan="off", ssl_ciphers=CIPHERS, log_config=None, **options)
    server = Server(config)
    thread = threading.Thread(target=server.run, args=([listener],))
    thread.start()
    yield listener.getsockname()[1]
    server.should_exit = True
    thread.join(PATIENCE)


def served(port: int, **options: ssl.TLSVersion) -> tuple[bytes, str, str]:
    """Return the certificate, protocol version and cipher of a new connection."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    for name, value in options.items():
        setattr(context, name, value)
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain, context.wrap_socket(plain) as secure:
        cipher = secure.cipher()
        return secure.getpeercert(binary_form=True) or b"", secure.version() or "", cipher[0] if cipher else ""


EC, RSA = "ec -pkeyopt ec_paramgen_curve:prime256v1", "rsa:2048"


@pytest.mark.parametrize("key", [EC, RSA])
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_changed_certificate_is_served_without_a_restart(
    tmp_path: Path, port: int, key: str, version: ssl.TLSVersion
) -> None:
    """With a key of another kind too, beside which the old certificate would be served on."""
    old = served(port)[0]
    assert b"old" in old
    write_certificate(tmp_path, "renewed", key)

    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.05)):
        if b"renewed" in served(port, maximum_version=version)[0]:
            return
        pause.wait(0.05)
    pytest.fail("the old certificate is still served")


@pytest.mark.parametrize("damage", ["cert.pem", "key.pem", "gone"])
def test_unfit_certificate_leaves_the_last_one(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    write_certificate(tmp_path, "old")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    files = certificates._CertificateFiles(cert, key)
    context, kept = files._context, (cert.read_bytes(), key.read_bytes())
    if damage == "gone":
        cert.unlink()
    else:
        (tmp_path / damage).write_text("not a certificate")

    files.look()
    files.look()

    # Once for each state of the files, although they are read again.
    assert caplog.text.count("is not served") == (damage != "gone")
    assert files._context is context
    cert.write_bytes(kept[0])
    key.write_bytes(kept[1])
    files.look()
    assert caplog.text.count("is not served") == (damage != "gone")
    renewed = files._context
    files.look()
    assert files._context is renewed


def test_certificate_that_could_not_be_read_for_a_moment_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files stay as they are, as where their permissions are changed or the process was out of descriptors."""
    write_certificate(tmp_path, "old")
    files = certificates._CertificateFiles(tmp_path / "cert.pem", tmp_path / "key.pem")
    before = files._context
    write_certificate(tmp_path, "renewed")

    def fail(files: object) -> ssl.SSLContext:
        raise OSError("too many open files")

    with monkeypatch.context() as patch:
        patch.setattr(certificates._CertificateFiles, "_read", fail)
        files.look()
    assert files._context is before
    files.look()

    assert files._context is not before


def test_old_versions_and_weak_ciphers_are_refused(port: int) -> None:
    _, version, cipher = served(port, maximum_version=ssl.TLSVersion.TLSv1_2)
    assert version == "TLSv1.2"
    assert "GCM" in cipher or "CHACHA20" in cipher
    assert served(port)[1] == "TLSv1.3"
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_ciphers("AES128-SHA:AES256-SHA:ECDHE-ECDSA-AES256-SHA")
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with (
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain,
        pytest.raises(ssl.SSLError),
        context.wrap_socket(plain),
    ):
        pass


WEAK = (
    "AES128-SHA", "AES256-GCM-SHA384", "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384", "ECDHE-RSA-AES128-SHA256",
    "DHE-RSA-AES256-GCM-SHA384", "ECDHE-ECDSA-NULL-SHA", "AECDH-AES256-SHA", "ADH-AES128-GCM-SHA256", "NULL-SHA256",
    "PSK-AES128-GCM-SHA256", "ECDHE-ECDSA-AES128-CCM8", "ECDHE-ECDSA-CAMELLIA128-SHA256",
)  # fmt: skip
"""Without forward secrecy, without authenticated encryption, without a certificate, or without encryption."""


def ended(port: int, *options: str) -> tuple[bool, str]:
    """Return whether openssl, which refuses nothing itself, completes a handshake, and what it says."""
    openssl = shutil.which("openssl")
    assert openssl is not None
    done = subprocess.run(
        [openssl, "s_client", "-connect", f"127.0.0.1:{port}", *options],
        input=b"", capture_output=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    said = (done.stdout + done.stderr).decode(errors="replace")
    return "Cipher is (NONE)" not in said and "New, " in said, said


@pytest.mark.parametrize("version", ["-tls1", "-tls1_1"])
def test_openssl_with_its_guards_off_gets_no_old_version(port: int, version: str) -> None:
    completed, said = ended(port, version, "-cipher", "ALL:@SECLEVEL=0")
    if "unknown option" in said.lower() or "null ssl method" in said.lower():
        pytest.skip("this openssl does not know the version")
    assert not completed


def test_openssl_with_its_guards_off_gets_no_weak_cipher(port: int) -> None:
    assert ended(port, "-tls1_2", "-cipher", "ALL:COMPLEMENTOFALL:@SECLEVEL=0")[0], "nothing can be told from refusals"
    completed = [cipher for cipher in WEAK if ended(port, "-tls1_2", "-cipher", f"{cipher}:@SECLEVEL=0")[0]]
    assert completed == []


def certificate_of_an_authority(since: datetime, until: datetime) -> bytes:
    """Return key and certificate of a server, which another key has signed."""
    x509 = pytest.importorskip("cryptography.x509")
    ec = pytest.importorskip("cryptography.hazmat.primitives.asymmetric.ec")
    forms = pytest.importorskip("cryptography.hazmat.primitives.serialization")
    hashes = pytest.importorskip("cryptography.hazmat.primitives.hashes")
    own, authority = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    names = [x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]) for name in ("bot", "authority")]
    builder = x509.CertificateBuilder(*reversed(names), own.public_key(), 1, since, until)
    certificate = builder.sign(authority, hashes.SHA256()).public_bytes(forms.Encoding.PEM)
    key = own.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    return bytes(key + certificate)


@pytest.mark.parametrize(
    ("since", "until", "told"),
    [(2000, 2020, "certificate has expired"), (2090, 2099, "certificate is not yet valid"), (2000, 2099, None)],
)
def test_certificate_that_clients_refuse_for_its_dates_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, since: int, until: int, told: str | None
) -> None:
    file = tmp_path / "cert.pem"
    file.write_bytes(certificate_of_an_authority(datetime(since, 1, 1), datetime(until, 1, 1)))

    async def load() -> None:
        CertificateConfig(app, log_config=None, ssl_certfile=str(file)).load()

    asyncio.run(load())

    warnings = [f"clients will refuse the certificate in {file}: {told}"] if told else []
    assert [record.getMessage() for record in caplog.records if record.levelname == "WARNING"] == warnings
