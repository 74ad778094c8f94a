"""`reranker: systemone:` against the mock of jevcompat with each of its faults: an answer is right, or it is none."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from intentmatch.core.errors import ModelUnavailableError
from intentmatch.core.settings import Settings
from intentmatch.matching.opinions.decision_judge import SystemOneJudge
from intentmatch.matching.opinions.judging import IntentOption

OPTIONS = [
    IntentOption("Where an order is", "The user asks for a parcel.", ("where is my order", "track my parcel")),
    IntentOption("Réserver un train", None, ("book a train",)),
    IntentOption("Cancel", None, ()),
]
MESSAGES = [f"my order number {number} please" for number in range(8)]
NO_ANSWER = {
    "wrong-route", "xssi-200", "reject-jev-latest", "nfd-keys", "choice-key-case", "choice-sum", "choice-second",
}  # fmt: skip
"""Faults without an answer. The others break what a choice does not need."""
OTHER_ANSWERS = {"id-leaks", "batch-leaks", "order-leaks"}
"""Faults that make other answers, which are no less valid."""


def choices(url: str) -> list[object]:
    """The choice for each message; the error in place of one that there is not."""
    judge = SystemOneJudge(f"{url}/v1/systemone", "jev-latest", Settings(reranker_seconds=20.0))
    found: list[object] = []
    for message in MESSAGES:
        try:
            found.append(judge.judge(message, OPTIONS).choice)
        except ModelUnavailableError as error:
            found.append(error)
    return found


def check(python: Path) -> str:
    """Ask the mocks that `python` runs, and return a line about it. Raises `AssertionError` for a wrong answer."""
    os.environ.pop("INTENTMATCH_RERANKER_KEY", None)
    script = Path(__file__).parent / "mock_systemone.py"
    command = [python, "-I", script, "secret"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as mocks:
        assert mocks.stdout is not None
        assert mocks.stdin is not None
        urls: dict[str, str] = json.loads(mocks.stdout.readline())
        right = choices(urls.pop(""))
        assert all(choice in (0, 1, 2, "none", "ask") for choice in right), right
        assert len({*right}) > 1, right
        refused = choices(urls["key"])
        assert all("Must supply an API key" in str(error) or "not asked" in str(error) for error in refused), refused
        os.environ |= {"INTENTMATCH_RERANKER_KEY": "secret", "INTENTMATCH_RERANKER_KEY_HOSTS": urls["key"]}
        assert choices(urls.pop("key")) == right
        del os.environ["INTENTMATCH_RERANKER_KEY"]
        for fault, url in urls.items():
            found = choices(url)
            if fault in NO_ANSWER:
                assert all(isinstance(choice, ModelUnavailableError) for choice in found), (fault, found)
            elif fault in OTHER_ANSWERS:
                assert not any(isinstance(choice, ModelUnavailableError) for choice in found), (fault, found)
            else:
                assert found == right, (fault, found, right)
        mocks.stdin.close()
    return f"jevcompat mock: the reranker systemone with {len(urls)} faults, {len(NO_ANSWER)} of them without an answer"
