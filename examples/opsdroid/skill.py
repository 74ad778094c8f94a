"""A skill of opsdroid: what to say to each intent of bot.yaml. README.md beside it says how to start and try it."""

from opsdroid.events import Message
from opsdroid.matchers import match_rasanlu
from opsdroid.skill import Skill


class Shop(Skill):
    """Answers about orders and the weather."""

    @match_rasanlu("greet")
    async def greet(self, message: Message) -> None:
        """A greeting for a greeting."""
        await message.respond("Hello!")

    @match_rasanlu("order_status")
    async def order_status(self, message: Message) -> None:
        """Here the shop would be asked."""
        await message.respond("Your order is on its way.")

    @match_rasanlu("cancel_order")
    async def cancel_order(self, message: Message) -> None:
        """Here the shop would be told."""
        await message.respond("Your order is cancelled.")

    @match_rasanlu("weather")
    async def weather(self, message: Message) -> None:
        """A slot that was found is an entity of the message."""
        city = message.get_entity("city")
        await message.respond(f"It is sunny in {city}." if city else "It is sunny. Where are you?")

    @match_rasanlu("nlu_fallback")
    async def fallback(self, message: Message) -> None:
        """What is not understood, or could mean several intents; the first in the ranking is this one."""
        nearest = [candidate["name"].replace("_", " ") for candidate in message.rasanlu["intent_ranking"][1:3]]
        await message.respond(f"I did not understand that. Is it about {' or '.join(nearest)}?")
