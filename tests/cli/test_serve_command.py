"""`intentmatch serve` as a process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from intentmatch.cli.commands import cli
from intentmatch.core import plugins
from intentmatch.inbox import Inbox

PATIENCE = 60.0
GOOD = "intents:\n  greet:\n    utterances: [hello, hi there]\n"


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "timed out"
        time.sleep(0.02)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--allow", "FILE.sqlite"], "no server (https://HOST), no model (KIND:MODEL) and no folder"),
        (["--set", "threshold=abc"], "threshold"),
        (["--set", "nosuch=1"], "nosuch"),
        (["--set", "inbox=database"], "`inbox: database` needs a bot in PostgreSQL"),
        (["--set", "encoder=nonsense"], "unknown encoder 'nonsense'"),
        (["--set", "encoder=static:nowhere"], "nowhere is not a static model"),
        (["--set", "encoder=onnx:nowhere"], "nowhere is not an exported model"),
        (["--set", "reranker=onnx:nowhere"], "nowhere is not an exported cross-encoder"),
        (["--set", "reranker=chat:http://127.0.0.1:1/v1#m"], "must end in /chat/completions"),
        (["--set", "require_signature=nowhere.pem"], "there is no key nowhere.pem"),
        (["--allowed-host", "http://bot.example/x"], "an allowed host must be a name such as shop.example"),
        (["--trusted-proxy", "nonsense"], "a trusted proxy must be an address such as 10.0.0.5"),
        (["--trusted-proxy", "10.0.0.5/8"], "has host bits set"),
    ],
)
def test_value_under_which_no_bot_could_answer_is_an_error_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """Also where bots are loaded with their first message."""
    monkeypatch.setattr(
        "intentmatch.server.process.certificates.serve_alone", lambda *_, **__: pytest.fail("it serves")
    )
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "bot.yaml").write_text(GOOD, encoding="utf-8")

    result = CliRunner().invoke(cli, ["serve", str(tmp_path), "--bots", *words])

    code = 5 if "nowhere is not" in said else 2  # a model that is not there
    assert (result.exit_code, said in result.output) == (code, True), result.output


def ask(port: int, text: str, path: str = "/match") -> dict:
    """The response to a message; empty while there is no server."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", json.dumps({"text": text}).encode(), {"content-type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.load(answer)
    except urllib.error.URLError:
        return {}


def test_serve_watches_files_logs_problems_and_keeps_misses(tmp_path: Path) -> None:
    folder, log, inbox = tmp_path / "intents", tmp_path / "log.txt", tmp_path / "inbox.sqlite"
    folder.mkdir()
    file = folder / "bot.yaml"
    file.write_text(GOOD, encoding="utf-8")
    port = free_port()

    def match(text: str) -> dict:
        return ask(port, text)

    words = ["serve", str(folder), "--port", str(port), "--watch", "--set", f"inbox={inbox}"]
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, "-m", "intentmatch", *words], stdout=out, stderr=out)
    try:
        until(lambda: match("hello").get("intent") == "greet")
        file.write_text(GOOD + "  thanks:\n    utterances: [thank you]\n", encoding="utf-8")
        until(lambda: match("thank you").get("intent") == "thanks")
        file.write_text("intents:\n  greet: {}\n", encoding="utf-8")
        until(lambda: f"{file}:2:3: error [no-utterances]" in log.read_text())
        assert match("thank you")["intent"] == "thanks"
        match("quantum chromodynamics")
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(PATIENCE)

    assert "reloaded: 2 intents" in log.read_text()
    assert "Traceback" not in log.read_text()
    assert "quantum chromodynamics" in [message.text for message in Inbox(inbox).messages()]


SLOW = """
import time
from intentmatch.encoders.static import StaticEncoder
encode = StaticEncoder.encode
def slowly(self, texts, **options):
    if any("penguins" in text for text in texts):
        print("encoding", flush=True)
        time.sleep(2)
    return encode(self, texts, **options)
StaticEncoder.encode = slowly
StaticEncoder.reads_pieces = False  # its texts are wanted
from intentmatch.cli.commands import main
main()
"""


