"""Distil a small static encoder from any teacher and parallel text, as was done for the embedded encoder.

Needs the extra `[distill]`. The modules in order of use: `corpus` reads the text, `vocabulary` trains the tokenizer,
`teacher` encodes the English sentences, `pieces` tokenizes every text, `student` trains, `export` writes the model and
`card` its model card. `context` trains the network that a static encoder may have, on texts that `surroundings` writes
around. `acts` trains the network that tells what the parts of a message do, on the labelled `messages`, `answers` the
one that reads a yes or a no, and `values` the weights that tell whether an answer gives the value in it. Costly results
are kept in a work folder, so an interrupted run can be resumed.
"""

from __future__ import annotations

from intentmatch.distill.acts import ActsRecipe, train_acts
from intentmatch.distill.answers import AnswersRecipe, train_answers
from intentmatch.distill.context import distill_context
from intentmatch.distill.context_network import save_network
from intentmatch.distill.context_recipe import ContextRecipe
from intentmatch.distill.corpus import Corpus, StepProgress, read_corpus
from intentmatch.distill.languages import measure
from intentmatch.distill.messages import read_answers, read_messages, read_values
from intentmatch.distill.recipe import Recipe, read_recipe
from intentmatch.distill.run import distill
from intentmatch.distill.values import train_values

__all__ = [
    "ActsRecipe",
    "AnswersRecipe",
    "ContextRecipe",
    "Corpus",
    "Recipe",
    "StepProgress",
    "distill",
    "distill_context",
    "measure",
    "read_answers",
    "read_corpus",
    "read_messages",
    "read_recipe",
    "read_values",
    "save_network",
    "train_acts",
    "train_answers",
    "train_values",
]
