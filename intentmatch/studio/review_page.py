"""The screen Review: judge a sample of all answers by keyboard, and see how good the answers are."""

from __future__ import annotations

import asyncio

from nicegui import ui

from intentmatch.core.errors import InputError, IntentMatchError, counted, public_text
from intentmatch.inbox import Inbox
from intentmatch.inbox.proposals import times
from intentmatch.inbox.sample import Judged
from intentmatch.registry.editing.settings_edit import Setting
from intentmatch.review import Quality, QualityRow, Question, Questions, quality_of, questions_of
from intentmatch.studio.inbox_decisions import ask_for_intent
from intentmatch.studio.parts import badge, card, empty, heading, in_thread, later, tag, words
from intentmatch.studio.places import intent_link
from intentmatch.studio.switches import FILE, turn_on
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import NO_INTENT, answer_in_words

_OFF = "No answers are kept for a review yet."
_SHARE = 0.05
_SWITCH = "Keep a twentieth of all answers"
_NOTHING_YET = "No answer is sampled yet. Messages appear here as users write them."
_HASHED = "Nobody can judge hashes. `inbox_mode: redacted` keeps texts, in a new file."
_DONE = "Every message of the sample is judged. New ones come with new messages."


async def show(visit: Visit) -> None:
    """Draw the screen."""
    heading("Review", "Were these answers right? A random sample of all answers.", keys=True)
    page = _ReviewPage(visit)
    later(page.load, "Reading the sample …")


