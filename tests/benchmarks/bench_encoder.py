"""Measure how good the vectors of an encoder are, without a matcher.

    python tests/benchmarks/bench_encoder.py --data FOLDER
    python tests/benchmarks/bench_encoder.py --data FOLDER --speed

README.md beside this file explains the rows.
"""

from __future__ import annotations

import argparse
import lzma
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean, median
from time import perf_counter, perf_counter_ns
from typing import Any, NamedTuple

import numpy as np
from entry import add_json_option, option_parser, run_benchmark
from jsonl import read_jsonl
from metrics import percentiles, provenance
from numpy.typing import NDArray
from rich.console import Console
from tables import print_table, write

from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.evaluation.variations import with_typos
from intentmatch.pieces.embedded import embedded_tokenizer
from intentmatch.text.normalize import clean

Vectors = NDArray[np.floating[Any]]
Encode = Callable[[list[str]], Vectors]
"""Encodes texts as rows of length 1, or of zeros."""

EACH = "each"
"""As a train language: each language has a regression of its own."""


class Row(NamedTuple):
    """A regression fitted on train rows, and the messages that it is asked about."""

    name: str
    train: str
    valid: str
    source: str | None = None
    """Only train rows of this language, or `EACH`; None for all."""
    targets: tuple[str, ...] | None = None
    """Languages of the messages; None for all others than `source`, or for all at once where that is None too."""


ROWS = (
    Row("clinc150", "clinc150/train_10", "clinc150/valid"),
    Row("banking77", "banking77/train_10", "banking77/valid"),
    Row("massive_en", "massive/train", "massive/valid", "en", ("en",)),
    Row("massive_en_fa", "massive/train", "massive/valid", "en", ("fa",)),
    Row("massive_fa", "massive/train", "massive/valid", "fa", ("fa",)),
    Row("xsid", "xsid/train", "xsid/valid", "en"),
    Row("mtop", "mtop/train", "mtop/valid", "en"),
    Row("arbanking77_en", "banking77/train_10", "arbanking77/valid"),
    Row("arbanking77", "arbanking77/train", "arbanking77/valid"),
    Row("msskills", "msskills_general/train", "msskills_general/valid", EACH, ("de", "es", "fr", "it", "zh")),
)
"""The rows that `--data` measures, in this order."""
RETRIEVAL = "tatoeba"
"""The row that `--retrieval` adds."""
LEAST_PAIRS = 300
"""Fewest translations of a language in that row: among few sentences the right one is found by chance."""

_LOADS = 9
_WARM_UP = 50
_SPEED_SET = "clinc150/valid"
# The only changes to scikit-learn's defaults. A tolerance of 1e-3 would move results by up to 0.6 points, 1e-6 by 0.2.
_INVERSE_PENALTY = 30
_ITERATIONS = 1000


class Result(NamedTuple):
    """One row of the table."""

    name: str
    accuracy: float
    """Percent; of several languages the plain mean."""
    messages: int
    unknown: int
    """Messages whose intent no train row has; they count as wrong."""
    languages: dict[str, float]
    """Percent in each; empty where the languages are not told apart."""
    seconds: float


class Messages(NamedTuple):
    """The rows of a jsonl file that have one intent, and their vectors."""

    intents: NDArray[np.str_]
    languages: NDArray[np.str_]
    vectors: Vectors

    def of(self, language: str | None) -> Messages:
        """Return the messages of one language; None for all."""
        if language is None:
            return self
        keep = self.languages == language
        return Messages(self.intents[keep], self.languages[keep], self.vectors[keep])


def evaluate(
    encode: Encode,
    data: Path,
    rows: Sequence[str] | None = None,
    *,
    retrieval: Path | None = None,
    disturb: Callable[[str], str] | None = None,
) -> dict[str, float]:
    """Percent right by the name of the row, and by `ROW/LANGUAGE` where a row is a mean of languages.

    `rows` are names in `ROWS`, or None for all; `disturb` is done to each message, and never to a train row.
    """
    numbers = {}
    for result in measure(encode, data, rows, retrieval=retrieval, disturb=disturb):
        numbers[result.name] = result.accuracy
        numbers |= {f"{result.name}/{language}": percent for language, percent in result.languages.items()}
    return numbers


