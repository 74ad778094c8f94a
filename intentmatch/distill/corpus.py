"""Read parallel and English text for a distillation: cleaned, deduplicated, without held-out sentences."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import unicodedata
import zlib
from array import array
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import InputError
from intentmatch.text.normalize import clean, fold, language_code

ENGLISH = "en"
LONGEST = 120
"""Maximum length of a sentence in characters; longer ones help little and are slow to encode with the teacher."""

_OPENERS: Mapping[str, Callable[..., IO[Any]]] = {".xz": lzma.open, ".gz": gzip.open, ".bz2": bz2.open}
# Minimum number of words for two sentences that differ in one word to be near-duplicates.
_WORDS_FOR_NEAR = 5
_LINES_PER_UPDATE = 100_000

StepProgress = Callable[[str, int, int | None], None]
"""Called with the name of the step, the amount done so far, and the total amount (None if unknown)."""


@dataclass(frozen=True)
class Corpus:
    """English sentences and their translations."""

    sentences: Sequence[str]
    """Distinct English sentences, in order of first occurrence."""
    translations: Sequence[str]
    rows: NDArray[np.int32]
    """For each of `translations`, the position of its English sentence."""
    language_of: NDArray[np.int16]
    """For each of `translations`, the position of its language in `languages`."""
    languages: tuple[str, ...]
    sources: tuple[str, ...]
    source_of: NDArray[np.int16]
    """For each of `translations`, the position of its source in `sources`."""
    sentence_source_of: NDArray[np.int16]
    """For each of `sentences`, the position of the source of its first occurrence."""
    removed: Mapping[str, int] = field(default_factory=dict)
    """Number of lines that were filtered out, by reason."""

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all texts in order, with their languages and sources."""
        digest = hashlib.sha256()
        for texts in (self.sentences, self.translations, self.languages, self.sources):
            digest.update("\n".join(texts).encode("utf-8", "surrogatepass"))
        for numbers in (self.rows, self.language_of, self.source_of, self.sentence_source_of):
            digest.update(numbers.tobytes())
        return digest.hexdigest()[:16]

    def pairs_by_source(self) -> dict[str, tuple[int, int]]:
        """Map each source to its number of translations and of English sentences, sorted by name."""
        pairs = np.bincount(self.source_of, minlength=len(self.sources)).tolist()
        english = np.bincount(self.sentence_source_of, minlength=len(self.sources)).tolist()
        return {name: (pairs[number], english[number]) for number, name in sorted(enumerate(self.sources), key=_name)}

    def pairs_by_language(self) -> dict[str, int]:
        """Map each language to its number of translations, most frequent first."""
        counts = Counter(dict(enumerate(np.bincount(self.language_of, minlength=len(self.languages)).tolist())))
        return {self.languages[number]: count for number, count in counts.most_common() if count}


def read_corpus(
    pairs: Sequence[Path],
    english: Sequence[Path] = (),
    *,
    held_out: Sequence[Path] = (),
    longest: int = LONGEST,
    progress: StepProgress | None = None,
) -> Corpus:
    """Read a corpus from tab-separated UTF-8 files, plain or compressed (.xz, .gz, .bz2).

    The columns of `pairs` are `English, language, translation[, source]`, of `english` `sentence[, source]`, and of
    `held_out` `language, English, translation`. The corpus omits every sentence of `held_out`, in both languages, and
    sentences that differ from one only in case, punctuation, accents or one word of at least five. It also omits
    sentences of more than `longest` characters.

    Raises `InputError` with the location of a line that has too few columns or an invalid language code, and if a file
    cannot be read or no text remains.
    """
    builder = _Builder(_HeldOut(held_out), longest)
    for file in pairs:
        for location, columns in _lines(file, 3, "English, language and translation", progress):
            builder.add_pair(location, columns)
    for file in english:
        for _, columns in _lines(file, 1, "an English sentence", progress):
            builder.add_sentence(columns)
    return builder.corpus()


