"""Measurements of `bench_messages.py`: each function measures one part and returns its tables."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean, median
from time import perf_counter_ns
from typing import Any
from unittest.mock import patch

import yaml
from bench_accuracy import SETS, Choice, Row, read_rows, registry_of
from foreign import (
    OUT_OF_SCOPE_WEIGHT,
    SEEDS,
    TRANSFERS,
    Transfer,
    changed_answers,
    language_cost,
    measure_transfer,
)
from metrics import Outcome, share, summarise
from stability import FAR, MESSAGES, NEAR, messages_of, stability

from intentmatch import Intent, Matcher, MatchResult, Registry
from intentmatch.core.errors import InputError
from intentmatch.core.settings import resolve
from intentmatch.core.types import Encoder
from intentmatch.evaluation.everyday import everyday_messages
from intentmatch.evaluation.noise import NOISE, noise_messages
from intentmatch.evaluation.variations import in_shorthand, with_typos, without_accents
from intentmatch.learning.word_alignment import WordAlignment
from intentmatch.matching.pipeline import Engine
from intentmatch.matching.snapshot import Snapshot
from intentmatch.text.normalize import base_language, fold
from intentmatch.text.surroundings import KINDS, read_surroundings

NEGATED = Path(__file__).parents[1] / "matching" / "negation.yaml"
"""Negated requests of the shipped registry: by half and language, pairs of message and intent."""
NEGATION_SETS = tuple(choice for choice in SETS if choice.name in ("clinc150", "banking77", "massive"))

OWN_LANGUAGE_SETS = (
    Choice("clinc150", "train_10"),
    Choice("banking77", "train_10"),
    Choice("massive", language="en"),
    Choice("massive", language="fa"),
    Choice("mtop", language="en"),
    Choice("arbanking77"),
    Choice("msskills_general"),
)

Cell = str | float | int | None

TYPO_SETS = (Choice("clinc150", "train_10"), Choice("banking77", "train_10"))

_SCRIPTS = ("Latin", "Cyrillic", "Arabic", "Devanagari", "Han", "Hangul")
_SMALL_INTENTS, _SMALL_LANGUAGES = 8, ("en", "de")
# Candidates of each result: enough to add up the confidences of all likely intents.
_TOP = 20
_ROUNDING = 1e-6
_TIMED, _ROUNDS = 300, 7


@dataclass(frozen=True)
class Table:
    """A table with what it was measured on; a cell of a column with `digits` is a number or None."""

    part: str
    title: str
    about: str
    """Data, split and seed, and what the columns mean."""
    header: tuple[str, ...]
    digits: tuple[int | None, ...]
    """By column: digits after the point, or None for a column of words."""
    rows: list[list[Cell]]
    drawn: tuple[str, ...] = ()
    """Headings of the columns that the picture shows as bars, in percent."""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.header):
                raise ValueError(f"{self.title}: {len(row)} cells for {len(self.header)} columns")


@dataclass
class Subject:
    """The matchers that are measured, each loaded once, and their results for the messages of their set."""

    data: Path
    encoder: Encoder
    registry: str
    """The path of the shipped registry."""
    seed: int = 0
    sets: Sequence[Choice] = ()
    """The sets to measure; empty for those that each part measures by default."""
    noise: int = 300
    """Messages of each kind of noise."""
    edits: int = 20
    """Random edits of each registry, for the stability of its answers."""
    progress: Callable[[str], None] = print
    _matchers: dict[str, Matcher] = field(default_factory=dict)
    _results: dict[str, list[tuple[Row, MatchResult]]] = field(default_factory=dict)

    def chosen(self, default: Sequence[Choice] = SETS) -> Sequence[Choice]:
        """Return the sets to measure in a part."""
        return self.sets or default

    def shipped(self) -> Matcher:
        """Return the matcher of the shipped registry."""
        if self.registry not in self._matchers:
            self._matchers[self.registry] = Matcher.load(self.registry, encoder=self.encoder)
        return self._matchers[self.registry]

    def small(self) -> Matcher:
        """Return a matcher of a few intents of the shipped registry, in two languages."""
        if "" not in self._matchers:
            intents = sorted(self.shipped().registry, key=lambda intent: intent.name)[:_SMALL_INTENTS]
            registry = Registry(tuple(map(_in_two_languages, intents)))
            self._matchers[""] = Matcher.load(registry, encoder=self.encoder)
        return self._matchers[""]

    def matcher(self, choice: Choice) -> Matcher:
        """Return the matcher of a set's train rows."""
        name = label(choice)
        if name not in self._matchers:
            path = self.data / choice.name / f"{choice.train}.jsonl"
            registry, _ = registry_of(read_rows(path), choice.language)
            self._matchers[name] = Matcher.load(registry, encoder=self.encoder)
        return self._matchers[name]

    def messages(self, choice: Choice) -> list[Row]:
        """Return the messages of a set that have a single intent or none."""
        path = self.data / choice.name / f"{choice.valid}.jsonl"
        rows = [row for row in read_rows(path) if row is not None]
        if not rows:
            raise InputError(f"{path} has no message with a single intent")
        return rows

    def results(self, choice: Choice) -> list[tuple[Row, MatchResult]]:
        """Return each message of a set with its result."""
        name = label(choice)
        if name not in self._results:
            self.progress(f"{name}: matching")
            rows = self.messages(choice)
            results = self.matcher(choice).match_many([row.text for row in rows], top_k=_TOP)
            self._results[name] = list(zip(rows, results, strict=True))
        return self._results[name]

    def outcomes(self, choice: Choice) -> list[Outcome]:
        """Return the judged results of a set."""
        return [Outcome.from_result(result, row.intent) for row, result in self.results(choice)]

    def overall(self, choice: Choice, change: Callable[[Row], str]) -> float | None:
        """Return the overall accuracy on the messages of a set, each changed by a function."""
        rows = self.messages(choice)
        results = self.matcher(choice).match_many([change(row) for row in rows], top_k=1)
        return share([_is_right(result, row.intent) for row, result in zip(rows, results, strict=True)])


