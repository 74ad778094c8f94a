"""Keys that are valid for one of several bots."""

from __future__ import annotations

from pathlib import Path

import pytest
from several_bots import match, served, states, until, write

from intentmatch.core.errors import InputError
from intentmatch.server import BotFolder, create_app

KEYS = ["shop:one", "bank:two:with:colons", "*:all"]


@pytest.mark.parametrize(
    ("key", "status"),
    [(None, 401), ("nonsense", 401), ("shop:one", 401), ("one", 200), ("two:with:colons", 403), ("all", 200)],
)
def test_key_is_valid_for_its_bot_only(several: Path, key: str | None, status: int) -> None:
    """Keys of both kinds; checked before the body is read."""
    with served(several, keys=KEYS) as client:
        headers = {"content-type": "application/json", **({"x-api-key": key} if key else {})}
        for path in ("match", "match/batch", "fill", "feedback"):
            answer = client.post(f"/bots/shop/{path}", content=b"{broken", headers=headers)
            assert answer.status_code == (400 if status == 200 else status)
        assert client.get("/bots/shop/intents", headers=headers).status_code == status
        assert match(client, "shop", **headers).status_code == status


def test_bots_without_a_valid_key_stay_hidden_and_unloaded(several: Path) -> None:
    with served(several, keys=KEYS) as client:
        there, not_there = (match(client, name, **{"x-api-key": "one"}) for name in ("bank", "nobody"))
        assert there.json() == not_there.json()
        assert there.status_code == 403
        assert states(client, **{"x-api-key": "one"}) == {"shop": "idle"}
        assert list(states(client, **{"x-api-key": "all"})) == ["bank", "pizza", "shop"]
        assert client.get("/bots").status_code == 401
        assert [client.get("/metrics", headers={"x-api-key": key}).status_code for key in ("one", "all")] == [403, 200]


@pytest.mark.parametrize(
    ("key", "status"), [(None, 401), ("one", 403), ("boss", 403), ("owner", 200), ("all-boss", 200), ("x", 401)]
)
def test_admin_key_is_valid_for_its_bot_only(several: Path, key: str | None, status: int) -> None:
    admin_keys = ["bank:boss", "shop:owner", "*:all-boss"]
    with served(several, keys=KEYS, admin_keys=admin_keys) as client:
        headers = {"x-api-key": key} if key else {}
        assert client.post("/bots/shop/reload", headers=headers).status_code == status
        assert client.post("/bots/nobody/reload", headers={"x-api-key": "all-boss"}).status_code == 404


@pytest.mark.parametrize("key", ["one", ":one", "shop:", "*"])
def test_key_without_its_bot_is_refused(several: Path, key: str) -> None:
    """The message does not show the key."""
    with pytest.raises(InputError, match="shop:KEY") as caught:
        create_app(BotFolder(several), keys=[key])
    assert "one" not in str(caught.value)
    with pytest.raises(InputError, match="must differ"):
        create_app(BotFolder(several), keys=["shop:one"], admin_keys=["bank:one"])


def test_keys_for_unknown_bots_are_logged_without_their_names(several: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A name may be the beginning of a key; the bot may be added later."""
    with served(several, keys=["secret:one", "shop:two"]) as client:
        assert "keys name 1 bots that do not exist" in caplog.text
        write(several, "secret")
        until(lambda: match(client, "secret", **{"x-api-key": "one"}).status_code == 200)