class _Builder:
    """Collects the lines of a corpus."""

    def __init__(self, held_out: _HeldOut, longest: int) -> None:
        self._held_out = held_out
        self._longest = longest
        self._sentences: dict[str, int] = {}
        self._sentence_sources = array("h")
        self._translations: list[str] = []
        self._columns = {name: array(code) for name, code in (("rows", "i"), ("language_of", "h"), ("source_of", "h"))}
        self._languages: dict[str, int] = {}
        self._sources: dict[str, int] = {}
        self._seen: set[tuple[int, int, str]] = set()
        self._reasons: dict[str, str | None] = {}
        self._removed: Counter[str] = Counter()

    def add_pair(self, location: str, columns: Sequence[str]) -> None:
        language = language_code(columns[1])
        if language is None:
            raise InputError(f"{location}: {columns[1]!r} is not a language code; use one such as `de` or `pt-BR`")
        sentence, translation = clean(columns[0]), clean(columns[2])
        reason = self._rejection(sentence) or self._rejection(translation, cache=False)
        if reason is not None:
            self._removed[f"pairs: {reason}"] += 1
            return
        source = _number(self._sources, columns[3] if len(columns) > 3 else "")
        # An English paraphrase is one more sentence, and teaches no other language.
        if language == ENGLISH:
            self._row(translation, source)
            return
        key = (self._row(sentence, source), _number(self._languages, language), translation)
        if key in self._seen:
            self._removed["pairs: duplicate"] += 1
            return
        self._seen.add(key)
        self._translations.append(translation)
        for name, value in zip(self._columns, (*key[:2], source), strict=True):
            self._columns[name].append(value)

    def add_sentence(self, columns: Sequence[str]) -> None:
        sentence = clean(columns[0])
        reason = self._rejection(sentence)
        if reason is not None:
            self._removed[f"English: {reason}"] += 1
            return
        self._row(sentence, _number(self._sources, columns[1] if len(columns) > 1 else ""))

    def corpus(self) -> Corpus:
        if not self._sentences:
            raise InputError("the corpus is empty: the files have no lines, or every line was filtered out")
        return Corpus(
            sentences=list(self._sentences),
            translations=self._translations,
            languages=tuple(self._languages),
            sources=tuple(self._sources),
            sentence_source_of=np.array(self._sentence_sources, dtype=np.int16),
            removed=dict(self._removed),
            rows=np.array(self._columns["rows"], dtype=np.int32),
            language_of=np.array(self._columns["language_of"], dtype=np.int16),
            source_of=np.array(self._columns["source_of"], dtype=np.int16),
        )

    def _row(self, sentence: str, source: int) -> int:
        row = _number(self._sentences, sentence)
        if row == len(self._sentence_sources):
            self._sentence_sources.append(source)
        return row

    def _rejection(self, text: str, *, cache: bool = True) -> str | None:
        """Return the reason to reject a cleaned text, or None."""
        if not text:
            return "empty"
        if len(text) > self._longest:
            return "too long"
        if not cache:
            return self._held_out.matches(text)
        if text not in self._reasons:
            # Parallel files repeat an English sentence for each language, so its result is cached.
            self._reasons[text] = self._held_out.matches(text)
        return self._reasons[text]


class _HeldOut:
    """Finds held-out sentences and their near-duplicates."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._exact: set[str] = set()
        self._folded: set[str] = set()
        self._gapped: set[int] = set()
        for file in files:
            for _, columns in _lines(file, 3, "language, English and translation", None):
                for text in columns[1:3]:
                    self._exact.add(clean(text))
                    words = _words(text)
                    self._folded.add(" ".join(words))
                    self._gapped.update(_gapped(words))

    def matches(self, text: str) -> str | None:
        """Return how a cleaned text matches a held-out sentence, or None."""
        if text in self._exact:
            return "held out, exact"
        if not self._folded:
            return None
        words = _words(text)
        if " ".join(words) in self._folded or any(key in self._gapped for key in _gapped(words)):
            return "held out, near"
        return None


def _words(text: str) -> list[str]:
    """Split a text into words without case, punctuation and accents, or into characters if words are very long.

    An average of more than about eight characters per word indicates a script without spaces.
    """
    plain = "".join(c for c in unicodedata.normalize("NFD", fold(text)) if not unicodedata.combining(c))
    words = plain.split()
    return list("".join(words)) if len(plain) > 8 * len(words) + 8 else words


def _gapped(words: Sequence[str]) -> Iterator[int]:
    """Yield a key for the sentence without each of its words; sentences that share a key differ in at most one word.

    Deletion neighbourhood over words (Bocek et al. 2007, "Fast Similarity Search in Large Dictionaries").
    """
    if len(words) >= _WORDS_FOR_NEAR:
        for gap in range(len(words)):
            # Numbers take less memory than sentences. The hash differs between processes, but no key leaves this one.
            yield hash((gap, *words[:gap], *words[gap + 1 :]))


def _lines(file: Path, columns: int, what: str, progress: StepProgress | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the location and the columns of each line that is not blank."""
    try:
        with _OPENERS.get(file.suffix, open)(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if progress is not None and number % _LINES_PER_UPDATE == 0:
                    progress(f"reading {file.name}", number, None)
                if not line.strip():
                    continue
                found = line.rstrip("\r\n").split("\t")
                if len(found) < columns:
                    raise InputError(f"{file}:{number}: a line needs {what}, separated by tabs")
                yield f"{file}:{number}", found
    except (OSError, EOFError, UnicodeDecodeError, lzma.LZMAError, zlib.error) as error:
        raise InputError(f"{file} cannot be read: {error}") from error


def _number(numbers: dict[str, int], name: str) -> int:
    return numbers.setdefault(name, len(numbers))


def _name(numbered: tuple[int, str]) -> str:
    return numbered[1]
