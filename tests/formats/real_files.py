"""Files of other formats from public repositories, with the intents and utterances that they must yield.

They lie in the folder `formats` of what `INTENTMATCH_DATA` names, or of `shared/data` beside the checkout, and are not
part of this repository. Sections and numbers are those of the README there, which says how they were counted.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

FOLDER = Path(os.environ.get("INTENTMATCH_DATA", Path(__file__).parents[3] / "shared" / "data"))


class Real(NamedTuple):
    """A file or folder below that of its section, and what is in it."""

    path: str
    intents: int
    utterances: int
    why: str = ""
    """Why the numbers are not the first that the README gives."""
    columns: Mapping[str, str] = {}
    """What a person has to say about the columns of a table."""


ROWS: Mapping[str, list[Real]] = {
    "rasa": [
        Real("Sanjaypranav__ruth-nlu2/data/examples/rasa/demo-rasa-multi-intent.yml", 6, 46),
        Real("Sanjaypranav__ruth-nlu2/data/examples/rasa/demo-rasa-responses.yml", 0, 0),
        Real("Sanjaypranav__ruth-nlu2/data/examples/rasa/demo-rasa.yml", 6, 46),
        Real("Sanjaypranav__ruth-nlu2/data/test/demo-rasa-composite-entities.yml", 6, 45),
        Real("Sanjaypranav__ruth-nlu2/data/test/overlapping_regex_entities.yml", 1, 1),
        Real("Sanjaypranav__ruth-nlu2/data/test/synonyms_only.yml", 0, 0),
        Real("Sanjaypranav__ruth-nlu2/data/test/duplicate_intents_yaml", 6, 68),
        Real("Sanjaypranav__ruth-nlu2/data/test/lookup_tables/lookup_table.yml", 1, 4),
        Real("Sanjaypranav__ruth-nlu2/data/test/incorrect_nlu_format.yml", 0, 0),
        Real("crownpku__Rasa_NLU_Chi/data/examples/rasa/demo-rasa.json", 4, 42),
        Real("crownpku__Rasa_NLU_Chi/data/examples/rasa/demo-rasa_zh.json", 5, 42),
        Real("crownpku__Rasa_NLU_Chi/data/examples/rasa/demo-rasa_zh_medical.json", 5, 44),
        Real("crownpku__Rasa_NLU_Chi/data/examples/rasa/demo-rasa_zh_movie.json", 5, 35),
        Real("crownpku__Rasa_NLU_Chi/data/test/demo-rasa-noents.json", 4, 50),
        Real("crownpku__Rasa_NLU_Chi/data/examples/rasa/demo-rasa.md", 4, 42),
        Real("crownpku__Rasa_NLU_Chi/data/test/json_converted_to_md.md", 4, 42),
        Real("crownpku__Rasa_NLU_Chi/data/test/multiple_files_markdown", 4, 42),
        Real("crownpku__Rasa_NLU_Chi/data/test/multiple_files_json/demo-rasa-affirm.json", 1, 11),
        Real("crownpku__Rasa_NLU_Chi/data/test/multiple_files_json/demo-rasa-goodbye.json", 1, 8),
        Real("crownpku__Rasa_NLU_Chi/data/test/multiple_files_json/demo-rasa-greet.json", 1, 8),
        Real("crownpku__Rasa_NLU_Chi/data/test/multiple_files_json/demo-rasa-restaurant_search.json", 1, 15),
        Real("crownpku__Rasa_NLU_Chi/data/test/markdown_single_sections/regex_only.md", 0, 0),
        Real("crownpku__Rasa_NLU_Chi/data/test/markdown_single_sections/synonyms_only.md", 0, 0),
    ],
    "tabular": [
        Real("IBM__vira-intent-classification/intent_dataset/intents.csv", 222, 222),
        Real(
            "dialogflow__fulfillment-bike-shop-nodejs/bike-shop-faq.csv",
            25,
            25,
            columns={"text": "1", "response": "2"},
        ),
        Real(
            "bitext__customer-support-intent-detection-training-dataset/data/dev/"
            "Bitext_Sample_Customer_Service_Validation_Dataset.csv",
            27,
            810,
        ),
        Real(
            "Botfuel__botfuel-sample-customerservice/intents.xlsx",
            0,
            0,
            "one column of questions and answers, not marked as such: an error asks which columns there are",
        ),
        Real("hungnt0104__Vietnamese-chatbot/intents.xlsx", 4, 22),
        Real("hungnt0104__Vietnamese-chatbot/intents.json", 4, 22),
        Real("sebischair__NLU-Evaluation-Corpora/ChatbotCorpus.json", 2, 206),
        Real(
            "axa-group__nlp.js/packages/qna-importer/test/qna.first-400-lines.tsv",
            8,
            400,
            columns={"text": "1", "response": "2"},
        ),
    ],
    "semantic-router": [
        Real("aurelio-labs__semantic-router/tests/unit/test_router.py.layer.json", 2, 4),
        Real("aurelio-labs__semantic-router/tests/unit/test_router.py.layer.yaml", 2, 4),
        Real("aurelio-labs__semantic-router/docs/01-save-load-from-file.ipynb.layer.json", 2, 10),
        Real("knacktohack__server/route_layer.json", 12, 60),
        Real("handmade/layer-0.0.yaml", 2, 7),
        Real("handmade/router-0.1.json", 3, 5),
        Real("handmade/indexed-1.1.yaml", 2, 5),
        Real("handmade/chain-1.1.json", 3, 6, "the route `greet` of two routers is one intent"),
    ],
    "hassil": [
        Real("home-assistant__intents/sentences/en", 7, 121),
        Real("home-assistant__intents/sentences/de", 5, 103),
        Real("home-assistant__intents/sentences/fr", 3, 89),
        Real("home-assistant__intents/sentences/ar", 1, 11),
        Real("home-assistant__intents/sentences/zh-cn", 3, 21),
        Real("OHF-Voice__hassil/examples/en.yaml", 7, 11),
    ],
    "nlpjs": [
        Real("axa-group__nlp.js/examples/13-languages/corpora/corpus-fr.json", 36, 175),
        Real("axa-group__nlp.js/examples/13-languages/corpora/corpus-he.json", 51, 249),
        Real("axa-group__nlp.js/examples/13-languages/corpora/corpus-id.json", 51, 250),
        Real("axa-group__nlp.js/examples/14-ner-corpus/corpus.json", 2, 3),
        Real("axa-group__nlp.js/examples/16-fb-connector/corpus-en.json", 5, 11),
        Real("axa-group__nlp.js/examples/15-nlu/corpus50.json", 51, 250),
        Real("axa-group__nlp.js/packages/utils/test/corpus-composed.json", 2, 13),
        Real("axa-group__nlp.js/packages/utils/test/corpus-pattern.json", 2, 4),
        Real("axa-group__nlp.js/examples/04-qna-web/corpus.json", 58, 327),
    ],
    "snips": [
        Real("snipsco__snips-nlu/sample_datasets/beverage_dataset.json", 1, 7),
        Real("snipsco__snips-nlu/sample_datasets/flights_dataset.json", 2, 8),
        Real("snipsco__snips-nlu/sample_datasets/lights_dataset.json", 3, 14),
        Real("snipsco__snips-nlu/snips_nlu_samples/sample_dataset.json", 2, 11),
        Real("snipsco__snips-nlu/docs/source/tutorial.rst.dataset.yaml", 3, 12),
        Real("snipsco__snips-nlu/docs/source/dataset.rst.2-entity-options.yaml", 0, 0),
        Real("snipsco__snips-nlu/docs/source/dataset.rst.3-inline-slots.yaml", 1, 3),
        Real("snipsco__snips-nlu/docs/source/dataset.rst.5-merged.yaml", 1, 3),
        Real("snipsco__snips-nlu/docs/source/dataset.rst.7-implicit-values.yaml", 1, 3),
    ],
    "botpress": [
        Real("botpress__v12/modules/builtin/src/bot-templates/small-talk", 16, 333),
        Real("botpress__v12/modules/builtin/src/bot-templates/welcome-bot", 8, 81),
        Real("botpress__v12/modules/builtin/src/bot-templates/learn-botpress", 3, 25),
        Real("botpress__v12/examples/interbot/bots/sub1", 2, 6),
        Real("botpress__v12/examples/interbot/bots/sub2", 2, 6),
        Real("botpress__v12/examples/interbot/bots/master", 1, 3),
    ],
}
"""Section to its rows, in the order of the README."""


def stated() -> Iterator[tuple[str, str, int, int]]:
    """Section, path, intents and utterances of each row of the README; of several numbers the first."""
    section = ""
    for line in (FOLDER / "formats" / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            section = line.removeprefix("## ").strip()
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)][1:-1]
        if len(cells) == 7 and (path := re.fullmatch(r"`([^`]*?)(?:/?\*\.\w+|/? \(\d+ files\))?`", cells[1])):
            folder = cells[0].replace("/", "__")
            intents, utterances = (int((re.findall(r"\d+", cell) or ["0"])[0]) for cell in cells[4:6])
            yield section, f"{folder}/{path[1]}".removesuffix("/."), intents, utterances


needs_files = pytest.mark.skipif(not (FOLDER / "formats").is_dir(), reason=f"needs the real files in {FOLDER}")
