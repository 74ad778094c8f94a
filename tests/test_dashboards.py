"""The Grafana dashboard and the alert rules in `examples/deploy` use metrics that servers really give.

Every expression is parsed by promql-parser. Every selector in it must find a series in the metrics of two servers, one
with a single bot and one with several, that have answered, refused, failed and reloaded.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import Any, cast

import click
import promql_parser as promql
import pytest
import yaml
from prometheus_client import ProcessCollector
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from intentmatch import Matcher
from intentmatch.cli.commands import cli
from intentmatch.matching.snapshot import Snapshot
from intentmatch.server import BotFolder, create_app
from intentmatch.server.bots import daily_drift

DEPLOY = Path(__file__).parent.parent / "examples" / "deploy"
ON_EVERY_TARGET = {"job", "instance"}
"""Labels that Prometheus gives each series that it scrapes."""
ONLY_ON_LINUX = "process_resident_memory_bytes"
COUNTING = {"rate", "irate", "increase", "resets"}
"""Functions that are right for counters only."""
VARIABLES = {"$__rate_interval": "5m", "$bot": ".*"}
OPERATORS = {"MatchOp.Equal": "=", "MatchOp.NotEqual": "!=", "MatchOp.Re": "=~", "MatchOp.NotRe": "!~"}
SEVERITIES = {"info", "warning", "critical"}
ADMIN = "the-admin-key"
INTENTS = """\
version: 1
intents:
  greet: {utterances: {en: [hello, hi there, good morning]}}
  bye: {utterances: {en: [goodbye, see you later, until tomorrow]}}
"""
WITH_DRIFT = 'settings: {inbox: inbox.sqlite, inbox_sample: 1, drift: "00:00"}\n'


@dataclass(frozen=True)
class Series:
    """A series of an exposition, and the type of its metric, such as `counter`."""

    name: str
    labels: Mapping[str, str]
    type: str

    @property
    def is_counter(self) -> bool:
        """Whether its value only grows: a counter, or a part of a histogram."""
        return self.type in ("counter", "histogram") and not self.name.endswith("_created")


@dataclass(frozen=True)
class Query:
    """An expression, and the place that it stands in."""

    place: str
    text: str

    @property
    def tree(self) -> Any:
        """The parsed expression. Raises ValueError if it is invalid."""
        text = self.text
        for name, value in VARIABLES.items():
            text = text.replace(name, value)
        return promql.parse(text)


@pytest.fixture(scope="module")
def series(tmp_path_factory: pytest.TempPathFactory) -> list[Series]:
    """What servers give that have met everything the metrics tell of."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("INTENTMATCH_CACHE", "off")
        patch.setattr(daily_drift, "SECONDS_BETWEEN_LOOKS", 0.02)
        texts = [single(tmp_path_factory.mktemp("one"), patch), several(tmp_path_factory.mktemp("many") / "bots")]
    return [
        Series(sample.name, sample.labels, family.type)
        for text in texts
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]


def single(folder: Path, patch: pytest.MonkeyPatch) -> str:
    """Return the metrics of a server with one bot."""
    (folder / "bot.yaml").write_text(INTENTS, encoding="utf-8")
    matcher = Matcher.load(folder, inbox=str(folder / "inbox.sqlite"), inbox_sample=1, drift="00:00")
    app = create_app(matcher, max_queue=1, admin_keys=[ADMIN], authoring=True)
    with TestClient(app, raise_server_exceptions=False) as client:
        compare(client, folder)
        for text in ("hello", "what do penguins eat"):
            client.post("/match", json={"text": text})
        check_for_drift(client)
        refuse(client, patch)
        with patch.context() as inner:
            inner.setattr(Snapshot, "match_each", fail)
            assert client.post("/match", json={"text": "hello"}).status_code == 500
        reload(client, folder)
        return client.get("/metrics").text


