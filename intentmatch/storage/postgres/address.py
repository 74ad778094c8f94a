"""The address of a bot in PostgreSQL: `postgres://USER@HOST/DATABASE/BOT`. It never shows a password.

Every command imports this module: what only addresses need is imported late.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from intentmatch.core.errors import InputError

DEFAULT_BOT = "default"
"""The bot of an address that names none."""

_SCHEMES = ("postgres://", "postgresql://")


@dataclass(frozen=True, slots=True)
class Address:
    """Where a bot is. Its text and its repr leave out the password and all options of the connection."""

    url: str = field(repr=False)
    """What libpq takes, with the password if there is one."""
    shown: str
    """The same without secrets, for messages and logs, with the bot if it was named."""
    bot: str = DEFAULT_BOT

    @classmethod
    def parse(cls, text: str) -> Address:
        """Read `postgres://USER:PASSWORD@HOST:PORT/DATABASE/BOT?OPTIONS`; the option `bot` names the bot as well.

        The options are those of libpq. Raises `InputError`, whose text does not repeat the address.
        """
        from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit, urlunsplit

        parts = urlsplit(text)
        if not is_address(text):
            raise InputError("an address of PostgreSQL begins with postgres:// or postgresql://")
        database, *more = [unquote(part) for part in parts.path.strip("/").split("/")]
        options = parse_qsl(parts.query, keep_blank_values=True)
        named = [*more, *(value for name, value in options if name == "bot")]
        if len(named) > 1:
            raise InputError("the address names more than one bot: write postgres://USER@HOST/DATABASE/BOT")
        bot = checked_bot(named[0]) if named else DEFAULT_BOT
        rest = [(name, value) for name, value in options if name != "bot"]
        path = f"/{quote(database, safe='')}" if database else ""
        url = urlunsplit(("postgresql", parts.netloc, path, urlencode(rest, quote_via=quote), ""))
        # The last one: a password may hold more of them.
        credentials, at, hosts = parts.netloc.rpartition("@")
        owner = f"{credentials.partition(':')[0]}{at}"
        return cls(url, f"postgres://{owner}{hosts}{path}{''.join(f'/{name}' for name in named)}", bot)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What no message may contain: the passwords, as written and decoded."""
        from urllib.parse import parse_qsl, unquote, urlsplit

        parts = urlsplit(self.url)
        password = parts.netloc.rpartition("@")[0].partition(":")[2]
        options = [value for name, value in parse_qsl(parts.query) if "password" in name]
        # libpq decodes a password, and its errors may show either form.
        return tuple(one for one in (password, unquote(password), *options) if one)

    def of(self, bot: str) -> Address:
        """Return the address of another bot in the same database. Raises `InputError` for an invalid name."""
        from urllib.parse import urlsplit, urlunsplit

        parts = urlsplit(self.shown)
        database = parts.path.strip("/").partition("/")[0]
        shown = urlunsplit((parts.scheme, parts.netloc, f"/{database}/{checked_bot(bot)}", "", ""))
        return replace(self, bot=bot, shown=shown)

    def __str__(self) -> str:
        return self.shown


def is_address(value: Any) -> TypeGuard[str | Address]:
    """Whether a value is an address of PostgreSQL, and no path."""
    return isinstance(value, Address) or (isinstance(value, str) and value.startswith(_SCHEMES))


def address_of(value: str | Address) -> Address:
    """Return an address that may be written as text. Raises `InputError` for invalid text."""
    return value if isinstance(value, Address) else Address.parse(value)


def checked_bot(name: str) -> str:
    """Return the name of a bot. Raises `InputError` for an invalid one."""
    from intentmatch.core.bot_names import HOW_TO_NAME, VALID_NAME

    if not VALID_NAME.fullmatch(name):
        raise InputError(f"{name!r} is not a valid name for a bot: {HOW_TO_NAME}")
    return name
