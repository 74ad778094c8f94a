"""Measure what the inbox proposes for missed messages whose meaning is known.

    python tests/benchmarks/bench_inbox.py
    python tests/benchmarks/bench_inbox.py --half seen

README.md beside this file explains the columns.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

import yaml
from entry import add_json_option, option_parser, run_benchmark
from tables import print_table

from intentmatch import Matcher
from intentmatch.inbox import Cluster, Missed, review
from intentmatch.registry.starters import starter

FOLDER = Path(__file__).parents[1] / "inbox" / "triage"
SHIPPED = Path(__file__).parents[2] / "intents"
HALVES = ("seen", "unseen")
NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
KINDS = ("asks", "new", "refuses", "states", "depends", "courtesy", "noise")
"""What messages mean: a request of the bot's, another one, and what asks for nothing."""


@dataclass(frozen=True)
class Row:
    """What is proposed for the messages of one meaning."""

    name: str
    """The half, and what the messages mean."""
    messages: int
    grouped: int
    """Of these, in a group of messages of this kind; `new` messages are requests."""
    first: int
    """Of these, with their intent first in the question; of refusals, with the refused intent."""
    offered: int
    """Of these, with their intent among those that the question offers."""
    sure: int
    """Of these, in a proposal that may be accepted with others at once."""
    harmful: int
    """Of the sure ones, those that would do harm: see `is_harmful`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--half", choices=HALVES, help="measure only this half")
    add_json_option(parser)
    options = parser.parse_args(arguments)
    halves = [options.half] if options.half else HALVES
    return run_benchmark(lambda: [row for half in halves for row in rows_of(half)], _show, options.json)


def rows_of(half: str) -> Iterator[Row]:
    """Yield a row for each meaning."""
    found = [(label, cluster) for bot, labelled in _messages(half) for label, cluster in _reviewed(bot, labelled)]
    for kind in KINDS:
        some = [(label, cluster) for label, cluster in found if _kind(label) == kind]
        sure = [(label, cluster) for label, cluster in some if cluster.proposal.accepted is not None]
        yield Row(
            f"{half}, {kind}",
            len(some),
            sum(cluster.kind == {"new": "asks", "states": "settled"}.get(kind, kind) for _, cluster in some),
            sum(_intent(label) in (cluster.proposal.intent, *cluster.proposal.nearest[:1]) for label, cluster in some),
            sum(_intent(label) in (cluster.proposal.intent, *cluster.proposal.nearest) for label, cluster in some),
            len(sure),
            sum(is_harmful(label, cluster) for label, cluster in sure),
        )


def is_harmful(label: str, cluster: Cluster) -> bool:
    """Whether the proposal does harm to a message: makes an example of it for an intent that it does not ask for, or
    takes it away from the one that it does ask for, or drops a request."""
    action, intent, *_ = cluster.proposal
    if action in ("add", "new"):
        return intent != label
    if _kind(label) == "asks":
        return action != "not" or intent == label
    return _kind(label) == "new" and action == "ignore"


def _messages(half: str) -> Iterator[tuple[str, list[tuple[str, str, str]]]]:
    """Yield for each bot the text, language and label of its messages."""
    for bot, languages in yaml.safe_load((FOLDER / f"{half}.yaml").read_text(encoding="utf-8")).items():
        yield (
            bot,
            [
                (text, language, label)
                for language, labels in languages.items()
                for label, texts in labels.items()
                for text in texts
            ],
        )


def _reviewed(bot: str, labelled: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, Cluster]]:
    """Yield each message that the bot does not understand: its label, and the group that it is in."""
    with tempfile.TemporaryDirectory() as folder:
        file = SHIPPED if bot == "shipped" else Path(folder) / f"{bot}.yaml"
        if file != SHIPPED:
            file.write_text(starter(bot), encoding="utf-8")
        matcher = Matcher.load(file)
    missed = [
        Missed(number, text, language, "out_of_scope", (), None, 1, NOW, NOW, {})
        for number, (text, language, _) in enumerate(labelled)
    ]
    for cluster in review(matcher, missed).clusters:
        for message in cluster.messages:
            yield labelled[message.id][2], cluster


def _kind(label: str) -> str:
    word = label.partition(" ")[0]
    return word if word in KINDS else "asks"


def _intent(label: str) -> str:
    """Return the intent that a message asks for or refuses; the label itself if there is none."""
    return label.removeprefix("refuses ")


def _show(rows: Sequence[Row]) -> None:
    header = ["half, meaning", "messages", "grouped", "first", "offered", "sure", "harmful"]
    print_table(header, [_cells(row) for row in rows], left=1)


def _cells(row: Row) -> list[str]:
    has_intent = row.name.endswith((" asks", " refuses"))
    found = [str(row.first), str(row.offered)] if has_intent else ["", ""]
    return [row.name, str(row.messages), str(row.grouped), *found, str(row.sure), str(row.harmful)]


if __name__ == "__main__":
    sys.exit(main())
