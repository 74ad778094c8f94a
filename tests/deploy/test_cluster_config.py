"""`cluster.yaml`: every key, and every mistake with its place. None of this takes Ray."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
from pathlib import Path

import pytest

from intentmatch.core.errors import RegistryError
from intentmatch.deploy.cluster_config import ClusterConfig, Gateway, Http, Matchers, Replicas, SharedEncoder
from intentmatch.deploy.cluster_file import SECRETS, cluster_config, read_cluster_config
from intentmatch.server.config import Auth

EVERYTHING = """\
bots: postgres://anna@db:5432/bots
name: chat
route-prefix: /chat
store: redis://cache:6379/0
settings: {threshold: 0.5, encoder: "onnx:/models/small"}
server:
  max-text: 500
  max-wait: 2.5
  protocols: [rasa, clu]
  database-keys: true
  rate-limit: 600/minute
matchers: {replicas: {min: 2, max: 8, ongoing: 16}, cpus: 0.5, bots: 50}
encoder: {model: "onnx:/models/small", replicas: 2, cpus: 0, gpus: 0.25, batch: 64, wait-ms: 5}
gateway: {replicas: 2, cpus: 0.25}
http: {host: 0.0.0.0, port: 80}
"""


def read(tmp_path: Path, text: str) -> ClusterConfig:
    file = tmp_path / "cluster.yaml"
    file.write_text(text, encoding="utf-8")
    return read_cluster_config(file)


def problems(tmp_path: Path, text: str) -> list[str]:
    with pytest.raises(RegistryError) as caught:
        read(tmp_path, text)
    return [str(problem).replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def test_every_key_is_read(tmp_path):
    assert read(tmp_path, EVERYTHING) == ClusterConfig(
        source="postgres://anna@db:5432/bots",
        several=True,
        name="chat",
        route_prefix="/chat",
        settings={"threshold": "0.5", "encoder": "onnx:/models/small"},
        server={
            "max_text": 500,
            "max_wait": 2.5,
            "protocols": ("rasa", "clu"),
            "database_keys": True,
            "rate_limit": "600/minute",
        },
        store="redis://cache:6379/0",
        matchers=Matchers(Replicas(2, 8, 16), 0.5, 50),
        encoder=SharedEncoder("onnx:/models/small", Replicas(2, 2, 2), 0.0, 0.25, 64, 5.0),
        gateway=Gateway(Replicas(2, 2), 0.25),
        http=Http("0.0.0.0", 80),
    )


def test_one_bot_has_no_gateway_unless_asked_for(tmp_path):
    one = read(tmp_path, "intents: /bots/shop\n")

    assert one == ClusterConfig(source="/bots/shop")
    assert read(tmp_path, "intents: /bots/shop\ngateway:\n") == dataclasses.replace(one, gateway=Gateway())


@pytest.mark.parametrize(("replicas", "ongoing"), [("{max: 4}", 2), ("{max: 4, ongoing: 5}", 5)])
def test_encoder_gets_replicas_for_two_batches_each(tmp_path, replicas, ongoing):
    """With one bot, a replica of the matchers has one batch in progress at the encoder."""
    found = read(tmp_path, f"intents: /bots/shop\nencoder: {{model: onnx:/models/small, replicas: {replicas}}}\n")

    assert found.encoder == SharedEncoder("onnx:/models/small", Replicas(1, 4, ongoing))


def test_several_bots_have_a_gateway(tmp_path):
    assert read(tmp_path, "bots: /bots\n").gateway == Gateway()


def test_relative_path_begins_at_the_file(tmp_path):
    assert read(tmp_path, "intents: ../shop\n").source == str(tmp_path.parent / "shop")


def test_mapping_gives_what_the_file_gives(tmp_path):
    values = {"intents": "/bots/shop", "matchers": {"replicas": {"min": 1, "max": 3}}, "http": {"port": 81}}

    assert cluster_config(values) == read(
        tmp_path, "intents: /bots/shop\nmatchers: {replicas: {min: 1, max: 3}}\nhttp: {port: 81}\n"
    )


def test_mapping_takes_no_relative_path():
    with pytest.raises(RegistryError, match="absolute path"):
        cluster_config({"intents": "shop"})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "cluster.yaml:1:1: error [cluster] name what to serve: either `intents`, for one bot, or `bots`"),
        ("intents: /a\nbots: /b\n", "cluster.yaml:1:1: error [cluster] name what to serve"),
        ("- intents\n", "cluster.yaml:1:1: error [cluster] this must be a mapping"),
        ("intents: [a]\n", "cluster.yaml:1:1: error [cluster] intents: this must be a text"),
        ("intents: /a\nintents: /b\n", "cluster.yaml:2:1: error [duplicate-key] `intents` is there twice"),
        ("intents: /a\nmatcher: {}\n", "cluster.yaml:2:1: error [cluster] matcher: there is no such key"),
        ("intents: /a\nmatchers: 3\n", "cluster.yaml:2:1: error [cluster] matchers: this must be a mapping"),
        ("intents: /a\nmatchers: {bots: 3}\n", "cluster.yaml:2:12: error [cluster] matchers.bots: this goes with"),
        ("intents: /a\nmatchers: {replicas: 0}\n", "matchers.replicas: 0 is not at least 1"),
        ("intents: /a\nmatchers: {replicas: many}\n", "matchers.replicas: 'many' is not a whole number"),
        ("intents: /a\nmatchers: {replicas: {min: 4, max: 3}}\n", "matchers.replicas: max is 3, and min is 4"),
        ("intents: /a\nmatchers: {replicas: {mini: 4}}\n", "matchers.replicas: there is no mini here"),
        ("intents: /a\nmatchers: {cpus: 0}\n", "matchers.cpus: 0 is too small"),
        ("intents: /a\nmatchers: {cpus: nan}\n", "matchers.cpus: nan is not a number"),
        ("intents: /a\nencoder: {gpus: 1}\n", "encoder: name the `model`"),
        ("intents: /a\nencoder: {model: static}\n", "encoder.model: static encoders are so fast"),
        ("intents: /a\nencoder: {model: x, gpus: 1.5}\n", "encoder.gpus: 1.5 GPUs: write a whole number, or a part"),
        ("intents: /a\nsettings: {thresold: 1}\n", "settings.thresold: unknown setting 'thresold'"),
        ("intents: /a\nsettings: {threshold: x}\n", "settings.threshold: setting 'threshold' cannot be 'x'"),
        ("intents: /a\nserver: {max-txt: 1}\n", "server.max-txt: there is no such key"),
        ("intents: /a\nserver: {max-text: none}\n", "server.max-text: 'none' is not a whole number"),
        ("intents: /a\nserver: {telemetry: 2}\n", "server.telemetry: '2' is not true or false"),
        ("intents: /a\nserver: {studio: true}\n", "server.studio: this takes one process"),
        ("intents: /a\nroute-prefix: chat\n", "route-prefix: 'chat' must begin with a slash"),
        ("intents: /a\nhttp: {port: 70000}\n", "http.port: 70000 is not from 0 to 65535"),
        ("intents: [", "error [yaml-syntax]"),
    ],
)
def test_mistake_is_reported_with_its_place(tmp_path, text, problem):
    assert any(problem in one for one in problems(tmp_path, text)), problems(tmp_path, text)


def test_all_mistakes_are_reported_at_once(tmp_path):
    text = "intents: /a\nroute-prefix: x\nhttp: {port: x}\nencoder: {}\n"

    assert len(problems(tmp_path, text)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "intents: postgres://anna:s3cret@db/bots/shop\n",
        "intents: postgres://db/bots/shop?password=s3cret\n",
        "intents: /a\nstore: redis://:s3cret@cache/0\n",
        "intents: /a\nserver: {keys: [s3cret]}\n",
    ],
)
def test_secrets_are_refused_and_not_repeated(tmp_path, text):
    (problem,) = problems(tmp_path, text)

    assert "on the nodes" in problem
    assert "s3cret" not in problem


def test_secrets_are_all_keys_of_the_server():
    assert set(SECRETS) == {option.name for option in dataclasses.fields(Auth) if option.name.endswith("keys")} - {
        "database_keys"
    }


def test_missing_file_is_reported(tmp_path):
    with pytest.raises(RegistryError, match="unreadable"):
        read_cluster_config(tmp_path / "none.yaml")


def test_reading_takes_no_engine():
    program = "import sys, intentmatch.deploy.cluster_file; print('ray' in sys.modules, 'fastapi' in sys.modules)"

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["False", "False"]