def compare(client: TestClient, folder: Path) -> None:
    """Have a candidate answer a message differently."""
    candidate, headers = folder / ".next", {"x-api-key": ADMIN}
    candidate.mkdir()
    (candidate / "bot.yaml").write_text(INTENTS.replace("[hello,", "[ahoy,"), encoding="utf-8")
    assert client.post("/candidate", json={"path": ".next"}, headers=headers).status_code == 200
    client.post("/match", json={"text": "goodbye"})
    client.post("/match", json={"text": "hello"})
    deadline = time.monotonic() + 20
    while client.get("/candidate", headers=headers).json()["comparison"]["compared"] < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def check_for_drift(client: TestClient) -> None:
    """Wait for the daily check."""
    deadline = time.monotonic() + 20
    while "intentmatch_drift_findings{" not in client.get("/metrics").text:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def refuse(client: TestClient, patch: pytest.MonkeyPatch) -> None:
    """Let two batches meet where only one message may wait: the server refuses the second with a 503."""
    begun, end = Event(), Event()

    def wait(*_: object, **__: object) -> None:
        begun.set()
        end.wait(20)
        raise MemoryError

    batch = {"texts": ["hello", "hi"]}
    with patch.context() as inner, ThreadPoolExecutor(1) as threads:
        inner.setattr(Snapshot, "match_many", wait)
        first = threads.submit(client.post, "/match/batch", json=batch)
        try:
            assert begun.wait(20)
            assert client.post("/match/batch", json=batch).status_code == 503
        finally:
            end.set()
        assert first.result(20).status_code == 500


def several(folder: Path) -> str:
    """Return the metrics of a server with two bots."""
    for name in ("shop", "bank"):
        (folder / name).mkdir(parents=True)
        (folder / name / "bot.yaml").write_text(INTENTS + WITH_DRIFT, encoding="utf-8")
    app = create_app(BotFolder(folder), admin_keys=[f"*:{ADMIN}"], authoring=True)
    with TestClient(app, raise_server_exceptions=False) as client:
        for text in ("hello", "what do penguins eat"):
            client.post("/bots/shop/match", json={"text": text})
        check_for_drift(client)
        reload(client, folder / "shop", "/bots/shop")
        return client.get("/metrics").text


def reload(client: TestClient, folder: Path, prefix: str = "") -> None:
    """Reload valid files, and then invalid ones."""
    headers = {"x-api-key": ADMIN}
    assert client.post(f"{prefix}/reload", headers=headers).status_code == 200
    (folder / "bot.yaml").write_text("intents: 3", encoding="utf-8")
    assert client.post(f"{prefix}/reload", headers=headers).status_code == 409


def fail(*_: object, **__: object) -> None:
    raise MemoryError


def dashboard() -> Any:
    return json.loads((DEPLOY / "grafana-dashboard.json").read_text(encoding="utf-8"))


def alerts() -> list[Any]:
    groups = yaml.safe_load((DEPLOY / "prometheus-rules.yaml").read_text(encoding="utf-8"))["groups"]
    return [rule for group in groups for rule in group["rules"]]


def panels() -> list[Any]:
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def queries() -> list[Query]:
    found = [Query(panel["title"], target["expr"]) for panel in panels() for target in panel["targets"]]
    return found + [Query(rule["alert"], rule["expr"]) for rule in alerts()]


def nodes(tree: Any) -> Iterator[Any]:
    """Return every node of a parsed expression."""
    found: list[Any] = []
    promql.walk(tree, found.append)
    yield from found


def selectors(tree: Any) -> Iterator[Any]:
    return (node for node in nodes(tree) if isinstance(node, promql.VectorSelector))


def matches(selector: Any, one: Series) -> bool:
    """Whether a selector finds a series; labels that each target has are not compared."""
    return one.name == selector.name and all(
        compares(matcher, one.labels.get(matcher.name, ""))
        for matcher in selector.matchers.matchers
        if matcher.name not in ON_EVERY_TARGET
    )


def compares(matcher: Any, value: str) -> bool:
    """Compare as Prometheus does: regular expressions match the whole value, and an absent label is empty."""
    operators: dict[str, Callable[[str, str], bool]] = {
        "=": lambda wanted, value: value == wanted,
        "!=": lambda wanted, value: value != wanted,
        "=~": lambda wanted, value: re.fullmatch(wanted, value) is not None,
        "!~": lambda wanted, value: re.fullmatch(wanted, value) is None,
    }
    return operators[OPERATORS[str(matcher.op)]](matcher.value, value)


