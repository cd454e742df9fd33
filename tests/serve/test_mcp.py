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
    given = order.input_schema["properties"]["sentences"]
    assert (given["minItems"], given["maxItems"], given["items"]["maxLength"]) == (1, 12, 300)
    assert order.input_schema["required"] == ["sentences"]
    assert exercise.input_schema["properties"]["sentences"]["minItems"] == 3
    assert {"order", "confidence", "kept"} <= set(order.output_schema["properties"])
    assert order.annotations.read_only_hint and order.description


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("order_sentences", {"sentences": []}),
        ("order_sentences", {"sentences": ["a"] * 13}),
        ("order_sentences", {"sentences": ["x" * 301, "y"]}),
        ("order_sentences", {"sentences": ["a", "  "]}),
        ("order_sentences", {"sentences": STORY, "keep_if_unsure": 2}),
        ("order_sentences", {"sentences": STORY, "sources": ["a"]}),
        ("order_sentences", {"text": "a"}),
        ("score_coherence", {"sentences": [1, 2]}),
        ("make_exercise", {"sentences": STORY[:2]}),
        ("make_exercise", {"sentences": STORY, "seed": -1}),
    ],
)
def test_what_is_not_allowed_is_an_error_of_the_call(orderer: Orderer, tool: str, arguments: dict[str, Any]) -> None:
    answer = call(make_mcp_server(orderer, Limits(sentences=12, characters=300)), tool, **arguments)
    assert answer.is_error and answer.structured_content is None and "Traceback" not in answer.content[0].text


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
