"""The tools for agents, called by the protocol's own client."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("mcp", reason="needs the extra 'mcp'")
from mcp import Client, StdioServerParameters

from tests.fixtures.tiny import save_tiny
from tests.serve.conftest import ROOT
from unshuffle.headline import FAIR, GUESS, SURE
from unshuffle.serve.mcp import INSTRUCTIONS, make_mcp_server
from unshuffle.serve.settings import Limits
from unshuffle.system.orderer import Orderer

STORY = ["Mia picked an apple.", "She washed the apple.", "Then she ate it.", "It was sweet."]
Answer = TypeVar("Answer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_tiny(tmp_path_factory.mktemp("agents") / "tiny")


@pytest.fixture(scope="module")
def orderer(folder: Path) -> Orderer:
    return Orderer.from_pretrained(folder)


def talk(server: Any, work: Callable[[Client], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        async with Client(server, read_timeout_seconds=120) as client:
            return await work(client)

    return asyncio.run(run())


def call(server: Any, tool: str, **arguments: object) -> Any:
    return talk(server, lambda client: client.call_tool(tool, arguments))


def test_an_agent_starts_the_command_and_uses_all_three_tools(folder: Path, orderer: Orderer) -> None:
    started = StdioServerParameters(
        command=sys.executable, args=["-m", "unshuffle", "mcp", "--model", str(folder)], cwd=ROOT,
        env={"PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip

    async def work(client: Client) -> tuple[Any, ...]:
        listed = await client.list_tools()
        ordered = await client.call_tool("order_sentences", {"sentences": STORY[::-1]})
        scored = await client.call_tool("score_coherence", {"sentences": STORY})
        made = await client.call_tool("make_exercise", {"sentences": STORY, "seed": 3})
        return listed.tools, ordered, scored, made

    tools, ordered, scored, made = talk(started, work)
    assert [tool.name for tool in tools] == ["order_sentences", "score_coherence", "make_exercise"]
    expected = orderer.order(STORY[::-1])
    assert ordered.structured_content["order"] == list(expected.order) and not ordered.is_error
    assert ordered.structured_content["sentences"] == list(expected.sentences)
    assert scored.structured_content["verdict"] == orderer.coherence(STORY).verdict
    assert len(scored.structured_content["transitions"]) == 3
    exercise = made.structured_content
    places = [exercise["labels"].index(letter) for letter in exercise["solution"]]
    assert [exercise["items"][place] for place in places] == STORY
    assert json.loads(ordered.content[0].text) == ordered.structured_content  # for clients that read text alone


def test_the_schema_tells_what_a_tool_may_be_given(orderer: Orderer) -> None:
    server = make_mcp_server(orderer, Limits(sentences=12, characters=300))
    order, _, exercise = talk(server, lambda client: client.list_tools()).tools
    given = order.input_schema["properties"]["sentences"]["anyOf"][0]
    assert (given["minItems"], given["maxItems"], given["items"]["maxLength"]) == (1, 12, 300)
    assert list(order.input_schema["properties"]) == ["sentences", "text", "keep_if_unsure", "sources"]
    assert exercise.input_schema["properties"]["sentences"]["anyOf"][0]["minItems"] == 3
    assert {"order", "confidence", "kept"} <= set(order.output_schema["properties"])
    assert order.annotations.read_only_hint and order.description


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("order_sentences", {}, "sentences: they are missing. Give 'sentences', a list, or 'text'."),
        ("order_sentences", {"sentences": []}, "sentences: it has too few entries. Give at least 1."),
        ("order_sentences", {"sentences": ["a"] * 13}, "sentences: it has too many entries. Give at most 12."),
        ("order_sentences", {"sentences": ["x" * 301]}, "sentences[0]: it is too long. Give at most 300 characters."),
        ("order_sentences", {"sentences": ["a", "  "]}, "sentences[1]: it is blank. Leave it out or give it words."),
        (
            "order_sentences",
            {"sentences": "a. b."},
            "sentences: it is text. Give a list of sentences, or running text as 'text'.",
        ),
        (
            "order_sentences",
            {"sentences": STORY, "text": "a"},
            "sentences: they came together with 'text'. Give one of the two.",
        ),
        (
            "order_sentences",
            {"sentences": STORY, "keep_if_unsure": "autoo"},
            "keep_if_unsure: it is an unknown word. Give a number from 0 to 1, or 'auto'.",
        ),
        (
            "order_sentences",
            {"sentences": STORY, "sources": ["a"]},
            "sources: 1 given for a document of 4 sentences. Give one for each sentence.",
        ),
        ("order_sentences", {"sentnces": STORY}, "sentnces: there is no such argument. Did you mean 'sentences'?"),
        ("score_coherence", {"sentences": [1, 2]}, "sentences[0]: it is a number. Give text."),
        ("make_exercise", {"sentences": STORY[:2]}, "sentences: it has too few entries. Give at least 3."),
        (
            "make_exercise",
            {"sentences": STORY, "seed": -1},
            "seed: it is too small. Give a whole number from 0 to 2147483648.",
        ),
        (
            "sort",
            {},
            "sort: there is no such tool. Known are: order_sentences, score_coherence, make_exercise.",
        ),
    ],
)
def test_what_is_not_allowed_is_one_line_that_says_what_to_do(
    orderer: Orderer, tool: str, arguments: dict[str, Any], error: str
) -> None:
    answer = call(make_mcp_server(orderer, Limits(sentences=12, characters=300)), tool, **arguments)
    assert answer.is_error and answer.structured_content is None and answer.content[0].text == error


def test_tools_take_running_text_too(orderer: Orderer) -> None:
    server = make_mcp_server(orderer)
    for tool in ("order_sentences", "score_coherence", "make_exercise"):
        listed = call(server, tool, sentences=STORY)
        assert call(server, tool, text=" ".join(STORY)).structured_content == listed.structured_content


def test_the_models_own_threshold_can_be_asked_for(orderer: Orderer) -> None:
    found = call(make_mcp_server(orderer), "order_sentences", sentences=STORY[::-1], keep_if_unsure="auto")
    assert found.structured_content["kept"] == orderer.order(STORY[::-1], keep_if_unsure="auto").kept


def test_a_panic_of_the_model_ends_the_call_and_not_the_server(
    orderer: Orderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Panic(BaseException):
        """As a failure in a library written in Rust appears in Python."""

    def panic(_: object) -> list[int]:
        raise Panic("secret")

    async def work(client: Client) -> tuple[Any, Any]:
        with monkeypatch.context() as patch:
            patch.setattr(orderer, "pieces", panic)
            failed = await client.call_tool("order_sentences", {"sentences": STORY})
        return failed, await client.call_tool("order_sentences", {"sentences": STORY})

    failed, found = talk(make_mcp_server(orderer), work)
    assert failed.content[0].text == "order_sentences: the server failed. Its log says more."
    assert not found.is_error


def test_what_would_cost_too_much_is_refused_in_one_line(orderer: Orderer) -> None:
    server = make_mcp_server(orderer, Limits(document_cost=10))
    answer = call(server, "order_sentences", sentences=STORY)
    assert answer.is_error and "the limit is 10" in answer.content[0].text and "\n" not in answer.content[0].text
    cheap = make_mcp_server(orderer, Limits(cost=10))
    for tool in ("score_coherence", "make_exercise"):
        assert "the limit is 10" in call(cheap, tool, sentences=STORY).content[0].text


def test_sources_and_thresholds_reach_the_model(orderer: Orderer) -> None:
    server = make_mcp_server(orderer)
    kept = call(server, "order_sentences", sentences=STORY, keep_if_unsure=1.0).structured_content
    assert kept["kept"] and kept["order"] == [0, 1, 2, 3]
    assert call(server, "order_sentences", sentences=STORY, sources=["a"] * 4).structured_content["order"] == [
        0,
        1,
        2,
        3,
    ]
    foreign = ["Der Hund bellt laut.", "Die Katze schläft auf dem Sofa.", "Wir gehen nach Hause."]
    assert call(server, "order_sentences", sentences=foreign).structured_content["warnings"]


def test_calls_at_the_same_time_are_all_answered(orderer: Orderer) -> None:
    async def work(client: Client) -> list[Any]:
        return await asyncio.gather(
            *(client.call_tool("order_sentences", {"sentences": STORY[turn:] + STORY[:turn]}) for turn in range(4))
        )

    answers = talk(make_mcp_server(orderer), work)
    expected = [list(orderer.order(STORY[turn:] + STORY[:turn]).order) for turn in range(4)]
    assert [answer.structured_content["order"] for answer in answers] == expected


def test_agents_are_told_the_same_scale_as_people() -> None:
    scale = (
        f"below {GUESS} an order is little better than a guess, below {FAIR} it is unsure, from {SURE} on it is sure"
    )
    assert scale in INSTRUCTIONS
