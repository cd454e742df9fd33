"""The LangChain transformer, with LangChain's own documents."""

import asyncio

import pytest

pytest.importorskip("langchain_core", reason="needs the 'langchain' extra")
from langchain_core import documents, runnables

from unshuffle.integrations.langchain import CoherentOrder


def test_chunks_come_in_coherent_order_with_their_metadata(
    model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    chunks = [
        documents.Document(page_content=text, metadata={"source": f"{place}.txt", "page": place}, id=str(place))
        for place, text in enumerate(sentences)
    ]
    transformer = CoherentOrder(model)
    assert isinstance(transformer, documents.BaseDocumentTransformer)
    found = transformer.transform_documents(chunks)
    assert [chunk.metadata["page"] for chunk in found] == list(expected)
    assert all(any(chunk is given for given in chunks) for chunk in found)
    assert asyncio.run(transformer.atransform_documents(chunks)) == found
    assert transformer.transform_documents([]) == [] and transformer.transform_documents(chunks[:1]) == chunks[:1]


def test_it_stands_in_a_chain_like_any_other_step(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    chain = runnables.RunnableLambda(lambda texts: [documents.Document(page_content=text) for text in texts])
    chain = chain | runnables.RunnableLambda(CoherentOrder(model, beam=4).transform_documents)
    assert [chunk.page_content for chunk in chain.invoke(sentences)] == [sentences[place] for place in expected]
