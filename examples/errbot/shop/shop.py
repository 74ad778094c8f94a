"""An Errbot plugin that understands free text. README.md above says how to start and try it."""

from pathlib import Path

from errbot import BotPlugin, botcmd
from errbot.backends.base import Identifier, Message

from intentmatch import Dialogue, Matcher


class Shop(BotPlugin):
    """Answer about orders and the weather."""

    def activate(self) -> None:
        """Read bot.yaml once, when the bot starts."""
        super().activate()
        self.dialogue = Dialogue(Matcher.load(Path(__file__).with_name("bot.yaml")))

    @botcmd
    def order_status(self, message: Message, args: str) -> str:
        """Tell where an order is: a command, and the action of the intent with the same name."""
        return "Your order is on its way."

    def callback_message(self, message: Message) -> None:
        """Answer direct messages, except commands, which begin with the prefix and are handled by Errbot."""
        if message.is_direct and not message.body.startswith(self.bot_config.BOT_PREFIX):
            self.answer(message, message.body, message.frm)

    def callback_mention(self, message: Message, mentioned_people: list[Identifier]) -> None:
        """Answer messages in groups that mention the bot."""
        if message.is_group and self.bot_identifier in mentioned_people:
            words = [word for word in message.body.split() if not word.startswith("@")]
            self.answer(message, " ".join(words), message.to)

    def answer(self, message: Message, text: str, place: Identifier) -> None:
        """Run the action of the intent, ask back, or send the fallback."""
        turn = self.dialogue.take(text, f"{message.to} {message.frm}")
        if turn.intent == "order_status":
            reply = self.order_status(message, "")
        elif turn:
            reply = turn.text or "Sorry, I can help with orders and the weather."
        else:
            return
        self.send(place, reply, in_reply_to=message)
