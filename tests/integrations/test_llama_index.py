"""The LlamaIndex postprocessor, with LlamaIndex's own nodes."""

import pytest

pytest.importorskip("llama_index.core", reason="needs the 'llama-index' extra")
from llama_index.core import schema

from tests.integrations.conftest import Backwards
from unshuffle.integrations.llama_index import CoherentOrderPostprocessor


def test_nodes_come_in_coherent_order_with_scores_and_metadata(
    model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    nodes = [
        schema.NodeWithScore(node=schema.TextNode(text=text, metadata={"page": place}), score=1 / (place + 1))
        for place, text in enumerate(sentences)
    ]
    postprocessor = CoherentOrderPostprocessor(model=model)
    found = postprocessor.postprocess_nodes(nodes, query_str="what happened?")
    assert [node.node.metadata["page"] for node in found] == list(expected)
    assert [node.score for node in found] == [1 / (place + 1) for place in expected]
    assert postprocessor.postprocess_nodes([]) == [] and postprocessor.postprocess_nodes(nodes[:1]) == nodes[:1]
    assert postprocessor.class_name() == "CoherentOrderPostprocessor" and postprocessor.to_dict()["model"] == model


def test_nodes_of_one_source_stay_in_the_order_of_their_positions(model: str, sentences: list[str]) -> None:
    nodes = [
        schema.NodeWithScore(node=schema.TextNode(text=text, metadata={"file_name": "a.pdf", "page": page}), score=0.5)
        for text, page in zip(sentences, (2, 4, 1, 3), strict=True)
    ]
    kept = CoherentOrderPostprocessor(model=model, source_key="file_name")
    assert kept.postprocess_nodes(nodes) == nodes
    by_page = CoherentOrderPostprocessor(model=model, source_key="file_name", position_key="page")
    assert [node.node.metadata["page"] for node in by_page.postprocess_nodes(nodes)] == [1, 2, 3, 4]


def test_it_follows_a_retriever_in_a_query_engine(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever

    class Everything(BaseRetriever):
        def _retrieve(self, query_bundle: schema.QueryBundle) -> list[schema.NodeWithScore]:
            return [schema.NodeWithScore(node=schema.TextNode(text=text), score=0.5) for text in sentences]

    step = CoherentOrderPostprocessor(model=model)
    engine = RetrieverQueryEngine.from_args(
        Everything(), llm=MockLLM(), response_mode="compact", node_postprocessors=[step]
    )
    found = engine.query("what happened?").source_nodes
    assert [node.node.get_content() for node in found] == [sentences[place] for place in expected]


def test_a_judge_is_asked_within_its_budget(model: str, sentences: list[str], judge: Backwards) -> None:
    nodes = [schema.NodeWithScore(node=schema.TextNode(text=text), score=0.5) for text in sentences]
    postprocessor = CoherentOrderPostprocessor(model=model, judge=judge, questions=6)
    found = [node.node.get_content() for node in postprocessor.postprocess_nodes(nodes)]
    assert found == sorted(sentences, reverse=True) and 0 < judge.asked <= 6
    assert "judge" not in postprocessor.to_dict()  # it is an object that no file can hold
