"""Built-in types of other programs: what is exported is imported again as the same kind of slot."""

from __future__ import annotations

from typing import get_args

import pytest

from intentmatch import formats
from intentmatch.core.types import Intent, Mark, Registry, Slot, SlotKind, Utterance

OWN = [kind for kind in get_args(SlotKind) if kind not in ("list", "pattern")]
# Each kind that comes back as another, by format.
OTHER = {
    "clu": {"date": "datetime", "time": "datetime", "duration": "datetime"},
    "lu": {"date": "datetime", "time": "datetime", "duration": "datetime"},
    "botpress": {"date": "datetime", "time": "datetime"},
}


FILES = {
    **dict.fromkeys(("dialogflow-es", "dialogflow-cx", "botpress"), "out"),
    "clu": "clu.json",
    "lu": "bot.lu",
    "nlpjs": "corpus.json",
}


@pytest.mark.parametrize("format_", FILES)
@pytest.mark.parametrize("kind", [kind for kind in OWN if kind != "any"])
def test_kind_is_exported_and_imported(format_, kind, tmp_path):
    """In NLP.js, a slot must be named like its type."""
    name, target = "when", tmp_path / FILES[format_]
    line = Utterance("say it now", "en", None, "say {when=it} now", (Mark("when", 4, 6),))
    if format_ == "nlpjs":
        name = {"money": "currency", "phone": "phonenumber"}.get(kind, kind)
        line = Utterance(f"say {{{name}}} now", "en", None, f"say {{{name}}} now")
    slot = Slot(name, kind)
    registry = Registry((Intent("a", (line, Utterance("more", "en")), slots=(slot,)),), slots=(slot,))
    formats.write(registry, format_, target)
    found = formats.read(target).registry

    kinds = {each.kind for each in (*found.slots, *(each for intent in found for each in intent.slots))}
    assert OTHER.get(format_, {}).get(kind, kind) in kinds


@pytest.mark.parametrize("kind", ["number", "ordinal", "temperature", "date", "time", "datetime", "duration", "money"])
def test_snips_has_these_kinds(kind, tmp_path):
    slot = Slot("when", kind)
    line = Utterance("say it now", "en", None, "say {when=it} now", (Mark("when", 4, 6),))
    formats.write(Registry((Intent("a", (line,), slots=(slot,)),), slots=(slot,)), "snips", tmp_path / "d.json")

    assert [each.kind for each in formats.read(tmp_path / "d.json").registry.slots] == [kind]
