"""The server's keys and bots, as the studio sees them."""

from __future__ import annotations

import pytest

from intentmatch.core.errors import InputError
from intentmatch.server import create_app
from intentmatch.server.auth.access import Access
from intentmatch.server.studio import ServedBots

ALL = Access(["plain"], ["root"], author_keys=["anna=hers"])


def served(access: Access = ALL, *, without_keys: bool = False) -> ServedBots:
    return ServedBots(None, access, without_keys=without_keys)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "name", "role"), [("plain", "match", "match"), ("hers", "anna", "author"), ("root", "admin", "admin")]
)
def test_each_key_has_its_name_and_role(key, name, role):
    visitor = served().visitor(key, "10.0.0.1")

    assert visitor.name == name
    assert served().role(visitor, None) == role
    assert key not in repr(visitor)  # sessions keep it in memory


@pytest.mark.parametrize("key", ["wrong", "", None])
def test_wrong_key_is_refused(key):
    with pytest.raises(InputError, match="not valid"):
        served().visitor(key, "10.0.0.1")


def test_guesses_of_one_address_are_stopped():
    bots = served(Access([], ["root"]))
    said = set()
    for number in range(200):
        with pytest.raises(InputError) as refused:
            bots.visitor(f"guess {number}", "10.0.0.1")
        said.add(str(refused.value).partition(".")[0])

    assert said == {"This key is not valid", "This address has presented too many wrong keys"}
    assert bots.visitor("root", "10.0.0.2").name == "admin"


def test_key_of_another_bot_has_no_role():
    access = Access([], ["*:root"], author_keys=["shop:anna=hers"], several=True)
    anna = served(access).visitor("hers", None)

    assert served(access).role(anna, "shop") == "author"
    assert served(access).role(anna, "bank") is None
    assert served(access).role(served(access).visitor("root", None), "bank") == "admin"


def test_without_keys_everyone_is_admin():
    bots = served(Access(), without_keys=True)

    assert not bots.needs_key
    assert bots.role(bots.visitor(None, None), None) == "admin"


def test_studio_without_keys_must_be_asked_for(tmp_path):
    with pytest.raises(InputError, match="the studio needs keys"):
        create_app(tmp_path, studio=True, keys=(), author_keys=(), admin_keys=())
