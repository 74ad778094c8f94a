"""History: which messages of the last days a revision answers otherwise, by cause, the worst first."""

from __future__ import annotations

from nicegui import ui

from intentmatch.authoring.revision_replay import DAYS, Against, RevisionReplay, heard, replay_revision
from intentmatch.authoring.revisions import Revision
from intentmatch.authoring.time_limit import StoppedError, stopping
from intentmatch.core.errors import IntentMatchError, counted
from intentmatch.evaluation.compare.replay import KINDS, Cause
from intentmatch.runtime.steps import Step
from intentmatch.studio.host import Bot
from intentmatch.studio.parts import badge, card, in_thread, link, tag, words
from intentmatch.studio.places import with_short_names
from intentmatch.studio.proposal import explained
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import answer_in_words, plainly

_SECONDS_BETWEEN_LOOKS = 0.25
_MOST_CAUSES, _MOST_EXAMPLES = 20, 5
_SIDES: dict[Against, str] = {"before": "the version before", "current": "the registry in use"}
_BAD = ("other_intent", "lost")


class ReplayCard:
    """The card of one revision."""

    def __init__(self, visit: Visit, revision: Revision) -> None:
        """Draw it in the present place of the page."""
        self._visit, self._revision = visit, revision
        self._step: Step | None = None
        self._cancelled = False
        with card("Replay") as self._box:
            says = f"Messages of the last {DAYS} days that this version answers otherwise, the worst first."
            tag("p", says, "st-muted")
            with tag("div", classes="st-row"):
                self._against = ui.select(_SIDES, value="before", label="Compared with").props("outlined dense")
                self._begin = ui.button("Replay", icon="replay", on_click=self._replay).props("outline")
                self._cancel = ui.button("Cancel", on_click=self._stop).props("flat")
                self._cancel.set_visibility(False)
            # Not announced: it counts the messages several times a second.
            self._status = tag("p", classes="st-muted st-small")
            self._found = tag("div", classes="st-stack st-gap")

    def _stop(self) -> None:
        self._cancelled = True

    async def _replay(self) -> None:
        """Replay in a thread; the page stays usable meanwhile."""
        self._cancelled, self._step = False, None
        self._working(True)
        # In the card, so that it ends with the card.
        with self._box:
            ticking = ui.timer(_SECONDS_BETWEEN_LOOKS, self._show_step)
        says = ""
        try:
            self._visit.require("author")
            against: Against = "current" if self._against.value == "current" else "before"
            found = await in_thread(self._work, self._visit.bot, against)
        except StoppedError:
            says = "Cancelled."
        except IntentMatchError as error:
            says = explained(error)
        else:
            if found is None:
                says = "Cancelled."
        # Another version may have been opened meanwhile.
        if self._box.is_deleted:
            return
        ticking.delete()
        self._working(False)
        self._status.set_text(says)
        if not says and found is not None:
            self._show(found)
        self._visit.announce(self._status.text)

    def _work(self, bot: Bot, against: Against) -> RevisionReplay | None:
        """Replay after what is being evaluated; return None if it is cancelled before. For a thread."""

        def ended() -> bool:
            return self._cancelled or self._visit.client.is_deleted

        with bot.workspace.scores.turn(ended) as may, stopping(ended, self._note):
            if not may:
                return None
            return replay_revision(bot.workspace, bot.matcher, self._revision.id, heard(bot.inbox), against)

    def _note(self, step: Step) -> None:
        self._step = step

    def _working(self, working: bool) -> None:
        self._begin.props("loading" if working else "", remove="" if working else "loading")
        self._cancel.set_visibility(working)
        if working:
            self._found.clear()
            self._status.set_text("Answering the messages …")
            self._visit.announce("The replay has begun.")

    def _show_step(self) -> None:
        step = self._step
        if step is not None:
            done = f" {step.done:,} of {step.total:,}" if step.total else ""
            self._status.set_text(f"{step.name}{done} …")

    def _show(self, found: RevisionReplay) -> None:
        replay, of = found.found, found.heard.log
        part = "" if len(replay.log.messages) == len(of.messages) else f", the most frequent of {of.received:,}"
        self._status.set_text(
            f"{replay.received:,} of {counted(replay.log.received, 'message')}{part} would be answered otherwise."
        )
        with self._found:
            if replay.causes:
                with tag("div", classes="st-row"):
                    for kind, title in KINDS.items():
                        if replay.kinds[kind]:
                            badge(f"{replay.kinds[kind]} {title}", "bad" if kind in _BAD else "plain")
            for cause in replay.causes[:_MOST_CAUSES]:
                self._cause(cause)
            if len(replay.causes) > _MOST_CAUSES:
                tag("p", f"and {counted(len(replay.causes) - _MOST_CAUSES, 'more cause')}", "st-muted")

    def _cause(self, cause: Cause) -> None:
        with tag("section", classes="st-stack st-tight", aria_label=cause.text):
            text = plainly(with_short_names(self._visit, cause.text))
            words(text[:1].upper() + text[1:], "st-h2", "h3")
            tag("p", counted(cause.received, "message"), "st-muted st-small")
            with tag("ul", classes="st-lines"):
                for one in cause.differences[:_MOST_EXAMPLES]:
                    text, change = one.message.case.text, one.change
                    with tag("li", classes="st-stack st-tight"):
                        with tag("div", classes="st-row"):
                            words(text)
                            if one.message.count > 1:
                                badge(f"{one.message.count} times")
                            link("Try", self._visit.url("try", message=text), "st-small")
                        tag(
                            "p",
                            f"{answer_in_words(change.old.answer)} → {answer_in_words(change.new.answer)}",
                            "st-mono st-muted",
                        )