def _in_two_languages(intent: Intent) -> Intent:
    return Intent(intent.name, tuple(u for u in intent.utterances if u.language in _SMALL_LANGUAGES))


def label(choice: Choice) -> str:
    """Return a set and its train rows, as written after `--set`."""
    return f"{choice.name}:{choice.train_label}"


def _is_right(result: MatchResult, truth: str | None) -> bool:
    if truth is None:
        return result.verdict == "out_of_scope"
    return result.verdict == "matched" and result.intent == truth


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def typos(subject: Subject) -> list[Table]:
    """Overall accuracy on messages as they are, with one typing mistake and with two."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen(TYPO_SETS):
        clean = share([_is_right(result, row.intent) for row, result in subject.results(choice)])
        changed = [
            subject.overall(choice, lambda row, count=count: with_typos(row.text, count, subject.seed))
            for count in (1, 2)
        ]
        costs = [None if clean is None or value is None else 100 * (clean - value) for value in changed]
        rows.append([label(choice), len(subject.messages(choice)), *map(_percent, (clean, *changed)), *costs])
    about = (
        f"Percent right (out-of-scope messages: refused) of the valid rows; `with_typos`, seed {subject.seed}. "
        "The last two columns are points lost."
    )
    header = ("set", "messages", "clean", "one mistake", "two mistakes", "lost by one", "lost by two")
    return [Table("typos", "Typing mistakes", about, header, (None, 0, 1, 1, 1, 1, 1), rows, ("clean", *header[3:5]))]


def clean_text(subject: Subject) -> list[Table]:
    """Messages as they are written, with spelling correction and without."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen():
        artefact, found = subject.matcher(choice).artefact, subject.results(choice)
        plain = Snapshot(Engine(replace(artefact, settings=replace(artefact.settings, fuzzy=1.0)), subject.encoder))
        without = plain.match_many([row.text for row, _ in found], top_k=1)
        off = [_is_right(result, row.intent) for (row, _), result in zip(found, without, strict=True)]
        on = [_is_right(result, row.intent) for row, result in found]
        counts = Counter(zip(off, on, strict=True))
        lost, won = counts[True, False], counts[False, True]
        shares = [_percent(share(off)), _percent(share(on))]
        rows.append([label(choice), len(found), *shares, 100 * (lost - won) / len(found), lost, won])
    about = (
        "Percent right (out-of-scope messages: refused) of the valid rows as they are written, with the setting "
        "`fuzzy: 1.0`, which turns spelling correction off, and with it on; the last columns are points lost, and "
        "messages that are no longer right, or newly right."
    )
    header = ("set", "messages", "off", "on", "lost", "no longer right", "newly right")
    return [Table("clean", "Clean text", about, header, (None, 0, 2, 2, 2, 0, 0), rows)]


