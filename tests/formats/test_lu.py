"""Tests for .lu files: old and new syntax, nested labels, patterns, imports, languages and losses."""

from __future__ import annotations

from pathlib import Path

import pytest
from contracts.format import Subject, bare, contract, messages, put_files

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotValue, Utterance
from intentmatch.formats.lu import FORMAT
from intentmatch.formats.lu.lines import parse

OLD = """\
# Greeting
- Hi
* Hello

## AskForUserName
- {userName=vishwac}
+ I'm {userName=vishwac} \\{really\\}
- delete the {alarmTime} alarm

$userName:simple
$PREBUILT:datetimeV2
$PREBUILT:number roles=count, age
$city:New York=
- NYC
$HRF-number:/hrf-[0-9]{6}/
$Wish:phraseList interchangeable
- want, need
"""
NEW = """\
> !# @app.culture = de-de
# Order
- ein {@size = großes} Bier
- [bitte] (ein|zwei) {@drink}
- für {@customer = {@first = Anna} Bell}

@ list size role1 =
    - groß :
        - großes, riesig
        - groß; gross
    - klein
@ ml customer =
    - @ personName first
    - @ ml last
@ prebuilt personName
@ regex code hasRoles from, to = /[A-Z]{2}/
@ code =
    - /[0-9]+/
@ intent Order usesFeature size
@ composite both = [size, code]
"""


test_obeys_contract = contract(*(Subject(FORMAT, {"bot.lu": text}) for text in (OLD, NEW)), ids=["old", "new"])


def read(folder: Path, text: str | dict[str, str], entry: str | None = "bot.lu") -> formats.Imported:
    put_files(folder, {"bot.lu": text} if isinstance(text, str) else text)
    return formats.read(folder / entry if entry else folder, "lu")


def templates(found: formats.Imported, intent: str) -> list[str]:
    return [line.template or line.text for line in found.registry[intent].utterances]


def kinds(found: formats.Imported) -> dict[str, str]:
    return {slot.name: slot.kind for slot in found.registry.slots}


def test_old_syntax_is_read(tmp_path):
    found = read(tmp_path, OLD)

    assert templates(found, "Greeting") == ["Hi", "Hello"]
    assert templates(found, "AskForUserName") == [
        "{userName=vishwac}",
        "I'm {userName=vishwac} \\{really\\}",
        "delete the {alarmTime} alarm",
    ]
    assert kinds(found) == {
        "userName": "list",
        "alarmTime": "any",
        "datetimeV2": "datetime",
        "number": "number",
        "city": "list",
        "HRF-number": "pattern",
    }


def test_new_syntax_is_read(tmp_path):
    found = read(tmp_path, NEW)
    slots = {slot.name: slot for slot in found.registry.slots}

    assert templates(found, "Order") == [
        "ein {size=großes} Bier",
        "[bitte] (ein|zwei) {drink}",
        "für {first=Anna} Bell",
    ]
    assert found.registry.languages == ("de-DE",)
    assert [(value.value, [s.text for s in value.synonyms]) for value in slots["size"].values] == [
        ("groß", ["großes", "riesig", "gross"]),
        ("klein", []),
    ]
    assert slots["code"].patterns == ("[A-Z]{2}", "[0-9]+")
    assert slots["first"].kind == "any"


def test_unsupported_content_is_reported(tmp_path):
    more = "\n### ? Who?\n- who is it\n```markdown\nNobody.\n- not a line\n```\n[web](https://example.org/faq)\n"
    found = read(tmp_path, NEW + more)

    assert "labels of 'customer' contain other labels" in messages(found)
    assert "phrase lists and other features" in messages(found)
    assert "composite entities" in messages(found)
    assert "QnA Maker questions and answers" in messages(found)
    assert "links to web pages" in messages(found)
    assert [intent.name for intent in found.registry] == ["Order"]


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("call me {name:userName}", "call me {userName}"),
        ("from {@city:from = Cairo}!", "from {from=Cairo}!"),
        ("{@Building Number=17} {'a b'=c}", "{Building Number=17} {a b=c}"),
        ("[[my] first name is] {n}", "[[my] first name is] {n}"),
        ("title of [(a|b)]", "title of [a|b]"),
        ("title of ((a|b))", "title of \\((a|b)\\)"),
        ("(just brackets) and {n}", "\\(just brackets\\) and {n}"),
        ("lone [ and {n}", "lone \\[ and {n}"),
        ("<b> {n}", "\\<b\\> {n}"),
        ("{a={b}} x", "{b} x"),
    ],
)
def test_lines_become_templates(line: str, template: str) -> None:
    """Shared syntax stays, other signs are escaped."""
    found = parse(line, lambda entity, role: role or entity)
    marks = [Mark(*label[:3]) for label in found.labels]

    pieces = found.template
    if pieces is None:
        pieces, end = "", 0
        for mark in marks:
            pieces += found.text[end : mark.start] + f"{{{mark.slot}={found.text[mark.start : mark.end]}}}"
            end = mark.end
        pieces += found.text[end:]
    assert pieces == template


