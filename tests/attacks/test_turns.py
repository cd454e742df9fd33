"""Long jobs take turns with short ones; what nobody waits for is not done."""

import asyncio
import statistics
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.serve.fake import FakeOrderer
from unshuffle.serve.batching import Batcher
from unshuffle.serve.fairness import Busy, TooSlow
from unshuffle.serve.metrics import Meters
from unshuffle.serve.settings import Batching
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document

SHORT = Document(("one 1", "two 2"), id="short")
LONG = Document(("one 1", "two 2"), id="long")


class Recorder(FakeOrderer):
    """Remembers the names of the documents of each call."""

    def __init__(self, **options: float) -> None:
        super().__init__(**options)
        self.calls: list[list[str]] = []

    def order_many(self, documents: Any, options: OrderOptions | None = None, *, batch_size: int = 32) -> Any:
        documents = list(documents)
        self.calls.append([document.id for document in documents])
        return super().order_many(documents, options, batch_size=batch_size)


def with_batcher(
    model: FakeOrderer, config: Batching, client: Callable[[Batcher], Awaitable[Any]], *, close: bool = True
) -> Any:
    async def run() -> Any:
        batcher = Batcher(model, config, Meters())
        batcher.start()
        try:
            return await client(batcher)
        finally:
            if close:
                await batcher.close()

    return asyncio.run(run())


async def until(condition: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.001)
    raise AssertionError("it never came to that")


@pytest.mark.parametrize("hostile", [1, 8])
def test_a_short_request_waits_for_no_long_one(hostile: int) -> None:
    release = threading.Event()

    class Stuck(Recorder):
        """Does not come back from a long document until the short one has been answered."""

        def order_many(self, documents: Any, options: OrderOptions | None = None, *, batch_size: int = 32) -> Any:
            documents = list(documents)
            if documents[0].id == "long":
                assert release.wait(60)
            return super().order_many(documents, options, batch_size=batch_size)

    model = Stuck()

    async def client(batcher: Batcher) -> None:
        long = [asyncio.ensure_future(batcher.order([LONG] * 3, [600.0] * 3, OrderOptions())) for _ in range(hostile)]
        await asyncio.sleep(0.05)
        for _ in range(3):
            await asyncio.wait_for(batcher.order([SHORT], [5.0], OrderOptions()), 30)
        assert model.calls == [["short"]] * 3
        release.set()
        assert [len(found) for found in await asyncio.gather(*long)] == [3] * hostile

    try:
        with_batcher(model, Batching(window=0), client)
    finally:
        release.set()
    assert max(map(len, model.calls)) == 1  # two of them would cost more than a slice


def test_long_requests_end_though_short_ones_never_do() -> None:
    model = Recorder(seconds_a_call=0.005)

    async def client(batcher: Batcher) -> None:
        async def again() -> None:
            while True:
                await batcher.order([SHORT], [5.0], OrderOptions())

        short = [asyncio.ensure_future(again()) for _ in range(8)]
        found = await asyncio.wait_for(batcher.order([LONG] * 8, [600.0] * 8, OrderOptions()), 30)
        assert len(found) == 8
        for one in short:
            one.cancel()

    with_batcher(model, Batching(window=0), client)


def test_at_the_end_what_takes_too_long_is_refused() -> None:
    release = threading.Event()

    def stuck() -> Steps[int]:
        yield
        release.wait(60)
        return 1

    async def client(batcher: Batcher) -> None:
        work = [asyncio.ensure_future(batcher.run(stuck(), cost)) for cost in (1.0, 1.0, 9_000.0, 9_000.0)]
        await asyncio.sleep(0.05)
        batcher.stop()
        for one in work:
            with pytest.raises(Busy, match="stopping"):
                await asyncio.wait_for(one, 30)
        await batcher.close()

    try:
        with_batcher(FakeOrderer(), Batching(last_seconds=0.1), client, close=False)
    finally:
        release.set()


def test_long_requests_take_turns_among_themselves() -> None:
    model = Recorder(seconds_a_call=0.002)
    first, second = (Document(("a 1", "b 2"), id=name) for name in ("first", "second"))

    async def client(batcher: Batcher) -> None:
        await asyncio.gather(*(batcher.order([one] * 6, [900.0] * 6, OrderOptions()) for one in (first, second)))

    with_batcher(model, Batching(), client)
    assert model.calls == [["first"], ["second"]] * 6


def test_answers_of_a_long_request_keep_their_order() -> None:
    documents = [Document((f"b {number + 1}", f"a {number}"), id=str(number)) for number in range(9)]

    async def client(batcher: Batcher) -> list[str]:
        return [found.id for found in await batcher.order(documents, [400.0] * 9, OrderOptions())]

    assert with_batcher(FakeOrderer(), Batching(), client) == [str(number) for number in range(9)]


def counting(done: list[int], many: int = 1000) -> Steps[int]:
    for _ in range(many):
        time.sleep(0.005)
        done.append(1)
        yield
    return len(done)


