"""`intentmatch chat`: a conversation with the registry in the terminal, with the reason for each answer."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

import click

from intentmatch.cli import checkout, completion
from intentmatch.cli.commands import cli
from intentmatch.cli.options import load, set_option, standard_input, takes_intents
from intentmatch.cli.render import answer, output
from intentmatch.cli.render.progress import quiet_option
from intentmatch.core.errors import IntentMatchError, counted, suggest

if TYPE_CHECKING:
    from intentmatch.dialogue import Turn
    from intentmatch.inbox import Inbox
    from intentmatch.matching.matcher import Matcher

_CONVERSATION = "chat"


@cli.command()
@takes_intents()
@click.option(
    "--language",
    "-l",
    metavar="CODE",
    shell_complete=completion.languages,
    help="BCP-47 code of your messages, used if detection finds none.",
)
@set_option
@quiet_option
def chat(intents: str, language: str | None, settings: tuple[str, ...]) -> None:
    """Talk to the registry as to a bot.

    After each answer, the reason is shown. If the bot asks which intent you mean, or for a missing slot, your next
    message may be the answer.

    \b
    Type:
      /why             to explain the last answer, stage by stage
      /correct INTENT  to add your last message to the intent that was meant
      /slots           to see what is known for the intent
      /context TAG     to activate the intents with `when: TAG`
      /context         to deactivate them
      /reload          to read the files again
      /help            to see this list
      /quit            to leave (so does the end of the input)

    \b
    Example:
      intentmatch chat shop/ --language en
    """
    from intentmatch.core.types import checked_language_code
    from intentmatch.inbox import Inbox

    if language is not None:
        # Before the intents are loaded, which may take a while.
        checked_language_code(language)
    matcher = load(intents, settings)
    inbox = Inbox.from_settings(matcher.settings, checkout.address_in_use(matcher))
    output.say(f"{counted(len(matcher.registry), 'intent')} from {intents}. Say something; /help.", err=True)
    session = _Session(matcher, intents, language, inbox)
    for line in _lines(session.words()):
        if line == "/quit":
            break
        session.take(line)
    # The inbox writes in batches, and this process ends here.
    if inbox is not None:
        inbox.flush()


class _Session:
    """One conversation: the last turn, and the commands that the user may type."""

    def __init__(self, matcher: Matcher, intents: str, language: str | None, inbox: Inbox | None) -> None:
        from intentmatch.dialogue import Dialogue

        self._matcher, self._intents, self._language, self._inbox = matcher, intents, language, inbox
        self._dialogue = Dialogue(matcher)
        self._context: tuple[str, ...] = ()
        self._last: Turn | None = None

    def words(self) -> list[str]:
        """Return what Tab completes: the commands, and the intents behind `/correct`."""
        return [*_COMMANDS, "/quit", *(f"/correct {intent.name}" for intent in self._matcher.registry)]

    def take(self, line: str) -> None:
        """Answer a message, or run a command. An error is printed, and the conversation goes on."""
        if not line:
            return
        if not line.startswith("/"):
            self._answer(line)
            return
        name, *words = line.split()
        command = _COMMANDS.get(name)
        if command is None:
            # Not matched as a message: nobody begins one with a slash, and a mistyped
            # command would get the bot's fallback.
            near = suggest(name, [*_COMMANDS, "/quit"])
            advice = f"did you mean {near}?" if near else "/help lists the commands"
            output.say(f"{name} is no command; {advice}", err=True)
            return
        try:
            command(self, words)
        except IntentMatchError as raised:
            output.error(raised)

    def _answer(self, message: str) -> None:
        self._last = taken = self._dialogue.take(message, _CONVERSATION, language=self._language, context=self._context)
        answer.turn(taken)
        # An answer to a question means nothing on its own: it is no message that the bot has missed.
        if self._inbox is not None and taken.result is not None and not taken.answers:
            self._inbox.record(taken.result)

    def why(self, words: Sequence[str]) -> None:
        """Explain the last turn, or say why there is nothing to explain."""
        if self._last is None:
            output.say("There is no answer to explain yet.")
        elif self._last.result is None:
            output.say("Your message answered the bot's question, so no intent was matched.")
        else:
            answer.why(self._last.result, self._matcher)

    def correct(self, words: Sequence[str]) -> None:
        """Add the last message to an intent; show the change of the files and the new answer."""
        from intentmatch.authoring.operations.operation import Operation
        from intentmatch.cli.edit import planned, workspace_of, write
        from intentmatch.registry.editing.edits import additions

        if self._last is None or self._last.result is None:
            output.say("There is no message to add yet.", err=True)
            return
        if len(words) != 1:
            output.say("Name the intent that was meant: /correct INTENT", err=True)
            return
        found = self._last.result
        before = answer.short(found)
        language = found.language or self._language
        edits = additions(words[0], [found.message], language=language)
        plan = planned(workspace_of(self._intents), Operation(edits, note=f"Correct an answer of chat: {words[0]}"))
        try:
            # In a pipe nobody can answer, and the line `/correct` has asked for it.
            done = write(plan, yes=not sys.stdin.isatty(), reload=self._matcher.reload)
        except click.Abort:
            output.say("Nothing was written.")
            return
        # The warnings have said why; below, the old intents would answer.
        if not done.active:
            return
        # The open question may be about the intents as they were before the edit.
        self._dialogue.forget(_CONVERSATION)
        now = self._matcher.match(found.message, context=self._context)
        output.say(f"“{found.message}” was {before}, and is now {answer.short(now)}.")

    def slots(self, words: Sequence[str]) -> None:
        """Show the slots that are known, and the one that the bot asks for."""
        known = self._last.slots if self._last else {}
        for name, value in known.items():
            output.say(f"  {name}: {value}")
        if self._last and self._last.asks_for:
            output.say(f"  {self._last.asks_for}: missing")
        elif not known:
            output.say("No slot is known.")

    def context(self, words: Sequence[str]) -> None:
        """Set the active tags."""
        known = {tag for intent in self._matcher.registry for tag in intent.when}
        for word in words:
            if word not in known:
                near = suggest(word, known)
                output.say(f"No intent has `when: {word}`" + (f"; did you mean {near}?" if near else "."), err=True)
        self._context = tuple(words)
        output.say(f"Active: {', '.join(words) or 'no tag'}.")

    def reload(self, words: Sequence[str]) -> None:
        """Read the files again; on errors, print them and keep the current intents."""
        try:
            self._matcher.reload()
        except IntentMatchError as raised:
            output.error(raised)
            output.say("The files are not used. The previous intents stay active.", err=True)
            return
        output.say(f"{counted(len(self._matcher.registry), 'intent')}.")

    def help(self, words: Sequence[str]) -> None:
        """Print the part of the help that lists what to type."""
        listed = (chat.help or "").partition("Type:\n")[2].partition("\n\n")[0]
        output.say(listed)


_COMMANDS: Mapping[str, Callable[[_Session, Sequence[str]], None]] = MappingProxyType(
    {
        "/why": _Session.why,
        "/correct": _Session.correct,
        "/slots": _Session.slots,
        "/context": _Session.context,
        "/reload": _Session.reload,
        "/help": _Session.help,
    }
)


def _lines(words: Sequence[str]) -> Iterator[str]:
    """Yield the user's lines, without surrounding spaces. In a terminal, Tab completes `words`."""
    if not sys.stdin.isatty():
        for line in standard_input():
            yield line.strip()
        return
    _edit_lines(words)
    while True:
        try:
            yield input("you> ").strip()
        except (EOFError, KeyboardInterrupt):
            output.echo()
            return


def _edit_lines(words: Sequence[str]) -> None:
    """Give `input` line editing, the history of this conversation, and completion, where Python has readline."""
    try:
        import readline
    except ImportError:  # Windows: the console itself edits lines and keeps a history
        return

    def complete(text: str, state: int) -> str | None:
        found = [word for word in words if word.startswith(text)]
        # readline asks with 0, 1, 2 and so on, until there is nothing.
        return found[state] if text and state < len(found) else None

    readline.set_completer(complete)
    # Without delimiters, the whole line is completed: an intent stands behind `/correct` and a space.
    readline.set_completer_delims("")
    # Python on macOS has libedit under the name of readline, with another syntax for bindings.
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")
