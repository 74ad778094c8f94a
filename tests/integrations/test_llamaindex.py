"""The example for LlamaIndex, in the framework's router."""

from __future__ import annotations

import asyncio

import pytest

from intentmatch import Intent, Matcher, Registry, Utterance, formats

pytest.importorskip("llama_index.core", reason="needs the package `llama-index-core`")

from contracts.format import bare
from contracts.order_bot import GatedEncoder, load_example, talk_to_example
from llama_index.core import Document, MockEmbedding, VectorStoreIndex
from llama_index.core.base.base_selector import BaseSelector
from llama_index.core.schema import TextNode
from llama_index.core.tools import ToolMetadata

CHOICES = [ToolMetadata("", name=name) for name in ("status", "unmute", "mute", "other")]


@pytest.fixture
def matcher() -> Matcher:
    intents = (
        Intent("status", (Utterance("where is my order"),)),
        Intent("mute", (Utterance("sound off now"),)),
        Intent("unmute", (Utterance("sound on now"),)),
        Intent("elsewhere", (Utterance("something different altogether"),)),
    )
    return Matcher.load(Registry(intents), encoder=GatedEncoder(), cache="off", margin=0.4)


@pytest.fixture
def selector(matcher) -> BaseSelector:
    return load_example("llamaindex/bot.py").IntentSelector(matcher, fallback="other")


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("where is my order", [0]),
        ("sound now", [1, 2]),
        ("something different altogether", [3]),
        ("penguins", [3]),
        ("", [3]),
    ],
)
def test_selector_chooses_the_tool_named_like_the_intent(selector, question, expected):
    """Several tools if the message is ambiguous; the fallback if no tool has the name. The same sync and async."""
    assert selector.select(CHOICES, question).inds == expected
    assert asyncio.run(selector.aselect(CHOICES, question)).inds == expected


def test_reason_is_the_explanation_of_the_matcher(selector):
    assert selector.select(CHOICES, "where is my order").reason.startswith("Matched: ")


def test_event_loop_runs_while_question_is_encoded(matcher, selector):
    asyncio.run(matcher.encoder.closed_until_loop_runs(selector.aselect(CHOICES, "some question")))


def test_example_holds_its_conversation(tmp_path):
    """In two languages; both engines answer an ambiguous question."""
    messages = "where is my order", "meine Bestellung stornieren", "what do penguins eat", "my order"
    printed = talk_to_example("llamaindex/bot.py", *messages, folder=tmp_path)

    first, second, third, fourth = printed.split("> ")[1:-1]
    assert (first, second) == ("It is on its way.\n", "It is cancelled.\n")
    assert third == "I shall look into the handbook.\n"
    assert "It is on its way." in fourth
    assert "It is cancelled." in fourth


NODES = [
    TextNode(text="where is my order", metadata={"intent": "status"}),
    TextNode(text='{"query": "track it", "intent": "status"}'),
    TextNode(text="hello", metadata={"intent": "greet"}),
]
EXPECTED = {("status", "where is my order"), ("status", "track it"), ("greet", "hello")}


@pytest.fixture
def index() -> VectorStoreIndex:
    """Few-shot examples, as prompts retrieve them."""
    return VectorStoreIndex(NODES, embed_model=MockEmbedding(embed_dim=3))


def examples_of(found: formats.Imported) -> set[tuple[str, str]]:
    assert found.format == "few-shot"
    return {(intent.name, line.text) for intent in found.registry for line in intent.utterances}


@pytest.mark.parametrize("kind", ["index", "retriever", "nodes", "documents"])
def test_live_examples_are_imported(index, kind):
    documents = [Document(text=text, metadata={"intent": intent}) for intent, text in sorted(EXPECTED)]
    value = {"index": index, "retriever": index.as_retriever(), "nodes": NODES, "documents": documents}[kind]

    assert examples_of(formats.read_object(value, "shop:examples")) == EXPECTED


def test_persisted_index_is_imported(index, tmp_path):
    """From its folder; its other files are named as unread."""
    index.storage_context.persist(str(tmp_path))
    found = formats.read(tmp_path)

    assert examples_of(found) == EXPECTED
    assert [problem.rule for problem in found.problems] == ["unread-file"]
    assert bare(found.registry) == bare(formats.read_object(index, "shop:index").registry)
