"""Concurrent requests share calls of the model, and none waits without end."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.serve.fake import FakeOrderer
from unshuffle.errors import DataError
from unshuffle.serve.batching import Batcher
from unshuffle.serve.fairness import Busy, TooSlow
from unshuffle.serve.metrics import Meters
from unshuffle.serve.settings import Batching
from unshuffle.serve.worker import ModelThread
from unshuffle.steps import Steps
from unshuffle.system.options import OrderOptions
from unshuffle.text.document import Document


def document(number: int) -> Document:
    return Document((f"second {number + 1}", f"first {number}"), id=str(number))


def steps(call: Callable[[], Any]) -> Steps[Any]:
    yield
    return call()


async def answers(model: FakeOrderer, config: Batching, *searches: OrderOptions) -> list[Any]:
    """What concurrent requests, one for each search, get."""
    batcher = Batcher(model, config, Meters())
    batcher.start()
    jobs = [batcher.order([document(number)], [4.0], search) for number, search in enumerate(searches)]
    found = await asyncio.gather(*jobs, return_exceptions=True)
    await batcher.close()
    return found


def test_requests_that_come_together_are_read_together() -> None:
    model = FakeOrderer()
    found = asyncio.run(answers(model, Batching(window=0.05), *[OrderOptions()] * 10))
    assert model.batches == [10]
    assert [one.id for (one,) in found] == [str(number) for number in range(10)]


def test_a_full_batch_does_not_wait_for_its_window() -> None:
    model = FakeOrderer()
    asyncio.run(asyncio.wait_for(answers(model, Batching(window=60, documents=4), *[OrderOptions()] * 8), 5))
    assert model.batches == [4, 4]


def test_other_options_make_another_call() -> None:
    model = FakeOrderer()
    searches = [OrderOptions(n_best=1), OrderOptions(n_best=2), OrderOptions(n_best=1)]
    found = asyncio.run(answers(model, Batching(window=0.02), *searches))
    assert model.batches == [2, 1]
    assert [len(one.n_best) for (one,) in found] == [1, 2, 1]


def test_one_bad_document_fails_alone() -> None:
    async def run() -> list[Any]:
        batcher = Batcher(FakeOrderer(), Batching(window=0.02), Meters())
        batcher.start()
        texts = [("a",), ("poison",), ("c",)]
        jobs = [batcher.order([Document(text)], [1.0], OrderOptions()) for text in texts]
        found = await asyncio.gather(*jobs, return_exceptions=True)
        await batcher.close()
        return found

    first, second, third = asyncio.run(run())
    assert isinstance(second, DataError)
    assert len(first) == len(third) == 1


def test_beyond_the_queue_the_answer_is_to_come_again() -> None:
    model = FakeOrderer(seconds_a_call=0.05)
    found = asyncio.run(answers(model, Batching(window=0, documents=2, waiting=6), *[OrderOptions()] * 12))
    refused = [one for one in found if isinstance(one, Busy)]
    assert len(refused) == 6
    assert all(1 <= one.retry_after <= 60 for one in refused)


def test_a_slow_answer_is_given_up_and_those_not_begun_are_never_computed() -> None:
    model = FakeOrderer(seconds_a_call=0.2)
    found = asyncio.run(answers(model, Batching(window=0, documents=1, seconds=0.1), *[OrderOptions()] * 5))
    assert all(isinstance(one, TooSlow) for one in found)
    assert model.batches == [1]


def test_closing_finishes_what_was_accepted_and_takes_nothing_new() -> None:
    async def run() -> tuple[list[Any], Any]:
        batcher = Batcher(FakeOrderer(seconds_a_call=0.02), Batching(documents=1), Meters())
        batcher.start()
        jobs = [asyncio.ensure_future(batcher.order([document(number)], [4.0], OrderOptions())) for number in range(5)]
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(batcher.close())
        await asyncio.sleep(0)
        late = await asyncio.gather(batcher.order([document(9)], [4.0], OrderOptions()), return_exceptions=True)
        await closing
        return await asyncio.gather(*jobs), late[0]

    found, late = asyncio.run(run())
    assert len(found) == 5
    assert isinstance(late, Busy)


def test_work_that_cannot_be_shared_takes_its_turn() -> None:
    async def run() -> list[Any]:
        batcher = Batcher(FakeOrderer(), Batching(window=0.01), Meters())
        batcher.start()
        found = await asyncio.gather(
            batcher.order([document(0)], [4.0], OrderOptions()),
            batcher.run(steps(lambda: 7), 1.0),
            batcher.order([document(1)], [4.0], OrderOptions()),
        )
        await batcher.close()
        return list(found)

    (first,), number, (second,) = asyncio.run(run())
    assert (first.id, number, second.id) == ("0", 7, "1")


def test_an_unexpected_failure_reaches_its_request() -> None:
    async def run() -> None:
        batcher = Batcher(FakeOrderer(), Batching(), Meters())
        batcher.start()
        try:
            await batcher.run(steps(lambda: 1 // 0), 1.0)
        finally:
            await batcher.close()

    with pytest.raises(ZeroDivisionError):
        asyncio.run(run())


class Panic(BaseException):
    """As a failure in a library written in Rust appears in Python."""


@pytest.mark.parametrize("cost", [1.0, 9_000.0])
def test_a_panic_of_the_model_fails_its_request_and_none_after_it(cost: float) -> None:
    def panic() -> None:
        raise Panic("secret")

    async def run() -> Any:
        batcher = Batcher(FakeOrderer(), Batching(seconds=20), Meters())
        batcher.start()
        with pytest.raises(RuntimeError, match="Panic") as failed:
            await batcher.run(steps(panic), cost)
        assert "secret" not in str(failed.value) and batcher.alive
        try:
            return await batcher.run(steps(lambda: 7), cost)
        finally:
            await batcher.close()

    assert asyncio.run(run()) == 7


def test_a_panic_over_one_document_leaves_those_read_with_it_alone() -> None:
    class Panicking(FakeOrderer):
        def mentions(self, documents: Any) -> list[Document]:
            if any(document.id == "1" for document in documents):
                raise Panic
            return super().mentions(documents)

    found = asyncio.run(answers(Panicking(), Batching(window=0.02), *[OrderOptions()] * 3))
    assert [type(one) for one in found] == [list, RuntimeError, list]


@pytest.mark.parametrize("failure", [Panic, StopIteration, SystemExit])
def test_whatever_ends_a_call_in_the_model_thread_the_thread_goes_on(failure: type[BaseException]) -> None:
    def fail() -> None:
        raise failure

    async def run() -> Any:
        thread = ModelThread("model")
        with pytest.raises(RuntimeError, match=failure.__name__):
            await asyncio.wait_for(thread.run(fail), 20)
        try:
            return await asyncio.wait_for(thread.run(lambda: 7), 20)
        finally:
            thread.stop()

    assert asyncio.run(run()) == 7


def test_a_collector_that_has_ended_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def run() -> tuple[bool, bool]:
        batcher = Batcher(FakeOrderer(), Batching(seconds=0.1), Meters())
        batcher.start()
        before = batcher.alive
        monkeypatch.setattr(batcher, "_do", lambda *_: 1 // 0)
        with pytest.raises(TooSlow):
            await batcher.run(steps(lambda: 7), 1.0)
        after = batcher.alive
        await batcher.close()
        return before, after

    assert asyncio.run(run()) == (True, False)


def test_clients_that_come_back_at_once_join_the_next_call() -> None:
    model = FakeOrderer(seconds_a_call=0.2)

    async def run() -> None:
        batcher = Batcher(model, Batching(window=0.01, documents=8), Meters())
        batcher.start()

        async def client(delay: float) -> None:
            await asyncio.sleep(delay)
            for number in range(4):
                await batcher.order([document(number)], [4.0], OrderOptions())

        # Half of them begin during the first call of the others.
        await asyncio.gather(*(client(0.0) for _ in range(4)), *(client(0.1) for _ in range(4)))
        await batcher.close()

    asyncio.run(run())
    assert model.batches[0] == 4
    assert model.batches[1:4] == [8, 8, 8]