def accents(subject: Subject) -> list[Table]:
    """Accented lines of the shipped registry, typed without accents."""
    matcher = subject.shipped()
    owners = {fold(u.text): intent.name for intent in matcher.registry for u in intent.utterances}
    lines = [
        (intent.name, u.language or "", plain)
        for intent in matcher.registry
        for u in intent.utterances
        # A line that is another intent's line without its accents is answered as that one.
        if (plain := without_accents(u.text)) != u.text and owners.get(fold(plain), intent.name) == intent.name
    ]
    results = matcher.match_many([text for _, _, text in lines], top_k=1)
    right = [_is_right(result, name) for (name, _, _), result in zip(lines, results, strict=True)]
    rows: list[list[Cell]] = [["all", len(lines), sum(right), _percent(share(right))]]
    for language in sorted({language for _, language, _ in lines}):
        own = [hit for hit, (_, spoken, _) in zip(right, lines, strict=True) if spoken == language]
        rows.append([language, len(own), sum(own), _percent(share(own))])
    about = (
        f"Lines of `{subject.registry}` that have accents, typed without them; right: matched with their own intent."
    )
    header = ("language", "lines", "right", "percent")
    return [Table("accents", "Accents", about, header, (None, 0, 0, 1), rows)]


def shorthand(subject: Subject) -> list[Table]:
    """Messages in the shorthand of chats beside the same messages as they are."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen(TYPO_SETS):
        short = [(row, in_shorthand(row.text, row.language or "en")) for row in subject.messages(choice)]
        short = [(row, text) for row, text in short if fold(text) != fold(row.text)]
        match = subject.matcher(choice).match_many
        rights = [
            share(
                [_is_right(result, row.intent) for (row, _), result in zip(short, match(texts, top_k=1), strict=True)]
            )
            for texts in ([row.text for row, _ in short], [text for _, text in short])
        ]
        lost = None if None in rights else 100 * (rights[0] - rights[1])
        rows.append([label(choice), len(short), *map(_percent, rights), lost])
    about = (
        "Valid rows that hold a word with a shorthand in their language; every such word is replaced by its shortest "
        "shorthand. Percent right, and the points lost."
    )
    header = ("set", "messages", "clean", "in shorthand", "lost")
    return [Table("shorthand", "Shorthand", about, header, (None, 0, 1, 1, 1), rows)]


def surroundings(subject: Subject) -> list[Table]:
    """Messages with what people write around them, in phrases that no training saw."""
    words = read_surroundings("measure")
    rows: list[list[Cell]] = []
    for choice in subject.chosen(TYPO_SETS):
        inside = [(row, result) for row, result in subject.results(choice) if row.intent is not None]
        clean = share([_is_right(result, row.intent) for row, result in inside])
        lost: list[float | None] = []
        for kind in KINDS:
            draw = random.Random(f"{subject.seed} {kind}")
            texts = [words.add(kind, row.text, row.language or "en", draw) for row, _ in inside]
            results = subject.matcher(choice).match_many(texts, top_k=1)
            right = share([_is_right(result, row.intent) for (row, _), result in zip(inside, results, strict=True)])
            lost.append(None if clean is None or right is None else 100 * (clean - right))
        rows.append([label(choice), len(inside), _percent(clean), *lost])
    about = (
        f"Valid rows in scope, seed {subject.seed}: percent right, and the points lost by what is written around the "
        "message. The phrases are those of `text/surroundings.yaml` that are kept aside for measuring."
    )
    header = ("set", "messages", "clean", *KINDS)
    return [Table("surroundings", "Around a request", about, header, (None, 0, *[1] * (1 + len(KINDS))), rows)]


def noise(subject: Subject) -> list[Table]:
    """Messages that mean nothing, on the shipped registry and on a small one."""
    large, small = subject.shipped(), subject.small()
    kinds = [(kind, "") for kind in NOISE if kind != "letters"]
    kinds[:0] = [("letters", name) for name in _SCRIPTS]
    rows: list[list[Cell]] = []
    for kind, name in kinds:
        texts = list(noise_messages(kind, subject.noise, seed=subject.seed, script=name or "Latin"))
        counts = [_counts(matcher, texts) for matcher in (large, small)]
        rows.append(
            [f"{kind} {name}".rstrip(), len(texts), *(100 * count / len(texts) for two in counts for count in two)]
        )
    rows.append(["mean", sum(row[1] for row in rows), *(_mean(row[n] for row in rows) for n in range(2, 6))])
    about = (
        f"`noise_messages`, seed {subject.seed}. Percent accepted (matched) and asked about: on `{subject.registry}`, "
        f"and on its first {_SMALL_INTENTS} intents by name in {' and '.join(_SMALL_LANGUAGES)}."
    )
    header = ("kind", "messages", "accepted", "asked", "accepted, small", "asked, small")
    drawn = ("accepted", "accepted, small")
    return [Table("noise", "Noise", about, header, (None, 0, 1, 1, 1, 1), rows, drawn)]


def everyday(subject: Subject) -> list[Table]:
    """Everyday talk that is out of scope of the shipped registry."""
    matcher = subject.shipped()
    rows: list[list[Cell]] = []
    for name, half in (("development half", "development"), ("half kept aside", "kept")):
        texts = [case.text for case in everyday_messages(half=half)]
        accepted, asked = _counts(matcher, texts)
        rows.append([name, len(texts), accepted, asked, 100 * accepted / len(texts)])
    about = (
        f"The list of everyday out-of-scope messages in ten languages, on `{subject.registry}`: messages accepted "
        "(matched) and asked about, and percent accepted. Choices are made on the development half only."
    )
    header = ("messages of the", "messages", "accepted", "asked", "percent accepted")
    return [Table("everyday", "Everyday talk", about, header, (None, 0, 0, 0, 1), rows)]


def negation(subject: Subject) -> list[Table]:
    """Negated requests, which are never to be matched, and what the harmless negations of other messages cost."""
    matcher = subject.shipped()
    rows: list[list[Cell]] = []
    for name, half in (("development half", "development"), ("half kept aside", "kept")):
        listed = yaml.safe_load(NEGATED.read_text(encoding="utf-8"))[half]
        # A comma in a message divides it where it stands without quotes.
        texts = [", ".join(words) for own in listed.values() for *words, _ in own]
        results = matcher.match_many(texts, top_k=1)
        verdicts = Counter(result.verdict for result in results)
        counts = [verdicts[verdict] for verdict in ("ambiguous", "out_of_scope", "matched")]
        rows.append([name, len(listed), len(results), *counts])
    about = f"Requests in the negative, on `{subject.registry}`: asked about, refused, and matched, which is wrong."
    header = ("messages of the", "languages", "messages", "asked", "refused", "matched")
    tables = [Table("negation", "Negated requests", about, header, (None, 0, 0, 0, 0, 0), rows)]
    costs: list[list[Cell]] = []
    for choice in subject.chosen(NEGATION_SETS):
        inside = [(row, result) for row, result in subject.results(choice) if row.intent is not None]
        asked = [(row, result) for row, result in inside if _is_negated(result)]
        lost = [row.intent == result.candidates[0].intent for row, result in asked]
        right = share([_is_right(result, row.intent) for row, result in inside])
        costs.append([label(choice), len(inside), _percent(right), len(asked), 100 * sum(lost) / len(inside)])
    about = (
        "Valid rows in scope: percent right; messages asked about because of a negation; points of the percent right "
        "that this costs, as their first candidate is right."
    )
    header = ("set", "messages", "right", "asked for a negation", "points lost")
    return [*tables, Table("negation", "Harmless negations", about, header, (None, 0, 1, 0, 2), costs)]


def _is_negated(result: MatchResult) -> bool:
    return result.verdict == "ambiguous" and any(stage.name == "negation" for stage in result.trace.stages)


def _counts(matcher: Matcher, texts: Sequence[str]) -> tuple[int, int]:
    """Return how many messages are matched, and how many asked about."""
    verdicts = Counter(result.verdict for result in matcher.match_many(texts, top_k=1))
    return verdicts["matched"], verdicts["ambiguous"]


def foreign(subject: Subject) -> list[Table]:
    """Messages in languages that a registry does not have."""
    transfers = [
        Transfer(choice.name, f"{choice.name}/{choice.train}", f"{choice.name}/{choice.valid}", choice.language or "en")
        for choice in subject.sets
    ]
    rows: list[list[Cell]] = []
    for transfer in transfers or TRANSFERS:
        subject.progress(f"{transfer.name}: matching messages in other languages")
        for numbers in measure_transfer(subject.data, subject.encoder, {}, [transfer]).values():
            overall, asked, best, language = (100 * numbers[name] for name in ("overall", "asked", "best", "language"))
            name = f"{transfer.train} to {transfer.valid}"
            rows.append([name, overall, asked, best, best - overall, numbers["ece"], language])
    about = (
        "The registry has the train rows in English (or in the language of `--set`) of a random two thirds of the "
        f"intents, mean of the seeds {', '.join(map(str, SEEDS))}. Messages are the valid rows of all intents in other "
        f"languages; those of the other intents are out of scope and weigh {OUT_OF_SCOPE_WEIGHT:g}. Overall at the "
        "learned threshold, with questions counted that offer the right intent, and at the best threshold; language: "
        "percent of messages whose language was found."
    )
    header = ("set", "overall", "with asked", "best", "below best", "ECE", "language")
    drawn = ("overall", "best")
    return [Table("foreign", "Foreign languages", about, header, (None, 1, 1, 1, 1, 3, 1), rows, drawn)]


def own_languages(subject: Subject) -> list[Table]:
    """What the guess of the language costs messages in a registry's own languages: answers and time."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen(OWN_LANGUAGE_SETS):
        matcher = subject.matcher(choice)
        own = [row.text for row in subject.messages(choice) if choice.language in (None, row.language)]
        without = Snapshot(Engine(replace(matcher.artefact, foreign=None), subject.encoder))
        results = matcher.match_many(own, top_k=1)
        changed = changed_answers(without.match_many(own, top_k=1), results)
        families = {base_language(language) for language in matcher.registry.languages}
        other = [not families or base_language(result.language or "") not in families for result in results]
        taken = None if not families else _percent(share(other))
        guess, match = language_cost(matcher, own[:_TIMED], _ROUNDS)
        rows.append([label(choice), len(own), taken, 100 * changed, guess, match, 100 * guess / match])
    about = (
        "Valid rows in the languages of the registry: percent whose language was guessed as none of them, percent that "
        "get another answer than without a calibration for other languages, and the median time of the guess beside "
        f"that of a whole match, on the first {_TIMED} rows, best of {_ROUNDS} rounds."
    )
    header = ("set", "messages", "other language", "other answer", "guess, µs", "match, µs", "percent of a match")
    return [Table("own-languages", "Own languages", about, header, (None, 0, 2, 2, 0, 0, 0), rows)]


