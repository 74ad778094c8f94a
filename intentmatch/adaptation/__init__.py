"""Train models on the utterances of a registry, and keep them only if they prove themselves. Needs the extra `[torch]`.

The modules in order of use: `proof` splits the registry into folds, `batches` draws the texts of each step,
`encoder_training` and `losses` compute their loss, `training` runs the steps, `languages` looks after the languages
that the registry lacks, `work_folder` keeps finished folds, and `card` writes the model card. `encoder_adaptation` puts
them together. For cross-encoders, `reranker_pairs`, `reranker_training`, `reranker_proof` and `reranker_adaptation` do
the same.
"""

from __future__ import annotations

from intentmatch.adaptation.encoder_adaptation import AdaptedEncoder, adapt_encoder
from intentmatch.adaptation.proof import BeforeAfter, Proof
from intentmatch.adaptation.recipe import EncoderRecipe, RerankerRecipe
from intentmatch.adaptation.reranker_adaptation import AdaptedReranker, adapt_reranker

__all__ = [
    "AdaptedEncoder",
    "AdaptedReranker",
    "BeforeAfter",
    "EncoderRecipe",
    "Proof",
    "RerankerRecipe",
    "adapt_encoder",
    "adapt_reranker",
]
