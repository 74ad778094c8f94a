"""What is there for publishing: the page of the index, workflows, forms, the action and the hooks."""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from email import message_from_string
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import click
import pytest
import yaml
from documents import ROOT
from hatchling.builders.wheel import WheelBuilder

from intentmatch import Matcher, __version__
from intentmatch.cli.commands import cli
from intentmatch.registry.reading.schema import schema

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
ACTION = GITHUB / "actions" / "check"
RELATIVE = re.compile(r"\]\((?!https?://|#)[^)]*\)")


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def metadata() -> Any:
    """The metadata that a build writes."""
    core = WheelBuilder(str(ROOT)).metadata
    core.core.readme  # noqa: B018 - the hook has run
    from hatchling.metadata.spec import construct_metadata_file_2_4

    return message_from_string(construct_metadata_file_2_4(core))


def test_links_on_the_page_of_the_index_are_absolute_and_exist(metadata: Any) -> None:
    page, version = metadata.get_payload(), metadata["Version"]
    assert RELATIVE.findall(page) == []
    base = f"https://github.com/intentmatch/intentmatch/blob/v{version}/"
    linked = re.findall(rf"\]\({re.escape(base)}([^)#]+)", page)
    assert linked
    assert [path for path in linked if not (ROOT / path).exists()] == []


def test_wheel_has_the_messages_to_train_on_in_one_archive(tmp_path: Path) -> None:
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path), versions=["standard"])

    folder = "intentmatch/distill/messages"
    with ZipFile(wheel) as packed:
        assert not [name for name in packed.namelist() if name.startswith(f"{folder}/")]
        with ZipFile(BytesIO(packed.read(f"{folder}.zip"))) as archive:
            read = {name: archive.read(name) for name in archive.namelist()}
    assert read == {f"messages/{file.name}": file.read_bytes() for file in (ROOT / folder).glob("*.yaml")}
    assert [each.name for each in tmp_path.iterdir()] == [Path(wheel).name]