def stable(subject: Subject) -> list[Table]:
    """How far one-line edits move the learned threshold and the answers that do not rest on them."""
    rows: list[list[Cell]] = []
    for name, registry, messages, extra in _edited(subject):
        subject.progress(f"{name}: {subject.edits} edits")
        found = stability(
            registry, messages, subject.encoder, resolve({}), extra=extra, edits=subject.edits, seed=subject.seed
        )
        numbers = found.numbers()
        far = share([move > FAR for move in found.moves])
        moves = [_percent(numbers["near"]), numbers["p95"], numbers["largest"], _percent(far)]
        rows.append(
            [
                name,
                int(numbers["edits"]),
                len(messages),
                *moves,
                *map(_percent, (numbers["changed"], numbers["most_changed"])),
            ]
        )
    about = (
        f"Random one-line edits, seed {subject.seed}: a line is added, changed or removed, each time in the original "
        f"registry. Percent of edits that move the default threshold by at most {NEAR:g}, the 95th percentile and the "
        f"largest move, and percent of edits beyond {FAR:g}. Changed: percent of messages that are answered otherwise "
        "although the edited intent ranks first neither before nor after; mean and largest over the edits."
    )
    header = (
        "registry", "edits", "messages", f"within {NEAR:g}", "95% of moves", "largest move", f"beyond {FAR:g}",
        "changed", "most changed",
    )  # fmt: skip
    return [Table("stability", "Stability", about, header, (None, 0, 0, 1, 4, 4, 1, 2, 2), rows)]


