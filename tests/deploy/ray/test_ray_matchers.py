"""A replica of the matchers serves what it is told to, within the limits of any server."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch.deploy.ray import matchers
from intentmatch.deploy.ray.asgi import AsgiRequest, Response, RunningApp
from intentmatch.deploy.ray.matchers import Matchers

GOOD = "intents:\n  greet: {utterances: [hello, good morning]}\n  bye: {utterances: [goodbye, see you]}\n"


@pytest.mark.parametrize("several", [False, True])
def test_registry_that_names_what_is_outside_is_not_loaded(tmp_path: Path, several: bool) -> None:
    outside, bots = tmp_path / "secret.yaml", tmp_path / "bots"
    outside.write_text("intents: {secret: {utterances: [the password is swordfish]}}", encoding="utf-8")
    file = bots / "shop" / "bot.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(GOOD, encoding="utf-8")
    every = "*:" if several else ""
    served = {
        "source": str(bots if several else bots / "shop"),
        "several": several,
        "settings": {"cache": "off"},
        "server": {"keys": [f"{every}the-match-key"], "admin_keys": [f"{every}the-admin-key"]},
        "store": None,
    }
    base, headers = "/bots/shop" if several else "", {"x-api-key": "the-admin-key"}

    with TestClient(Matchers()._app(served)) as client:
        assert client.post(f"{base}/match", json={"text": "hello"}, headers=headers).json()["intent"] == "greet"
        file.write_text(f"include: [{outside}]\n{GOOD}", encoding="utf-8")
        answer = client.post(f"{base}/reload", headers=headers)

    assert answer.status_code == 409
    assert "swordfish" not in answer.text


def test_refused_caller_costs_one_replica_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has no key made every replica work with `GET /metrics` and `POST /reload`."""
    (tmp_path / "bot.yaml").write_text(GOOD, encoding="utf-8")
    keys = {"keys": ["the-match-key"], "admin_keys": ["the-admin-key"]}
    served = {"source": str(tmp_path), "several": False, "settings": {"cache": "off"}, "server": keys, "store": None}
    asked: list[str] = []

    async def ask_all(_: object, request: AsgiRequest) -> Response:
        asked.append(request.scope["path"])
        return Response(200, [], b"all")

    monkeypatch.setattr(matchers, "ask_all", ask_all)
    monkeypatch.setattr(Matchers, "_all_replicas", lambda self: None)
    replica = Matchers()
    replica._running = RunningApp(replica._app(served))
    with TestClient(replica._running.app), TestClient(replica.__serve_build_asgi_app__()) as client:
        refused = [client.get("/metrics"), client.post("/reload"), client.post("/reload", headers={"x-api-key": "no"})]
        headers = {"x-api-key": "the-admin-key"}
        let_in = [client.get("/metrics", headers=headers), client.post("/reload", headers=headers)]

    assert [one.status_code for one in refused] == [401, 401, 401]
    assert [one.text for one in let_in] == ["all", "all"]
    assert asked == ["/metrics", "/reload"]
