"""Requests generated from the OpenAPI document, valid and invalid: the answers must be as documented.

Schemathesis checks keys, refusals, status codes, media types, headers, bodies and methods.
"""

from __future__ import annotations

import atexit
import tempfile
from pathlib import Path
from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance

from intentmatch import Matcher
from intentmatch.server import create_app
from intentmatch.server.auth.wrong_keys import WrongKeys

KEY, ADMIN_KEY = "a-key", "the-admin-key"
INTENTS = """\
intents:
  order_status:
    metadata: {queue: 3}
    slots: {day: {type: date, required: true}}
    utterances: {en: [where is my order, hello], de: [wo bleibt mein Paket]}
  bye:
    utterances: {en: [goodbye], de: [tschüss]}
"""

# The document does not know which intent names and language codes are valid: the registry does.
EXCLUDED = [positive_data_acceptance]


# Schemathesis needs the operations at collection time, before any fixture.
FOLDER = tempfile.TemporaryDirectory()
atexit.register(FOLDER.cleanup)


class ManyWrongKeys(WrongKeys):
    """Lets one address present wrong keys without end."""

    def note(self, address: bytes, key: bytes, *, right: bool) -> int:
        return 0


def document(**options: Any) -> Any:
    """The document of a server with an inbox."""
    folder = Path(FOLDER.name)
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    matcher = Matcher.load(folder, cache="off", inbox=folder / "inbox.sqlite")
    # A list that is too long must not be a body that is too large.
    app = create_app(matcher, max_batch=5, max_body=10_000_000, **options)
    app.state.access._guesses = ManyWrongKeys()
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def document_of_several() -> Any:
    """The document of a server with two bots."""
    folder = Path(FOLDER.name) / "bots"
    for name in ("bank", "shop"):
        (folder / name).mkdir(parents=True, exist_ok=True)
        head = "settings: {cache: off, inbox: inbox.sqlite}\n"
        (folder / name / "bot.yaml").write_text(head + INTENTS, encoding="utf-8")
    app = create_app(folder, max_batch=5, max_body=10_000_000, keys=[f"*:{KEY}"], admin_keys=[f"*:{ADMIN_KEY}"])
    app.state.access._guesses = ManyWrongKeys()
    return schemathesis.openapi.from_asgi("/openapi.json", app)


bounded = settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


@document(keys=[KEY], admin_keys=[ADMIN_KEY]).parametrize()
@bounded
def test_answers_with_keys_are_as_documented(case: schemathesis.Case) -> None:
    """Each call is also tried without a key and with a wrong one."""
    case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN_KEY}"}, excluded_checks=EXCLUDED)


@document().parametrize()
@bounded
def test_answers_without_keys_are_as_documented(case: schemathesis.Case) -> None:
    case.call_and_validate(excluded_checks=EXCLUDED)


@document_of_several().parametrize()
@bounded
def test_answers_of_several_bots_are_as_documented(case: schemathesis.Case) -> None:
    """Of unknown bots too, which most generated names are."""
    if len(case.path_parameters.get("bot", "")) % 2:
        case.path_parameters["bot"] = "shop"
    case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN_KEY}"}, excluded_checks=EXCLUDED)


def document_of_authoring() -> Any:
    """The calls for authors, but `/evaluate`, which streams and takes long."""
    folder = Path(FOLDER.name) / "authored"
    folder.mkdir()
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    matcher = Matcher.load(folder, cache="off", inbox=Path(FOLDER.name) / "authored.sqlite")
    options: Any = {"keys": [KEY], "admin_keys": [ADMIN_KEY], "author_keys": ["anna=author-key"]}
    app = create_app(matcher, max_body=10_000_000, authoring=True, **options)
    app.state.access._guesses = ManyWrongKeys()
    found = schemathesis.openapi.from_asgi("/openapi.json", app)
    return found.include(tag="authoring").exclude(path="/evaluate")


@document_of_authoring().parametrize()
@settings(bounded, max_examples=8)
def test_answers_to_authors_are_as_documented(case: schemathesis.Case) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN_KEY}"}, excluded_checks=EXCLUDED)


def document_of_authored_bots() -> Any:
    """The calls that create, remove and restore bots."""
    folder = Path(FOLDER.name) / "created" / "bots"
    for name in ("bank", "shop"):
        (folder / name).mkdir(parents=True)
        (folder / name / "bot.yaml").write_text(f"settings: {{cache: off}}\n{INTENTS}", encoding="utf-8")
    options: Any = {"keys": [f"*:{KEY}"], "admin_keys": [f"*:{ADMIN_KEY}"], "author_keys": ["*:anna=author-key"]}
    app = create_app(folder, max_body=10_000_000, authoring=True, **options)
    app.state.access._guesses = ManyWrongKeys()
    found = schemathesis.openapi.from_asgi("/openapi.json", app)
    return found.include(tag="authoring").exclude(path_regex="^/bots/[^/]+/")


@document_of_authored_bots().parametrize()
@settings(bounded, max_examples=8)
def test_answers_about_authored_bots_are_as_documented(case: schemathesis.Case) -> None:
    case.call_and_validate(headers={"Authorization": f"Bearer {ADMIN_KEY}"}, excluded_checks=EXCLUDED)
