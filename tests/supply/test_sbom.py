"""The bill of materials obeys the CycloneDX schema and lists what intentmatch depends on, with licences."""

from __future__ import annotations

import json
from importlib import metadata

import pytest
import sbom
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from documents import extras_known
from lowest import core_requirements
from packaging.utils import canonicalize_name


def package(folder, name, version="1.0", *lines):
    """Write the metadata of an installed package."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    text = "\n".join(["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines])
    (info / "METADATA").write_text(text + "\n", encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    """An environment: intentmatch needs `a`, with the extra `x` also `b`, which is in a circle with `a`."""
    wanted = ["Provides-Extra: x", "Requires-Dist: A", 'Requires-Dist: b[y]; extra == "x"']
    package(tmp_path, "intentmatch", "0.2.0", *wanted, "License-Expression: Apache-2.0")
    package(tmp_path, "a", "1.5+cpu", "License-Expression: MIT OR Apache-2.0", "Requires-Dist: b; extra == 'z'")
    two = 'Requires-Dist: c; extra == "y"'
    package(tmp_path, "b", "2", "Classifier: License :: OSI Approved :: BSD License", two, "Requires-Dist: a")
    package(tmp_path, "unrelated", "3", "License: secret")
    return tmp_path


def written(tmp_path, *arguments):
    code = sbom.main([*arguments, "-o", str(tmp_path / "bill.json")])
    return code, json.loads((tmp_path / "bill.json").read_text(encoding="utf-8"))


def names(document):
    return [entry["name"] for entry in document["components"]]


@pytest.mark.parametrize("extras", [[], ["all"]], ids=["light", "full"])
def test_bill_of_this_environment_obeys_the_schema(extras, tmp_path):
    """The library of the CycloneDX project validates strictly: no field that the schema does not know."""
    code, document = written(tmp_path, *(f"--extra={extra}" for extra in extras))

    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(document))
    assert error is None, error
    assert code == 0, "a package names no licence"


def test_validator_refuses_an_invalid_bill():
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(
        '{"bomFormat": "CycloneDX", "specVersion": "1.6", "x": 1}'
    )


def test_light_bill_has_the_light_dependencies_and_no_others(tmp_path):
    light = {canonicalize_name(requirement.name) for requirement in core_requirements()}
    listed = {canonicalize_name(name) for name in names(written(tmp_path)[1])}

    assert light <= listed
    assert not listed & {"torch", "fastapi", "pydantic", "pytest", "intentmatch"}


def test_bill_of_an_extra_has_the_packages_of_the_extra(tmp_path):
    wanted = {canonicalize_name(requirement.name) for requirement in extras_known()["server"]} - {"intentmatch"}

    assert wanted <= {canonicalize_name(name) for name in names(written(tmp_path, "--extra", "server")[1])}


def test_requirements_are_followed_through_extras_and_circles(folder, tmp_path):
    """Only what an install with these extras needs; each with its direct dependencies."""
    _, light = written(tmp_path, "--path", str(folder))
    _, full = written(tmp_path, "--path", str(folder), "--extra", "x")

    assert names(light) == ["a"]
    assert names(full) == ["a", "b"]
    assert full["dependencies"] == [
        {"ref": "pkg:pypi/a@1.5%2Bcpu", "dependsOn": []},
        {"ref": "pkg:pypi/b@2", "dependsOn": ["pkg:pypi/a@1.5%2Bcpu"]},
        {"ref": "pkg:pypi/intentmatch@0.2.0", "dependsOn": ["pkg:pypi/a@1.5%2Bcpu", "pkg:pypi/b@2"]},
    ]


def test_packages_that_are_not_installed_are_named(folder, tmp_path, capsys):
    written(tmp_path, "--path", str(folder), "--extra", "x")

    assert "not installed, and so not listed: c" in capsys.readouterr().err


def test_missing_licence_is_an_error(folder, tmp_path, capsys):
    package(folder, "c", "4")

    code, document = written(tmp_path, "--path", str(folder), "--extra", "x")

    assert code == 1
    assert sbom.by_licence(document)["unknown"] == ["c"]
    assert "unknown: c" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "licence"),
    [
        (["License: MIT"], [{"license": {"name": "MIT"}}]),
        (["License: The text\n        of it"], [{"license": {"name": "The text"}}]),
        (["License-Expression: MIT", "License: other"], [{"expression": "MIT"}]),
        (["Classifier: License :: OSI Approved", "License: ISC"], [{"license": {"name": "ISC"}}]),
    ],
)
def test_licence_is_what_the_package_declares(lines, licence, folder):
    package(folder, "c", "4", *lines)

    assert sbom.component("c", sbom.environment(folder)["c"])["licenses"] == licence


def test_two_runs_give_the_same_bytes(tmp_path):
    sbom.main(["-o", str(tmp_path / "one.json")])
    sbom.main(["-o", str(tmp_path / "two.json")])

    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()


def test_environment_without_intentmatch_is_refused(tmp_path):
    with pytest.raises(SystemExit, match="intentmatch is not installed there"):
        sbom.main(["--path", str(tmp_path), "-o", str(tmp_path / "bill.json")])


def test_unknown_extra_is_refused(folder, tmp_path):
    """Otherwise the bill would be that of the light install."""
    with pytest.raises(SystemExit, match=r"intentmatch 0\.2\.0 has no extra z"):
        written(tmp_path, "--path", str(folder), "--extra", "z")


def test_own_licence_is_that_of_the_project(tmp_path):
    assert written(tmp_path)[1]["metadata"]["component"]["licenses"] == [{"expression": "Apache-2.0"}]
    assert written(tmp_path)[1]["metadata"]["component"]["version"] == metadata.version("intentmatch")
