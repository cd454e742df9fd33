"""The LlamaIndex postprocessor, with LlamaIndex's own nodes."""

import pytest

pytest.importorskip("llama_index.core", reason="needs the 'llama-index' extra")
from llama_index.core import schema

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
