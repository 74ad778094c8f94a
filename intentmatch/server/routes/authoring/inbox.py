"""Calls for the inbox: show the groups of missed messages, and add or ignore one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Request
from fastapi import Path as InPath
from starlette.concurrency import run_in_threadpool

from intentmatch.authoring.operations.inbox_step import adding_note, ignore
from intentmatch.authoring.operations.operation import Operation
from intentmatch.authoring.revisions import digest_of
from intentmatch.authoring.workspace import Workspace
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError
from intentmatch.dialogue import Store
from intentmatch.inbox import Cluster, ClusterDecision, Inbox, Missed, edits_of, review
from intentmatch.registry.editing.edits import Edit
from intentmatch.server.auth.authorisation import author_of
from intentmatch.server.bots.bot import Bot
from intentmatch.server.candidates.places import store_of
from intentmatch.server.erasing import conversations_of, erase, erase_conversation
from intentmatch.server.middleware.problems import ProblemError
from intentmatch.server.routes.authoring.common import (
    ASKS,
    READS,
    WRITES,
    IfMatch,
    also_404,
    expected_revision,
    explained,
    preview,
    write,
)
from intentmatch.server.routes.schemas.authoring.edits import PreviewResponse
from intentmatch.server.routes.schemas.authoring.inbox import (
    EraseRequest,
    EraseResponse,
    HandledResponse,
    InboxPreviewRequest,
    InboxRequest,
    InboxResponse,
)
from intentmatch.server.routes.schemas.authoring.revisions import WrittenResponse
from intentmatch.server.routes.schemas.problem_details import ErrorItem, ProblemDetails

_Number = Annotated[int, InPath(ge=1, description="Number of the cluster.", examples=[1])]


def add_calls(router: APIRouter) -> None:
    """Add the calls."""
    router.get("/inbox", **READS)(show_inbox)
    router.post("/inbox/erase", **ASKS)(erase_messages)
    router.post("/inbox/{cluster}/preview", **also_404(ASKS))(preview_cluster)
    router.post("/inbox/{cluster}", **also_404(WRITES))(handle_cluster)


def show_inbox(request: Request) -> InboxResponse:
    """Return the messages that were not understood, in groups of the same meaning, each with a proposal."""
    bot: Bot = request.state.bot
    with explained():
        found = review(bot.matcher, _messages(bot))
        revision = digest_of(bot.editing.workspace.files())
    clusters = [cluster.to_dict() for cluster in found.clusters]
    return InboxResponse(revision=revision, clusters=clusters, understood=found.understood, hashed=len(found.hashed))


def erase_messages(request: Request, body: EraseRequest) -> EraseResponse:
    """Erase a person's messages in the inbox, the sample, a candidate, open conversations and the audit log.

    Files are not changed: those that have the words are named in `left`.
    """
    bot: Bot = request.state.bot
    store: Store = request.app.state.conversations
    prefix = str(request.scope["path"]).removesuffix("/inbox/erase")
    # The store may have conversations of other bots, whose keys this one's authors do not have.
    own = conversations_of(prefix, request.path_params.get("bot"))
    with explained():
        if body.conversation is not None:
            done = erase_conversation(store, body.conversation, [prefix], own)
        else:
            workspace = _workspace(bot)
            if bot.candidate is not None and bot.candidate.running is not None:
                bot.candidate.running.flush()  # samples that wait would be written afterwards
            candidates = store_of(bot.matcher.path, bot.matcher.address, workspace)
            erasure = Erasure(body.text, body.contains)
            done = erase(
                erasure,
                inbox=bot.inbox,
                candidates=candidates,
                workspace=workspace,
                store=store,
                conversations=own,
            )
        if (workspace := _workspace(bot)) is not None:
            # How many, but no words: the audit log must not keep what was to be erased.
            what = f"Erase messages: {done.inbox} of the inbox, {done.sample} sampled"
            workspace.note(author_of(request), what)
    return EraseResponse.model_validate(done.to_dict())


def preview_cluster(request: Request, cluster: _Number, body: InboxPreviewRequest) -> PreviewResponse:
    """Return what would become of a cluster. Nothing is written."""
    bot: Bot = request.state.bot
    with explained():
        decision = _decision(_cluster(bot, cluster), body)
        edits = _edits(bot, decision, body)
    return preview(bot, edits, effect=body.effect and bool(edits), seconds=body.seconds)


async def handle_cluster(
    request: Request, cluster: _Number, body: InboxRequest, if_match: IfMatch = None
) -> HandledResponse:
    """Make lines or tests of the messages of a cluster, or ignore them, and remove them from the inbox.

    Ignoring takes no If-Match, since it changes no file.
    """
    bot: Bot = request.state.bot
    expected = "" if body.action == "ignore" else expected_revision(if_match)

    def decided() -> ClusterDecision:
        with explained():
            return _decision(_cluster(bot, cluster), body)

    decision, author = await run_in_threadpool(decided), author_of(request)
    messages = decision.cluster.messages
    if decision.action == "ignore":
        await run_in_threadpool(_ignore, bot, messages, author, body.note)
        return HandledResponse(handled=len(messages), written=None)
    edits = _edits(bot, decision, body)
    done = await write(bot, Operation(edits, author, body.note or adding_note(edits), messages), expected)
    return HandledResponse(handled=len(messages) if done.settled else 0, written=WrittenResponse.from_done(done))


def inbox_of(bot: Bot) -> Inbox:
    """Return the inbox of a bot. Raises `ProblemError` (503) if it is off."""
    if bot.inbox is None:
        raise ProblemError(ProblemDetails.for_status(503, "There is no inbox; the setting `inbox` turns one on."))
    return bot.inbox


def _messages(bot: Bot) -> list[Missed]:
    """Return the messages of the bot's inbox; none if it has no file, since nothing was missed yet."""
    inbox = inbox_of(bot)
    try:
        return inbox.messages()
    except InputError:
        if inbox.has_messages:
            raise
        return []


