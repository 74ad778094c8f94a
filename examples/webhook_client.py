"""Match messages with a running webhook, using only the standard library.

Start the webhook, then run this beside it:

    intentmatch serve
    python examples/webhook_client.py
    python examples/webhook_client.py http://127.0.0.1:8080 "wo bleibt mein Paket?" "cancel it please"
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

URL = "http://127.0.0.1:8080"
MESSAGES = ["where is my parcel?", "ich möchte etwas zurückschicken", "what do penguins eat?"]


def match(url: str, text: str) -> dict[str, Any]:
    """Return the webhook's result for one message."""
    body = json.dumps({"text": text}).encode()
    request = Request(f"{url.rstrip('/')}/match", body, {"Content-Type": "application/json"})  # noqa: S310 - your own URL
    with urlopen(request, timeout=10) as answer:  # noqa: S310
        result: dict[str, Any] = json.load(answer)
    return result


def describe(result: dict[str, Any]) -> str:
    """Describe a result in one line; the verdict decides which keys matter."""
    if result["verdict"] == "matched":
        # A registry can be too small for calibrated confidence.
        sure = "" if result["confidence"] is None else f", {result['confidence']:.0%} sure"
        return f"matched {result['intent']}{sure}"
    if result["verdict"] == "ambiguous":
        titles = [rival["title"] or rival["intent"] for rival in result["rivals"]]
        return f"ambiguous, ask: {' or '.join(titles)}?"
    return "out of scope"


def main(url: str = URL, *messages: str) -> str | None:
    """Print the result of each message; return an error message, or None."""
    for message in messages or MESSAGES:
        try:
            print(f"{message}\n  {describe(match(url, message))}")
        except HTTPError as error:
            # All errors of the webhook have a `detail`.
            with error:
                return f"{url} refused {message!r}: {json.load(error)['detail']}"
        except (URLError, TimeoutError) as error:
            reason = getattr(error, "reason", error)
            return f"Nothing answers at {url} ({reason}). Start the webhook with: intentmatch serve"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
