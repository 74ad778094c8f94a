"""A skill of opsdroid that answers each intent of bot.yaml. README.md beside it says how to start and try it."""

from opsdroid.events import Message
from opsdroid.matchers import match_rasanlu
from opsdroid.skill import Skill


class Shop(Skill):
    """Answer about orders and the weather."""

    @match_rasanlu("greet")
    async def greet(self, message: Message) -> None:
        """Greet the user."""
        await message.respond("Hello!")

    @match_rasanlu("order_status")
    async def order_status(self, message: Message) -> None:
        """Answer; a real bot would ask the shop here."""
        await message.respond("Your order is on its way.")

    @match_rasanlu("cancel_order")
    async def cancel_order(self, message: Message) -> None:
        """Answer; a real bot would cancel the order here."""
        await message.respond("Your order is cancelled.")

    @match_rasanlu("weather")
    async def weather(self, message: Message) -> None:
        """Answer for a city: a filled slot is an entity of the message."""
        city = message.get_entity("city")
        await message.respond(f"It is sunny in {city}." if city else "It is sunny. Where are you?")

    @match_rasanlu("nlu_fallback")
    async def fallback(self, message: Message) -> None:
        """Answer out-of-scope and ambiguous messages; the first in the ranking is `nlu_fallback` itself."""
        nearest = [candidate["name"].replace("_", " ") for candidate in message.rasanlu["intent_ranking"][1:3]]
        await message.respond(f"I did not understand that. Is it about {' or '.join(nearest)}?")
