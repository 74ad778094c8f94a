"""Compare classification heads and confidence estimates, those of `intentmatch.learning` among them.

    python tests/benchmarks/bench_heads.py --data FOLDER
    python tests/benchmarks/bench_heads.py --data FOLDER --encoder sentence_transformer:FOLDER --seeds 1

README.md beside this file says what the columns mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np
from bench_accuracy import read_rows, registry_of
from entry import option_parser, run_benchmark
from metrics import auroc, ece
from numpy.typing import NDArray
from rich.console import Console
from tables import print_table, write

from intentmatch.core.settings import Settings, resolve
from intentmatch.core.types import Encoder
from intentmatch.encoders import load_encoder
from intentmatch.encoders.encode import encode_all
from intentmatch.index import ExactIndex
from intentmatch.learning.calibration import calibrate, shares_of
from intentmatch.learning.cross_validation import RANKED, Scorer, cross_validate
from intentmatch.learning.fold_plan import Utterances
from intentmatch.learning.fusion import fused_score
from intentmatch.learning.head import Fitting, fit_head, prepare, softmax
from intentmatch.learning.token_features import TokenVectorizer
from intentmatch.pieces.embedded import known_pieces
from intentmatch.text.normalize import clean

Matrix = NDArray[np.float32]

SETS = ("clinc150", "banking77")
"""Sets whose train rows are sampled to so many utterances of each intent."""
SHOTS = (1, 2, 3, 5, 10, 30)
SURE = ("clinc150:train_5", "clinc150:train_10", "banking77_oos:train", "rasa_financial:train", "rasa_helpdesk:train")
"""Sets with out-of-scope messages, for the comparison of calibrations."""
_UNBALANCED = "uneven"


class Problem(NamedTuple):
    """A registry and messages, as vectors and token features."""

    owners: list[int]
    intents: int
    vectors: Matrix
    words: Matrix
    labels: Matrix
    """Vectors of the names or titles of the intents."""
    label_words: Matrix
    asked: Matrix
    asked_words: Matrix
    truth: NDArray[np.int64]
    """The intent of each message; -1 out of scope."""


class Signals(NamedTuple):
    """Scores and logits of each intent, arrays of shape `(messages, intents)`."""

    nearest: Matrix
    score: Matrix
    logits: Matrix


_IN_SCOPE = "in-scope probability (in use)"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; return 0, or the exit code of the error."""
    parser = option_parser(__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER", help="a folder of sets of jsonl files")
    parser.add_argument("--encoder", metavar="KIND[:MODEL]", help="the setting `encoder`")
    parser.add_argument("--seeds", type=int, default=3, help="samples for each number of utterances (3)")
    parser.add_argument("--shots", type=int, nargs="+", default=SHOTS, help="utterances per intent")
    parser.add_argument("--sets", nargs="+", default=SETS, help="sets to sample from")
    parser.add_argument(
        "--sure", nargs="*", default=SURE, metavar="SET:TRAIN", help="sets for the comparison of calibrations"
    )
    options = parser.parse_args(arguments)
    return run_benchmark(lambda: _measure(options, Console(stderr=True, highlight=False, markup=False)))


def _measure(options: argparse.Namespace, progress: Console) -> None:
    """Measure, and print each table when it is finished."""
    encoder = load_encoder(resolve({"encoder": options.encoder} if options.encoder else {}))
    write(f"encoder {encoder.name} @ {encoder.fingerprint}")
    _print_heads(options, encoder, progress)
    _print_calibrators(options, encoder, progress)


def _print_heads(options: argparse.Namespace, encoder: Encoder, progress: Console) -> None:
    rows = []
    for name in options.sets:
        whole = problem(encoder, options.data / name, "train", with_out_of_scope=False)
        for shots in [*options.shots, _UNBALANCED]:
            found: dict[str, list[float]] = {}
            for seed in range(options.seeds):
                for head, right in accuracies(drawn(whole, shots, seed)).items():
                    found.setdefault(head, []).append(right)
            rows.append([name, str(shots), *(f"{fmean(of):.1f}" for of in found.values())])
            progress.print(" ".join(rows[-1]))
    if rows:
        print_table(("set", "utterances", *found), rows, left=2)


def _print_calibrators(options: argparse.Namespace, encoder: Encoder, progress: Console) -> None:
    rows = []
    for name in options.sure:
        folder, _, train = name.partition(":")
        for calibrator, (separation, error) in calibrators(problem(encoder, options.data / folder, train)).items():
            rows.append([name, calibrator, f"{separation:.3f}", f"{error:.3f}"])
            progress.print(" ".join(rows[-1]))
    if rows:
        print_table(("set", "confidence", "AUROC", "ECE"), rows, left=2)


def problem(encoder: Encoder, folder: Path, train: str, *, with_out_of_scope: bool = True) -> Problem:
    """Read a set as vectors, with its `valid` rows as messages."""
    registry, _ = registry_of(read_rows(folder / f"{train}.jsonl"))
    numbers = {intent.name: number for number, intent in enumerate(registry)}
    rows = [row for row in read_rows(folder / "valid.jsonl") if row is not None]
    rows = [row for row in rows if row.intent in numbers or (row.intent is None and with_out_of_scope)]
    texts = [clean(utterance.text) for utterance in registry.utterances]
    labels = [clean(intent.label) for intent in registry]
    messages = [clean(row.text) for row in rows]
    words = TokenVectorizer.fit([*map(known_pieces, texts)])
    return Problem(
        owners=list(registry.owners),
        intents=len(numbers),
        vectors=encode_all(encoder, texts, "utterance"),
        words=words.dense([*map(known_pieces, texts)]),
        labels=encode_all(encoder, labels, "utterance"),
        label_words=words.dense([*map(known_pieces, labels)]),
        asked=encode_all(encoder, messages, "query"),
        asked_words=words.dense([*map(known_pieces, messages)]),
        truth=np.array([-1 if row.intent is None else numbers[row.intent] for row in rows]),
    )


def drawn(whole: Problem, shots: int | str, seed: int) -> Problem:
    """Sample so many utterances of each intent, or 2 to 40 of each, for most intents few."""
    random = np.random.default_rng(seed)
    owners = np.array(whole.owners)
    kept = []
    for intent in range(whole.intents):
        rows = np.flatnonzero(owners == intent)
        count = int(2 * 20 ** random.random() ** 2) if isinstance(shots, str) else shots
        kept.append(np.sort(random.permutation(rows)[:count]))
    some = np.concatenate(kept)
    return whole._replace(owners=owners[some].tolist(), vectors=whole.vectors[some], words=whole.words[some])


def accuracies(given: Problem) -> dict[str, float]:
    """Percentage of in-scope messages that each method gives the right intent."""
    known = signals(given)
    hinted = _logits(given, given.asked_words, labels=True)
    features = np.hstack([given.vectors, 0.6 * given.words])
    asked = np.hstack([given.asked, 0.6 * given.asked_words])
    owners = np.array(given.owners)
    centres = np.stack([given.vectors[owners == intent].mean(axis=0) for intent in range(given.intents)])
    centres /= np.linalg.norm(centres, axis=1, keepdims=True).clip(1e-9)
    choices: Mapping[str, Callable[[], Matrix]] = {
        "nearest": lambda: known.nearest,
        "mean of 2": lambda: known.score,
        "centroid": lambda: given.asked @ centres.T,
        "LDA": lambda: _lda(given.vectors, owners, given.asked),
        "ridge": lambda: _ridge(given.vectors, owners, given.intents, given.asked),
        "ridge, words": lambda: _ridge(features, owners, given.intents, asked),
        "head, no words": lambda: _logits(given._replace(words=given.words * 0), given.asked_words * 0),
        "head": lambda: known.logits,
        "fused score": lambda: fused_score(known.score, known.logits),
        "head, labels": lambda: hinted,
        "fused score, labels": lambda: fused_score(known.score, hinted),
    }
    return {name: 100 * float((of().argmax(axis=1) == given.truth).mean()) for name, of in choices.items()}


def signals(given: Problem) -> Signals:
    """Scores and logits as the matcher computes them."""
    cosines = given.asked @ given.vectors.T
    return Signals(
        ExactIndex(given.vectors, given.owners, "max").aggregate(cosines),
        ExactIndex(given.vectors, given.owners, "mean2").aggregate(cosines),
        _logits(given, given.asked_words),
    )


def calibrators(given: Problem) -> dict[str, tuple[float, float]]:
    """For each confidence estimate, AUROC of in-scope against out-of-scope messages and calibration error of all."""
    from sklearn.isotonic import IsotonicRegression
    from sklearn.linear_model import LogisticRegression

    known = signals(given)
    total = fused_score(known.score, known.logits)
    fitting = prepare(given.vectors, given.words, given.owners, given.intents)
    held = cross_validate(Utterances(given.vectors, given.owners), Scorer("mean2", fitting))[0]
    best = total.max(axis=1)
    probability = softmax(known.logits).max(axis=1)
    calibration = calibrate(held, Settings().target)
    platt = LogisticRegression(C=1e6).fit(held.evidence[:, None], held.right)
    isotonic = IsotonicRegression(out_of_bounds="clip").fit(held.evidence, held.right, sample_weight=shares_of(held))
    confidences = calibration.confidences_many(-np.sort(-total, axis=1)[:, :RANKED])
    found = {
        "probability of the head": probability,
        "score, uncalibrated": known.score.max(axis=1).clip(0, 1),
        "curve, left-out intents counted fully": platt.predict_proba(best[:, None])[:, 1],
        "isotonic": isotonic.predict(best),
        "confidence of the first (in use)": None if confidences is None else confidences[:, 0],
        _IN_SCOPE: None if confidences is None else confidences.sum(axis=1),
    }
    right = (total.argmax(axis=1) == given.truth).tolist()
    inside = (given.truth >= 0).tolist()
    return {
        name: (
            auroc(inside, of.tolist()) or float("nan"),
            ece(of.tolist(), inside if name == _IN_SCOPE else right) or float("nan"),
        )
        for name, of in found.items()
        if of is not None
    }


def _logits(given: Problem, asked_words: Matrix, *, labels: bool = False) -> Matrix:
    hints = given.intents if labels else 0
    vectors = np.vstack([given.vectors, given.labels[:hints]])
    words = np.vstack([given.words, given.label_words[:hints]])
    fitting: Fitting = prepare(vectors, words, [*given.owners, *range(hints)], given.intents, hints)
    return fit_head(fitting).for_vectors(given.vectors.shape[1]).logits_many(given.asked, asked_words)


def _ridge(features: Matrix, owners: NDArray[np.int64], intents: int, asked: Matrix) -> Matrix:
    """Kernel ridge regression, one column for each intent; the best of four penalties by exact leave-one-out error."""
    targets = np.eye(intents, dtype=np.float64)[owners]
    kernel = (features @ features.T).astype(np.float64) + 1.0
    best, weights = np.inf, targets
    for penalty in (0.03, 0.1, 0.3, 1.0):
        inverse = np.linalg.inv(kernel + penalty * np.eye(len(kernel)))
        tried = inverse @ targets
        error = float(((tried / np.diag(inverse)[:, None]) ** 2).sum())
        if error < best:
            best, weights = error, tried
    return ((asked @ features.T + 1.0) @ weights).astype(np.float32)  # type: ignore[no-any-return]


def _lda(vectors: Matrix, owners: NDArray[np.int64], asked: Matrix) -> Matrix:
    """Linear discriminant analysis, the common covariance shrunk half way to a multiple of the identity."""
    centres = np.stack([vectors[owners == intent].mean(axis=0) for intent in np.unique(owners)]).astype(np.float64)
    rest = vectors - centres[owners]
    spread = rest.T @ rest / len(vectors)
    shrunk = 0.5 * spread + 0.5 * max(np.trace(spread), 1e-3) / len(spread) * np.eye(len(spread))
    directions = np.linalg.solve(shrunk, centres.T)
    return (asked @ directions - 0.5 * (centres * directions.T).sum(axis=1)).astype(np.float32)  # type: ignore[no-any-return]


if __name__ == "__main__":
    sys.exit(main())
