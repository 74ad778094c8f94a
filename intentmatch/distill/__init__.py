"""Train a small static encoder from any teacher and parallel text; this is how the embedded one was made.

Needs the extra `[distill]`. The rooms, in the order of the work: `corpus` reads the text, `vocabulary` learns the
pieces, `teacher` encodes the English sentences, `pieces` cuts every text, `student` trains, `export` writes the folder
and `card` its model card. A run that was stopped goes on where it was: what is costly stays in a work folder.
"""

from __future__ import annotations

from intentmatch.distill.corpus import Corpus, StepProgress, read_corpus
from intentmatch.distill.recipe import Recipe, read_recipe
from intentmatch.distill.run import distill

__all__ = ["Corpus", "Recipe", "StepProgress", "distill", "read_corpus", "read_recipe"]
