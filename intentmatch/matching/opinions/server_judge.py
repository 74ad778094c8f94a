"""What judges on a server share: the client with its limits, redaction, and the form of the setting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from intentmatch.core.errors import SettingsError
from intentmatch.core.settings import Settings
from intentmatch.matching.opinions.client import OpinionClient
from intentmatch.matching.opinions.judging import IntentOption, Opinion
from intentmatch.text.redact import redact

if TYPE_CHECKING:
    from typing_extensions import Self

# The webhook's default limit on a message; authors' texts are cut to less.
_MOST_CHARACTERS, _MOST_OF_AN_OPTION = 2000, 300


class ServerJudge(ABC):
    """A `Judge` on a server, and a `Reranker` too. Safe to use from many threads.

    Personal data in the message is redacted before it is sent, as in the inbox. The server is not contacted before the
    first doubtful message. Raises `MissingExtraError`, or `SettingsError` if the URL or the key is invalid.
    """

    remote = True
    kind: ClassVar[str]
    """What the setting begins with."""
    path: ClassVar[str]
    """What the URL ends in."""

    def __init__(self, url: str, model: str, settings: Settings | None = None) -> None:
        self._client = OpinionClient.of(url, f"the reranker {self.kind}", (self.path,), settings)
        self.usage = self._client.usage
        self.name = f"{self.kind}:{url}#{model}"
        self._model = model

    @classmethod
    def load(cls, model: str, settings: Settings) -> Self:
        """Load the judge of a setting; `model` is `URL#MODEL`. Raises the same errors as the class."""
        url, _, name = model.partition("#")
        if not url or not name:
            raise SettingsError(
                f"the reranker {cls.kind} needs a URL and a model: write {cls.kind}:https://HOST/v1{cls.path}#MODEL"
            )
        return cls(url, name, settings)

    def judge(self, message: str, options: Sequence[IntentOption]) -> Opinion:
        """Return the model's choice. Raises `ModelUnavailableError` without a valid answer within all limits."""
        return self._ask(redact(message)[:_MOST_CHARACTERS], [_cut(option) for option in options])

    @abstractmethod
    def _ask(self, message: str, options: Sequence[IntentOption]) -> Opinion:
        """Return the model's choice; nothing in the texts is secret or too long."""

    def score(self, message: str, utterances: Sequence[str]) -> NDArray[np.float32]:
        """Return 1 for the utterance that the model chooses and 0 for the others, shape `(len(utterances),)`.

        Raises the same errors as `judge`.
        """
        scores = np.zeros(len(utterances), dtype=np.float32)
        if utterances:
            choice = self.judge(message, [IntentOption(line, None, ()) for line in utterances]).choice
            if isinstance(choice, int):
                scores[choice] = 1.0
        return scores


def _cut(option: IntentOption) -> IntentOption:
    return option._replace(
        title=option.title[:_MOST_OF_AN_OPTION],
        description=option.description and option.description[:_MOST_OF_AN_OPTION],
        lines=tuple(line[:_MOST_OF_AN_OPTION] for line in option.lines),
    )