def measure(
    encode: Encode,
    data: Path,
    rows: Sequence[str] | None = None,
    *,
    retrieval: Path | None = None,
    disturb: Callable[[str], str] | None = None,
) -> Iterator[Result]:
    """Yield the rows of the table as they are ready. Each file is encoded and each regression fitted once."""
    known = [*(row.name for row in ROWS), RETRIEVAL]
    names = known if rows is None else rows
    if unknown := [name for name in names if name not in known]:
        raise InputError(f"there is no row {unknown[0]!r}; rows are {', '.join(known)}")
    if rows is not None and RETRIEVAL in rows and retrieval is None:
        raise InputError(f"the row {RETRIEVAL} needs --retrieval FILE")
    work = _Work(encode, data, disturb)
    for row in ROWS:
        if row.name in names:
            yield work.result(row)
    if retrieval is not None and RETRIEVAL in names:
        yield _retrieval(encode, retrieval, disturb)


class _Work:
    """What the rows have in common."""

    def __init__(self, encode: Encode, data: Path, disturb: Callable[[str], str] | None) -> None:
        self._encode, self._data, self._disturb = encode, data, disturb
        self._messages: dict[str, Messages] = {}
        self._fitted: dict[tuple[str, str | None], Any] = {}

    def result(self, row: Row) -> Result:
        start = perf_counter()
        valid = self._read(row.valid, self._disturb)
        targets: Sequence[str | None] = row.targets or [None]
        if row.targets is None and row.source is not None:
            targets = sorted({str(language) for language in valid.languages} - {row.source})
        accuracies, unknown, count = {}, 0, 0
        for target in targets:
            asked = valid.of(target)
            if not len(asked.intents):
                raise InputError(f"{self._path(row.valid)} holds no message in scope in language {target!r}")
            model = self._model(row.train, target if row.source == EACH else row.source)
            right = model.predict(asked.vectors) == asked.intents
            accuracies[target] = 100 * float(right.mean())
            unknown += int((~np.isin(asked.intents, model.classes_)).sum())
            count += len(asked.intents)
        mean = fmean(accuracies.values())
        languages = {str(target): accuracy for target, accuracy in accuracies.items() if len(accuracies) > 1}
        return Result(row.name, mean, count, unknown, languages, perf_counter() - start)

    def _model(self, train: str, language: str | None) -> Any:
        from sklearn.linear_model import LogisticRegression

        if (train, language) not in self._fitted:
            rows = self._read(train, None).of(language)
            if len(np.unique(rows.intents)) < 2:
                raise InputError(f"{self._path(train)} holds fewer than two intents (language: {language or 'any'})")
            model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=_ITERATIONS)
            self._fitted[train, language] = model.fit(rows.vectors, rows.intents)
        return self._fitted[train, language]

    def _read(self, name: str, disturb: Callable[[str], str] | None) -> Messages:
        """Train files are never disturbed and message files always, so a name stands for one of the two."""
        if name not in self._messages:
            path = self._path(name)
            rows = [row for row in read_jsonl(path, "text and intent", _row) if row is not None]
            if not rows:
                raise InputError(f"{path} holds no message with a single intent")
            texts, intents, languages = zip(*rows, strict=True)
            vectors = self._encode([disturb(text) if disturb else text for text in texts])
            self._messages[name] = Messages(np.array(intents), np.array(languages), vectors)
        return self._messages[name]

    def _path(self, name: str) -> Path:
        return self._data / f"{name}.jsonl"


def _row(values: Any) -> tuple[str, str, str] | None:
    """Return text, intent and language; None for a row that is out of scope or has several intents."""
    text, intent, language = clean(values["text"]), values["intent"], values.get("lang") or ""
    return None if values.get("oos") or intent is None or "intents" in values else (text, intent, language)


