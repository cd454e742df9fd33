"""Processes that take one part at a time; when one dies another takes its place and the part is done again."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any

from unshuffle.bulk.manifest import Done
from unshuffle.bulk.parts import Part
from unshuffle.errors import ConfigError, Doubt, UnshuffleError
from unshuffle.integrations.rows import RowSettings

HOPELESS = 25
"""Deaths in a row, without one finished part between them, that no single document can be blamed for."""


@dataclass(frozen=True, slots=True)
class Failed:
    """What made a worker give up: nothing that is wrong with a row or a file of the corpus."""

    reason: str


@dataclass
class Worker:
    """A process, the pipe to it, and what it is at."""

    process: BaseProcess
    pipe: Connection
    part: Part | None = None


def work(pipe: Connection, settings: RowSettings, folder: str) -> None:
    """The life of a worker: a part in, a note out, until the pipe is closed."""
    import signal
    import warnings

    from unshuffle.bulk.work import PartWorker

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who started us is asked to stop, and stops us
    warnings.simplefilter("ignore", Doubt)  # the column of warnings has them
    worker = PartWorker(settings, folder)
    try:
        while (part := pipe.recv()) is not None:
            try:
                pipe.send(worker(part))
            except UnshuffleError as error:
                pipe.send(Failed(str(error)))
    except (EOFError, BrokenPipeError):  # nobody is left to work for
        return


class Crew:
    """As many workers as asked for; at most one part each is out, so memory does not grow with the corpus."""

    def __init__(self, workers: int, settings: RowSettings, folder: str) -> None:
        self._arguments = settings, folder
        self._wanted = workers
        methods = multiprocessing.get_all_start_methods()
        # A server that has imported torch once and forks from there is quick, and free of this process's threads.
        self._context: Any = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        if "forkserver" in methods:
            self._context.set_forkserver_preload(["unshuffle.bulk.work", "unshuffle.system.orderer"])
        self._workers: list[Worker] = []
        self.deaths = 0

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *trouble: object) -> None:
        for worker in self._workers:
            worker.pipe.close()
            if any(trouble):
                worker.process.terminate()
        for worker in self._workers:
            worker.process.join()

    def done(self, parts: Iterable[Part]) -> Iterator[Done]:
        """Each part's note as it comes, in no particular order."""
        waiting, again = iter(parts), deque[Part]()
        since = 0
        while True:
            self._hand_out(waiting, again)
            busy = {worker.pipe: worker for worker in self._workers if worker.part is not None}
            if not busy:
                return
            for pipe in wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]
                found = self._answer(worker)
                if found is not None:
                    since, worker.part = 0, None
                    yield found
                    continue
                since += 1
                if since > HOPELESS:
                    raise ConfigError(
                        f"order-files: {since} workers in a row were killed. Give the machine more memory, "
                        "or use fewer --workers; what is finished is kept."
                    )
                again.append(worker.part)  # type: ignore[arg-type]
                self._workers.remove(worker)

    def _hand_out(self, waiting: Iterator[Part], again: deque[Part]) -> None:
        for worker in self._workers:
            if worker.part is None:
                self._give(worker, again.popleft() if again else next(waiting, None))
        while len(self._workers) < self._wanted:
            part = again.popleft() if again else next(waiting, None)
            if part is None:
                return
            ours, theirs = self._context.Pipe()
            process = self._context.Process(target=work, args=(theirs, *self._arguments), daemon=True)
            process.start()
            theirs.close()
            worker = Worker(process, ours)
            self._workers.append(worker)
            self._give(worker, part)

    def _give(self, worker: Worker, part: Part | None) -> None:
        worker.part = part
        if part is not None:
            try:
                worker.pipe.send(part)
            except OSError:
                return  # it died idle; reading from its pipe will tell

    def _answer(self, worker: Worker) -> Done | None:
        """None where the worker is gone."""
        try:
            found = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            self.deaths += 1
            return None
        if isinstance(found, Failed):
            raise ConfigError(found.reason)
        return found  # type: ignore[no-any-return]