def _edited(subject: Subject) -> Iterator[tuple[str, Registry, list[str], list[tuple[str, str]]]]:
    """Yield the name of each registry to edit, the registry, messages, and messages that may be added as lines."""
    registry = subject.shipped().registry
    yield subject.registry, registry, messages_of(registry, seed=subject.seed), []
    for choice in subject.chosen(TYPO_SETS[:1]):
        rows = subject.messages(choice)[:MESSAGES]
        extra = [(row.text, row.intent) for row in rows if row.intent is not None]
        yield label(choice), subject.matcher(choice).registry, [row.text for row in rows], extra


def out_of_scope(subject: Subject) -> list[Table]:
    """In-scope against out-of-scope messages: AUROC, and the learned threshold against the best one."""
    choices = [choice for choice in subject.chosen() if _outside(subject, choice)]
    rows: list[list[Cell]] = []
    for choice in choices:
        numbers = summarise(subject.outcomes(choice))
        overall, best = _percent(numbers["overall"]), _percent(numbers["best"])
        below = None if overall is None or best is None else best - overall
        counts = [int(numbers[name] or 0) for name in ("rows", "out_of_scope_rows")]
        right, refused = _percent(numbers["right"]), _percent(numbers["refused"])
        auroc = [numbers["auroc_confidence"], numbers["auroc_score"]]
        rows.append([label(choice), *counts, *auroc, right, refused, overall, best, below])
    if rows:
        behind = [row[-1] for row in rows if isinstance(row[-1], float)]
        means = [_mean(row[n] for row in rows) for n in range(3, 10)]
        rows.append(["mean", sum(row[1] for row in rows), sum(row[2] for row in rows), *means])
        rows.append(["worst", *[None] * 8, max(behind, default=None)])
    about = (
        "Valid rows of the sets with out-of-scope messages. AUROC of the confidence (c) and of the score (s); percent "
        "right of the messages in scope and refused of the others; overall at the learned threshold and at the best."
    )
    header = (
        "set", "messages", "out of scope", "AUROC c", "AUROC s", "right", "refused", "overall", "best", "below best",
    )  # fmt: skip
    digits = (None, 0, 0, 3, 3, 1, 1, 1, 1, 1)
    return [Table("out-of-scope", "Out-of-scope messages", about, header, digits, rows, ("overall", "best"))]