def _retrieval(encode: Encode, path: Path, disturb: Callable[[str], str] | None) -> Result:
    start = perf_counter()
    pairs = read_pairs(path)
    english = sorted({sentence for rows in pairs.values() for sentence, _ in rows})
    places = {sentence: place for place, sentence in enumerate(english)}
    vectors = encode(english)
    languages = {}
    for language, rows in sorted(pairs.items()):
        own = np.array([places[sentence] for sentence, _ in rows])
        choices = np.unique(own)
        translations = encode([disturb(text) if disturb else text for _, text in rows])
        nearest = choices[np.argmax(translations @ vectors[choices].T, axis=1)]
        # A translation that the encoder knows nothing about is as near to every sentence.
        languages[language] = 100 * float(((nearest == own) & translations.any(axis=1)).mean())
    count = sum(map(len, pairs.values()))
    return Result(RETRIEVAL, fmean(languages.values()), count, 0, languages, perf_counter() - start)


def read_pairs(path: Path) -> dict[str, list[tuple[str, str]]]:
    """Read translations by language from lines of language, English and translation.

    Languages with fewer than `LEAST_PAIRS` translations are left out.
    """
    pairs: dict[str, list[tuple[str, str]]] = {}
    try:
        raw = path.read_bytes()
        lines = (lzma.decompress(raw) if path.suffix == ".xz" else raw).decode("utf-8").split("\n")
    except (OSError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from error
    for number, line in enumerate(lines, 1):
        fields = line.rstrip("\r").split("\t")
        if len(fields) == 3:
            pairs.setdefault(fields[0], []).append((clean(fields[1]), clean(fields[2])))
        elif line.strip():
            raise InputError(f"{path}:{number}: a line must hold language, English and translation between tabs")
    kept = {language: rows for language, rows in pairs.items() if len(rows) >= LEAST_PAIRS}
    if not kept:
        raise InputError(f"{path} holds no language with {LEAST_PAIRS} sentences")
    return kept


def shorten(vectors: Vectors, dim: int) -> Vectors:
    """Keep the first `dim` numbers of each row and normalise; a row of zeros stays zeros."""
    kept = vectors[:, :dim]
    lengths = np.linalg.norm(kept, axis=1, keepdims=True)
    return kept / np.where(lengths > 0, lengths, 1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write; return 0, or the exit code of the error."""
    options = _parser().parse_args(arguments)
    progress = Console(stderr=True, highlight=False, markup=False)
    return run_benchmark(
        lambda: _numbers(options, progress), lambda numbers: _print(numbers, options.languages), options.json
    )


def _numbers(options: argparse.Namespace, progress: Console) -> dict[str, Any]:
    settings = resolve({"encoder": options.encoder} if options.encoder else {})
    encoder = load_encoder(settings)
    about = provenance([Path(sys.executable).name, *sys.argv], encoder)
    if options.speed:
        return about | {"speed": _speed(settings, options.data, progress)}
    return about | _accuracy(options, encoder, progress)


def _parser() -> argparse.ArgumentParser:
    parser = option_parser(__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets, each a folder of jsonl files"
    )
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument(
        "--retrieval", type=Path, metavar="FILE", help="tab-separated language, English, translation; .tsv or .tsv.xz"
    )
    parser.add_argument("--dim", type=int, metavar="N", help="use only the first N numbers of each vector")
    parser.add_argument("--typos", type=int, default=0, metavar="K", help="typing mistakes in each message (0)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the typing mistakes (0)")
    names = ", ".join([*(row.name for row in ROWS), RETRIEVAL])
    parser.add_argument("--only", nargs="+", action="extend", metavar="ROW", help=f"measure only these rows: {names}")
    parser.add_argument("--languages", action="store_true", help="also print a line per language")
    parser.add_argument(
        "--speed", action="store_true", help="measure the time to load and to encode instead, on one thread"
    )
    add_json_option(parser)
    return parser


def _accuracy(options: argparse.Namespace, encoder: Encoder, progress: Console) -> dict[str, Any]:
    dim = encoder.dim if options.dim is None else options.dim
    if not 1 <= dim <= encoder.dim:
        raise InputError(f"--dim {dim}: the vectors have {encoder.dim} numbers")
    if options.typos < 0:
        raise InputError(f"--typos {options.typos}: write a number from 0 up")
    disturb = partial(with_typos, count=options.typos, seed=options.seed) if options.typos else None

    def encode(texts: list[str]) -> Vectors:
        vectors = encoder.encode(texts)
        return vectors if dim == encoder.dim else shorten(vectors, dim)

    results = []
    for result in measure(encode, options.data, options.only, retrieval=options.retrieval, disturb=disturb):
        progress.print(
            f"{result.name}: {result.messages} messages in {result.seconds:.1f} s, {result.accuracy:.1f} % right"
        )
        results.append(result._asdict())
    return {"dim": dim, "typos": options.typos, "seed": options.seed, "rows": results}


def _speed(settings: Settings, data: Path, progress: Console) -> dict[str, Any]:
    from threadpoolctl import threadpool_limits

    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    path = data / f"{_SPEED_SET}.jsonl"
    texts = list(read_jsonl(path, "a text", lambda values: clean(values["text"])))
    if not texts:
        raise InputError(f"{path} holds no message")
    with threadpool_limits(limits=1):
        progress.print(f"{_LOADS} loads, then {len(texts)} messages one at a time")
        loads = []
        for _ in range(_LOADS):
            # It is made once in a process; the time to make it is part of what is measured.
            embedded_tokenizer.cache_clear()
            start = perf_counter()
            encoder = load_encoder(settings)
            encoder.encode(["hello"])
            loads.append(1000 * (perf_counter() - start))
        for text in texts[:_WARM_UP]:
            encoder.encode([text], kind="query")
        times = []
        for text in texts:
            began = perf_counter_ns()
            encoder.encode([text], kind="query")
            times.append((perf_counter_ns() - began) / 1000)
    middle, slow = percentiles(times, 50, 99)
    return {
        "threads": 1,
        "load_milliseconds": {"median": median(loads), "min": min(loads), "max": max(loads)},
        "messages": len(texts),
        "encode_microseconds": {"p50": middle, "p99": slow},
    }


_HEADER = ("row", "fitted on", "asked", "messages", "right")
_WORDS = 3


def _print(content: dict[str, Any], languages: bool) -> None:
    """Print the table, as rich draws it on a wide terminal or as plain text elsewhere."""
    encoder = content["encoder"]
    write(f"intentmatch {content['version']}, encoder {encoder['name']} @ {encoder['fingerprint']}")
    if "speed" in content:
        _print_speed(content["speed"])
        return
    write(f"{content['dim']} numbers in a vector, {_mistakes(content['typos'])} in each message")
    rows = [cells for result in content["rows"] for cells in _cells(result, languages)]
    print_table(_HEADER, rows, left=_WORDS)
    for result in content["rows"]:
        if result["unknown"]:
            count = result["unknown"]
            write(f"{result['name']}: messages that count as wrong, for no train row has their intent: {count}")


def _mistakes(count: int) -> str:
    return f"{count or 'no'} typing mistake{'s' * (count != 1)}"


def _cells(result: dict[str, Any], languages: bool) -> Iterator[list[str]]:
    fitted, asked = _words(result)
    yield [result["name"], fitted, asked, str(result["messages"]), f"{result['accuracy']:.1f}"]
    for language, percent in result["languages"].items() if languages else ():
        yield ["", "", language, "", f"{percent:.1f}"]


def _words(result: dict[str, Any]) -> tuple[str, str]:
    """Describe what the regression was fitted on, and which messages it classified."""
    mean = f"mean of {len(result['languages'])} languages"
    row = next((row for row in ROWS if row.name == result["name"]), None)
    if row is None:
        return "-", mean
    fitted = f"{row.train} {row.source or ''}".rstrip()
    asked = mean if result["languages"] else " ".join(row.targets or ())
    return fitted, f"{row.valid} {asked}".rstrip()


def _print_speed(speed: dict[str, Any]) -> None:
    load, encode = speed["load_milliseconds"], speed["encode_microseconds"]
    write(
        f"load and first vector, ms: median {load['median']:.1f} ({load['min']:.1f} to {load['max']:.1f}) of {_LOADS} "
        "in this process, modules imported and files in memory"
    )
    write(
        f"encode of one message, µs: median {encode['p50']:.0f}, p99 {encode['p99']:.0f}, {speed['messages']} messages "
        "on one thread"
    )


if __name__ == "__main__":
    sys.exit(main())
