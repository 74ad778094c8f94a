"""The manifests in `examples/deploy` are valid: by the schemas of Kubernetes, and by our own options."""

from __future__ import annotations

import importlib
import json
import re
from pathlib import Path

import click
import pytest
import yaml
from jsonschema import Draft7Validator

from intentmatch.cli.commands import cli
from intentmatch.deploy.cluster_config import Replicas, cluster_config
from intentmatch.storage.postgres.address import Address

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "examples" / "deploy"
SCHEMAS = json.loads(Path(__file__).with_name("kubernetes_schemas.json").read_text(encoding="utf-8"))
NAMES = {
    "Deployment": "io.k8s.api.apps.v1.Deployment",
    "StatefulSet": "io.k8s.api.apps.v1.StatefulSet",
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
