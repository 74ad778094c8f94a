"""Files of other formats from public repositories, with the intents and utterances that an import must find.

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
    """A file or folder in the folder of its section, with its expected content."""

    path: str
    intents: int
    utterances: int
    why: str = ""
    """Why the numbers differ from the first ones in the README."""
    columns: Mapping[str, str] = {}
    """The columns of a table that the user has to name."""


_LU = "microsoft__botframework-cli/packages/lu/test/fixtures"
_LUIS_BUILD = "microsoft__botframework-cli/packages/luis/docs/examples/luis-build"
_SKILLS = "microsoft__botframework-skills/skills/csharp/experimental"
_AZURE = "Azure-Samples__cognitive-services-sample-data-files"

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
            6,
            17,
            "one column of groups: a question, its answer and the ways to ask it, 29 rows with the 12 of the first two",
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
    "lu": [
        Real(f"{_LU}/examples/3.lu", 3, 13),
        Real(f"{_LU}/examples/9.lu", 6, 20),
        Real(f"{_LU}/examples/12.lu", 7, 23, "with the 2 lines of the file that it imports"),
        Real(f"{_LU}/examples/none.lu", 1, 2),
        Real(f"{_LU}/examples/newEntityWithFeatures.lu", 2, 8),
        Real(f"{_LU}/examples/v7UpgradeTest.lu", 1, 6),
        Real(f"{_LU}/examples/compositeEntities.lu", 1, 2),
        Real(f"{_LU}/examples/patterns.lu", 5, 11),
        Real(f"{_LU}/verified/escapeCharactersInUtterances.lu", 1, 12),
        Real(f"{_LU}/verified/Child_Entity_With_Spaces.lu", 6, 134),
        Real(
            f"{_LU}/testcases/lubuild/sandwich/lufiles/sandwich.en-us.lu",
            4,
            23,
            "11 utterances and 11 patterns, one of the utterances twice",
        ),
        Real(f"{_LUIS_BUILD}/RootDialog/LU/root.lu", 4, 51),
        Real(f"{_LUIS_BUILD}/RootDialog/LU/fr-fr/root.lu", 4, 51),
        Real(f"{_LUIS_BUILD}/AddTodoDialog/LU/add.lu", 4, 47),
        Real(f"{_LUIS_BUILD}/AddTodoDialog/LU/es-es/add.lu", 4, 47),
        Real(f"{_LUIS_BUILD}/AddTodoDialog/LU/fr-fr/add.lu", 4, 47),
        Real(f"{_LUIS_BUILD}/DeleteToDoDialog/LU/del.lu", 4, 43),
        Real(f"{_LUIS_BUILD}/DeleteToDoDialog/LU/it-it/del.lu", 4, 43),
        Real(f"{_LUIS_BUILD}/RootDialog/LU/todoPhraseList.lu", 0, 0),
        Real(f"{_LUIS_BUILD}/RootDialog/LU/fr-fr/todoPhraseList.lu", 0, 0),
        Real(f"{_SKILLS}/hospitalityskill/Deployment/Resources/LU/de-de/Hospitality.lu", 7, 183),
        Real(f"{_SKILLS}/hospitalityskill/Deployment/Resources/LU/es-es/Hospitality.lu", 7, 183),
        Real(f"{_SKILLS}/hospitalityskill/Deployment/Resources/LU/zh-cn/Hospitality.lu", 7, 184),
        Real(f"{_SKILLS}/bingsearchskill/Deployment/Resources/LU/fr-fr/BingSearchSkill.lu", 4, 21),
        Real(f"{_SKILLS}/bingsearchskill/Deployment/Resources/LU/it-it/BingSearchSkill.lu", 4, 21),
    ],
    "dialogflow-es": [
        Real("dialogflow__fulfillment-bike-shop-nodejs/dialogflow-agent", 5, 13),
        Real("dialogflow__fulfillment-bike-shop-nodejs/BikeShopAgent.zip", 5, 13),
        Real("Sanjaypranav__ruth-nlu2/data/examples/dialogflow", 5, 48),
        Real(
            "crownpku__Rasa_NLU_Chi/data/examples/dialogflow",
            5,
            48,
            "the 12 phrases that stand in an intent and in a file of its own as well are read once",
        ),
        Real("zdi-mainfranken__corona-chatbot", 12, 248),
        Real("actions-on-google__dialogflow-number-genie-nodejs/agent.zip", 11, 167),
    ],
    "dialogflow-cx": [
        Real("ayushwattal__FlightBooking-Chat-Bot", 5, 32),
        Real("dhiwinsamrich__DIGIBHEM-AI-Bot", 38, 1533),
        Real("fvmach__fvm-fu2-upcp-dfcx-virtual-agent", 9, 98),
    ],
    "clu": [
        Real(f"{_AZURE}/language-service/CLU/HomeAutomationDemo.json", 3, 491),
        Real("cjjulius__Azure_AI_Language/Clock.json", 3, 20, "a fallback that says nothing is in every project"),
        Real("handmade/multilingual.json", 3, 7, "the utterance of the data set Test is a test"),
    ],
    "luis": [
        Real(f"{_AZURE}/luis/apps/custom-domain-patterns-any-HumanResources.json", 14, 181, "with its 17 patterns"),
        Real(f"{_AZURE}/luis/apps/custom-domain-composite-HumanResources.json", 10, 89),
        Real(f"{_AZURE}/luis/apps/custom-domain-list-HumanResources.json", 10, 84),
        Real(f"{_AZURE}/luis/apps/pizza-with-machine-learned-entity.json", 5, 147),
        Real(f"{_AZURE}/luis/apps/tutorial-fix-unsure-predictions.json", 11, 113),
        Real(f"{_AZURE}/luis/apps/MyStore.json", 2, 10),
        Real(f"{_LU}/testcases/lubuild/foo2/luis/test(development)-foo.fr-fr.lu.json", 2, 1),
        Real(f"{_LU}/translation/fr/root.luis.json", 3, 29),
        Real(f"{_LU}/testcases/v7app.json", 1, 4),
        Real(f"{_LU}/testcases/all.json", 10, 30, "with its 2 patterns"),
        Real(f"{_LU}/testcases/overlappingEntities.json", 1, 1),
        Real(f"{_LU}/testcases/nested-luis-json.json", 1, 1),
    ],
    "lex": [
        Real("aws-samples__amazon-lex-customerservice-workshop/lex-bot-schema.json", 3, 17),
        Real("aws-samples__amazon-lex-v2-lambda-integration-examples/bots/ReminderBotFiles", 3, 47),
        Real(
            "aws-samples__amazon-lex-v2-dialogaction/Resource/BlogBot-3-YTZOBUF72Q-LexJson.zip",
            3,
            6,
            "4 English and 2 Korean utterances of the same intents",
        ),
    ],
    "watson": [
        Real("IBM__watson-banking-chatbot/data/conversation/workspaces/banking_US.json", 23, 203),
        Real("IBM__watson-assistant-slots-intro/data/watson-pizzeria.json", 4, 21),
    ],
    "wit": [
        Real(
            "crownpku__Rasa_NLU_Chi/data/examples/wit/demo-flights.json",
            1,
            1,
            "3 of its 4 utterances have no intent, and were not finished when it was exported",
        ),
        Real(
            "Sanjaypranav__ruth-nlu2/data/examples/wit/demo-flights.json",
            1,
            4,
            "what has no intent is out of scope in today's wit.ai, and a test here",
        ),
        Real("aibotsacademy__IngoHackathon2021/ingoNLP", 1, 7),
        Real("aibotsacademy__IngoHackathon2021/ingoNLP.zip", 1, 7),
    ],
}
"""Section to its rows, in the order of the README."""


def stated() -> Iterator[tuple[str, str, int, int]]:
    """Return section, path, intents and utterances of each row of the README. Of several numbers, the first counts."""
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
