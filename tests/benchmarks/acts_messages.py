"""Write the messages that the network of the dialogue acts is trained on, beside those in the package.

    python tests/benchmarks/acts_messages.py --data FOLDER --output FILES

README.md beside this file names the files.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import yaml
from bench_accuracy import read_rows
from bench_negations import SETS, Negation, read_negations
from entry import option_parser, run_benchmark
from tables import write

from intentmatch.reading.dialogue_acts import Act
from intentmatch.registry import read_registry

Line = dict[str, str | None]
"""A message with `text`, `lang` and, where it is no request, its `act`."""

ROOT = Path(__file__).parents[2]
# By data set: intents whose messages ask for nothing, as greetings and answers do; they are left out.
ORDINARY = {
    "clinc150": ("greeting", "goodbye", "thank_you", "yes", "no", "maybe", "cancel", "repeat"),
    "banking77": (),
    "massive": ("general_greet", "general_quirky", "music_dislikeness"),
    "mtop": ("DISLIKE_MUSIC", "DISPREFER", "SET_RSVP_NO"),
    "xsid": (),
    "arbanking77": (),
    "msskills_general": (
        *("None", "Cancel", "Confirm", "FinishTask", "Goodbye", "Greeting", "Reject", "Repeat", "SelectNone"),
        "Stop",
    ),
    "msskills_calendar": ("None", "RejectCalendar"),
    "rasa_helpdesk": ("None", "affirm", "deny", "goodbye", "greet", "inform", "thank"),
    "rasa_financial": ("None", "affirm", "deny", "goodbye", "greet", "inform", "thankyou"),
    "rasa_carbon": (
        *("affirm", "deny", "deny_flying", "express_negative-emo", "express_positive-emo", "express_surprise"),
        *("express_uncertainty", "farewell", "greet", "inform", "inform_notunderstanding", "insult", "thank", "vulgar"),
        *(
            "faq/accuse-scam",
            "faq/oos_inform",
            "faq/opinion",
            "faq/deny-climate-change",
            "faq/not-personally-responsible",
        ),
    ),
    "rasa_nlutd_banking": (),
    "rasa_ar_helpdesk": ("None", "affirm", "deny", "goodbye", "greet", "inform", "thank"),
    "rasa_zh_faq": ("affirm", "deny", "goodbye", "greet", "inform", "mood_great", "mood_unhappy", "stop"),
}
SMALL_TALK = ("greeting", "goodbye", "thanks", "yes", "no", "how_are_you", "who_are_you", "repeat")
"""Shipped intents that are left out for the same reason."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the files; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with `intents/dev/` and `messages/`")
    parser.add_argument("--output", type=Path, required=True, metavar="FILES", help="folder to write to")
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: write_files(options.data, options.output))


def write_files(data: Path, output: Path) -> None:
    """Write a file of each source. Raises `InputError`."""
    output.mkdir(parents=True, exist_ok=True)
    for name, left_out in ORDINARY.items():
        _write(output / f"ordinary_{name}.jsonl", _ordinary(data / "intents" / "dev" / name / "train.jsonl", left_out))
    _write(output / "shipped.jsonl", _shipped())
    # Named as sources of the package, so that they weigh together with them: refusals are about a shop only, and at a
    # weight of their own most of what is said about an address or an account would be one.
    forms = yaml.safe_load((ROOT / "tests" / "matching" / "negation_forms.yaml").read_text("utf-8"))
    _write(output / "messages.jsonl", _forms(forms["requests"], "refuses"))
    _write(output / "problems.jsonl", _forms(forms["problems"], None))
    _write(output / "negated.jsonl", _negated(one for name in SETS for one in read_negations(data, name)))


def _ordinary(file: Path, left_out: tuple[str, ...]) -> Iterator[Line]:
    for row in read_rows(file):
        if row is not None and row.intent is not None and row.intent not in left_out:
            yield {"text": row.text, "lang": row.language}


def _shipped() -> Iterator[Line]:
    for intent in read_registry(ROOT / "intents"):
        if intent.name not in SMALL_TALK:
            yield from ({"text": line.text, "lang": line.language} for line in intent.utterances)


def _forms(by_language: Mapping[str, Sequence[str]], act: Act | None) -> Iterator[Line]:
    for language, texts in by_language.items():
        yield from ({"text": text, "lang": language, "act": act} for text in texts)


def _negated(found: Iterable[Negation]) -> Iterator[Line]:
    for one in found:
        if not one.is_kept:
            yield {"text": one.message, "lang": "en"}
            yield {"text": one.negated, "lang": "en", "act": "refuses" if one.has_new_word else "settled"}


def _write(file: Path, rows: Iterable[Line]) -> None:
    lines = [json.dumps(row, ensure_ascii=False) for row in rows]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    write(f"{file}: {len(lines)} messages")


if __name__ == "__main__":
    sys.exit(main())
