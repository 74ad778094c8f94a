"""Signed webhooks: valid and invalid signatures."""

import hashlib
import hmac
from collections.abc import Callable
from typing import Annotated

import pytest
from fastapi import Depends, FastAPI
from starlette.testclient import TestClient

from intentmatch.core.errors import InputError
from intentmatch.server.auth.signatures import WINDOW, Signature, hmac_sha256, slack
from intentmatch.server.middleware import problems

NOW = 1_800_000_000
SECRET = "8f742231b10e8888abcd99yyyzzz85a5"
BODY = "text=wo+ist+mein+Paket&user=\ud83d\udce6".encode("utf-8", "surrogatepass")
KINDS: dict[str, tuple[Callable[..., Signature], str, str]] = {
    "slack": (slack, "x-slack-signature", "x-slack-request-timestamp"),
    "hmac": (hmac_sha256, "x-signature", "x-timestamp"),
}


def posted(signature: Signature, body: bytes, headers: dict[str, str]) -> tuple[int, str]:
    """The response of a route guarded by a signature."""
    app = FastAPI()
    problems.install(app)

    @app.post("/chat")
    async def chat(body: Annotated[bytes, Depends(signature)]) -> int:
        return len(body)

    answer = TestClient(app, raise_server_exceptions=False).post("/chat", content=body, headers=headers)
    return answer.status_code, answer.text


def test_slack_documentation_example_verifies() -> None:
    body = (
        b"token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar"
        b"&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack"
        b".com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&trigger_id=398738663015.47445629121.803a0"
        b"bc887a14d10d2c447fce8b6703c"
    )
    expected = "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
    assert slack(SECRET).sign("1531420618", body) == expected


def test_generic_signature_is_hmac_sha256_of_time_and_body() -> None:
    expected = hmac.new(b"s", b"5.hello", hashlib.sha256).hexdigest()
    assert hmac_sha256("s").sign("5", b"hello") == f"sha256={expected}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("age", [0, WINDOW, -WINDOW])
def test_signed_body_is_returned(kind: str, age: int) -> None:
    """Within the window in both directions: clocks differ."""
    make, signature_header, time_header = KINDS[kind]
    signature = make(SECRET, clock=lambda: NOW)
    then = str(NOW - age)
    headers = {signature_header: signature.sign(then, BODY), time_header: then}
    assert posted(signature, BODY, headers) == (200, str(len(BODY)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrong", ["body", "secret", "later", "old", "future", "unsigned", "timeless", "no time", "huge time", "bytes"]
)
def test_invalid_signature_is_refused(kind: str, wrong: str) -> None:
    """Another body, secret or time, a replay, and invalid headers."""
    make, signature_header, time_header = KINDS[kind]
    signature = make(SECRET, clock=lambda: NOW)
    then = str(NOW + {"old": -WINDOW - 1, "future": WINDOW + 1}.get(wrong, 0))
    signer = make("another") if wrong == "secret" else signature
    headers = {signature_header: signer.sign(then, b"" if wrong == "body" else BODY), time_header: then}
    if wrong == "later":
        headers[time_header] = str(NOW + 1)
    elif wrong == "unsigned":
        del headers[signature_header]
    elif wrong == "timeless":
        del headers[time_header]
    elif wrong in ("no time", "huge time"):
        headers[time_header] = "²" if wrong == "no time" else "9" * 5000
        headers[signature_header] = signature.sign(headers[time_header], BODY)
    elif wrong == "bytes":
        headers[signature_header] = "ÿ"
    raw = {name: value.encode() for name, value in headers.items()}
    status, text = posted(signature, BODY, raw)
    assert status == 401
    assert '"title":"Unauthorized"' in text
    assert SECRET not in text


def test_secret_must_not_be_empty_and_is_never_shown() -> None:
    with pytest.raises(InputError, match="secret"):
        slack("")
    assert SECRET not in repr(slack(SECRET))