def problems(tree: Any, series: Sequence[Series]) -> list[str]:
    """Say what an expression asks for that no server gives."""
    found = []
    labels: set[str] = set(ON_EVERY_TARGET)
    for selector in selectors(tree):
        named = [one for one in series if one.name == selector.name]
        labels.update(*(one.labels for one in named))
        unknown = {matcher.name for matcher in selector.matchers.matchers} - ON_EVERY_TARGET
        unknown -= {label for one in named for label in one.labels}
        if not named:
            found.append(f"no metric {selector.name}")
        elif unknown:
            found.append(f"{selector.name} has no label {', '.join(sorted(unknown))}")
        elif not any(matches(selector, one) for one in named):
            found.append(f"no series {selector}")
    found += [f"no label {label}" for label in sorted(grouped(tree) - labels)]
    for node in nodes(tree):
        if isinstance(node, promql.Call) and node.func.name in COUNTING:
            for selector in selectors(node):
                if not all(one.is_counter for one in series if one.name == selector.name):
                    found.append(f"{node.func.name} of {selector.name}, which is no counter")
        if isinstance(node, promql.Call) and node.func.name == "histogram_quantile" and "le" not in grouped(node):
            found.append("a quantile without `le`")
    return found


def grouped(tree: Any) -> set[str]:
    """Return the labels that an expression groups or joins by."""
    found: set[str] = set()
    for node in nodes(tree):
        if isinstance(node, promql.AggregateExpr) and node.modifier is not None:
            found.update(node.modifier.labels)
        if isinstance(node, promql.BinaryExpr) and node.modifier is not None:
            for part in (node.modifier.matching, node.modifier.group_labels):
                found.update(getattr(part, "labels", part) or ())
    return found


@pytest.mark.parametrize("query", queries(), ids=lambda query: query.place)
def test_expression_uses_what_servers_give(query: Query, series: list[Series]) -> None:
    on_linux = any(one.name == ONLY_ON_LINUX for one in series)
    known = series if on_linux else [*series, Series(ONLY_ON_LINUX, {}, "gauge")]
    assert problems(query.tree, known) == []


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("intentmatch_verdict_total", "no metric intentmatch_verdict_total"),
        ("rate(intentmatch_request_seconds[5m])", "no metric intentmatch_request_seconds"),
        ('intentmatch_verdicts_total{language="en"}', "intentmatch_verdicts_total has no label language"),
        ('intentmatch_verdicts_total{verdict="unknown"}', "no series"),
        ('intentmatch_refused_total{why=~"ful"}', "no series"),
        ("sum by (language) (intentmatch_verdicts_total)", "no label language"),
        ("intentmatch_ready / on (language) intentmatch_ready", "no label language"),
        ("rate(intentmatch_queue_messages[5m])", "which is no counter"),
        ("increase(intentmatch_reloads_created[5m])", "which is no counter"),
        ("histogram_quantile(0.9, sum by (path) (rate(intentmatch_request_seconds_bucket[5m])))", "without `le`"),
    ],
)
def test_wrong_expression_is_found(expression: str, problem: str, series: list[Series]) -> None:
    """The check above can fail."""
    assert problem in "; ".join(problems(promql.parse(expression), series))


@pytest.mark.parametrize("expression", ["rate(intentmatch_refused_total)", "sum(up", "sum(rate(up[5m]) by (job)"])
def test_invalid_expression_does_not_parse(expression: str) -> None:
    with pytest.raises(ValueError, match=r"expected type matrix|unclosed|unexpected"):
        _ = Query("here", expression).tree


def test_memory_is_reported_where_the_system_tells_it(series: list[Series]) -> None:
    told = any(family.name == ONLY_ON_LINUX for family in ProcessCollector(registry=None).collect())
    assert any(one.name == ONLY_ON_LINUX for one in series) == told


def test_variables_fill_every_query_of_the_dashboard() -> None:
    """The bots come from a label that exists; All also takes servers with one bot, whose metrics lack the label."""
    source, bot = dashboard()["templating"]["list"]
    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert (bot["name"], bot["allValue"]) == ("bot", ".*")
    for panel in panels():
        assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
        for target in panel["targets"]:
            assert target["datasource"] == panel["datasource"]
            assert set(re.findall(r"\$\w+", target["expr"])) <= set(VARIABLES)