def is_refused(port: int) -> bool:
    """Whether nobody listens any more."""
    try:
        socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.parametrize(("stop", "word"), [(signal.SIGTERM, "--watch"), (signal.SIGINT, "--log-messages")])
def test_accepted_requests_are_finished_before_the_stop(tmp_path: Path, stop: signal.Signals, word: str) -> None:
    """New connections are refused."""
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    log = tmp_path / "log.txt"
    port = free_port()
    words = ["serve", str(tmp_path / "bot.yaml"), "--port", str(port), "--log-format", "json", word]
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, "-c", SLOW, *words], stdout=out, stderr=out)
    try:
        until(lambda: ask(port, "hello").get("intent") == "greet")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ask, port, "what do penguins eat?")
            until(lambda: "encoding" in log.read_text())
            server.send_signal(stop)
            until(lambda: "Shutting down" in log.read_text())
            until(lambda: is_refused(port))  # the log says so a moment before
            assert server.poll() is None
            assert waiting.result(PATIENCE)["verdict"] == "out_of_scope"
    finally:
        server.wait(PATIENCE)

    lines = [json.loads(line) for line in log.read_text().splitlines() if line != "encoding"]
    assert [line["status"] for line in lines if "status" in line][-1] == 200
    assert ("penguins" in log.read_text()) == (word == "--log-messages")
    assert "Traceback" not in log.read_text()


def test_chat_keeps_misses_in_the_inbox(tmp_path: Path) -> None:
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    words = ["chat", str(tmp_path / "bot.yaml"), "--set", f"inbox={tmp_path / 'inbox.sqlite'}"]

    assert CliRunner().invoke(cli, words, input="hello\nquantum chromodynamics\n").exit_code == 0

    assert [message.text for message in Inbox(tmp_path / "inbox.sqlite").messages()] == ["quantum chromodynamics"]


def test_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "uvicorn", None)

    done = CliRunner().invoke(cli, ["serve", os.fspath(tmp_path)])

    assert (done.exit_code, 'pip install "intentmatch[server]"' in done.stderr) == (5, True)


def test_missing_extra_for_watch_is_named_before_serving(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    installed = plugins.installed
    monkeypatch.setattr(plugins, "installed", lambda module: module != "watchfiles" and installed(module))

    done = CliRunner().invoke(cli, ["serve", os.fspath(tmp_path), "--watch"])

    assert (done.exit_code, 'pip install "intentmatch[watch]"' in done.stderr) == (5, True)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A self-signed certificate and its key."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("needs the program openssl to make a certificate")
    folder = tmp_path_factory.mktemp("tls")
    cert, key = folder / "cert.pem", folder / "key.pem"
    words = f"req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost -out {cert}"
    subprocess.run([openssl, *words.split(), "-keyout", key], check=True, capture_output=True)
    return cert, key


def test_serve_takes_tls_and_keys_and_logs_no_key(tmp_path: Path, certificate: tuple[Path, Path]) -> None:
    """Keys come from a file; the log has no queries, where some protocols send their key."""
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "keys.txt").write_text("# of the shop\nthe-right-key\n", encoding="utf-8")
    log = tmp_path / "log.txt"
    cert, key = certificate
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE

    def call(path: str, headers: dict[str, str] | None = None, body: bytes | None = None) -> int:
        call = urllib.request.Request(f"https://127.0.0.1:{port}{path}", body, headers or {})
        try:
            with urllib.request.urlopen(call, timeout=PATIENCE, context=context) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except urllib.error.URLError:
            return 0

    words = ["--port", str(port), "--tls-cert", cert, "--tls-key", key, "--keys-file", tmp_path / "keys.txt"]
    command = [sys.executable, "-m", "intentmatch", "serve", tmp_path / "bot.yaml", *words, "--protocol", "rasa"]
    with log.open("w") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out)
    try:
        until(lambda: call("/readyz") == 200)
        assert call("/intents") == 401
        assert call("/intents", {"Authorization": "Bearer the-right-key"}) == 200
        assert call("/model/parse?token=the-right-key", body=b'{"text": "my secret"}') == 200
        assert call("/reload", {"X-API-Key": "the-right-key"}, b"") == 403
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(PATIENCE)

    assert '"POST /model/parse HTTP/1.1" 200' in log.read_text()
    assert "key" not in log.read_text()
    assert "secret" not in log.read_text()


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--tls-cert", "bot.yaml"], "HTTPS cannot be served with bot.yaml"),
        (["--tls-key", "bot.yaml"], "--tls-key goes with --tls-cert"),
        (["--rate-limit", "fast"], "such as 600/minute"),
        (["--cors-origin", "shop.example"], "a CORS origin must look like"),
        (["--keys-file", "empty"], "holds no key"),
        (["--admin-keys-file", "empty"], "holds no key"),
        (["--protocol", "smtp"], "unknown protocol"),
    ],
)
def test_invalid_options_are_reported_before_serving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], problem: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    (tmp_path / "empty").touch()

    done = CliRunner().invoke(cli, ["serve", "bot.yaml", *words])

    assert done.exit_code == 2
    assert problem in " ".join(done.stderr.split())


