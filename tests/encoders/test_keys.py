"""A key goes only to the servers that the operator names for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from embeddings_server import FakeServer, serving

from intentmatch import Intent, Matcher, Registry, Utterance
from intentmatch.core.errors import ModelUnavailableError, SettingsError
from intentmatch.encoders.keys import key_for

KEY = "INTENTMATCH_REMOTE_KEY"
BOT = Registry((Intent("a", (Utterance("hello"),)),))
URL = "https://models.example/v1/embeddings"


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(f"{KEY}_HOSTS", raising=False)
    monkeypatch.delenv(f"{KEY}_FILE", raising=False)
    monkeypatch.setenv(KEY, "secret")


@pytest.mark.parametrize(
    ("hosts", "found"),
    [
        ("https://models.example", "secret"),
        ("http://other, https://models.example:443/", "secret"),
        ("https://MODELS.example", "secret"),
        ("http://models.example", None),
        ("https://models.example:8443", None),
        ("https://example", None),
        ("", None),
    ],
)
@pytest.mark.parametrize("by_operator", [False, True])
def test_listed_servers_alone_get_the_key(
    monkeypatch: pytest.MonkeyPatch, hosts: str, found: str | None, by_operator: bool
) -> None:
    monkeypatch.setenv(f"{KEY}_HOSTS", hosts)
    assert key_for(URL, KEY, by_operator=by_operator) == found


def test_without_a_list_the_key_goes_to_what_the_operator_names(monkeypatch: pytest.MonkeyPatch) -> None:
    assert key_for(URL, KEY, by_operator=True) == "secret"
    with pytest.raises(SettingsError, match=f"set {KEY}_HOSTS=https://models.example if the key is for this server"):
        key_for(URL, KEY, by_operator=False)
    monkeypatch.delenv(KEY)
    assert key_for(URL, KEY, by_operator=False) is None


@pytest.mark.parametrize("hosts", ["models.example", "https://models.example/v1", "/srv/models"])
def test_list_that_names_no_servers_is_refused(monkeypatch: pytest.MonkeyPatch, hosts: str) -> None:
    monkeypatch.setenv(f"{KEY}_HOSTS", hosts)
    with pytest.raises(SettingsError, match=f"{KEY}_HOSTS cannot be '{hosts}'"):
        key_for(URL, KEY, by_operator=True)


def test_yaml_alone_gives_no_server_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(FakeServer()) as server:
        settings = f"settings: {{encoder: 'remote:{server.openai}#m', cache: off}}\n"
        (tmp_path / "bot.yaml").write_text(f"{settings}intents: {{a: {{utterances: [hello]}}}}\n", encoding="utf-8")
        with pytest.raises(SettingsError, match=f"set {KEY}_HOSTS="):
            Matcher.load(tmp_path)
        assert server.headers == []
        monkeypatch.setenv(f"{KEY}_HOSTS", "https://elsewhere")
        Matcher.load(tmp_path)
        assert all("authorization" not in headers for headers in server.headers)
        monkeypatch.setenv(f"{KEY}_HOSTS", server.openai.removesuffix("/v1/embeddings"))
        Matcher.load(tmp_path)
        assert server.headers[-1]["authorization"] == "Bearer secret"


def test_redirect_takes_the_key_nowhere() -> None:
    with serving(FakeServer()) as elsewhere, serving(FakeServer()) as server:
        server.script = [(307, {"Location": elsewhere.openai}, b"")]
        with pytest.raises(ModelUnavailableError, match="status 307"):
            Matcher.load(
                Registry((Intent("a", (Utterance("hello"),)),)), encoder=f"remote:{server.openai}#m", cache="off"
            )
        assert server.headers[0]["authorization"] == "Bearer secret"
        assert elsewhere.headers == []
