"""The first pane of Try: a verdict while you type, and everything that led to it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from nicegui import ui
from nicegui.element import Element

from intentmatch.core.errors import IntentMatchError
from intentmatch.core.result import Candidate, Entity, MatchResult, Stage, WordMatch
from intentmatch.registry.editing.edits import AddTest, AddUtterance, Edit
from intentmatch.studio.drawing import Drawing, Node, badge, bar, node, region, table, words
from intentmatch.studio.host import Bot
from intentmatch.studio.parts import card, in_thread, isolated, tag
from intentmatch.studio.places import intent_node, place_node, with_short_names
from intentmatch.studio.proposal import explained, propose
from intentmatch.studio.questions import traits_node
from intentmatch.studio.visit import Visit
from intentmatch.studio.wording import NO_INTENT, answer_in_words, reason_in_words, verdict_in_words

DEBOUNCE_MS = 80
_MOST_CANDIDATES = 8
_GUESSED = "guessed"
_NOTHING = node("p", "Type what a user might write.", classes="st-empty")
_STEPS = {"exact": "same line", "fuzzy": "spelling", "dense": "meaning", "head": "classifier", "decide": "answer"}
"""Names of stages in the words of authors, where they differ."""


class OneMessage:
    """The pane on one page."""

    def __init__(self, visit: Visit, message: str = "") -> None:
        self._visit = visit
        self._asked = 0
        self._result: MatchResult | None = None
        self._lesson: Element | None = None
        languages = sorted({utterance.language or "" for utterance in visit.bot.matcher.registry.utterances} - {""})
        with card(), tag("div", classes="st-row st-top"):
            self._message = ui.input("Message", value=message, on_change=self.match)
            self._message.props(f'outlined debounce={DEBOUNCE_MS} dir="auto" clearable autofocus maxlength=10000')
            self._message.classes("st-grow st-message")
            self._language = ui.select([_GUESSED, *languages], value=_GUESSED, label="Language", on_change=self.match)
            self._language.props("outlined options-dense").classes("st-language")
        with tag("div", classes="st-stack st-result"):
            self._top = Drawing()
            with tag("div", classes="st-columns"):
                with tag("div", classes="st-stack st-gap"):
                    if visit.may("author"):
                        self._teach()
                    self._left = Drawing(self._add)
                with tag("div", classes="st-stack st-gap"):
                    self._right = Drawing()
        self._say(_NOTHING)
        visit.shortcut("/", "Write a message", self._focus)

    async def match(self) -> None:
        """Match what is written, and draw the answer unless a newer message is on its way."""
        self._asked += 1
        asked, text = self._asked, str(self._message.value or "")
        language = None if self._language.value == _GUESSED else str(self._language.value)
        if not text.strip():
            self._say(_NOTHING)
            return
        try:
            answer = await in_thread(_answer, self._visit.bot, text, language)
        except IntentMatchError as error:
            self._say(node("p", explained(error), classes="st-problem", role="alert"))
            return
        # Answers may arrive in another order than their messages.
        if asked == self._asked and not self._top.is_deleted:
            self._draw(*answer)

    async def refresh(self) -> None:
        """Match again after a change of the files."""
        if self._result is not None:
            await self.match()

    def _focus(self) -> None:
        self._message.run_method("focus")

    def _say(self, what: Node) -> None:
        """Show a sentence in place of an answer."""
        self._result = None
        self._top.show(what)
        self._left.show()
        self._right.show()
        if self._lesson is not None:
            self._lesson.set_visibility(False)

    def _draw(self, result: MatchResult, found: tuple[WordMatch, ...], explanation: str, milliseconds: float) -> None:
        self._result = result
        self._top.show(self._verdict(result, explanation, milliseconds))
        self._left.show(self._candidates(result))
        self._right.show(
            *([_slots(result)] if result.entities or result.missing else []),
            *([traits_node(self._visit, result.traits)] if result.traits else []),
            *([_word_table(found)] if found else []),
            _stages(result.trace.stages),
        )
        if self._lesson is not None:
            self._lesson.set_visibility(True)
            names = [intent.name for intent in self._visit.bot.matcher.registry]
            for field, options, value in (
                (self._target, names, result.intent),
                (self._expected, [NO_INTENT, *names], result.intent or NO_INTENT),
            ):
                # The list of intents is long, and sent only when it has changed.
                if field.options != options:
                    field.set_options(options)
                field.set_value(value)
        self._visit.announce(f"{verdict_in_words(result)[0]} {result.intent or ''}")

    def _verdict(self, result: MatchResult, explanation: str, milliseconds: float) -> Node:
        first = [badge(*verdict_in_words(result))]
        if result.intent is not None:
            first.append(intent_node(self._visit, result.intent))
            title = result.candidates[0].title if result.candidates else None
            if title:
                first.append(words(title, "st-muted"))
        first += [intent_node(self._visit, rival.intent) for rival in result.rivals]
        took = f"{milliseconds:.1f} ms"
        first.append(node("span", took, classes="st-muted st-small st-push", title="Time of the match"))
        sentences = isolated(reason_in_words(with_short_names(self._visit, explanation))).splitlines()
        reason = isolated(reason_in_words(result.trace.reason))
        more = [node("li", sentence, classes="st-words", dir="auto") for sentence in sentences[1:]]
        answers = []
        if result.response:
            says = node("span", "Answers", classes="st-muted st-small")
            answers.append(node("div", says, words(result.response), classes="st-response"))
        return node(
            "div",
            node("div", *first, classes="st-row"),
            _highlighted(result.message, result.entities),
            node("p", f"{reason[:1].upper()}{reason[1:]}"),
            node("ul", *more, classes="st-list st-muted st-small"),
            *answers,
            classes="st-card st-verdict",
        )

    def _candidates(self, result: MatchResult) -> Node:
        if not result.candidates:
            return region("What it could mean", node("p", "No intent comes near.", classes="st-muted"))
        trace = result.trace
        inside = []
        if trace.threshold_on == "in_scope" and result.in_scope is not None:
            inside.append(bar("one of yours", result.in_scope, f"{result.in_scope:.0%}", trace.threshold, strong=True))
        for number, candidate in enumerate(result.candidates[:_MOST_CANDIDATES]):
            # A threshold on the probability of being in scope has its mark on the bar above.
            on_it = trace.threshold_on == ("score" if candidate.confidence is None else "confidence")
            inside.append(self._candidate(candidate, trace.threshold if on_it and number == 0 else None))
        if trace.threshold is not None:
            shown = f"{trace.threshold:.2f}" if trace.threshold_on == "score" else f"{trace.threshold:.0%}"
            says = f"The mark, {shown}, is what an answer takes ({trace.threshold_origin})."
            inside.append(node("p", says, classes="st-muted st-small"))
        return region("What it could mean", *inside)

    def _candidate(self, candidate: Candidate, threshold: float | None) -> Node:
        value = candidate.score if candidate.confidence is None else candidate.confidence
        head = [intent_node(self._visit, candidate.intent)]
        if self._visit.may("author"):
            label = f"The message belongs to {candidate.intent}"
            head.append(
                node(
                    "button",
                    "belongs here",
                    classes="st-flat st-push st-small",
                    type="button",
                    data_act=candidate.intent,
                    aria_label=label,
                )
            )
        inside = [node("div", *head, classes="st-row")]
        inside.append(bar(candidate.intent, value, candidate.measured, threshold, label=False))
        if (near := candidate.utterance) is not None:
            quoted = words(f"“{near.text}”", "st-muted")
            inside.append(node("div", quoted, *place_node(self._visit, near.location), classes="st-row st-small"))
        return node("div", *inside, classes="st-candidate")

    def _teach(self) -> None:
        """Draw the card that adds the message to an intent, or to the tests. It stays while answers come and go."""
        with card("Teach it") as self._lesson:
            with tag("div", classes="st-row st-top"):
                self._target = ui.select([], label="This belongs to", with_input=True)
                self._target.props("outlined dense options-dense clearable").classes("st-grow")
                ui.button("Add the line", on_click=lambda: self._add(self._target.value)).props("unelevated")
            with tag("div", classes="st-row st-top"):
                self._expected = ui.select([], label="Expect", with_input=True)
                self._expected.props("outlined dense options-dense").classes("st-grow")
                ui.button("Pin as test", on_click=lambda: self._pin(self._expected.value)).props("outline")

    async def _add(self, intent: object) -> None:
        if self._result is None or not intent:
            self._visit.tell("Choose an intent first.", "warning")
            return
        text, language = self._result.message.strip(), self._spoken()
        await self._propose(AddUtterance(str(intent), text, language), f"This belongs to {intent}", f"Add to {intent}")

    async def _pin(self, expected: object) -> None:
        if self._result is None or not expected:
            return
        intent = None if expected == NO_INTENT else str(expected)
        edit = AddTest(self._result.message.strip(), intent, self._spoken())
        await self._propose(edit, "Pin as a test", f"Add a test of {expected}")

    async def _propose(self, edit: Edit, title: str, note: str) -> None:
        if await propose(self._visit, [edit], title=title, note=note) is not None:
            await self.match()

    def _spoken(self) -> str | None:
        """The language of the message, if the registry has it."""
        result = self._result
        # A guess of another language would begin a new list in the file.
        held = {utterance.language for utterance in self._visit.bot.matcher.registry.utterances}
        return result.language if result is not None and result.language in held else None


def segments(message: str, entities: Sequence[Entity]) -> Iterator[tuple[str, Entity | None]]:
    """Yield the parts of a message in order, each with the entity that it is; of overlapping ones, the first."""
    end = 0
    for entity in sorted(entities, key=lambda one: (one.start, -one.end)):
        if entity.start < end:
            continue
        if entity.start > end:
            yield message[end : entity.start], None
        yield message[entity.start : entity.end], entity
        end = entity.end
    if end < len(message):
        yield message[end:], None


def _answer(bot: Bot, text: str, language: str | None) -> tuple[MatchResult, tuple[WordMatch, ...], str, float]:
    with bot.snapshot_for() as snapshot:
        start = time.perf_counter()
        result = snapshot.match(text, language=language)
        milliseconds = (time.perf_counter() - start) * 1000
        # After the time is taken: users never wait for this.
        found = snapshot.word_matches(result)
        return result, found, result.explain(found), milliseconds


def _highlighted(message: str, entities: Sequence[Entity]) -> Node:
    parts = [
        node("span", text)
        if entity is None
        else node("mark", text, classes="st-slot", title=f"{entity.slot} = {entity.shown}")
        for text, entity in segments(message, entities)
    ]
    return node("p", *parts, classes="st-words st-said", dir="auto")


def _slots(result: MatchResult) -> Node:
    pairs = []
    for entity in result.entities:
        says = f"{entity.shown}  (“{entity.text}”)"
        pairs += [node("dt", entity.slot, classes="st-mono"), words(says, name="dd")]
    for missing in result.missing:
        says = f"missing: {missing.question or 'no question'}"
        pairs += [node("dt", missing.slot, classes="st-mono"), words(says, "st-muted", "dd")]
    return region("Slots", node("dl", *pairs, classes="st-pairs"))


def _word_table(found: Sequence[WordMatch]) -> Node:
    rows = [
        [
            words(match.word, name="td"),
            words(match.met, name="td"),
            node("td", bar(f"{match.word} and {match.met}", match.similarity, f"{match.similarity:.2f}", label=False)),
            node("td", f"{match.weight:.0%}", classes="st-number"),
        ]
        for match in found
    ]
    return region("Which word met which", table(("message", "example", "alike", "weight"), rows))


def _stages(stages: Sequence[Stage]) -> Node:
    total = sum(stage.microseconds for stage in stages)
    rows = [
        [
            node("td", _STEPS.get(stage.name, stage.name.replace("_", " "))),
            words(answer_in_words(reason_in_words(stage.says)), "st-small", "td"),
            node("td", f"{stage.microseconds:.0f}", classes="st-number"),
        ]
        for stage in stages
    ]
    title = node("summary", f"Show the {len(stages)} steps to this answer, {total / 1000:.2f} ms")
    return node("details", title, table(("step", "found", "µs"), rows), classes="st-card st-fold")