@pytest.mark.parametrize("line", ["{a" + " " * 5000, "{" * 5000, "{a=" * 5000, "[(" * 5000, "{a=b}" * 5000])
def test_deep_and_long_lines_are_parsed_in_linear_time(line: str) -> None:
    assert parse(line, lambda entity, role: entity).text is not None


def test_unclosed_label_is_skipped_and_its_text_kept(tmp_path):
    found = read(tmp_path, "# a\n- call {@name = Anna\n")

    assert templates(found, "a") == ["call Anna"]
    assert "never closed" in messages(found)


def test_line_outside_of_sections_is_reported(tmp_path):
    found = read(tmp_path, "- hello\n# a\nhi\n- hi\n")

    assert [str(p.location).rsplit(":", 2)[1:] for p in found.problems if p.rule == "unread-line"] == [["1", "1"]]
    assert "(and 1 more like it)" in messages(found)


def test_unclosed_answer_is_reported_where_it_begins(tmp_path):
    found = read(tmp_path, "# a\n- hi\n# ? who\n```markdown\n# b\n- ho\n")

    assert [intent.name for intent in found.registry] == ["a"]
    assert [(p.location.line, p.rule) for p in found.problems if p.severity == "warning"] == [
        (3, "not-expressed"),
        (4, "unread-line"),
    ]


def test_imports_are_followed_once_and_relative_to_the_file(tmp_path):
    files = {"bot.lu": "[a](./more/a.lu)\n# x\n- hi\n", "more/a.lu": "# a\n- aa\n[back](../bot.lu)\n[b](b.lu)\n"}
    files["more/b.lu"] = "# b\n- bb\n"
    found = read(tmp_path, files)

    assert [intent.name for intent in found.registry] == ["x", "a", "b"]
    assert len(found.registry.utterances) == 3


def test_star_imports_read_a_folder(tmp_path):
    """One star for its files, two for subfolders as well."""
    files = {"bot.lu": "[all](./more/*)\n# x\n- hi\n", "more/a.lu": "# a\n- aa\n", "more/deep/b.lu": "# b\n- bb\n"}
    deep = {**files, "bot.lu": "[all](./more/**)\n# x\n- hi\n"}

    assert len(read(tmp_path / "one", files, None).registry) == 3
    assert "not-found" not in {problem.rule for problem in read(tmp_path / "two", deep, None).problems}


def test_import_inside_an_intent_adds_lines(tmp_path):
    files = {
        "bot.lu": "# x\n- [a](a.lu#a)\n- [p](a.lu#*patterns*)\n- [u](a.lu#b*utterances*)\n- [q](a.lu#?)\n",
        "a.lu": "# a\n- aa\n- {n} aa\n# b\n- bb\n- [bb] b\n",
    }
    found = read(tmp_path, files)

    assert templates(found, "x") == ["aa", "{n} aa", "{n} aa", "[bb] b", "bb"]
    assert "links to questions" in messages(found)
    assert "a" not in found.registry


def test_missing_import_is_reported(tmp_path):
    """So are imports outside of the source and imports that differ in case."""
    files = {"bot.lu": "# x\n- hi\n[a](./none.lu)\n[b](../../etc/passwd)\n[c](./Other.lu)\n", "other.lu": "# o\n- oo\n"}
    found = read(tmp_path, files, None)

    problems = [problem for problem in found.problems if problem.rule == "not-found"]
    assert [(p.location.line, p.severity) for p in problems] == [(3, "warning"), (4, "warning"), (5, "info")]
    assert "o" in found.registry


@pytest.mark.parametrize("path", ["bot.de-de.lu", "de-de/bot.lu"])
def test_language_is_read_from_file_or_folder_name(path, tmp_path):
    assert read(tmp_path, {path: "# x\n- hallo\n"}, path).registry.languages == ("de-DE",)


