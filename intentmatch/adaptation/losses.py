"""The losses that tell intents apart, by the names that the literature gives them.

All are computed from the vectors of two utterances of each intent in a batch. `contrastive`: Khosla et al. 2020.
`multiple-negatives`: Henderson et al. 2017. `triplet`, over all triplets of the batch: Hermans et al. 2017.
`softmax`, over the intents, with unit vectors and a temperature: Wang et al. 2017 (NormFace).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from intentmatch.adaptation.recipe import LOSSES, EncoderRecipe
from intentmatch.adaptation.training import EXTRA, WHAT
from intentmatch.core import plugins
from intentmatch.core.errors import InputError
from intentmatch.core.types import Vectors

# Each message is told apart from the utterances of all other intents, and from all other messages.
_DIRECTIONS = ("query_to_doc", "query_to_query")


class IntentLoss:
    """The loss of a recipe. `trained` is what has weights to train: the model, or the model and a layer of classes.

    `centres` are the mean vectors of all intents, shape `(intents, dim)`; `apart` are for each intent the others that
    share an utterance with it, from which it is not told apart. Raises `InputError` for an unknown loss.
    """

    def __init__(self, model: Any, recipe: EncoderRecipe, centres: Vectors, apart: Sequence[set[int]]) -> None:
        if recipe.loss not in LOSSES:
            raise InputError(f"the loss {recipe.loss!r} is unknown: use one of {', '.join(LOSSES)}")
        self._torch = plugins.require("torch", what=WHAT, extra=EXTRA)
        losses = plugins.require("sentence_transformers.sentence_transformer.losses", what=WHAT, extra=EXTRA)
        self.recipe, self.trained = recipe, model
        scale = 1 / recipe.temperature
        self._contrast = losses.MultipleNegativesRankingLoss(model, scale=scale, directions=_DIRECTIONS)
        self._ranking = losses.MultipleNegativesRankingLoss(model, scale=scale)
        self._triplet = losses.TripletLoss(
            model, distance_metric=losses.TripletDistanceMetric.COSINE, triplet_margin=recipe.margin
        )
        if recipe.loss == "softmax":
            self._shared = self._as_matrix(apart)
            self._classes = self._torch.nn.Linear(centres.shape[1], len(centres), bias=False, device=model.device)
            # From random weights, the layer would pull the model to them before it has learned anything.
            self._classes.weight.data.copy_(self._torch.from_numpy(centres))
            self.trained = self._torch.nn.ModuleList([model, self._classes])

    def of(self, messages: Any, utterances: Any, owners: Sequence[int]) -> Any:
        """Return the loss of a batch: vectors of one utterance per intent, of another one, and the intents."""
        if self.recipe.loss == "multiple-negatives":
            return self._ranking.compute_loss_from_embeddings([messages, utterances], None)
        # Both halves of the batch are anchors.
        halves = ((messages, utterances), (utterances, messages))
        return sum(self._of_half(anchors, others, list(owners)) for anchors, others in halves) / 2

    def against(self, anchors: Any, utterances: Any, negatives: Any) -> Any:
        """Return the triplet loss of `not:` lines, beside vectors of two utterances of their intents."""
        return self._triplet.compute_loss_from_embeddings([anchors, utterances, negatives], None)

    def _of_half(self, anchors: Any, others: Any, owners: list[int]) -> Any:
        if self.recipe.loss == "contrastive":
            return self._contrast.compute_loss_from_embeddings([anchors, others], None)
        if self.recipe.loss == "triplet":
            return self._of_triplets(self._cosines(anchors, others))
        shared = self._shared[owners].to(anchors.device)
        logits = self._cosines(anchors, self._classes.weight) / self.recipe.temperature
        expected = self._torch.tensor(owners, device=anchors.device)
        return self._torch.nn.functional.cross_entropy(logits.masked_fill(shared, -self._torch.inf), expected)

    def _of_triplets(self, cosines: Any) -> Any:
        """Mean over the triplets that are not told apart by the margin. The hardest alone would move all into one."""
        own = cosines.diagonal().unsqueeze(1)
        # The diagonal is the pair itself, which is no negative of its own.
        apart = (cosines - own + self.recipe.margin).fill_diagonal_(0.0).clamp(min=0.0)
        return apart.sum() / (apart > 0).sum().clamp(min=1)

    def _cosines(self, rows: Any, columns: Any) -> Any:
        normalize = self._torch.nn.functional.normalize
        return normalize(rows, dim=1) @ normalize(columns, dim=1).T

    def _as_matrix(self, apart: Sequence[set[int]]) -> Any:
        found = np.zeros((len(apart), len(apart)), dtype=bool)
        for owner, sharing in enumerate(apart):
            found[owner, sorted(sharing)] = True
        return self._torch.from_numpy(found)
