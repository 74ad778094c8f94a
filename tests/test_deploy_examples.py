"""The files in `examples/deploy` hold what the app has: its routes, its options, its port, its patience."""

from __future__ import annotations

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
    """A unit of systemd; its keys have capitals."""

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
    """What `serve` makes of words and an environment; anything unknown or impossible is an error."""
    known = {f"INTENTMATCH_SERVE_{option.name.upper()}" for option in SERVE.params if option.name}
    assert {name for name in environment if name.startswith("INTENTMATCH_SERVE_")} <= known
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with click.Context(cli) as parent:
        return SERVE.make_context("serve", list(words), parent=parent).params


def test_the_unit_starts_the_server(unit: Mapping[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """With options that there are, from the file beside it."""
    program, command, *words = shlex.split(unit["ExecStart"])
    assert (Path(program).name, command) == ("intentmatch", "serve")
    assert words[words.index("--config") + 1] == "/etc/intentmatch/serve.yaml"
    words[words.index("--config") + 1] = str(DEPLOY / "serve.yaml")

    made = options(words, {}, monkeypatch)

    assert made["intents"] == "/etc/intentmatch/intents"
    assert (made["host"], made["watch"], made["log_format"]) == ("127.0.0.1", True, "json")
    assert int(unit["TimeoutStopSec"]) > made["shutdown_seconds"]


def test_the_unit_gives_up_only_on_what_an_author_has_to_mend(unit: Mapping[str, str]) -> None:
    """Everything else is tried again."""
    assert int(unit["RestartPreventExitStatus"]) == InputError.exit_code
    assert unit["Restart"] == "on-failure"


def test_the_unit_can_write_where_its_cache_is(unit: Mapping[str, str]) -> None:
    """The rest of the system is read-only."""
    name, _, folder = unit["Environment"].partition("=")
    assert (name, folder) == ("INTENTMATCH_CACHE", f"/var/cache/{unit['CacheDirectory']}")
    assert unit["ProtectSystem"] == "strict"


def test_the_pod_starts_the_server(container: Any, pod: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """On an address that probes reach, at the port that it declares, from folders that are mounted."""
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


def test_the_probes_ask_what_there_is(container: Any, pod: Any, client: TestClient) -> None:
    """Readiness decides on traffic and on the start; liveness, which restarts, asks for no more than a process."""
    paths = {kind: container[f"{kind}Probe"]["httpGet"]["path"] for kind in ("startup", "readiness", "liveness")}
    assert paths == {"startup": "/readyz", "readiness": "/readyz", "liveness": "/healthz"}
    (port,) = container["ports"]
    for kind in paths:
        assert container[f"{kind}Probe"]["httpGet"]["port"] == port["name"]
    scraped = pod["metadata"]["annotations"]
    assert scraped["prometheus.io/port"] == str(port["containerPort"])
    for path in {*paths.values(), scraped["prometheus.io/path"]}:
        assert client.get(path).status_code == 200


def test_the_pod_has_time_to_finish(container: Any, pod: Any) -> None:
    """Longer than it waits for proxies and then for its own requests."""
    (pause,) = [int(word) for word in container["lifecycle"]["preStop"]["exec"]["command"] if word.isdigit()]
    (seconds,) = [int(each["value"]) for each in container["env"] if each["name"].endswith("SHUTDOWN_SECONDS")]
    assert pod["spec"]["terminationGracePeriodSeconds"] > pause + seconds


def test_the_service_leads_to_the_pods(documents: dict[str, Any], pod: Any, container: Any) -> None:
    """By their labels and the name of their port."""
    service, deployment = documents["Service"]["spec"], documents["Deployment"]["spec"]
    assert service["selector"] == deployment["selector"]["matchLabels"] == pod["metadata"]["labels"]
    assert [port["targetPort"] for port in service["ports"]] == [port["name"] for port in container["ports"]]


def test_the_guide_names_the_files() -> None:
    """And no other."""
    guide = (DEPLOY / "README.md").read_text(encoding="utf-8")
    for file in DEPLOY.iterdir():
        assert file.name == "README.md" or file.name in guide, file
