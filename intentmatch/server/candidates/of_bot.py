"""What the candidate of a bot needs of the bot: where it is kept, how it is loaded, and who is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from intentmatch.matching.matcher import Matcher
from intentmatch.server.bots.batching import BatchQueue
from intentmatch.server.bots.editing import Editing
from intentmatch.server.candidates.candidate import BotCandidate
from intentmatch.server.candidates.places import store_of
from intentmatch.server.candidates.records import CandidateSource
from intentmatch.server.candidates.sources import LoadedCandidate, load_candidate
from intentmatch.server.middleware.problems import ProblemError

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace


def make_candidate(
    matcher: Callable[[], Matcher], editing: Editing, queue: BatchQueue, bot: str | None
) -> BotCandidate:
    """Return the holder of the candidate of a bot; there is no candidate yet.

    `matcher` returns the matcher in use; `bot` is the name of a bot of a pool.
    """

    def workspace() -> Workspace | None:
        try:
            return editing.workspace
        except ProblemError:  # an artefact, or a registry made in code
            return None

    def load(source: CandidateSource) -> LoadedCandidate:
        return load_candidate(source, matcher(), workspace(), several=bot is not None)

    def note(author: str, what: str) -> None:
        if (files := workspace()) is not None:  # an artefact has no audit log
            files.note(author, what)

    queue.metrics.expect_candidates(bot)
    return BotCandidate(
        matcher=matcher,
        store=lambda: store_of(matcher().path, matcher().address, workspace()),
        load=load,
        metrics=queue.metrics,
        queue=queue.shadows,
        note=note,
        bot=bot,
    )