class _ReviewPage:
    """The open questions, one at a time, and the numbers so far."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._questions: Questions | None = None
        self._asked: Question | None = None
        self._judged: list[int] = []
        for keys, says, handler in (
            ("y", "The answer is right", self._right),
            ("o", "The message means no intent", self._no_intent),
            ("m", "The message means another intent", self._other_intent),
            ("s", "Skip the message", self._skip),
            ("u", "Take the last judgement back", self._undo),
            ("r", "Read the sample again", self._draw),
        ):
            visit.shortcut(keys, says, handler)

    async def load(self) -> None:
        """Read the sample and draw it in the present place."""
        self._place = tag("div", classes="st-stack st-gap")
        await self._draw()

    async def _draw(self) -> None:
        inbox = self._visit.bot.inbox
        # Read anew for each question: others may judge the same sample.
        self._questions = None if inbox is None else await in_thread(_read, inbox)
        if self._place.is_deleted:
            return
        questions = self._questions
        self._asked = questions.open[0] if questions is not None and questions.open else None
        self._place.clear()
        with self._place:
            if questions is None:
                empty(_OFF)
                values = {"inbox": Setting(FILE), "inbox_sample": Setting(str(_SHARE))}
                turn_on(self._visit, values, _SWITCH, self._draw)
                return
            if self._asked is not None:
                self._question(self._asked, len(questions.open))
            else:
                with tag("div", classes="st-card"):
                    empty(self._nothing_to_ask(questions))
                    if not questions.answered and not self._share:
                        turn_on(self._visit, {"inbox_sample": Setting(str(_SHARE))}, _SWITCH, self._draw)
            if questions.hashed:
                tag("p", f"{counted(questions.hashed, 'answer')} stored as hashes cannot be shown.", "st-muted")
            if questions.open or questions.answered:
                _numbers(questions, quality_of(questions))

    def _nothing_to_ask(self, questions: Questions) -> str:
        if questions.answered:
            return _DONE
        if questions.hashed:
            return _HASHED
        return _NOTHING_YET if self._share else _OFF

    @property
    def _share(self) -> float:
        return self._visit.bot.matcher.settings.inbox_sample["share"]

    def _question(self, asked: Question, waiting: int) -> None:
        with card(classes="st-stack") as box:
            box.props["role"] = "group"
            box.props["aria-label"] = f"“{asked.text}”"
            with tag("div", classes="st-row"):
                words(f"“{asked.text}”", "st-h2", "h2")
                with tag("span", classes="st-row st-push st-small st-muted"):
                    tag("span", f"{times(asked.count)} in the sample, {counted(waiting, 'question')} open")
                    if asked.language:
                        badge(asked.language)
            with tag("div", classes="st-row"):
                kind = {"matched": "matched", "ambiguous": "asked"}.get(asked.verdict, NO_INTENT)
                badge(kind, "good" if asked.verdict == "matched" else "plain")
                if asked.verdict == "out_of_scope" and asked.nearest:
                    tag("span", "nearest:", "st-muted st-small")
                for name in [asked.intent] if asked.intent else asked.nearest:
                    intent_link(self._visit, name)
                if asked.confidence is not None:
                    tag("span", f"{asked.confidence:.0%} certain", "st-muted st-small")
            with tag("div", classes="st-row"):
                if asked.verdict != "ambiguous":
                    ui.button("Right", icon="check", on_click=self._right).props("unelevated no-caps dense")
                for text, icon, handler in (
                    ("Another intent", "input", self._other_intent),
                    ("No intent", "block", self._no_intent),
                    ("Skip", "skip_next", self._skip),
                ):
                    ui.button(text, icon=icon, on_click=handler).props("flat no-caps dense")
                if self._judged:
                    ui.button("Undo", icon="undo", on_click=self._undo).props("flat no-caps dense")

    async def _right(self) -> None:
        asked = self._asked
        if asked is None:
            return
        # A question is neither right nor wrong.
        if asked.verdict == "ambiguous":
            self._visit.tell("The bot asked: say which intent the message means.")
            return
        await self._judge("meant", asked.intent, f"right: {answer_in_words(asked.intent)}")

    async def _no_intent(self) -> None:
        await self._judge("meant", None, NO_INTENT)

    async def _skip(self) -> None:
        await self._judge("skipped", None, "skipped")

    async def _other_intent(self) -> None:
        asked = self._asked
        if asked is None:
            return
        names = sorted(intent.name for intent in self._visit.bot.matcher.registry)
        name = await ask_for_intent(f"What does “{asked.text}” mean?", "Intent", "", names)
        if name:
            await self._judge("meant", name, name)

    async def _judge(self, judged: Judged, expected: str | None, says: str) -> None:
        """Keep a judgement, and go on to the next question."""
        asked = self._asked
        if asked is None:
            return
        self._asked = None  # a second key must not judge the same message
        if await self._keep(asked.number, judged, expected):
            self._judged.append(asked.number)
            self._visit.announce(f"{asked.text}: {says}")

    async def _undo(self) -> None:
        if self._judged:
            await self._keep(self._judged.pop(), None, None)

    async def _keep(self, number: int, judged: Judged | None, expected: str | None) -> bool:
        inbox = self._visit.bot.inbox
        try:
            self._visit.require("author")
            if inbox is not None:
                await asyncio.to_thread(inbox.judge, number, judged, expected)
        except IntentMatchError as error:
            self._visit.tell(public_text(error), "negative")
            return False
        finally:
            # After an error as well: the question was put away, and no key would work.
            await self._draw()
        return True


def _read(inbox: Inbox) -> Questions:
    try:
        answers = inbox.sampled()
    except InputError:
        if inbox.has_messages:
            raise
        answers = []  # nothing was kept yet
    return questions_of(answers)


def _numbers(questions: Questions, found: Quality) -> None:
    with card("How good are the answers?"):
        if found.overall is None:
            tag("p", f"Numbers appear once 30 messages are judged: {found.more} to go.", "st-muted")
            return
        rows = [("All messages", found.overall), *((f"Language {row.name}", row) for row in found.languages)]
        rows += [(row.name, row) for row in found.intents]
        with tag("table", classes="st-table"):
            with tag("thead"), tag("tr"):
                for title in ("", "Precision", "Coverage", "No intent"):
                    tag("th", title, scope="col")
            with tag("tbody"):
                for name, row in rows:
                    _line(name, row)
        days = dict.fromkeys(f"{moment:%Y-%m-%d}" for moment in (found.since, found.until) if moment is not None)
        skipped = f", {questions.skipped} skipped" if questions.skipped else ""
        text = f"{counted(found.judged, 'judged message')} of {' to '.join(days)}{skipped}; 95% intervals in brackets."
        tag("p", text, "st-muted st-small")


def _line(name: str, row: QualityRow) -> None:
    with tag("tr"):
        tag("td", name, "st-strong", dir="auto")
        for one in (row.precision, row.coverage, row.out_of_scope):
            tag("td", "–" if one is None else f"{one.value:.1%} ({one.low:.1%} to {one.high:.1%})")
