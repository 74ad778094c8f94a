"""Write the model card of a student in the format of Hugging Face."""

from __future__ import annotations

from pathlib import Path

import yaml

from intentmatch.distill.corpus import ENGLISH, Corpus
from intentmatch.distill.student import TokenVectors

_FEWEST_PAIRS = 1_000
"""Minimum number of translations for a language to be listed as supported."""

_WHAT = """
# A static multilingual encoder

One vector of {dim} dimensions for each of {pieces:,} subword tokens{shared}. The vector of a text is the sum of its
token vectors, scaled to unit length. Distilled (Reimers & Gurevych 2020) by `intentmatch distill` from {teacher}, with
the recipe in `recipe.yaml`. The dimensions hold {kept:.1%} of the teacher's variance, most important first, so vectors
can be truncated.

- `tokenizer.json`: unigram tokenizer over all languages, NFKC and lower case.
- `model.safetensors`: `embeddings`, int8, the {rows:,} rows of the table; `weights`, float32, the factor of each
  token's row{mapping}.

## Languages

{sentences:,} English sentences, and the number of pairs for each other language. The metadata of this card lists only
languages with at least {fewest:,} pairs.

{languages}

## Sources

| source | pairs | English sentences |
|---|--:|--:|
{sources}

Filtered out: {removed}.
"""

_SHARED = " (rare tokens share the rows of others)"
_MAPPING = "; `mapping`, int32, the row of each token"


def write_card(file: Path, corpus: Corpus, table: TokenVectors, teacher: str, kept: float) -> None:
    """Write the model card; `kept` is the share of the teacher's variance that the student's dimensions hold."""
    pairs = corpus.pairs_by_language()
    sharing = len(table.rows) < len(table.mapping)
    head = {
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
        # Users choose a model by this list: a few lines of a language are no support.
        "language": [ENGLISH, *sorted(language for language, count in pairs.items() if count >= _FEWEST_PAIRS)],
    }
    text = _WHAT.format(
        dim=table.rows.shape[1],
        pieces=len(table.mapping),
        rows=len(table.rows),
        shared=_SHARED if sharing else "",
        mapping=_MAPPING if sharing else "",
        teacher=teacher,
        kept=kept,
        sentences=len(corpus.sentences),
        fewest=_FEWEST_PAIRS,
        languages=", ".join(f"{language} {count:,}" for language, count in pairs.items()) or "none",
        sources="\n".join(f"| {name or '-'} | {p:,} | {e:,} |" for name, (p, e) in corpus.pairs_by_source().items()),
        removed=", ".join(f"{count:,} {reason}" for reason, count in sorted(corpus.removed.items())) or "nothing",
    )
    file.write_text(f"---\n{yaml.safe_dump(head, sort_keys=False)}---\n{text}", encoding="utf-8")
