"""The certificate of a running server is read again when its files change."""

from __future__ import annotations

import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from uvicorn import Server

from intentmatch.server.process import certificates
from intentmatch.server.process.certificates import CIPHERS, CertificateConfig

PATIENCE = 30.0


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


def test_changed_certificate_is_served_without_a_restart(tmp_path: Path, port: int) -> None:
    old = served(port)[0]
    assert b"old" in old
    write_certificate(tmp_path, "renewed")

    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.05)):
        if b"renewed" in served(port)[0]:
            return
        pause.wait(0.05)
    pytest.fail("the old certificate is still served")


@pytest.mark.parametrize("damage", ["cert.pem", "key.pem", "gone"])
def test_unfit_certificate_leaves_the_last_one(tmp_path: Path, damage: str, caplog: pytest.LogCaptureFixture) -> None:
    write_certificate(tmp_path, "old")
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    files = certificates._CertificateFiles(context, cert, key)
    kept = cert.read_bytes(), key.read_bytes()
    if damage == "gone":
        cert.unlink()
    else:
        (tmp_path / damage).write_text("not a certificate")

    assert not files.read_if_changed()

    assert ("is not served" in caplog.text) == (damage != "gone")
    cert.write_bytes(kept[0])
    key.write_bytes(kept[1])
    assert files.read_if_changed()
    assert not files.read_if_changed()


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
