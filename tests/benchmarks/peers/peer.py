"""What every peer is asked, and how it is timed. Standard library only: this runs in each peer's environment.

    python NAME.py TASK ANSWERS

TASK is JSON: `train` (rows of text and intent), `messages`, `encoder` (a folder with the weights that every peer of
that kind shares) and `steps` (of training, where a peer trains). ANSWERS gets the answers, one message at a time, and
the processor time that they took: waiting for a core that other work uses is no part of it.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """The answer of a peer to a message."""

    intent: str | None
    """The intent that it ranks first, whatever its threshold."""
    score: float
    verdict: str
    """The verdict by its default thresholds: "matched", "ambiguous" or "out_of_scope"."""


class Peer:
    """One way to match. Each step is called once, in this order, and timed."""

    def load(self, encoder: str, steps: int) -> None:
        """Import the packages and load the model."""

    def build(self, texts: list[str], intents: list[str]) -> None:
        """Take the examples."""
        raise NotImplementedError

    def answer(self, message: str) -> Answer:
        """Match one message."""
        raise NotImplementedError


def run(peer: Peer) -> None:
    """Run a peer on the task and write its answers."""
    task: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    texts, intents = (list(column) for column in zip(*task["train"], strict=True))
    times = [process_time()]
    peer.load(task["encoder"], task["steps"])
    times.append(process_time())
    peer.build(texts, intents)
    times.append(process_time())
    answers, milliseconds = [], []
    for message in task["messages"]:
        began = process_time()
        answer = peer.answer(message)
        milliseconds.append((process_time() - began) * 1e3)
        answers.append([answer.intent, float(answer.score), answer.verdict])
    said = {
        "load_seconds": times[1] - times[0],
        "build_seconds": times[2] - times[1],
        "milliseconds": milliseconds,
        "answers": answers,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }
    Path(sys.argv[2]).write_text(json.dumps(said), encoding="utf-8")
