"""Drift as JSON, as numbers, and sent to a webhook."""

from __future__ import annotations

import json

import pytest
from embeddings_server import HANG_UP, FakeServer, serving

from intentmatch.core.errors import SettingsError, UnavailableError
from intentmatch.core.settings import parse
from intentmatch.evaluation.drift import Drift, Finding
from intentmatch.evaluation.drift_report import send, to_dict, to_metrics

FINDING = Finding("intent", "cancel", 20, 20, 0.2, 0.05, 1e-6, ("cancel it",))
FOUND = Drift(100, 400, (FINDING,))


def test_json_holds_everything_in_words_and_numbers() -> None:
    values = to_dict(FOUND)

    assert values["text"] == FINDING.text
    assert values["findings"][0]["examples"] == ["cancel it"]
    assert json.loads(json.dumps(values)) == values
    assert to_dict(Drift(1, 1, ()))["text"] == "Nothing has changed more than by chance."


def test_metrics_count_findings_and_hold_no_messages() -> None:
    parser = pytest.importorskip("prometheus_client.parser", reason="needs the extra [server]")
    families = {family.name: family for family in parser.text_string_to_metric_families(to_metrics(FOUND))}

    samples = {sample.labels["kind"]: sample.value for sample in families["intentmatch_drift_findings"].samples}
    assert samples == {"verdict": 0, "intent": 1, "language": 0, "confidence": 0, "rare": 0, "word": 0}
    assert families["intentmatch_drift_messages"].samples[0].value == 100
    assert "cancel" not in to_metrics(FOUND)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("urllib3", reason="needs the extra [remote]")
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with serving(FakeServer()) as running:
        yield running


def test_webhook_may_have_a_query_which_no_error_shows(server: FakeServer) -> None:
    server.script = [(500, {}, b"")]
    url = f"http://{server.host}/messages?key=s3cret"

    assert parse("drift_webhook", url) == url
    with pytest.raises(UnavailableError, match="answered with status 500") as error:
        send(url, b"{}")
    assert "s3cret" not in str(error.value)


def test_setting_must_be_a_url() -> None:
    with pytest.raises(SettingsError, match="it must be a URL that begins"):
        parse("drift_webhook", "nonsense")


def test_webhook_gets_the_json(server: FakeServer) -> None:
    server.script = [(204, {}, b"")]

    send(f"http://{server.host}/hook", json.dumps(to_dict(FOUND)).encode())

    assert server.asked == [to_dict(FOUND)]
    assert server.headers[0]["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((500, {}, b""), "answered with status 500"),
        ((302, {"location": "http://127.0.0.1:1/"}, b""), "answered with status 302"),
        (HANG_UP, "cannot be reached"),
    ],
)
def test_webhook_that_fails_is_an_error(server: FakeServer, answer: object, message: str) -> None:
    server.script = [answer]

    with pytest.raises(UnavailableError, match=message):
        send(f"http://{server.host}/hook", b"{}")


@pytest.mark.parametrize("url", ["ftp://host/x", "http://user@host/x", "host/x", "http://u:s3cret@host/x"])
def test_invalid_url_is_an_error_that_does_not_show_it(url: str) -> None:
    with pytest.raises(SettingsError, match="URL of the webhook is invalid") as error:
        send(url, b"{}")

    assert "s3cret" not in str(error.value)
