"""Ray is an extra: nothing imports it before it is used, and it is named if it is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from intentmatch.core.errors import InputError, MissingExtraError
from intentmatch.deploy import ray as on_ray
from intentmatch.deploy.cluster_file import cluster_config
from intentmatch.deploy.ray import application, build_app
from intentmatch.deploy.ray.rollout import check_ingress


def test_missing_ray_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    monkeypatch.setitem(sys.modules, "ray.serve", None)

    with pytest.raises(MissingExtraError, match=r'pip install "intentmatch\[ray\]"'):
        build_app({"intents": "/shop"})


def test_importing_the_builder_takes_neither_ray_nor_a_server():
    code = (
        "import sys, intentmatch.deploy.ray, intentmatch.cli.deploy; "
        "print(sorted({'ray', 'fastapi', 'starlette'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "[]\n"


def test_config_names_a_file_with_everything(monkeypatch, tmp_path):
    monkeypatch.setattr(application, "require_serve", lambda: None)

    with pytest.raises(InputError, match="leave out intents"):
        on_ray.build_app({"config": str(tmp_path / "cluster.yaml"), "intents": "/shop"})


def test_what_is_served_are_json_values():
    config = application.cluster_config({"intents": "/shop", "server": {"protocols": ["rasa"], "max-text": 5}})

    assert application.served(config) == {
        "source": "/shop",
        "several": False,
        "settings": {},
        "server": {"protocols": ["rasa"], "max_text": 5},
        "store": None,
    }


@pytest.mark.parametrize(
    ("values", "running", "refused"),
    [
        ({"intents": "/shop", "gateway": {}}, {"Matchers"}, "without a gateway"),
        ({"intents": "/shop"}, {"Gateway", "Matchers"}, "with a gateway"),
        ({"bots": "/shops"}, {"Encoder", "Matchers"}, "without a gateway"),
        ({"bots": "/shops"}, {"Gateway", "Matchers"}, None),
        ({"intents": "/shop"}, {"Encoder", "Matchers"}, None),
        ({"intents": "/shop", "gateway": {}}, set(), None),
    ],
)
def test_gateway_is_not_added_to_or_taken_from_an_application_that_runs(values, running, refused):
    """Ray answered hundreds of requests with 500 meanwhile."""
    config = cluster_config({**values, "name": "shop"})
    if refused is None:
        check_ingress(config, running)
        return
    with pytest.raises(InputError, match=rf"'shop' runs {refused}.*another `name`"):
        check_ingress(config, running)
