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