def confidence(subject: Subject) -> list[Table]:
    """Calibration error of the confidence, and the sum of the confidences of one message."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen():
        numbers = summarise(subject.outcomes(choice))
        sums = [_sum(result) for _, result in subject.results(choice)]
        known = [value for value in sums if value is not None]
        above = share([value > 1 + _ROUNDING for value in known])
        rows.append([label(choice), len(sums), numbers["ece"], max(known, default=None), _percent(above)])
    if rows:
        largest = max((row[3] for row in rows if row[3] is not None), default=None)
        rows.append(
            ["mean", sum(row[1] for row in rows), _mean(row[2] for row in rows), largest, _mean(r[4] for r in rows)]
        )
    about = (
        "Valid rows. ECE: expected calibration error in 10 equal bins. Largest sum: of the confidences of the first "
        f"{_TOP} candidates of one message (last row: the largest of all); above 1: percent of messages with more, "
        "whose parts mean different intents."
    )
    header = ("set", "messages", "ECE", "largest sum", "above 1")
    return [Table("confidence", "Confidence", about, header, (None, 0, 3, 2, 1), rows)]


def asking(subject: Subject) -> list[Table]:
    """How often the bot asks, and whether the right intent is among the choices or even first."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen():
        found = subject.results(choice)
        asked = [(row, result) for row, result in found if result.verdict == "ambiguous"]
        among = [row.intent in {rival.intent for rival in result.rivals[:3]} for row, result in asked]
        first = [row.intent == result.rivals[0].intent for row, result in asked]
        numbers = summarise(subject.outcomes(choice))
        shares = [share([result.verdict == "ambiguous" for _, result in found]), share(among), share(first)]
        rows.append(
            [label(choice), len(found), *map(_percent, (*shares, numbers["overall"], numbers["overall_asked"]))]
        )
    if rows:
        rows.append(["mean", sum(row[1] for row in rows), *(_mean(row[n] for row in rows) for n in range(2, 7))])
    about = (
        "Valid rows. Asked: percent of messages with the verdict ambiguous. Of these: the right intent among the first "
        "three choices, and first of them. Overall, and overall where a message asked about with the right intent "
        "among the choices counts as right."
    )
    header = ("set", "messages", "asked", "among three", "first", "overall", "with asked")
    return [Table("asking", "Asking", about, header, (None, 0, 1, 1, 1, 1, 1), rows)]


