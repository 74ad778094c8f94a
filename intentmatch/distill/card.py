"""The model card of a student: what it is, what it learned from and how, in the form that Hugging Face gives cards."""

from __future__ import annotations

from pathlib import Path

import yaml

from intentmatch.distill.corpus import ENGLISH, Corpus
from intentmatch.distill.student import Table

_FEWEST_PAIRS = 1_000
"""A language with fewer translations is not called covered."""

_WHAT = """
# A static multilingual encoder

One vector of {dim} numbers for each of {pieces:,} subword pieces{shared}; a text's vector is the sum of its pieces'
vectors, scaled to unit length. Distilled (Reimers & Gurevych 2020) by `intentmatch distill` with the recipe in
`recipe.yaml` from {teacher}, {kept:.1%} of whose variance fits into so many numbers. The first numbers tell
most, so that they can be used alone.

- `tokenizer.json`: unigram tokenizer over all languages, NFKC and lower case.
- `model.safetensors`: `embeddings`, int8, the {rows:,} rows of the table; `weights`, float32, what each piece's row is
  multiplied by{mapping}.

## Languages

English from {sentences:,} sentences, and the number of pairs of each other language. Those of fewer than {fewest:,} are
not in the list of languages at the head of this card.

{languages}

## Sources

| source | pairs | English sentences |
|---|--:|--:|
{sources}

Left out: {removed}.
"""

_SHARED = ", the least used of which share the rows of others"
_MAPPING = "; `mapping`, int32, the row of each piece"


def write_card(file: Path, corpus: Corpus, table: Table, teacher: str, kept: float) -> None:
    """Write the card of a table; `kept` is the share of the teacher's variance that its rows can hold."""
    pairs = corpus.pairs_by_language()
    sharing = len(table.rows) < len(table.mapping)
    head = {
        "library_name": "sentence-transformers",
        "pipeline_tag": "sentence-similarity",
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
