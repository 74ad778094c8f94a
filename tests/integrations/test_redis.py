"""The store in Redis."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time

import pytest
from fakes import WordHashEncoder

from intentmatch import Dialogue, Intent, Matcher, Registry, Store, Utterance
from intentmatch.core.erasure import Erasure
from intentmatch.core.errors import InputError

redis = pytest.importorskip("redis", reason="needs the extra `redis`")
fakeredis = pytest.importorskip("fakeredis", reason="needs fakeredis")

from intentmatch.integrations.redis import RedisStore  # noqa: E402 - the extra comes first

SERVER = os.environ.get("REDIS_SERVER") or shutil.which("redis-server")


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    """The URL of a real server, if one is installed."""
    if SERVER is None:
        pytest.skip("there is no redis-server here")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [
        SERVER,
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(tmp_path_factory.mktemp("r")),
    ]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        with redis.Redis(port=port) as client:
            for _ in range(200):
                try:
                    client.ping()
                    break
                except redis.ConnectionError:
                    time.sleep(0.05)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(params=["fake", "real"])
def client(request):
    """An empty Redis, fake or real."""
    if request.param == "fake":
        yield fakeredis.FakeRedis()
        return
    with redis.Redis.from_url(request.getfixturevalue("url")) as real:
        real.flushall()
        yield real


def bot(store: Store) -> Dialogue:
    intents = (
        Intent("order_status", (Utterance("where is my order"), Utterance("track my order"))),
        Intent("cancel_order", (Utterance("cancel my order"), Utterance("stop my order"))),
    )
    encoder = WordHashEncoder()
    matcher = Matcher.load(Registry(intents), encoder=encoder, threshold=0.4, margin=0.15, cache="off")
    return Dialogue(matcher, store=store)


def test_it_implements_the_store_protocol(client):
    assert isinstance(RedisStore(client), Store)


def test_text_is_returned_once(client):
    """The last text that was put wins."""
    store = RedisStore(client)
    store.put("anna", "one", 10)
    store.put("anna", "zwei 🙂", 10)

    assert store.pop("anna") == "zwei 🙂"
    assert store.pop("anna") is None
    assert store.pop("bert") is None


def test_text_expires(client):
    store = RedisStore(client)
    store.put("anna", "a", 90)
    store.put("bert", "b", 0.001)
    time.sleep(0.05)

    assert 80_000 < client.pttl("intentmatch:anna") <= 90_000
    assert store.pop("bert") is None


def test_bots_with_different_prefixes_share_a_server(client):
    RedisStore(client, prefix="one:").put("anna", "a", 10)

    assert RedisStore(client, prefix="two:").pop("anna") is None
    assert client.keys() == [b"one:anna"]


def test_client_may_decode_responses():
    store = RedisStore(fakeredis.FakeRedis(decode_responses=True))
    store.put("anna", "grün", 10)

    assert store.pop("anna") == "grün"


def test_question_of_one_process_is_answered_in_another(client):
    """The processes share only the store."""
    asked = bot(RedisStore(client)).take("my order", "anna")
    answered = bot(RedisStore(client)).take("2", "anna")

    assert asked.choices
    assert answered.intent == asked.choices[1].intent


def test_conversations_may_have_any_name(client):
    """Redis keys are bytes, and users choose their names."""
    store = RedisStore(client)
    for name in ("", "a b\n", "グループ:🙂", "\udcff"):
        store.put(name, "kept", 10)
        assert store.pop(name) == "kept"


def test_store_at_url(url):
    store = RedisStore.at(url, prefix="by-url:")
    store.put("anna", "a", 10)

    assert store.pop("anna") == "a"


def test_unreachable_server_is_logged_once_and_the_question_stays_in_this_process(caplog):
    unreachable = bot(RedisStore.at("redis://127.0.0.1:9/0"))

    asked = unreachable.take("my order", "anna")
    assert unreachable.take("1", "anna").intent == asked.choices[0].intent
    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "Redis fails, open questions are kept in this process only"
    ]


def test_error_of_the_server_is_no_reason_to_leave_it_alone():
    """Such as "out of memory" for one command."""
    client = fakeredis.FakeRedis()
    store = RedisStore(client)
    client.rpush("intentmatch:anna", "a list of another program")

    assert store.pop("anna") is None
    store.put("bert", "b", 10)
    assert client.get("intentmatch:bert") == b"b"


def test_texts_that_quote_a_message_are_erased(client):
    store = RedisStore(client, prefix="bot*:")
    store.put("ann", '{"message": "call Bob \\u00dcbel"}', 60)
    store.put("ben", '{"message": "call Anna"}', 60)
    client.set("another:program", "call Bob Übel")

    assert store.erase(Erasure(contains="bob übel"), ("be", "other")) == 0
    assert store.erase(Erasure(contains="bob übel")) == 1
    assert (store.pop("ann"), store.pop("ben")) == (None, '{"message": "call Anna"}')
    assert client.exists("another:program")


def test_erasing_while_redis_is_away_is_an_error():
    server = fakeredis.FakeServer()
    server.connected = False

    with pytest.raises(InputError, match="not erased"):
        RedisStore(fakeredis.FakeRedis(server=server)).erase(Erasure(contains="bob"))
