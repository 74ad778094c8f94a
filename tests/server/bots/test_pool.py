"""Several bots in one process."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import threading
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from several_bots import PATIENCE, match, served, states, until, write
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.artefact.store import save_artefact
from intentmatch.core.errors import InputError
from intentmatch.core.settings import Settings
from intentmatch.encoders import load_encoder
from intentmatch.inbox import Inbox
from intentmatch.matching.loader import RegistrySource
from intentmatch.server import BotFolder, create_app
from intentmatch.server.bots import bot_loader, model_pool, pooled_bot
from intentmatch.server.bots.folder import is_bot_folder
from intentmatch.server.bots.memory import own_bytes
from intentmatch.server.bots.reloads import ReloadCounter
from intentmatch.server.candidates import candidate
from intentmatch.server.candidates.candidate import BotCandidate

BROKEN = "intents:\n  greet: {}\n"


def loads(monkeypatch: pytest.MonkeyPatch, before: Callable[[], object] = lambda: None) -> list[str]:
    """Collect the matchers that are loaded from now on."""
    original, found = RegistrySource.engine, []

    def engine(self: RegistrySource, *args: Any, **options: Any) -> Any:
        found.append(Path(str(self.path)).name)
        before()
        return original(self, *args, **options)

    monkeypatch.setattr(RegistrySource, "engine", engine)
    return found


def test_each_subfolder_and_artefact_is_a_bot(several: Path) -> None:
    """A path is enough if the folder is called `bots`."""
    save_artefact(Matcher.load(several / "pizza", cache="off").artefact, several / "pasta.intentmatch")
    (several / "README.md").write_text("not a bot", encoding="utf-8")
    (several / ".hidden").mkdir()
    (several / "empty").mkdir()
    with TestClient(create_app(several)) as client:
        assert states(client) == dict.fromkeys(["bank", "pasta", "pizza", "shop"], "idle")
        assert [match(client, bot).json()["intent"] for bot in ("shop", "bank", "pasta")] == ["shop", "bank", "pizza"]
        assert states(client) == {"bank": "ready", "pasta": "ready", "pizza": "idle", "shop": "ready"}
        batch = client.post("/bots/shop/match/batch", json={"texts": ["hello", "hello to shop"]}).json()
        assert [result["intent"] for result in batch["results"]] == ["shop", "shop"]
        assert client.get("/bots/shop/intents").json()["intents"][0]["name"] == "shop"
        assert client.post("/bots/shop/fill", json={"text": "hello", "intent": "shop"}).json() == {"entities": []}
        assert client.post("/bots/shop/fill", json={"text": "hello", "intent": "bank"}).status_code == 422
        assert client.post("/match", json={"text": "hello"}).status_code == 404


def test_single_registry_has_no_bot_paths(several: Path) -> None:
    with TestClient(create_app(several / "shop")) as client:
        assert client.get("/bots").status_code == client.post("/bots/shop/match", json={}).status_code == 404


@pytest.mark.parametrize("name", ["nobody", "..", ".", "%2e%2e", "shop%2f..%2fbank", "%ff", "x" * 5000])
def test_unknown_bot_is_not_found(several: Path, name: str) -> None:
    """Whatever its name; nothing outside the folder is read."""
    with served(several) as client:
        answer = client.post(f"/bots/{name}/match", json={"text": "hello"})
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


@pytest.mark.parametrize(
    ("name", "inside", "is_one"),
    [
        ("bots", ["shop/bot.yaml", "bank/deep/bot.yml"], True),
        ("bots", ["shop.intentmatch", "README.md"], True),
        ("bots", ["shop/bot.yaml", "more.YAML"], False),
        ("bots", ["README.md", "docs/x.txt", ".git/x.yaml"], False),
        ("intents", ["shop/bot.yaml", "bank/bot.yaml"], False),
    ],
)
def test_folder_is_of_bots_by_name_and_without_own_yaml(
    tmp_path: Path, name: str, inside: list[str], is_one: bool
) -> None:
    for path in inside:
        file = tmp_path / name / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("intents: {}", encoding="utf-8")
    assert is_bot_folder(tmp_path / name) is is_one
    assert not is_bot_folder(tmp_path / name / "none")


def test_invalid_folder_of_bots_lists_every_problem(several: Path) -> None:
    write(several, "my shop", "-x")
    (several / "shop.intentmatch").write_bytes(b"")
    (several / "more.yaml").write_text("intents: {}", encoding="utf-8")
    with pytest.raises(InputError) as caught:
        create_app(BotFolder(several))
    problems = {(Path(problem.location.path).name, problem.rule) for problem in caught.value.problems}
    assert problems == {
        ("my shop", "bot-name"),
        ("-x", "bot-name"),
        ("shop.intentmatch", "duplicate-bot"),
        ("more.yaml", "no-bot"),
    }
    assert str(several / "shop") in str(caught.value)


def test_folder_without_bots_is_an_error(tmp_path: Path) -> None:
    """So are a missing folder, and a preload pattern that matches none."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError):
            create_app(BotFolder(path))
    with pytest.raises(InputError, match="'shop-\\*'"):
        create_app(BotFolder(write(tmp_path, "shop"), ["shop-*"]))


