"""Drift as JSON, as numbers for Prometheus, and sent to a webhook."""

from __future__ import annotations

from collections import Counter
from typing import Any
from urllib.parse import urlsplit

from intentmatch.core import plugins, setting_values
from intentmatch.core.errors import SettingsError, UnavailableError
from intentmatch.encoders.endpoint import connection_pool
from intentmatch.evaluation.drift import KINDS, Drift

_SECONDS = 10.0


def to_dict(drift: Drift) -> dict[str, Any]:
    """Return plain JSON values. `text` holds everything in words, as chat programs show the JSON of a webhook."""
    sentences = [finding.text for finding in drift.findings]
    return {
        "text": "\n".join(sentences) or "Nothing has changed more than by chance.",
        "messages": drift.now,
        "messages_before": drift.before,
        "findings": [finding.to_dict() for finding in drift.findings],
    }


def to_metrics(drift: Drift) -> str:
    """Return numbers in the text format of Prometheus; messages of users are not among them."""
    kinds = Counter(finding.kind for finding in drift.findings)
    lines = [
        "# HELP intentmatch_drift_findings What changed in the last day, by kind.",
        "# TYPE intentmatch_drift_findings gauge",
        *(f'intentmatch_drift_findings{{kind="{kind}"}} {kinds[kind]}' for kind in KINDS),
        "# HELP intentmatch_drift_messages Messages of the last day that were compared.",
        "# TYPE intentmatch_drift_messages gauge",
        f"intentmatch_drift_messages {drift.now}",
    ]
    return "\n".join(lines) + "\n"


def send(url: str, content: bytes) -> None:
    """Send JSON to a webhook, once and without following redirects.

    Raises `SettingsError` if the URL is invalid, `MissingExtraError` without urllib3, and `UnavailableError` if the
    webhook does not accept it.
    """
    try:
        setting_values.webhook(url)
    except ValueError as error:
        raise SettingsError(f"the URL of the webhook is invalid: {error}") from None
    host = urlsplit(url).netloc  # the rest of the URL may be a secret
    http = plugins.require("urllib3", what="the webhook", extra="remote")
    pool = connection_pool(http, urlsplit(url), {"timeout": http.Timeout(total=_SECONDS), "retries": False})
    headers = {"Content-Type": "application/json"}
    try:
        # A redirect could lead to a server that the operator has not named.
        status = pool.request("POST", url, body=content, headers=headers, redirect=False).status
    except http.exceptions.HTTPError as error:
        raise UnavailableError(f"the webhook at {host} cannot be reached ({type(error).__name__})") from None
    if not 200 <= status < 300:
        raise UnavailableError(f"the webhook at {host} answered with status {status}")