def _cluster(bot: Bot, number: int) -> Cluster:
    """Return the cluster that holds a message of this number. Raises `ProblemError` (404)."""
    for cluster in review(bot.matcher, _messages(bot)).clusters:
        if any(message.id == number for message in cluster.messages):
            return cluster
    raise ProblemError(ProblemDetails.for_status(404, f"The inbox has no cluster {number}. GET /inbox lists all."))


def _decision(cluster: Cluster, body: InboxRequest) -> ClusterDecision:
    """Return what becomes of a cluster, or of the messages of it that were looked at. Raises `ProblemError`."""
    takes_none = body.action in ("ignore", "test")
    if (body.intent is None) != takes_none:
        detail = f"`{body.action}` takes {'no' if takes_none else 'an'} intent."
        item = ErrorItem(location="body.intent", message=detail)
        raise ProblemError(ProblemDetails.for_status(422, detail, [item]))
    if body.messages is not None:
        cluster = replace(cluster, messages=_looked_at(cluster, body.messages))
    return ClusterDecision(cluster, body.action, body.intent)


def _looked_at(cluster: Cluster, numbers: Sequence[int]) -> tuple[Missed, ...]:
    """Return the messages with these numbers. Raises `ProblemError` (409) if the cluster no longer has one of them."""
    gone = sorted({*numbers}.difference(message.id for message in cluster.messages))
    if gone or not numbers:
        which = f"no message {gone[0]}" if gone else "no message that was looked at"
        detail = f"The cluster has {which}: it has changed since. Nothing was written; GET /inbox shows what is left."
        raise ProblemError(ProblemDetails.for_status(409, detail))
    return tuple(message for message in cluster.messages if message.id in {*numbers})


def _ignore(bot: Bot, messages: Sequence[Missed], author: str, note: str) -> None:
    with explained():
        ignore(messages, inbox=inbox_of(bot), workspace=_workspace(bot), author=author, note=note)


def _workspace(bot: Bot) -> Workspace | None:
    """Return the files of a bot; None if it has no YAML, and so no audit log."""
    try:
        return bot.editing.workspace
    except ProblemError:
        return None


def _edits(bot: Bot, decision: ClusterDecision, body: InboxRequest) -> list[Edit]:
    file = None if body.file is None else bot.editing.workspace.place(body.file)
    return edits_of([decision], language=body.language, file=file)
