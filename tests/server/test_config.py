"""The options of the server: one default each, and every way to set them."""

from __future__ import annotations

import dataclasses
import re
import typing
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.core.errors import InputError
from intentmatch.server import ServerConfig, create_app
from intentmatch.server.config import Auth, Limits, ServerOptions

GROUPS = [getattr(ServerConfig(), group.name) for group in dataclasses.fields(ServerConfig)]


def test_create_app_takes_every_option_but_those_of_the_listener() -> None:
    """The types agree too: type checkers read `ServerOptions`, the app reads the groups."""
    hints = {
        name: hint
        for group in GROUPS
        if group is not GROUPS[-1]
        for name, hint in typing.get_type_hints(type(group)).items()
    }
    assert typing.get_type_hints(ServerOptions) == hints


def test_option_names_are_unique() -> None:
    names = [option.name for group in GROUPS for option in dataclasses.fields(group)]
    assert len(names) == len(set(names))


def test_every_option_is_documented() -> None:
    """Each field has a docstring below it."""
    source = Path(ServerConfig.with_options.__code__.co_filename).read_text(encoding="utf-8")
    for group in GROUPS:
        for option in dataclasses.fields(group):
            assert re.search(rf'^    {option.name}: .*\n    """', source, re.MULTILINE), option.name


def test_with_options_fills_groups_and_leaves_the_original() -> None:
    config = ServerConfig()
    changed = config.with_options(max_text=5, port=0, keys=["one"])
    assert (changed.limits.max_text, changed.listener.port, changed.auth.keys) == (5, 0, ["one"])
    assert changed.limits.max_batch == config.limits.max_batch
    assert config == ServerConfig()


def test_a_config_does_not_show_its_keys() -> None:
    assert "secret" not in repr(ServerConfig(auth=Auth(keys=["secret"], admin_keys=["secret"])))


def test_create_app_takes_a_config(matcher: Matcher) -> None:
    client = TestClient(create_app(matcher, ServerConfig(limits=Limits(max_text=5))))
    assert client.post("/match", json={"text": "hello"}).status_code == 200
    assert client.post("/match", json={"text": "hello!"}).status_code == 422


def test_single_options_go_over_the_config(matcher: Matcher) -> None:
    config = ServerConfig(limits=Limits(max_text=5), auth=Auth(keys=["one"]))
    client = TestClient(create_app(matcher, config, max_text=6), headers={"x-api-key": "one"})
    assert client.post("/match", json={"text": "hello!"}).status_code == 200
    assert client.post("/match", json={"text": "hello!"}, headers={"x-api-key": ""}).status_code == 401


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("max_txt", "unknown server option 'max_txt'.*Did you mean 'max_text'?"),
        ("colour", "unknown server option 'colour': known are admin_keys"),
        ("port", "port is an option of `intentmatch serve`"),
    ],
)
def test_an_unknown_option_is_an_input_error(matcher: Matcher, option: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        create_app(matcher, **{option: 1})  # type: ignore[typeddict-item]


def test_an_unknown_option_of_the_config_is_an_input_error() -> None:
    with pytest.raises(InputError, match="Did you mean 'workers'"):
        ServerConfig().with_options(worker=2)