def test_fallback_is_reported(tmp_path):
    assert "fallback-intent" in {problem.rule for problem in read(tmp_path, "# None\n- hm\n").problems}


def test_export_writes_a_file_per_language(tmp_path):
    city = Slot("city", "list", (SlotValue("Köln", (Utterance("Cologne", "en"), Utterance("Colonia", "es"))),))
    lines = (
        Utterance("nach Köln", "de", None, "nach {city=Köln}", (Mark("city", 5, 9),)),
        Utterance("[please] to {city}", "en", None, "[please] to {city}"),
    )
    registry = Registry((Intent("go", lines, slots=(city,)),), slots=(city,))
    formats.write(registry, "lu", tmp_path / "out")

    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["intents.de.lu", "intents.en.lu"]
    assert "Cologne" not in (tmp_path / "out/intents.de.lu").read_text(encoding="utf-8")
    assert set(bare(formats.read(tmp_path / "out").registry)["go"].utterances) == set(lines)


@pytest.mark.parametrize(
    ("slot", "written"),
    [
        (Slot("when", "time"), "exactly; the nearest type is written"),
        (Slot("when", "date"), "exactly; the nearest type is written"),
        (Slot("count", "number"), "'count', which no intent uses"),
        (Slot("x", "pattern", patterns=("a", "b")), "several patterns of the slot 'x'"),
        (Slot("x", "list", (SlotValue("a", (Utterance("b, c"),)),)), "the synonym 'b, c'"),
    ],
)
def test_losses_of_export_are_reported(slot: Slot, written: str, tmp_path: Path) -> None:
    registry = Registry((Intent("a", (Utterance("hi"),)),), slots=(slot,))

    assert any(written in problem.message for problem in formats.write(registry, "lu", tmp_path / "out.lu"))


def test_text_with_special_signs_round_trips(tmp_path):
    texts = ["{a=b}", "[a](b.lu#c)", "(a|b) [c]", "\\{ \\x \\\\", "100% {sure}", "# x", "- - y", "@ ml z"]
    registry = Registry((Intent("a", tuple(map(Utterance, texts))),))
    formats.write(registry, "lu", tmp_path / "out.lu")

    assert [line.text for line in formats.read(tmp_path / "out.lu").registry.utterances] == texts


def exported(registry: Registry, folder: Path) -> tuple[str, str, formats.Imported]:
    """Export a registry to one file; return its text, the losses and what is read back."""
    problems = formats.write(registry, "lu", folder / "out.lu")
    text = (folder / "out.lu").read_text(encoding="utf-8")
    return text, "\n".join(problem.message for problem in problems), formats.read(folder / "out.lu")


def marked(slot: str, value: str) -> Utterance:
    return Utterance(f"a {value}", None, None, f"a {{{slot}={value}}}", (Mark(slot, 2, 2 + len(value)),))


@pytest.mark.parametrize(
    ("slot", "declared"),
    [
        (Slot("size", "list", (SlotValue("big"),)), "@ list sizeValues hasRoles size ="),
        (Slot("code", "pattern", patterns=("[a-z]+",)), "@ regex codePattern hasRoles code = /[a-z]+/"),
        (Slot("count", "number"), "@ prebuilt number hasRoles count"),
        (Slot("email", "list", (SlotValue("big"),)), "@ list emailValues hasRoles email ="),
        (Slot("topic", "any"), "@ ml topic"),
        (Slot("url", "any"), "@ ml urlAny hasRoles url"),
    ],
)
def test_labelled_slot_is_a_role_of_its_entity(slot: Slot, declared: str, tmp_path: Path) -> None:
    """LUIS refuses labels of entities that it finds itself, and own entities with the names of built-in ones."""
    registry = Registry((Intent("a", (marked(slot.name, "big"), Utterance("b")), slots=(slot,)),), slots=(slot,))
    text, _, found = exported(registry, tmp_path)

    assert declared in text.splitlines()
    assert f"- a {{@{slot.name}=big}}" in text.splitlines()
    assert bare(found.registry)["a"].utterances == registry["a"].utterances
    assert [each.name for each in found.registry.slots] == [slot.name]


def test_slot_that_is_not_labelled_needs_no_role(tmp_path: Path) -> None:
    size = Slot("size", "list", (SlotValue("big"),))
    line = Utterance("a {size}", None, None, "a {size}")
    text, losses, found = exported(Registry((Intent("a", (line,), slots=(size,)),), slots=(size,)), tmp_path)

    assert "@ list size =" in text.splitlines()
    assert losses == ""
    assert bare(found.registry).slots == (size,)


