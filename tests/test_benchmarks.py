"""The benchmarks measure what they say: their functions on numbers made by hand, and both scripts on something tiny."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from intentmatch import Candidate, MatchResult
from intentmatch.types import Trace

FOLDER = Path(__file__).with_name("benchmarks")


def load(name):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


metrics = load("metrics")


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
    )


def test_auroc_is_the_chance_of_the_right_order():
    assert metrics.auroc([True, True, False], [0.9, 0.8, 0.1]) == 1.0
    assert metrics.auroc([True, True, False, False], [0.9, 0.2, 0.5, 0.1]) == 0.75
    assert metrics.auroc([True, False], [0.5, 0.5]) == 0.5


def test_auroc_of_one_kind_alone_is_none():
    assert metrics.auroc([True, True], [0.1, 0.2]) is None
    assert metrics.auroc([], []) is None


def test_ece_weighs_each_bin_by_its_rows():
    # 0.9 three times with two right, 0.2 once and wrong: (|2.7 - 2| + |0.2 - 0|) / 4.
    assert metrics.ece([0.9, 0.9, 0.9, 0.2], [True, True, False, False]) == pytest.approx(0.225)
    assert metrics.ece([1.0, 0.0], [True, False]) == 0.0
    assert metrics.ece([1.0, 0.95], [False, True]) == pytest.approx(0.475), "1.0 belongs to the last bin"
    assert metrics.ece([], []) is None


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
def test_an_answer_is_judged(result, truth, true):
    outcome = metrics.Outcome.of(result, truth)
    flags = ("in_scope", "first_right", "answered", "asked", "refused", "ambiguous")
    assert {flag for flag in flags if getattr(outcome, flag)} == true


def test_a_message_that_says_nothing_is_refused_with_certainty():
    nothing = answer("out_of_scope", confidence=None, decided_by="empty")
    assert metrics.Outcome.of(nothing, None).confidence == 0.0
    assert metrics.Outcome.of(answer("matched", "a", confidence=None), "a").confidence is None


def test_summary_of_answers():
    judged = [
        (answer("matched", "a", confidence=0.9), "a"),
        (answer("matched", "b", confidence=0.7), "a"),
        (answer("ambiguous", "b", "a", confidence=0.5), "a"),
        (answer("out_of_scope", "a", confidence=0.3), "a"),
        (answer("out_of_scope", "a", confidence=0.1), None),
    ]
    numbers = metrics.summarise([metrics.Outcome.of(result, truth) for result, truth in judged])
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
        "overall_asked": 0.6,
        "mean_confidence": 0.5,
        "ece": pytest.approx((0.1 + 0.7 + 0.5 + 0.7 + 0.1) / 5),
    }


def test_summary_without_calibration_has_dashes():
    outcomes = [metrics.Outcome.of(answer("matched", "a", confidence=None), truth) for truth in ("a", None)]
    numbers = metrics.summarise(outcomes)
    assert (numbers["auroc_confidence"], numbers["ece"], numbers["auroc_score"]) == (None, None, 0.5)


def test_a_plain_table_is_aligned():
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


@pytest.mark.parametrize(
    ("line", "says"),
    [("nonsense", "valid.jsonl:1: "), ('{"intent": "a"}', "valid.jsonl:1: "), ("", "holds no message")],
)
def test_a_bad_file_is_named(run, tmp_path, yaml_registry, line, says):
    (tmp_path / "valid.jsonl").write_text(line + "\n", encoding="utf-8")
    done = run("bench_accuracy", "--registry", yaml_registry, "--valid", tmp_path / "valid.jsonl")
    assert done.returncode == 2
    assert says in done.stderr


def test_latency_of_messages_made_up_and_given(run, tmp_path, yaml_registry):
    out = tmp_path / "out.json"
    done = run("bench_latency", "--registry", yaml_registry, "--runs", 1, "--count", 10, "--json", out)
    assert done.returncode == 0, done.stderr
    assert "OMP_NUM_THREADS=1" in done.stdout
    written = json.loads(out.read_text(encoding="utf-8"))
    assert written["messages"] == 10
    assert written["microseconds"]["match"]["p99"] >= written["microseconds"]["match"]["p50"] > 0
    cold = written["cold_start_milliseconds"]
    assert cold["warm"]["median"] > cold["python -c pass"]["median"] > 0
    write_jsonl(tmp_path / "messages.jsonl", [{"text": "where is my order"}, {"text": "hello"}, {"text": "Hello!"}])
    done = run("bench_latency", "--registry", yaml_registry, "--runs", 0, "--messages", tmp_path / "messages.jsonl")
    assert done.returncode == 0, done.stderr
    assert "1 distinct messages" in done.stdout, "utterances and repetitions do not count"
    assert "whole process" not in done.stdout
