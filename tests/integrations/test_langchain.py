"""The LangChain transformer, with LangChain's own documents."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("langchain_core", reason="needs the 'langchain' extra")
from langchain_core import callbacks, documents, runnables

from tests.integrations.conftest import Backwards
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


def test_it_is_a_step_of_a_chain(model: str, sentences: list[str], expected: tuple[int, ...]) -> None:
    step = CoherentOrder(model, beam=4)
    assert isinstance(step, runnables.Runnable)
    retriever = runnables.RunnableLambda(lambda texts: [documents.Document(page_content=text) for text in texts])
    chain = retriever | step | (lambda found: " ".join(one.page_content for one in found))
    right = " ".join(sentences[place] for place in expected)
    assert chain.invoke(sentences) == right == asyncio.run(chain.ainvoke(sentences))
    assert chain.batch([sentences, sentences[:1]]) == [right, sentences[0]]
    assert list(chain.stream(sentences)) == [right]


def test_a_chain_traces_it_like_its_other_steps(model: str, sentences: list[str]) -> None:
    seen: list[str] = []

    class Watcher(callbacks.BaseCallbackHandler):
        def on_chain_start(self, serialized: object, inputs: object, **more: Any) -> None:
            seen.append(more.get("name") or "")

    given = [documents.Document(page_content=text) for text in sentences]
    CoherentOrder(model).invoke(given, {"callbacks": [Watcher()]})
    assert seen == ["CoherentOrder"]


def test_chunks_of_one_source_stay_in_their_order(model: str, sentences: list[str]) -> None:
    given = [
        documents.Document(page_content=text, metadata={"source": "a.pdf", "page": page})
        for text, page in zip(sentences, (2, 4, 1, 3), strict=True)
    ]
    assert CoherentOrder(model, source_key="source").invoke(given) == given
    by_page = CoherentOrder(model, source_key="source", position_key="page").invoke(given)
    assert [one.metadata["page"] for one in by_page] == [1, 2, 3, 4]


def test_a_judge_is_asked_within_its_budget(model: str, sentences: list[str], judge: Backwards) -> None:
    given = [documents.Document(page_content=text) for text in sentences]
    found = CoherentOrder(model, judge=judge, questions=6).invoke(given)
    assert [one.page_content for one in found] == sorted(sentences, reverse=True)
    assert 0 < judge.asked <= 6
    CoherentOrder(model, judge=(idle := Backwards()), questions=0).invoke(given)
    assert idle.asked == 0