def latency(subject: Subject) -> list[Table]:
    """Median time of one match: clean, with one mistake, with two, as ratios to encoding the clean message."""
    rows: list[list[Cell]] = []
    for choice in subject.chosen(TYPO_SETS):
        matcher, clean = subject.matcher(choice), [row.text for row in subject.messages(choice)][:_TIMED]
        medians: list[list[float]] = []
        for number in range(_ROUNDS):
            # Mistakes differ from round to round, so that no cache knows them.
            typed = [[with_typos(text, count, subject.seed + number) for text in clean] for count in (0, 1, 2)]
            encode = _median(lambda text, encoder=matcher.encoder: encoder.encode([text], kind="query"), clean)
            medians.append([encode, _words(matcher, clean), *(_median(matcher.match, texts) for texts in typed)])
        encode, words, *times = (min(values) for values in zip(*medians, strict=True))
        ratios = [*(time / encode for time in times), times[1] / times[0]]
        rows.append([label(choice), len(clean), times[0], words, *ratios])
    about = (
        f"`match` on the first {_TIMED} valid rows: median over the messages, the best of {_ROUNDS} rounds with new "
        "mistakes in each; words: aligning the words of a clean message, which is part of it. Ratios are to encoding "
        "the clean message in the same rounds; the last column is one mistake to clean."
    )
    header = ("set", "messages", "clean, µs", "words, µs", "clean", "one mistake", "two mistakes", "one to clean")
    return [Table("latency", "Time of a match", about, header, (None, 0, 0, 0, 2, 2, 2, 2), rows)]


def _words(matcher: Matcher, texts: Sequence[str]) -> float:
    """Return the median microseconds that a match takes to align words; 0 if it never does."""
    times = []
    align = WordAlignment.similarities

    def timed(*arguments: Any) -> list[float]:
        start = perf_counter_ns()
        found = align(*arguments)
        times.append((perf_counter_ns() - start) / 1000)
        return found

    with patch.object(WordAlignment, "similarities", timed):
        for text in texts:
            matcher.match(text)
    return median(times) if times else 0.0


def _median(call: Callable[[str], object], texts: Sequence[str]) -> float:
    """Return the median microseconds of a call over texts."""
    times = []
    for text in texts:
        start = perf_counter_ns()
        call(text)
        times.append((perf_counter_ns() - start) / 1000)
    return median(times)


def _sum(result: MatchResult) -> float | None:
    known = [candidate.confidence for candidate in result.candidates if candidate.confidence is not None]
    return sum(known) if known else None


def _outside(subject: Subject, choice: Choice) -> bool:
    return any(row.intent is None for row in subject.messages(choice))


PARTS: dict[str, Callable[[Subject], list[Table]]] = {
    "typos": typos,
    "clean": clean_text,
    "accents": accents,
    "shorthand": shorthand,
    "surroundings": surroundings,
    "foreign": foreign,
    "own-languages": own_languages,
    "out-of-scope": out_of_scope,
    "noise": noise,
    "everyday": everyday,
    "confidence": confidence,
    "stability": stable,
    "asking": asking,
    "negation": negation,
    "latency": latency,
}
"""The parts of the benchmark, in the order in which they are printed."""
