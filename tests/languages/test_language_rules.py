"""Rules in languages' files: each form finds and leaves out what it says, and an invalid one is named with its line."""

from __future__ import annotations

import re

import pytest

from intentmatch.languages import files
from intentmatch.languages.files import LanguageFileError


def rewritten(tmp_path, section: str, text: str) -> str:
    """Return the text by the first rule that finds something in it."""
    file = tmp_path / "xx.yaml"
    file.write_text(section, encoding="utf-8")
    (name,) = files.section_texts(file)
    found = files.read_section(file, name)
    rules = found["rules"] if name == "refusals" else found
    return next(rule.sub(template, text, count=1) for rule, template in rules if rule.search(text))


@pytest.mark.parametrize(
    ("rule", "text", "without"),
    [
        ("leading: no need to|keine", "there is no need to cancel", "there is cancel"),
        ("leading: pas besoin d['’]", "pas besoin d'annuler", "annuler"),
        ("trailing: is off|is unwanted", "a refund is unwanted, thanks", "a refund, thanks"),
        ("{drop: nicht, before: ge|ver}", "ich habe nicht gebeten", "ich habe gebeten"),
        ("{drop: ikke, after: skal|må}", "den skal i dag ikke slettes", "den skal i dag slettes"),
        ("{find: 'never (again )?'}", "Never again call", "call"),
        ("{find: '(do) not', instead: '\\1'}", "do not call", "do call"),
        ("{find: '(will){words} not', instead: '\\1\\2'}", "I will my order not cancel", "I will my order cancel"),
        ("{find: '{head but}never '}", "call but never write", "call but write"),
        ("{find: '{head}never '}", "yes, never write", "yes, write"),
        ("{find: '(?<!{letter})na '}", "ना na करो", "ना करो"),
        ("find: |-\n      ne\n      ver (?=w)", "never write", "write"),
    ],
)
def test_rule_leaves_out_what_it_finds(tmp_path, rule, text, without):
    """Case does not matter, and line breaks mean nothing."""
    assert rewritten(tmp_path, f"negated:\n  - {rule}\n", text) == without


def test_first_rule_that_matches_counts(tmp_path):
    rules = "negated: [{find: never}, {find: not, instead: a}, {find: 'not ever', instead: b}]"

    assert rewritten(tmp_path, rules, "not ever") == "a ever"


def test_names_of_a_section_stand_for_parts_of_patterns(tmp_path):
    """A name may stand in the definition of a later one."""
    section = "refusals:\n  named: {verb: 'call|write', both: 'to (?:{verb})'}\n  rules: [{find: 'not (?={both})'}]\n"

    assert rewritten(tmp_path, section, "not to write") == "to write"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("negated:\n  find: a\n", "2: negated: expected a list of rules"),
        ("negated:\n  - {find: a}\n  - {find: 'a('}\n", "3: negated: invalid rule: missing ), unterminated subpattern"),
        ("negated:\n  - {find: a, instead: '\\1'}\n", "2: negated: invalid rule: invalid group reference 1"),
        ("negated: [{drop: a}]\n", "1: negated: expected a rule with the keys of one form: leading; trailing;"),
        ("negated: [{find: '{verb}'}]\n", "1: negated: unknown name 'verb': known are head, letter, words"),
        ("refusals:\n  named: {b: '{a}', a: x}\n", "2: refusals: unknown name 'a': known are head, letter, words"),
        ("refusals:\n  rule: []\n", "2: refusals: unknown key 'rule': known are named, rules, forgetting,"),
        ("refusals: []\n", "1: refusals: expected a map with some of named, rules,"),
        ("refusals:\n  left_alone: {begins: a}\n", "2: refusals: missing key 'ends'"),
        ("declined:\n  no: (a)\n", "2: declined: write (?:...) for a group"),
        ("declined:\n  no: a)(?:b\n", "2: declined: invalid regular expression: unbalanced parenthesis"),
        ("declined:\n  no: (?x)a\n", "2: declined: leave out the flags"),
    ],
)
def test_an_invalid_rule_is_reported_with_file_and_line(tmp_path, text, why):
    file = tmp_path / "xx.yaml"
    file.write_text(text, encoding="utf-8")
    (section,) = files.section_texts(file)

    with pytest.raises(LanguageFileError, match=re.escape(f"{file}:{why}")):
        files.read_section(file, section)
