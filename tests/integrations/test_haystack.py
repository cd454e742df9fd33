"""The Haystack component, in Haystack's own pipelines."""

import pytest

pytest.importorskip("haystack", reason="needs the 'haystack' extra")
import haystack

from tests.integrations.conftest import Backwards
from unshuffle.errors import ConfigError
from unshuffle.integrations.haystack import CoherentOrderRanker
from unshuffle.rank.constraints import Constraints


def retrieved(sentences: list[str]) -> list[object]:
    return [
        haystack.Document(content=text, meta={"page": place}, score=1 / (place + 1))
        for place, text in enumerate(sentences)
    ]


def test_documents_come_in_coherent_order_with_scores_and_meta(
    model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    pipeline = haystack.Pipeline()
    pipeline.add_component("order", CoherentOrderRanker(model, beam=8))
    given = retrieved(sentences)
    found = pipeline.run({"order": {"documents": given}})["order"]["documents"]
    assert [one.meta["page"] for one in found] == list(expected)
    assert [one.score for one in found] == [1 / (place + 1) for place in expected]
    assert CoherentOrderRanker(model).run(documents=[])["documents"] == []


def test_it_follows_a_retriever_and_feeds_a_prompt(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    from haystack.components.builders import PromptBuilder
    from haystack.components.retrievers import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(retrieved(sentences))
    pipeline = haystack.Pipeline()
    pipeline.add_component("retriever", InMemoryBM25Retriever(store, top_k=4))
    pipeline.add_component("order", CoherentOrderRanker(model))
    template = "{% for one in documents %}{{ one.content }}|{% endfor %}"
    pipeline.add_component("prompt", PromptBuilder(template, required_variables=["documents"]))
    pipeline.connect("retriever", "order")
    pipeline.connect("order.documents", "prompt.documents")
    answer = pipeline.run({"retriever": {"query": "what she did: the river, the apple"}})
    assert answer["prompt"]["prompt"] == "".join(f"{sentences[place]}|" for place in expected)


def test_a_pipeline_with_it_is_written_and_read(model: str, sentences: list[str]) -> None:
    pipeline = haystack.Pipeline()
    pipeline.add_component("order", CoherentOrderRanker(model, source_key="page", keep_if_unsure="auto"))
    read = haystack.Pipeline.loads(pipeline.dumps(), allowed_modules=["unshuffle.integrations.haystack"])
    documents = {"order": {"documents": retrieved(sentences)}}
    assert read.dumps() == pipeline.dumps() and read.run(documents) == pipeline.run(documents)


def test_what_no_file_can_hold_is_refused_when_it_is_written(model: str) -> None:
    with pytest.raises(ConfigError, match="constraints"):
        CoherentOrderRanker(model, constraints=Constraints(before=[(0, 1)])).to_dict()


def test_a_judge_is_asked_within_its_budget(model: str, sentences: list[str], judge: Backwards) -> None:
    ranker = CoherentOrderRanker(model, judge=judge, questions=6)
    found = [one.content for one in ranker.run(documents=retrieved(sentences))["documents"]]
    assert found == sorted(sentences, reverse=True) and 0 < judge.asked <= 6
    with pytest.raises(ConfigError, match="judge"):
        ranker.to_dict()
