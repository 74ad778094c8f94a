"""The manifests in `examples/deploy` are valid: by the schemas of Kubernetes, and by our own options."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

import click
import pytest
import yaml
from documents import free_port
from jsonschema import Draft7Validator

import intentmatch
from intentmatch.cli.commands import cli
from intentmatch.deploy.cluster_config import Replicas
from intentmatch.deploy.cluster_file import cluster_config
from intentmatch.storage.postgres.address import Address

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
SCHEMAS = json.loads(Path(__file__).with_name("kubernetes_schemas.json").read_text(encoding="utf-8"))
NAMES = {
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
    "Job": "io.k8s.api.batch.v1.Job",
    "PodDisruptionBudget": "io.k8s.api.policy.v1.PodDisruptionBudget",
    "Service": "io.k8s.api.core.v1.Service",
    "RayService": "RayService",
}
FILES = ("kubernetes.yaml", "kubernetes-postgres.yaml", "kuberay.yaml")


def read(name):
    return list(yaml.safe_load_all((DEPLOY / name).read_text(encoding="utf-8")))


def mistakes(document):
    schema = {"$ref": f"#/definitions/{NAMES[document['kind']]}", "definitions": SCHEMAS["definitions"]}
    return [f"{error.json_path}: {error.message}" for error in Draft7Validator(schema).iter_errors(document)]


@pytest.fixture
def manifest():
    return {(document["kind"], document["metadata"]["name"]): document for document in read("kubernetes-postgres.yaml")}


@pytest.fixture
def ray_service():
    (document,) = read("kuberay.yaml")
    return document


@pytest.mark.parametrize("file", FILES)
def test_documents_are_valid(file):
    assert [mistake for document in read(file) for mistake in mistakes(document)] == []


@pytest.mark.parametrize(
    ("key", "value"), [("replicas", "two"), ("replica", 2), ("template", {"spec": {"containers": [{"nam": "x"}]}})]
)
def test_schemas_find_mistakes(manifest, key, value):
    document = manifest["Deployment", "intentmatch"]
    document["spec"][key] = value

    assert mistakes(document)


def test_schemas_find_mistakes_in_a_ray_service(ray_service):
    ray_service["spec"]["rayClusterConfig"]["workerGroupSpecs"][0]["minReplica"] = 1

    assert len(mistakes(ray_service)) == 1


def test_server_of_the_database_takes_its_options(manifest, monkeypatch):
    (container,) = manifest["Deployment", "intentmatch"]["spec"]["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value") for each in container["env"]}
    for name in [name for name in environment if name.startswith("INTENTMATCH_SERVE_")]:
        monkeypatch.setenv(name, environment[name])
    command = cli.get_command(click.Context(cli), "serve")
    with click.Context(cli) as parent:
        made = command.make_context("serve", container["command"][4:], parent=parent).params

    service = manifest["Service", "intentmatch-database"]
    assert isinstance(made["intents"], Address)
    assert made["intents"].shown.startswith(f"postgres://intentmatch@{service['metadata']['name']}/")
    assert (made["store"], made["bots"], made["database_keys"]) == (str(made["intents"]), True, True)
    assert {"INTENTMATCH_CACHE", "PGPASSWORD"} <= environment.keys()
    assert made["intents"].secrets == ()


def test_database_is_the_one_that_the_server_asks(manifest):
    database = manifest["StatefulSet", "intentmatch-database"]["spec"]
    (container,) = database["template"]["spec"]["containers"]
    environment = {each["name"]: each.get("value") for each in container["env"]}

    assert (environment["POSTGRES_USER"], environment["POSTGRES_DB"]) == ("intentmatch", "bots")
    assert database["selector"]["matchLabels"] == manifest["Service", "intentmatch-database"]["spec"]["selector"]
    assert [mount["name"] for mount in container["volumeMounts"]] == [
        claim["metadata"]["name"] for claim in database["volumeClaimTemplates"]
    ]


@pytest.mark.parametrize("name", ["kubernetes.yaml", "kubernetes-postgres.yaml", "kuberay.yaml"])
def test_manifests_install_one_release_of_ours(name):
    """This one, or the next while it is made: a pod that restarts must not get another."""
    text = (DEPLOY / name).read_text(encoding="utf-8")
    installed = re.findall(r"intentmatch\[[\w,]+\](\S*?)[\"\s\]]", text)

    assert installed
    assert {pin[:2] for pin in installed} == {"=="}
    (release,) = {tuple(map(int, pin[2:].split("."))) for pin in installed}
    assert release >= tuple(map(int, intentmatch.__version__.split(".")[:3]))


def test_servers_outlive_a_node(manifest):
    """At most one of two may be evicted, and the scheduler spreads them."""
    deployment = manifest["Deployment", "intentmatch"]["spec"]
    budget = manifest["PodDisruptionBudget", "intentmatch"]["spec"]
    spread = deployment["template"]["spec"]["topologySpreadConstraints"]

    assert 0 < budget["minAvailable"] < deployment["replicas"]
    selectors = [budget["selector"], *(each["labelSelector"] for each in spread)]
    assert all(selector == deployment["selector"] for selector in selectors)


@pytest.mark.end_to_end
def test_manifest_starts_on_an_empty_database(manifest, new_database, tmp_path):
    """The commands of its job and of its servers, in their order."""
    database = new_database()
    base, _, options = database.replace("/shop?", "?").partition("?")

    def command(container):
        words = container["command"]
        return [
            sys.executable if word == "python" else str(mounted) if word == "/intents" else
            re.sub(r"postgres://intentmatch@intentmatch-database/bots(\S*)", rf"{base}\1?{options}", word)
            for word in words
        ]  # fmt: skip

    mounted = tmp_path / "intents"
    (mounted / "..data").mkdir(parents=True)
    (mounted / "..data" / "shop.yaml").write_text("intents: {greet: {utterances: {en: [hello, good morning]}}}\n")
    (mounted / "shop.yaml").symlink_to("..data/shop.yaml")
    mounted.chmod(0o555)
    (push,) = manifest["Job", "intentmatch-push"]["spec"]["template"]["spec"]["containers"]
    pod = manifest["Deployment", "intentmatch"]["spec"]["template"]["spec"]
    (waiting,) = [each for each in pod["initContainers"] if each["name"] == "wait"]
    (server,) = pod["containers"]
    (looked,) = re.findall(r"until ([^;]*);", waiting["command"][-1])
    look = command({"command": looked.split()})
    environment = {**os.environ, "INTENTMATCH_CACHE": str(tmp_path / "cache")}
    environment |= {"INTENTMATCH_SERVE_PORT": str(port := free_port()), "PYTHONPATH": str(ROOT)}

    assert subprocess.run(look, capture_output=True, check=False, env=environment).returncode != 0
    for _ in range(2):  # a job may run twice
        subprocess.run(command(push), check=True, env=environment)
    subprocess.run(look, check=True, env=environment)
    with subprocess.Popen(command(server), env=environment) as process:
        try:
            assert status_of(f"http://127.0.0.1:{port}/readyz", process) == 200
        finally:
            process.terminate()


def status_of(url, process):
    """Return the first status other than 503 of a server that starts."""
    while process.poll() is None:
        try:
            return urllib.request.urlopen(url, timeout=5).status
        except OSError as error:
            if isinstance(error, urllib.error.HTTPError) and error.code != 503:
                raise
            time.sleep(0.05)
    raise AssertionError(process.returncode)


def test_ray_service_serves_the_bots_of_the_database(ray_service):
    (application,) = yaml.safe_load(ray_service["spec"]["serveConfigV2"])["applications"]
    config = cluster_config(application["args"])

    assert config.source == config.store == "postgres://intentmatch@intentmatch-database/bots"
    assert config.matchers.replicas == Replicas(2, 8)
    assert config.several
    module, _, name = application["import_path"].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_ray_service_has_room_for_all_replicas(ray_service):
    """KubeRay adds workers only with its autoscaler: without one, the workers of the start must do."""
    (application,) = yaml.safe_load(ray_service["spec"]["serveConfigV2"])["applications"]
    config, cluster = cluster_config(application["args"]), ray_service["spec"]["rayClusterConfig"]
    (group,) = cluster["workerGroupSpecs"]
    (container,) = group["template"]["spec"]["containers"]
    workers = group["maxReplicas" if cluster.get("enableInTreeAutoscaling") else "replicas"]
    gateways = config.gateway.replicas.most * config.gateway.cpus

    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    assert config.matchers.replicas.most * config.matchers.cpus + gateways <= workers * int(
        container["resources"]["limits"]["cpu"]
    )


def test_ray_has_the_release_that_is_tested(ray_service):
    (pinned,) = re.findall(r"^ray\[serve\]==(.+)$", (ROOT / "tests/integrations/ray.txt").read_text(), re.MULTILINE)
    cluster = ray_service["spec"]["rayClusterConfig"]
    pods = [cluster["headGroupSpec"], *cluster["workerGroupSpecs"]]

    assert cluster["rayVersion"] == pinned
    for pod in pods:
        assert [container["image"] for container in pod["template"]["spec"]["containers"]] == [
            f"rayproject/ray:{pinned}-py312"
        ]