@pytest.mark.parametrize("url", ["localhost", "http://localhost", "redis://localhost:many"])
def test_store_needs_a_redis_url(tmp_path: Path, url: str) -> None:
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")

    done = CliRunner().invoke(cli, ["serve", os.fspath(tmp_path), "--store", url])

    assert (done.exit_code, "--store takes a URL such as redis://localhost:6379/0: " in done.stderr) == (2, True)


def test_folder_of_bots_is_served(tmp_path: Path) -> None:
    for name in ("bank", "shop"):
        (tmp_path / "bots" / name).mkdir(parents=True)
        (tmp_path / "bots" / name / "bot.yaml").write_text(GOOD.replace("greet", name), encoding="utf-8")
    port, log = free_port(), tmp_path / "log.txt"
    words = ["serve", str(tmp_path / "bots"), "--port", str(port), "--preload", "*", "--bots-memory", "100"]
    with log.open("w") as out:
        server = subprocess.Popen([sys.executable, "-m", "intentmatch", *words], stdout=out, stderr=out)
    try:
        until(lambda: ask(port, "hello", "/bots/shop/match").get("intent") == "shop")
        assert ask(port, "hello", "/bots/bank/match")["intent"] == "bank"
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(PATIENCE)
    assert "is a folder of 2 bots: bank, shop" in log.read_text()
    assert "the bot shop is loaded" in log.read_text()


def test_missing_extra_for_redis_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    monkeypatch.setitem(sys.modules, "redis", None)
    monkeypatch.delitem(sys.modules, "intentmatch.integrations.redis", raising=False)

    done = CliRunner().invoke(cli, ["serve", os.fspath(tmp_path), "--store", "redis://localhost"])

    assert (done.exit_code, 'pip install "intentmatch[redis]"' in done.stderr) == (5, True)


def listens_to_ipv6() -> bool:
    """Whether this machine has IPv6."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not listens_to_ipv6(), reason="this machine has no IPv6")
@pytest.mark.parametrize(
    ("host", "reached"),
    [("::1", ["[::1]"]), ("[::1]", ["[::1]"]), ("::", ["[::1]", "127.0.0.1"])],
    ids=["address", "brackets", "every address"],
)
def test_host_may_be_of_ipv6(tmp_path: Path, host: str, reached: list[str]) -> None:
    """As itself or as in a URL; `::` is every address, those of IPv4 included."""
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    port = free_port()
    words = ["serve", str(tmp_path), "--host", host, "--port", str(port)]

    def answers(address: str) -> bool:
        try:
            with urllib.request.urlopen(f"http://{address}:{port}/healthz", timeout=PATIENCE) as answer:
                return answer.status == 200
        except urllib.error.URLError:
            return False

    server = subprocess.Popen([sys.executable, "-m", "intentmatch", *words], stderr=subprocess.DEVNULL)
    try:
        until(lambda: answers(reached[0]) or server.poll() is not None)
        assert [address for address in reached if answers(address)] == reached
    finally:
        server.terminate()
        assert server.wait(timeout=PATIENCE) in {0, -signal.SIGTERM}