def test_bot_variable_lists_bots(series: list[Series]) -> None:
    (_, bot) = dashboard()["templating"]["list"]
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", bot["query"]["query"]).groups()  # type: ignore[union-attr]
    assert "shop" in {one.labels.get(label) for one in series if one.name == metric}


def test_panels_of_bots_follow_the_bot_variable(series: list[Series]) -> None:
    """A panel about single bots must not show all of them."""
    of_bots = {one.name for one in series if "bot" in one.labels}
    for panel in panels():
        for target in panel["targets"]:
            joined = target["expr"].partition(" and on ")[0]  # what follows only picks servers
            for selector in selectors(Query(panel["title"], joined).tree):
                chosen = "bot" in {matcher.name for matcher in selector.matchers.matchers}
                assert chosen == (selector.name in of_bots), (panel["title"], selector.name)


def test_legends_name_labels_of_the_result(series: list[Series]) -> None:
    for panel in panels():
        for target in panel["targets"]:
            tree = Query(panel["title"], target["expr"]).tree
            aggregates = [node for node in nodes(tree) if isinstance(node, promql.AggregateExpr)]
            names = {selector.name for selector in selectors(tree)}
            known = {label for one in series if one.name in names for label in one.labels} | ON_EVERY_TARGET
            if aggregates:
                known = grouped(tree)
            assert set(re.findall(r"{{(\w+)}}", target["legendFormat"])) <= known, panel["title"]


def test_dashboard_is_complete_and_its_panels_do_not_overlap() -> None:
    """Schema 42 is the last version of Grafana's classic model, which every Grafana since 12 imports."""
    made = dashboard()
    assert (made["schemaVersion"], made["uid"]) == (42, "intentmatch")
    ids = [panel["id"] for panel in made["panels"]]
    assert len(set(ids)) == len(ids)
    taken: set[tuple[int, int]] = set()
    for panel in made["panels"]:
        place = panel["gridPos"]
        cells = {(place["x"] + dx, place["y"] + dy) for dx in range(place["w"]) for dy in range(place["h"])}
        assert place["x"] + place["w"] <= 24
        assert not cells & taken, panel["title"]
        taken |= cells
        assert panel["type"] == "row" or panel["description"].endswith(".")


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_alert_says_how_bad_it_is_and_what_to_do(rule: Any) -> None:
    assert set(rule) == {"alert", "expr", "for", "labels", "annotations"}
    assert rule["labels"]["severity"] in SEVERITIES
    summary, runbook = rule["annotations"]["summary"], rule["annotations"]["runbook"]
    assert summary.endswith(".")
    assert runbook.endswith(".")
    assert 60 <= promql.parse_duration(rule["for"]).total_seconds() <= 3600


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_runbook_names_commands_that_exist(rule: Any) -> None:
    commands = set(cli.list_commands(click.Context(cli)))
    assert set(re.findall(r"`intentmatch ([\w-]+)", rule["annotations"]["runbook"])) <= commands


@pytest.mark.parametrize("rule", alerts(), ids=lambda rule: rule["alert"])
def test_summary_uses_labels_of_the_alert(rule: Any) -> None:
    known = grouped(promql.parse(rule["expr"]))
    assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= known


def test_alert_names_are_unique() -> None:
    names = [rule["alert"] for rule in alerts()]
    assert len(set(names)) == len(names)


def test_memory_alert_comes_before_the_limits_of_the_deployments() -> None:
    (rule,) = [rule for rule in alerts() if rule["alert"] == "IntentmatchMemory"]
    share, *power = re.search(r"> ([\d.]+) \* (\d+) \^ (\d+)$", rule["expr"]).groups()  # type: ignore[union-attr]
    documents = yaml.safe_load_all((DEPLOY / "kubernetes.yaml").read_text(encoding="utf-8"))
    pod = next(each for each in documents if each["kind"] == "Deployment")["spec"]["template"]
    assert pod["spec"]["containers"][0]["resources"]["limits"]["memory"] == "1Gi"
    assert "MemoryMax=1G\n" in (DEPLOY / "intentmatch.service").read_text(encoding="utf-8")
    base, exponent = map(int, cast("list[str]", power))
    assert 0.5 * 2**30 < float(share) * base**exponent < 2**30
