"""`intentmatch keys`: a key is shown once, listed without itself, and revoked."""

from __future__ import annotations

import json

import pytest
from command_line import run


@pytest.fixture
def address(postgres_address):
    return postgres_address


def listed(address):
    bot = address.partition("?")[0].rpartition("/")[2]
    found = map(json.loads, run("keys", "list", address, "--json").stdout.splitlines())
    return [(one["name"], one["role"], one["revoked"] is None) for one in found if one["bot"] == bot]


def test_key_is_shown_once_and_listed_without_itself(address):
    done = run("keys", "add", address, "anna", "--role", "author")
    key = done.stdout.strip()

    assert len(key) >= 43
    assert listed(address) == [("anna", "author", True)]
    assert key not in run("keys", "list", address).output


def test_revoked_key_stays_in_the_list(address):
    run("keys", "add", address, "anna")
    done = run("keys", "revoke", address, "anna")

    assert done.output == "1 key of anna revoked\n"
    assert listed(address) == [("anna", "match", False)]
    assert run("keys", "revoke", address, "anna").exit_code == 2


def test_taken_name_and_unknown_role(address):
    run("keys", "add", address, "anna")

    assert "there is a key 'anna' already" in run("keys", "add", address, "anna").output
    assert run("keys", "add", address, "bob", "--role", "king").exit_code == 2


def test_key_for_all_bots(address):
    name = f"ops of {address.partition('?')[0].rpartition('/')[2]}"
    run("keys", "add", address, name, "--all-bots")
    found = [json.loads(line) for line in run("keys", "list", address, "--json").stdout.splitlines()]

    assert [one["bot"] for one in found if one["name"] == name] == ["*"]
    assert run("keys", "revoke", address, name).exit_code == 0