def test_metadata_names_where_the_project_is(metadata: Any) -> None:
    urls = dict(url.split(", ", 1) for url in metadata.get_all("Project-URL"))
    assert urls.keys() == {"Documentation", "Source", "Issues", "Changelog"}
    assert all(url.startswith(urls["Source"]) for url in urls.values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflow_has_least_permissions_and_ends(path: Path) -> None:
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 120
        assert all(re.search(r"@(v\d+|release/v\d+)$", step["uses"]) for step in job["steps"] if "uses" in step)


def test_files_that_workflows_call_exist() -> None:
    for path in WORKFLOWS:
        for job in read(path)["jobs"].values():
            for step in job["steps"]:
                called = re.findall(r"(?<![\w/])((?:\.ci|tests)/[\w./]+)", step.get("run", ""))
                assert [name for name in called if not (ROOT / name).exists()] == []


def test_matrix_is_what_the_classifiers_say() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    matrix = read(GITHUB / "workflows" / "check.yml")["jobs"]["versions"]["strategy"]["matrix"]
    assert matrix["python"] == re.findall(r"Python :: (3\.\d+)", project)
    assert {name.partition("-")[0] for name in matrix["system"]} == {"ubuntu", "macos", "windows"}


def test_publishing_needs_no_token() -> None:
    jobs = read(GITHUB / "workflows" / "release.yml")["jobs"]
    assert jobs["publish"]["permissions"] == {"id-token": "write", "contents": "read"}
    assert [name for name, job in jobs.items() if "id-token" in job.get("permissions", {})] == ["publish"]
    text = (GITHUB / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(("tag", "code"), [(f"v{__version__}", 0), (f"v{__version__}1", 1), ("main", 1)])
def test_release_is_refused_for_a_tag_of_another_version(tag: str, code: int) -> None:
    steps = read(GITHUB / "workflows" / "release.yml")["jobs"]["build"]["steps"]
    (command,) = (step["run"] for step in steps if step.get("name") == "The tag is the version")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-e", "-c", command],
        env={**os.environ, "GITHUB_REF_NAME": tag, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        cwd=ROOT,
    )
    assert done.returncode == code, done.stderr


def test_catalogue_of_schemas_finds_the_schema_of_the_latest_release(metadata: Any, tmp_path: Path) -> None:
    """The entry has the form of JSON Schema Store, whose checks refuse some words and punctuation."""
    entry = json.loads((GITHUB / "schemastore.json").read_text(encoding="utf-8"))
    assert entry.keys() == {"name", "description", "fileMatch", "url"}
    for text in (entry["name"], entry["description"]):
        assert "schema" not in text.lower()
        assert text.strip(" .,-") == text
    source = dict(url.split(", ", 1) for url in metadata.get_all("Project-URL"))["Source"]
    name = entry["url"].removeprefix(f"{source}/releases/latest/download/")
    assert schema()["$id"] == entry["url"] != name
    build = read(GITHUB / "workflows" / "release.yml")["jobs"]["build"]["steps"]
    assert any(f"intentmatch schema > {name}\n" in step.get("run", "") for step in build)
    assert any(name in str(step["with"].get("path")) for step in build if "with" in step)
    for number, pattern in enumerate(entry["fileMatch"]):
        file = tmp_path / pattern.replace("*", f"shop-{number}")
        assert fnmatch.fnmatch(file.name, pattern)
        file.write_text(f"intents: {{greet-{number}: {{utterances: [hello {number}]}}}}\n", encoding="utf-8")
    assert len(Matcher.load(tmp_path, cache="off").registry.intents) == len(entry["fileMatch"])


@pytest.mark.parametrize(
    "path",
    sorted({*(GITHUB / "ISSUE_TEMPLATE").glob("*.yml")} - {GITHUB / "ISSUE_TEMPLATE" / "config.yml"}),
    ids=lambda path: path.stem,
)
def test_form_asks_for_what_is_required(path: Path) -> None:
    form = read(path)
    assert form.keys() == {"name", "description", "labels", "body"}
    assert any(field.get("validations", {}).get("required") for field in form["body"])
    for words in re.findall(r"`intentmatch ([^`]+)`", path.read_text(encoding="utf-8")):
        name, *options = shlex.split(words)
        command = cli if name.startswith("-") else cli.get_command(click.Context(cli), name)
        assert command is not None
        given = {option for option in (name, *options) if option.startswith("-")}
        assert given <= {"--version", *(option for each in command.params for option in each.opts)}


@pytest.mark.parametrize("hook", read(ROOT / ".pre-commit-hooks.yaml"), ids=lambda hook: hook["id"])
def test_hook_runs_a_command_of_ours(hook: dict[str, Any]) -> None:
    program, name, *_ = shlex.split(hook["entry"])
    assert program == "intentmatch"
    assert cli.get_command(click.Context(cli), name) is not None


def test_guide_shows_the_action_and_the_hooks_of_this_version() -> None:
    text = (ROOT / "intentmatch" / "guide" / "lint-and-diff.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^<!-- shown -->\n```yaml\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    workflow, config = (yaml.safe_load(block) for block in blocks)
    (step,) = (step for step in workflow["jobs"]["intents"]["steps"] if ".github/" in step.get("uses", ""))
    folder, _, release = step["uses"].removeprefix("intentmatch/intentmatch/").partition("@")
    assert read(ROOT / folder / "action.yml")["inputs"].keys() >= step["with"].keys()
    (source,) = config["repos"]
    assert release == source["rev"] == f"v{__version__}"
    ours = {hook["id"]: shlex.split(hook["entry"])[1] for hook in read(ROOT / ".pre-commit-hooks.yaml")}
    assert ours.keys() == {hook["id"] for hook in source["hooks"]}
    for hook in source["hooks"]:
        command = cli.get_command(click.Context(cli), ours[hook["id"]])
        assert command is not None
        options = {option for each in command.params for option in each.opts}
        assert {word for word in hook["args"] if word.startswith("-")} <= options


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize(
    ("text", "environment", "code"),
    [
        ("intents: {a: {utterances: [hello, hi there, good day]}}", {}, 0),
        ("intents: {a: {utterances: [hello]}}", {"STRICT": "true"}, 1),
        ("intents: {a: {}}", {}, 2),
        (
            "intents: {a: {utterances: [hello]}}\ntests: [{text: what is the capital of Peru, intent: a}]",
            {"MIN_ACCURACY": "90"},
            1,
        ),
    ],
)
def test_action_passes_and_fails_as_its_gates_say(tmp_path: Path, text: str, environment: dict, code: int) -> None:
    (tmp_path / "bot.yaml").write_text(f"settings: {{cache: off}}\n{text}\n", encoding="utf-8")
    program = tmp_path / "intentmatch"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m intentmatch "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    inputs = {"INTENTS": str(tmp_path / "bot.yaml"), "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", ACTION / "check.sh"],
        env={**os.environ, "PYTHONPATH": str(ROOT), **inputs, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == code, done.stdout + done.stderr


def test_inputs_of_the_action_reach_its_script() -> None:
    action, script = read(ACTION / "action.yml"), (ACTION / "check.sh").read_text(encoding="utf-8")
    step = action["runs"]["steps"][-1]
    assert all(name in script for name in step["env"])
    assert set(re.findall(r"inputs\.([\w-]+)", str(action["runs"]))) == action["inputs"].keys()


def test_links_of_the_site_lead_to_pages_and_files() -> None:
    """`mkdocs build --strict` checks those between pages, and their anchors."""
    spec = importlib.util.spec_from_file_location("site_pages", GITHUB / "site_pages.py")
    assert spec is not None
    assert spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    guide = ROOT / "intentmatch" / "guide"
    documents = [(file, pages.GUIDE) for file in guide.glob("*.md")] + [(ROOT / "README.md", ".")]
    outside = set()
    for file, folder in documents:
        text = pages.linked(file.read_text(encoding="utf-8"), folder, "https://REPOSITORY")
        outside |= set(re.findall(r"\]\(https://REPOSITORY/blob/main/([^)#]+)", text))
        without_code = re.sub(r"^```.*?^```$|`[^`\n]+`", "", text, flags=re.DOTALL | re.MULTILINE)
        inside = re.findall(r"\]\((?!https?://|mailto:|#)([^)\s#]+)", without_code)
        assert [name for name in inside if not (guide / name).exists()] == [], file
    assert outside
    assert [name for name in outside if not (ROOT / name).exists()] == []
    assert {topic for topics in pages.GROUPS.values() for topic in topics} == {file.stem for file in guide.glob("*.md")}
