"""Merging of files: intents spread over files, and properties declared twice."""

from __future__ import annotations

from pathlib import Path

from registry_files import in_file

from intentmatch.registry import examine, read_registry


def test_intent_is_merged_over_files(tmp_path: Path):
    in_file(
        tmp_path,
        "language: en\nintents: {a: {title: A, utterances: [hello], response: Hi, metadata: {x: 1}}}",
        "en.yaml",
    )
    in_file(tmp_path, "language: de\nintents: {a: {utterances: [hallo], not: [tschüss], response: Hallo}}", "de/de.yml")
    in_file(
        tmp_path, "intents: {a: {utterances: {fr: [bonjour]}, threshold: 0.4, metadata: {y: 2}}}", "fr/deeper/fr.YAML"
    )

    found = read_registry(tmp_path)

    assert len(found) == 1
    assert [(u.language, u.text) for u in found["a"].utterances] == [
        ("de", "hallo"),
        ("en", "hello"),
        ("fr", "bonjour"),
    ]
    assert [u.text for u in found["a"].negatives] == ["tschüss"]
    assert dict(found["a"].responses) == {"de": "Hallo", "en": "Hi"}
    assert dict(found["a"].metadata) == {"x": 1, "y": 2}
    assert (found["a"].title, found["a"].threshold) == ("A", 0.4)
    assert found.languages == ("de", "en", "fr")


def test_variants_of_a_response_are_merged_by_language(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi], response: {en: [Hi, Hello]}}}", "1.yaml")
    in_file(tmp_path, "intents: {a: {response: {de: [Hallo, Servus], fr: Salut}}}", "2.yaml")

    assert read_registry(tmp_path)["a"].all_responses == {
        "en": ("Hi", "Hello"),
        "de": ("Hallo", "Servus"),
        "fr": ("Salut",),
    }


def test_variants_of_one_language_in_two_files_are_reported(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi], response: {en: Hi}}}", "1.yaml")
    in_file(tmp_path, "intents: {a: {response: {en: [Hello, Hey]}}}", "2.yaml")

    registry, problems = examine(tmp_path)

    assert [problem.rule for problem in problems] == ["intent-redefined"]
    assert registry["a"].all_responses == {"en": ("Hi",)}


def test_zero_threshold_and_empty_response_survive_merging(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi], threshold: 0.0, response: ''}}", "1.yaml")
    in_file(tmp_path, "intents: {a: {utterances: [ho]}}", "2.yaml")

    found = read_registry(tmp_path)

    assert found["a"].threshold == 0.0
    assert found["a"].response("en") == ""


def test_intent_is_confirmed_if_one_file_says_so(tmp_path: Path):
    in_file(tmp_path, "intents: {a: {utterances: [hi]}, b: {confirm: true, utterances: [hey]}}", "1.yaml")
    in_file(tmp_path, "intents: {a: {utterances: [ho], confirm: true}, b: {utterances: [hello]}}", "2.yaml")

    found = read_registry(tmp_path)

    assert (found["a"].confirm, found["b"].confirm) == (True, True)


def test_file_language_applies_only_to_its_own_file(tmp_path: Path):
    in_file(tmp_path, "language: de\nintents: {a: {utterances: [hallo]}, b: {utterances: {en: [bye]}}}", "1.yaml")
    in_file(tmp_path, "intents: {c: {utterances: [ciao]}}", "2.yaml")

    found = read_registry(tmp_path)

    assert [u.language for name in "abc" for u in found[name].utterances] == ["de", "en", None]


def test_intent_property_declared_in_two_files_is_reported(tmp_path: Path):
    """The problem is at the later place, and the hint names the earlier one."""
    in_file(tmp_path, "intents:\n  a: {title: One, threshold: 0.0, utterances: [hi], response: {en: Hi}}", "1.yaml")
    in_file(tmp_path, "intents:\n\n  a: {title: One, threshold: 0.0, response: {en: Hi, de: Hallo}}", "2.yaml")

    _, problems = examine(tmp_path)

    assert [problem.message for problem in problems] == [
        "intent 'a' declares its response en twice",
        "intent 'a' declares its threshold twice",
        "intent 'a' declares its title twice",
    ]
    assert {(Path(p.location.path).name, p.location.line, p.rule) for p in problems} == {
        ("2.yaml", 3, "intent-redefined")
    }
    assert all(
        problem.hint.startswith("the intent is also described at ") and "1.yaml:2" in problem.hint
        for problem in problems
    )


def test_setting_in_two_files_is_reported_at_the_second(tmp_path: Path):
    in_file(tmp_path, "settings: {margin: 0.1, top_k: 3}\nintents: {a: {utterances: [hi]}}", "1.yaml")
    in_file(tmp_path, "settings: {margin: 0.1, fuzzy: 1}", "2.yaml")

    found, problems = examine(tmp_path)

    assert [(Path(p.location.path).name, p.rule) for p in problems] == [("2.yaml", "setting-redefined")]
    assert "1.yaml:1" in problems[0].hint
    assert dict(found.settings) == {"margin": "0.1", "top_k": "3", "fuzzy": "1"}
    assert {name: Path(place.path).name for name, place in found.setting_locations.items()} == {
        "margin": "1.yaml",
        "top_k": "1.yaml",
        "fuzzy": "2.yaml",
    }


def test_conflicting_utterances_are_found_across_files(tmp_path: Path):
    in_file(tmp_path, "intents:\n  a: {utterances: [hello]}", "1.yaml")
    in_file(tmp_path, "intents:\n  b: {utterances: [Hello!]}", "2.yaml")

    _, problems = examine(tmp_path)

    assert [(Path(p.location.path).name, p.rule) for p in problems] == [("2.yaml", "conflicting-utterance")]
    assert "1.yaml:2" in problems[0].message
