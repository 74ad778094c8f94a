"""The files in `examples/deploy` match the server: routes, options, port and timeouts."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping
from configparser import ConfigParser
from pathlib import Path
from typing import Any, cast

import click
import pytest
import yaml
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.core.errors import InputError
from intentmatch.core.types import Intent, Registry, Utterance
from intentmatch.server import create_app

DEPLOY = Path(__file__).parent.parent / "examples" / "deploy"
SERVE = cast("click.Command", cli.get_command(click.Context(cli), "serve"))


class Unit(ConfigParser):
    """Parser for a systemd unit, whose keys have capitals."""

    def optionxform(self, optionstr: str) -> str:
        return optionstr


@pytest.fixture(scope="module")
def unit() -> Mapping[str, str]:
    parser = Unit(interpolation=None, delimiters=("=",), comment_prefixes=("#",), strict=True)
    parser.read_string((DEPLOY / "intentmatch.service").read_text(encoding="utf-8"))
    assert parser.sections() == ["Unit", "Service", "Install"]
    return dict(parser["Service"])


@pytest.fixture(scope="module")
def documents() -> dict[str, Any]:
    found = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    return {document["kind"]: document for document in found}


@pytest.fixture(scope="module")
def pod(documents: dict[str, Any]) -> Any:
    return documents["Deployment"]["spec"]["template"]


@pytest.fixture(scope="module")
def container(pod: Any) -> Any:
    (container,) = pod["spec"]["containers"]
    return container


@pytest.fixture(scope="module")
def client() -> TestClient:
    registry = Registry((Intent("greet", (Utterance("hello", "en"),)),))
    return TestClient(create_app(Matcher.load(registry, cache="off")))


def options(words: list[str], environment: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Parse the options of `serve` from arguments and environment; fails on unknown or invalid ones."""
    known = {f"INTENTMATCH_SERVE_{option.name.upper()}" for option in SERVE.params if option.name}
    assert {name for name in environment if name.startswith("INTENTMATCH_SERVE_")} <= known
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with click.Context(cli) as parent:
        return SERVE.make_context("serve", list(words), parent=parent).params


def test_systemd_unit_starts_the_server(unit: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    program, command, *words = shlex.split(unit["ExecStart"])
    assert (Path(program).name, command) == ("intentmatch", "serve")
    assert words[words.index("--config") + 1] == "/etc/intentmatch/serve.yaml"
    words[words.index("--config") + 1] = str(DEPLOY / "serve.yaml")

    made = options(words, {}, monkeypatch)

    assert made["intents"] == "/etc/intentmatch/intents"
    assert (made["host"], made["watch"], made["log_format"]) == ("127.0.0.1", True, "json")
    assert int(unit["TimeoutStopSec"]) > made["shutdown_seconds"]


def test_systemd_unit_does_not_restart_on_input_errors(unit: Mapping[str, str]) -> None:
    assert int(unit["RestartPreventExitStatus"]) == InputError.exit_code
    assert unit["Restart"] == "on-failure"


def test_systemd_unit_can_write_its_cache(unit: Mapping[str, str]) -> None:
    name, _, folder = unit["Environment"].partition("=")
    assert (name, folder) == ("INTENTMATCH_CACHE", f"/var/cache/{unit['CacheDirectory']}")
    assert unit["ProtectSystem"] == "strict"


def test_pod_starts_the_server(container: Any, pod: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    python, module, package, command, *words = container["command"]
    assert (python, module, package, command) == ("python", "-m", "intentmatch", "serve")
    environment = {each["name"]: each["value"] for each in container["env"]}

    made = options(words, environment, monkeypatch)

    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    (port,) = container["ports"]
    assert (made["host"], made["port"], made["watch"]) == ("0.0.0.0", port["containerPort"], True)
    assert {made["intents"], environment["PYTHONPATH"], environment["INTENTMATCH_CACHE"]} <= set(mounts)
    assert not mounts[environment["INTENTMATCH_CACHE"]].get("readOnly")
    assert {mount["name"] for mount in mounts.values()} == {volume["name"] for volume in pod["spec"]["volumes"]}


def test_probes_use_existing_routes(container: Any, pod: Any, client: TestClient) -> None:
    """Readiness controls traffic and start-up; liveness, which restarts, checks only the process."""
    paths = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}
    (port,) = container["ports"]
    for kind in paths:
        assert container[f"{kind}Probe"]["httpGet"]["port"] == port["name"]
    scraped = pod["metadata"]["annotations"]
    assert scraped["prometheus.io/port"] == str(port["containerPort"])
    for path in {*paths.values(), scraped["prometheus.io/path"]}:
        assert client.get(path).status_code == 200


def test_pod_grace_period_covers_the_shutdown(container: Any, pod: Any) -> None:
    (pause,) = [int(word) for word in container["lifecycle"]["preStop"]["exec"]["command"] if word.isdigit()]
    (seconds,) = [int(each["value"]) for each in container["env"] if each["name"].endswith("SHUTDOWN_SECONDS")]
    assert pod["spec"]["terminationGracePeriodSeconds"] > pause + seconds


def test_service_selects_the_pods(documents: dict[str, Any], pod: Any, container: Any) -> None:
    service, deployment = documents["Service"]["spec"], documents["Deployment"]["spec"]
    assert service["selector"] == deployment["selector"]["matchLabels"] == pod["metadata"]["labels"]
    assert [port["targetPort"] for port in service["ports"]] == [port["name"] for port in container["ports"]]


def test_readme_names_every_file() -> None:
    guide = (DEPLOY / "README.md").read_text(encoding="utf-8")
    for file in DEPLOY.iterdir():
        assert file.name == "README.md" or file.name in guide, file


def test_image_is_not_of_root_and_asks_a_route_for_its_health(client: TestClient) -> None:
    """Its command has options that `serve` has."""
    text = (DEPLOY / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.partition(" ") for line in text.splitlines() if line and line[0] not in "# "]
    last = {name: rest for name, _, rest in lines}
    user, _, group = last["USER"].partition(":")
    assert int(user) > 0 < int(group)
    (port,) = last["EXPOSE"].split()
    (path,) = re.findall(rf"127\.0\.0\.1:{port}(/\w+)", last["HEALTHCHECK"])
    assert client.get(path).status_code == 200
    program, command, bot, *options = json.loads(last["ENTRYPOINT"])
    assert (program, command) == ("intentmatch", "serve")
    assert f"COPY --from=build {bot} {bot}" in text
    with SERVE.make_context("serve", [bot, *options], resilient_parsing=False) as context:
        assert str(context.params["port"]) == port