def test_concurrent_callers_load_a_bot_once(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Callers of other bots do not wait."""
    go_on = threading.Event()
    with served(several) as client, ThreadPoolExecutor(9) as pool:
        assert match(client, "bank").status_code == 200
        found = loads(monkeypatch, lambda: go_on.wait(PATIENCE))
        waiting = [pool.submit(match, client, "shop") for _ in range(8)]
        until(lambda: found)
        assert match(client, "bank").json()["intent"] == "bank"
        assert states(client)["shop"] == "idle"
        assert not any(answer.done() for answer in waiting)
        go_on.set()
        assert {answer.result().json()["intent"] for answer in waiting} == {"shop"}
    assert found == ["shop"]


def test_broken_bot_reports_problems_and_affects_no_other(
    several: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It is not tried again until its files change."""
    good = (several / "shop/bot.yaml").read_text(encoding="utf-8")
    (several / "shop/bot.yaml").write_text(BROKEN, encoding="utf-8")
    found = loads(monkeypatch)
    with served(several) as client:
        for _ in range(3):
            answer = match(client, "shop")
            assert (answer.status_code, answer.json()["type"]) == (503, "urn:intentmatch:broken")
            assert [(item["line"], item["rule"]) for item in answer.json()["errors"]] == [(2, "no-utterances")]
            assert int(answer.headers["retry-after"]) >= 0
            time.sleep(0.06)
        assert found == ["shop"]
        assert match(client, "bank").status_code == client.get("/readyz").status_code == 200
        assert states(client) == {"bank": "ready", "pizza": "idle", "shop": "broken"}
        assert client.get("/readyz").json()["broken"] == 1
        (several / "shop/bot.yaml").write_text(good, encoding="utf-8")
        until(lambda: match(client, "shop").status_code == 200)
    assert "the bot shop cannot be loaded" in caplog.text


@pytest.mark.parametrize("error", [MemoryError("secret"), OSError("secret")])
def test_unexpected_failure_is_retried_later(several: Path, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Even with the same files; only the log shows the reason."""
    errors = [error]

    def fail() -> None:
        if errors:
            raise errors.pop()

    loads(monkeypatch, fail)
    monkeypatch.setattr(bot_loader, "_SECONDS_BETWEEN_TRIES", 0.1)
    with served(several) as client:
        answer = match(client, "shop")
        assert (answer.status_code, "secret" in answer.text) == (503, False)
        until(lambda: match(client, "shop").status_code == 200)


def test_damaged_artefact_is_a_broken_bot(several: Path) -> None:
    (several / "pasta.intentmatch").write_bytes(b"nonsense")
    with served(several) as client:
        assert match(client, "pasta").json()["type"] == "urn:intentmatch:broken"


def test_bots_are_added_and_removed_at_run_time(several: Path) -> None:
    with served(several) as client:
        assert match(client, "shop").status_code == 200
        write(several, "pasta")
        until(lambda: match(client, "pasta").status_code == 200)
        shutil.rmtree(several / "shop")
        shutil.rmtree(several / "pizza")
        until(lambda: list(states(client)) == ["bank", "pasta"])
        assert match(client, "shop").status_code == match(client, "pizza").status_code == 404
        assert 'intentmatch_ready{bot="shop"}' not in client.get("/metrics").text
        write(several, "shop")
        until(lambda: match(client, "shop").status_code == 200)


def test_folder_that_becomes_invalid_keeps_the_bots(several: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A clash, an invalid name or an unmounted drive; logged once."""
    with served(several) as client:
        (several / "shop.intentmatch").write_bytes(b"")
        until(lambda: "there are two bots 'shop'" in caplog.text)
        assert match(client, "shop").status_code == 200
        time.sleep(0.3)
        assert caplog.text.count("the bots stay as they are") == 1
        (several / "shop.intentmatch").unlink()
        several.rename(several.with_name("away"))
        until(lambda: caplog.text.count("the bots stay as they are") == 2)
        assert match(client, "shop").status_code == 200
        assert match(client, "pizza").status_code == 503


def test_least_recently_used_bot_is_unloaded(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A single bot may exceed the limit."""
    monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: 1_000_000)
    with served(several, megabytes=2) as client:
        for bot in ("bank", "pizza", "bank", "shop"):
            assert match(client, bot).status_code == 200
        assert states(client) == {"bank": "ready", "pizza": "idle", "shop": "ready"}
        monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: 9_000_000)
        assert match(client, "pizza").status_code == 200
        assert states(client) == {"bank": "idle", "pizza": "ready", "shop": "idle"}
        time.sleep(0.3)
        assert states(client)["pizza"] == "ready"


def test_unloaded_bot_is_freed(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Except the models that it shares."""
    monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: 1_000_000)
    original, made = bot_loader.BotLoader._matcher, []

    def matcher(*args: Any) -> Matcher:
        found = original(*args)
        made.append((weakref.ref(found), id(found.encoder)))
        return found

    monkeypatch.setattr(bot_loader.BotLoader, "_matcher", matcher)
    with served(several, megabytes=1) as client:
        match(client, "bank")
        match(client, "shop")

        def is_gone() -> bool:
            gc.collect()
            return made[0][0]() is None

        until(is_gone)
        assert made[1][0]() is not None
        assert len({encoder for _, encoder in made}) == 1


def test_bot_that_grows_unloads_others(several: Path, monkeypatch: pytest.MonkeyPatch, admin: dict[str, str]) -> None:
    monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: len(matcher.registry) * 1_000_000)
    with served(several, megabytes=2, admin_keys=["*:boss"]) as client:
        assert match(client, "bank").status_code == match(client, "shop").status_code == 200
        (several / "shop/more.yaml").write_text("intents: {bye: {utterances: [goodbye]}}", encoding="utf-8")
        assert client.post("/bots/shop/reload", headers={"x-api-key": "boss"}).json()["intents"] == 2
        until(lambda: states(client)["bank"] == "idle")
        assert states(client)["shop"] == "ready"


def test_bot_answers_while_it_is_unloaded(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many calls at once, for more bots than fit."""
    monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: 1_000_000)
    found = loads(monkeypatch)
    with served(several, megabytes=1) as client, ThreadPoolExecutor(8) as threads:
        names = ["bank", "pizza", "shop"] * 20
        answers = list(threads.map(lambda name: match(client, name), names))
        assert [answer.json().get("intent") for answer in answers] == names
        assert list(states(client).values()).count("ready") == 1
    assert len(found) > 3


def test_bots_with_the_same_settings_share_an_encoder(several: Path) -> None:
    """The last bot that is freed frees it too."""
    models = model_pool.ModelPool()
    first, second = (
        Matcher(RegistrySource(several / name, {}, load_encoder=models.encoder)) for name in ("bank", "shop")
    )
    assert first.encoder is second.encoder
    other = Matcher(RegistrySource(several / "pizza", {"precision": "float16"}, load_encoder=models.encoder))
    assert other.encoder is not first.encoder
    assert len(models._models) == 2
    del first
    assert len(models._models) == 2
    del second
    assert len(models._models) == 1
    assert models.reranker(Settings()) is None


def test_bot_may_be_unloaded_until_its_next_call(several: Path) -> None:
    with served(several) as client:
        pool = client.app.state.served
        assert not pool.is_loaded("bank")
        match(client, "bank")
        assert pool.is_loaded("bank")
        client.portal.call(lambda: pool.unload("bank"))
        assert states(client)["bank"] == "idle"
        client.portal.call(lambda: pool.unload("bank"))
        client.portal.call(lambda: pool.unload("nobody"))
        assert match(client, "bank").json()["intent"] == "bank"


def test_memory_of_a_bot_counts_texts_and_vectors(several: Path) -> None:
    """Without the encoder, which is shared."""
    small = Matcher.load(several / "shop", cache="off")
    lines = ", ".join(f"a sentence with the number {number}" for number in range(500))
    (several / "shop/more.yaml").write_text(f"intents: {{more: {{utterances: [{lines}]}}}}", encoding="utf-8")
    large = Matcher.load(several / "shop", cache="off")
    added = large.artefact.vectors.nbytes - small.artefact.vectors.nbytes
    assert added < own_bytes(large) - own_bytes(small) < 20 * added
    assert own_bytes(small) < 5_000_000


def test_bot_loaded_after_a_reload_does_not_reload_again(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reloads = ReloadCounter()
    with served(several, reloads=reloads) as client:
        match(client, "bank")
        found = loads(monkeypatch)
        reloads.request()
        until(lambda: found == ["bank"])
        match(client, "shop")
        time.sleep(0.3)
        assert found == ["bank", "shop"]


def test_preloaded_bots_delay_readiness(several: Path) -> None:
    """A broken one does not keep the others away."""
    write(several, "shop-de", "shop-en")
    (several / "shop-en/bot.yaml").write_text(BROKEN, encoding="utf-8")
    app = create_app(BotFolder(several, ["shop-*", "bank"]))
    assert TestClient(app).get("/readyz").json()["type"] == "urn:intentmatch:warming"
    with TestClient(app) as client:
        expected = {"bank": "ready", "pizza": "idle", "shop": "idle", "shop-de": "ready", "shop-en": "broken"}
        assert states(client) == expected
        ready = client.get("/readyz").json()
        assert ready == {"status": "ready", "bots": 5, "loaded": 2, "idle": 2, "stale": 0, "broken": 1}


def test_each_bot_has_its_own_inbox(several: Path, tmp_path: Path) -> None:
    inboxes = {name: several / name / f"{name}.sqlite" for name in ("bank", "shop")}
    for name, file in inboxes.items():
        write(several, name, settings=f"settings: {{inbox: '{file.name}'}}\n")
    with served(several) as client:
        for name in inboxes:
            client.post(f"/bots/{name}/match", json={"text": f"who won the cup final, {name}"})
            client.post(f"/bots/{name}/feedback", json={"text": f"a word to {name}", "intent": name})
        assert client.post("/bots/pizza/feedback", json={"text": "hello", "intent": None}).status_code == 503
        assert client.post("/bots/shop/feedback", json={"text": "hello", "intent": "bank"}).status_code == 422
    for name, file in inboxes.items():
        kept = [message.text for message in Inbox(file).messages()]
        assert len(kept) == 2
        assert all(text.endswith(name) for text in kept)


@pytest.mark.parametrize("from_environment", [False, True])
def test_inbox_for_all_bots_is_one_for_each(
    several: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, from_environment: bool
) -> None:
    """Authors of one bot must not read what users said to another one."""
    write(several, "bank", "shop")
    file = tmp_path / "misses.sqlite"
    settings = {} if from_environment else {"inbox": str(file)}
    if from_environment:
        monkeypatch.setenv("INTENTMATCH_INBOX", str(file))
    with TestClient(create_app(BotFolder(several, settings=settings))) as client:
        for name in ("bank", "shop"):
            client.post(f"/bots/{name}/match", json={"text": f"who won the cup final, {name}"})
    for name in ("bank", "shop"):
        kept = Inbox(tmp_path / f"misses-{name}.sqlite").messages()
        assert [message.text for message in kept] == [f"who won the cup final, {name}"]
    assert not file.exists()


@pytest.mark.parametrize(
    ("inbox", "own"),
    [
        ("off", None),
        ("database", None),
        ("a/in.db", "a/in-shop.db"),
        ("inbox", "inbox-shop"),
        ("postgres://me@host/bots", "postgresql://me@host/bots?bot=shop"),
        ("postgres://me@host/bots/all?sslmode=require", "postgresql://me@host/bots?sslmode=require&bot=shop"),
    ],
)
def test_place_of_the_inbox_of_a_bot(inbox: str, own: str | None) -> None:
    settings = {"threshold": "0.4", "inbox": inbox}

    assert BotFolder("bots", settings=settings).settings_of("shop") == settings | ({"inbox": own} if own else {})


def test_loaded_bots_are_watched_until_unloaded(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("watchfiles")
    monkeypatch.setattr(pooled_bot, "own_bytes", lambda matcher: 1_000_000)

    def watching() -> int:
        return sum(thread.name == "intentmatch-watch" for thread in threading.enumerate())

    with served(several, megabytes=1, watch=True) as client:
        assert watching() == 0
        match(client, "shop")
        write(several, "shop", text="good morning")
        until(lambda: "good morning" in match(client, "shop").text)
        match(client, "bank")
        until(lambda: watching() == 1)
    assert watching() == 0


def test_metrics_are_per_bot(several: Path) -> None:
    """Callers cannot create label values."""
    with served(several, preload=["bank"]) as client:
        match(client, "shop")
        for name in ("nobody", "secret"):
            match(client, name)
        metrics = client.get("/metrics").text
        assert 'intentmatch_verdicts_total{bot="shop",intent="shop",verdict="matched"} 1.0' in metrics
        assert 'intentmatch_ready{bot="bank"} 1.0' in metrics
        assert 'intentmatch_registry_info{bot="shop",' in metrics
        assert 'intentmatch_bots{state="idle"} 1.0' in metrics
        assert 'intentmatch_requests_total{path="/bots/{bot}/match",status="404"} 2.0' in metrics
        assert "nobody" not in metrics
        size = next(line for line in metrics.splitlines() if line.startswith('intentmatch_bot_bytes{bot="shop"}'))
        assert float(size.split()[1]) > 1000


def test_server_is_not_ready_if_no_loaded_bot_can_answer(several: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The probe itself tries a message."""
    encoder = load_encoder(Settings())
    monkeypatch.setattr(model_pool, "load_encoder", lambda settings: encoder)
    away: list[Exception] = []

    def encode(*args: Any, **options: Any) -> Any:
        if away:
            raise away[0]
        return type(encoder).encode(encoder, *args, **options)

    monkeypatch.setattr(encoder, "encode", encode, raising=False)
    with served(several, preload=["*"]) as client:
        away.append(MemoryError("secret"))
        for bot in ("bank", "pizza", "shop"):
            assert client.post(f"/bots/{bot}/match", json={"text": "something else"}).status_code == 500
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["type"]) == (503, "urn:intentmatch:broken")
        away.clear()
        assert client.get("/readyz").json()["loaded"] == 3


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_bot_may_be_a_symbolic_link(several: Path, tmp_path: Path) -> None:
    """Deployments switch versions with links."""
    write(tmp_path / "elsewhere", "pasta")
    (several / "pasta").symlink_to(tmp_path / "elsewhere/pasta", target_is_directory=True)
    with served(several) as client:
        assert match(client, "pasta").json()["intent"] == "pasta"


def test_log_says_whether_it_serves_bots_or_a_registry(several: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "intentmatch")
    with served(several):
        assert "is a folder of 3 bots: bank, pizza, shop" in caplog.text


def test_looks_that_hang_hold_no_thread_of_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database that is lost let each bot's look wait for seconds, and batches and readiness with them."""
    for name in ("cpu_count", "process_cpu_count"):  # five threads of `asyncio.to_thread`
        monkeypatch.setattr(os, name, lambda: 1, raising=False)
    names = [f"bot{number}" for number in range(8)]
    looking, go = [], threading.Event()

    def hang(self: BotCandidate) -> tuple[None, None]:
        looking.append(self)
        go.wait(20)
        return None, None

    monkeypatch.setattr(candidate, "SECONDS_BETWEEN_LOOKS", 0.01)
    with served(write(tmp_path / "bots", *names), preload=["*"], authoring=True, admin_keys=["*:root"]) as client:
        monkeypatch.setattr(BotCandidate, "_read", hang)
        until(lambda: len(looking) >= 4)
        time.sleep(0.1)  # all eight want to look by then
        begun = time.monotonic()
        try:
            ready = client.get("/readyz")
            batch = client.post("/bots/bot1/match/batch", json={"texts": ["hello"] * 3})
            seconds = time.monotonic() - begun
        finally:
            go.set()

    assert (ready.status_code, batch.status_code) == (200, 200)
    assert seconds < 10
