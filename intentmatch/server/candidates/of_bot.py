"""What the candidate of a bot needs of the bot: where it is kept, how it is loaded, and who is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from intentmatch.server.candidates.candidate import BotCandidate
from intentmatch.server.candidates.places import store_of
from intentmatch.server.candidates.records import CandidateSource
from intentmatch.server.candidates.sources import LoadedCandidate, load_candidate
from intentmatch.server.middleware.problems import ProblemError

if TYPE_CHECKING:
    from intentmatch.authoring.workspace import Workspace
    from intentmatch.server.bots.bot import Bot


def candidate_of(bot: Bot) -> BotCandidate:
    """Return the candidate of a bot, none for now."""

    def load(source: CandidateSource) -> LoadedCandidate:
        return load_candidate(source, bot.matcher, _workspace(bot), several=bot.name is not None)

    def note(author: str, what: str) -> None:
        workspace = _workspace(bot)
        if workspace is not None:  # an artefact has no audit log
            workspace.note(author, what)

    bot.metrics.expect_candidates(bot.name)
    return BotCandidate(
        matcher=lambda: bot.matcher,
        store=lambda: store_of(bot.matcher.path, bot.matcher.address, _workspace(bot)),
        load=load,
        metrics=bot.metrics,
        queue=bot.shadows,
        note=note,
        bot=bot.name,
    )


def _workspace(bot: Bot) -> Workspace | None:
    try:
        return bot.editing.workspace
    except ProblemError:
        return None