def test_entity_of_a_role_gets_a_free_name(tmp_path: Path) -> None:
    slots = (Slot("size", "list", (SlotValue("big"),)), Slot("sizeValues", "list", (SlotValue("x"),)))
    lines = (marked("size", "big"), marked("sizeValues", "x"))
    text, _, found = exported(Registry((Intent("a", lines, slots=slots),), slots=slots), tmp_path)

    assert "@ list sizeValues_ hasRoles size =" in text
    assert "@ list sizeValuesValues hasRoles sizeValues =" in text
    assert bare(found.registry).slots == slots


def test_labels_that_luis_cannot_have_are_reported(tmp_path: Path) -> None:
    """Of a slot with the name of its own type, and of texts with braces."""
    slots = (Slot("number", "number"), Slot("size", "list", (SlotValue("{x}"),)))
    lines = (marked("number", "4"), marked("size", "{x}"))
    text, losses, found = exported(Registry((Intent("a", lines, slots=slots),), slots=slots), tmp_path)

    assert [line.text for line in found.registry["a"].utterances] == ["a 4", "a {x}"]
    assert "@ prebuilt number" in text.splitlines()
    assert "labels of the slot 'number', which has the name of a built-in entity" in losses
    assert "labels of the slot 'size' with braces in their text" in losses


def test_value_in_a_template_is_plain_text(tmp_path: Path) -> None:
    """A pattern of LUIS cannot label."""
    size = Slot("size", "list", (SlotValue("big"),))
    line = Utterance("[one] {size=big} and {size}", None, None, "[one] {size=big} and {size}")
    text, losses, _ = exported(Registry((Intent("a", (line,), slots=(size,)),), slots=(size,)), tmp_path)

    assert "- [one] big and {@size}" in text
    assert "values of the slot 'size' in templates" in losses


def test_names_of_intents_get_no_signs_that_luis_refuses(tmp_path: Path) -> None:
    intents = tuple(Intent(name, (Utterance(name),)) for name in ("a: b", "a_ b", "?x<y>", "100%"))
    _, losses, found = exported(Registry(intents), tmp_path)

    assert [intent.name for intent in found.registry] == ["a_ b", "a_ b_", "x_y_", "100_"]
    assert "the intent name 'a: b'; it is written as 'a_ b'" in losses


@pytest.mark.parametrize(
    ("line", "what"),
    [
        (Utterance("x" * 501), "utterances of more than 500 characters"),
        (Utterance("[y]" + "x" * 398, None, None, "[y]" + "x" * 398), "templates of more than 400 characters"),
    ],
)
def test_lines_beyond_the_limits_of_luis_are_reported(line: Utterance, what: str, tmp_path: Path) -> None:
    _, losses, found = exported(Registry((Intent("a", (Utterance("b"), line)),)), tmp_path)

    assert [each.text for each in found.registry.utterances] == ["b"]
    assert what in losses


def test_entities_beyond_the_limits_of_luis_are_reported(tmp_path: Path) -> None:
    """They are written without values: 50 lists, 20 regular expressions of 500 characters, 10 roles of `number`."""
    slots = (
        *(Slot(f"list{n}", "list", (SlotValue("x"),)) for n in range(51)),
        *(Slot(f"regex{n}", "pattern", patterns=("x",)) for n in range(21)),
        Slot("long", "pattern", patterns=("x" * 501,)),
        *(Slot(f"count{n}", "number") for n in range(11)),
    )
    lines = tuple(Utterance(f"a {{{slot.name}}}", None, None, f"a {{{slot.name}}}") for slot in slots)
    text, losses, _ = exported(Registry((Intent("a", lines, slots=slots),), slots=slots), tmp_path)

    assert [line for line in text.splitlines() if line.startswith("@ patternany")] == [
        "@ patternany list50", "@ patternany regex20", "@ patternany long", "@ patternany count10",
    ]  # fmt: skip
    assert losses.count("within the limits of LUIS") == 4


def test_only_500_templates_are_written(tmp_path: Path) -> None:
    lines = tuple(Utterance(f"[a] b{n}", None, None, f"[a] b{n}") for n in range(502))
    _, losses, found = exported(Registry((Intent("a", lines),)), tmp_path)

    assert len(found.registry["a"].utterances) == 500
    assert "more than 500 templates" in losses