def test_a_client_that_has_gone_ends_its_work_between_two_steps() -> None:
    done: list[int] = []

    async def client(batcher: Batcher) -> int:
        work = asyncio.ensure_future(batcher.run(counting(done), 9_000.0))
        await until(lambda: len(done) > 2)
        work.cancel()
        left = len(done)
        await batcher.order([SHORT], [5.0], OrderOptions())
        await batcher.order([SHORT], [5.0], OrderOptions())
        return left

    left = with_batcher(FakeOrderer(), Batching(), client)
    assert len(done) <= left + 2


def test_a_deadline_ends_work_between_two_steps() -> None:
    done: list[int] = []

    async def client(batcher: Batcher) -> None:
        with pytest.raises(TooSlow):
            await batcher.run(counting(done), 9_000.0)

    with_batcher(FakeOrderer(), Batching(seconds=0.1), client)
    assert 0 < len(done) < 1000


def test_clients_that_have_gone_leave_their_places_in_the_queue() -> None:
    model = Recorder(seconds_a_call=0.01)
    config = Batching(waiting=4, long=2)

    async def client(batcher: Batcher) -> None:
        for cost in (2.0, 9_000.0):
            for _ in range(5):
                work = [asyncio.ensure_future(batcher.order([LONG] * 2, [cost] * 2, OrderOptions())) for _ in range(2)]
                await asyncio.sleep(0)
                for one in work:
                    one.cancel()
                await asyncio.sleep(0)
        assert len(await batcher.order([SHORT] * 4, [1.0] * 4, OrderOptions())) == 4

    with_batcher(model, config, client)


def test_long_requests_cannot_fill_the_queue_of_short_ones() -> None:
    model = Recorder(seconds_a_call=0.01)

    async def client(batcher: Batcher) -> None:
        long = [
            asyncio.ensure_future(batcher.order([LONG] * 64, [500.0] * 64, OrderOptions()))
            for _ in range(Batching().long)
        ]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="long"):
            await batcher.order([LONG] * 64, [500.0] * 64, OrderOptions())
        assert await batcher.order([SHORT], [5.0], OrderOptions())
        for one in long:
            one.cancel()

    with_batcher(model, Batching(), client)


def test_the_long_request_that_is_being_done_counts_among_the_long_ones() -> None:
    release = threading.Event()

    def stuck() -> Steps[int]:
        release.wait(60)
        yield
        return 1

    async def client(batcher: Batcher) -> None:
        work = [asyncio.ensure_future(batcher.run(stuck(), 9_000.0)) for _ in range(2)]
        await asyncio.sleep(0.05)  # the first is being done, the second waits
        with pytest.raises(Busy, match="long requests are under way"):
            await batcher.run(stuck(), 9_000.0)
        work[0].cancel()
        await asyncio.sleep(0)
        work.append(asyncio.ensure_future(batcher.run(stuck(), 9_000.0)))
        await asyncio.sleep(0)
        release.set()
        assert await asyncio.gather(*work[1:]) == [1, 1]

    try:
        with_batcher(FakeOrderer(), Batching(long=2), client)
    finally:
        release.set()


def test_the_end_does_not_wait_for_what_nobody_awaits() -> None:
    release = threading.Event()

    def stuck() -> Steps[int]:
        yield
        release.wait(60)
        return 1

    async def client(batcher: Batcher) -> None:
        work = asyncio.ensure_future(batcher.run(stuck(), 1.0))
        await asyncio.sleep(0.05)
        work.cancel()
        await asyncio.sleep(0)
        await batcher.close()
        assert not release.is_set()

    try:
        with_batcher(FakeOrderer(), Batching(), client, close=False)
    finally:
        release.set()


def test_one_hostile_client_does_not_triple_the_wait_of_eight_honest_ones() -> None:
    rounds = 15

    async def honest(batcher: Batcher) -> list[float]:
        async def one() -> list[float]:
            waits = []
            for _ in range(rounds):
                began = time.monotonic()
                await batcher.order([SHORT], [100.0], OrderOptions())
                waits.append(time.monotonic() - began)
            return waits

        return [wait for waits in await asyncio.gather(*(one() for _ in range(8))) for wait in waits]

    async def attacked(batcher: Batcher) -> list[float]:
        async def attack(beam: int) -> None:
            while True:
                await batcher.order([LONG] * 64, [100.0] * 64, OrderOptions(beam=beam))

        hostile = [asyncio.ensure_future(attack(beam)) for beam in range(1, 9)]
        await asyncio.sleep(0.05)
        waits = await honest(batcher)
        for one in hostile:
            one.cancel()
        return waits

    def p99(waits: list[float]) -> float:
        return statistics.quantiles(waits, n=100)[98]

    # Each document takes a hundredth of a second: eight honest ones together 80 ms, a slice of the hostile ones 100 ms.
    alone = with_batcher(FakeOrderer(seconds_a_document=0.01), Batching(), honest)
    together = with_batcher(FakeOrderer(seconds_a_document=0.01), Batching(), attacked)
    assert p99(together) <= 3 * p99(alone)
