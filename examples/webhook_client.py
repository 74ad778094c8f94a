"""Ask a running webhook what messages mean, with nothing but the standard library.

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
    """What the webhook says about one message."""
    body = json.dumps({"text": text}).encode()
    request = Request(f"{url.rstrip('/')}/match", body, {"Content-Type": "application/json"})  # noqa: S310 - your own URL
    with urlopen(request, timeout=10) as answer:  # noqa: S310
        result: dict[str, Any] = json.load(answer)
    return result


def describe(result: dict[str, Any]) -> str:
    """A result in one line: the verdict decides which of its keys matter."""
    if result["verdict"] == "matched":
        # A registry may be too small to learn from how sure it can be.
        sure = "" if result["confidence"] is None else f", {result['confidence']:.0%} sure"
        return f"matched {result['intent']}{sure}"
    if result["verdict"] == "ambiguous":
        titles = [rival["title"] or rival["intent"] for rival in result["rivals"]]
        return f"ambiguous, ask: {' or '.join(titles)}?"
    return "out of scope"


def main(url: str = URL, *messages: str) -> str | None:
    """Print what each message means; what is returned is the reason to stop."""
    for message in messages or MESSAGES:
        try:
            print(f"{message}\n  {describe(match(url, message))}")
        except HTTPError as error:
            # Every error of the webhook has this shape.
            with error:
                return f"{url} refused {message!r}: {json.load(error)['detail']}"
        except (URLError, TimeoutError) as error:
            reason = getattr(error, "reason", error)
            return f"Nothing answers at {url} ({reason}). Start the webhook with: intentmatch serve"
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
