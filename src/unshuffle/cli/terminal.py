"""What a command writes: answers and tables to stdout or a file, progress to stderr where that is a terminal."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

import typer

from unshuffle.storage.files import write_whole

if TYPE_CHECKING:
    from tqdm import tqdm

    from unshuffle.evaluation.predict import Prediction
    from unshuffle.training.loop import Progress

SHOWN = ("tau", "pmr", "acc_micro", "acc_macro", "head", "tail", "lcs_micro", "adjacent")
WIDEST = 240
"""Columns of a table that no terminal shows."""
QUIET = 300.0
"""Seconds of training after which a log gets a line even in the middle of an epoch, which can take hours."""
Result = TypeVar("Result")


def to_terminal(out: Path | None) -> bool:
    """Whether the answer is shown on a terminal."""
    return out is None and sys.stdout.isatty()


def write_pieces(pieces: Iterable[str], out: Path | None) -> None:
    """Writes pieces one by one, in constant memory."""
    if out is None:
        for piece in pieces:
            # As bytes: what the terminal's encoding lacks must not end the command.
            sys.stdout.buffer.write(piece.encode("utf-8", "surrogatepass"))
            sys.stdout.buffer.flush()
        return

    def write(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as target:
            target.writelines(pieces)

    write_whole(out, write)


def write_bytes(content: bytes, out: Path | None) -> None:
    """Writes a whole file at once."""
    if out is None:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return

    def write(temporary: Path) -> None:
        temporary.write_bytes(content)

    write_whole(out, write)


def write_figures(predictions: Sequence[Prediction], form: str = "text") -> None:
    """Figures with their 95% intervals: a table, or one JSON object; documents of one sentence are left out."""
    from unshuffle.evaluation.predict import figures, intervals
    from unshuffle.evaluation.results import plain

    found, bands = plain(figures(predictions)), intervals(predictions)
    left_out = len(predictions) // found["shuffles"] - found["documents"]
    if form == "json":
        rounded = {name: [round(band.lower, 3), round(band.upper, 3)] for name, band in bands.items()}
        typer.echo(json.dumps(found | {"left_out": left_out, "interval": rounded}))
        return
    rows = [[name, f"{found[name]:.2f}", between(bands.get(name))] for name in SHOWN]
    if found["changed"] is not None:
        rows.append(["changed by the shuffle", f"{found['changed']:.2f}", ""])
    rows.append(["documents", str(found["documents"]), ""])
    if left_out:
        rows.append(["left out, of one sentence", str(left_out), ""])
    write_table(["measure", "mean", "95% interval"], rows)


def between(band: Any) -> str:
    """The ends of an interval; a dash where there is none."""
    return f"{band.lower:.2f} to {band.upper:.2f}" if band is not None else "–"


def write_table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table on stdout; cells are text, in which brackets mean nothing."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(*titles, box=SIMPLE_HEAD, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    # Piped into a file, a table is as wide as its cells and not as a terminal that is not there.
    Console(width=None if sys.stdout.isatty() else WIDEST).print(table)


def is_watched() -> bool:
    """Whether somebody sees stderr."""
    return sys.stderr is not None and sys.stderr.isatty()


def spinner(what: str) -> AbstractContextManager[Any]:
    """Turns beside a few words, such as "Loading the model"; what it yields can be given others, or is None."""
    if not is_watched():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(f"{what} …")


def counted(
    results: Iterable[Result],
    what: str,
    total: Callable[[], int | None] = lambda: None,
    *,
    answers_shown: bool = False,
) -> Iterator[Result]:
    """Passes results on with documents per second and the time left; `total` may change as more is known.

    `answers_shown`: results are printed on the same terminal, so that a bar would tear them; then only the wait for
    the first is shown.
    """
    if not is_watched():
        yield from results
        return
    stream = iter(results)
    with spinner(what):
        first = next(stream, None)
    if first is None:
        return
    with _bar(what, disable=answers_shown) as update:
        yield first
        update(total())
        for result in stream:
            yield result
            update(total())


class Pace:
    """Documents per second and the time left, beside a spinner, for work that is done in parts of about one size."""

    def __init__(self, status: Any) -> None:
        self._status = status
        self._started = time.monotonic()
        self._parts = self._done = self._documents = 0

    def plan(self, parts: int) -> None:
        """How many parts there are to do."""
        self._parts = parts
        self._started = time.monotonic()

    def add(self, documents: int) -> None:
        """One more part is done."""
        self._done += 1
        self._documents += documents
        seconds = time.monotonic() - self._started
        left = timedelta(seconds=round(seconds / self._done * (self._parts - self._done)))
        if self._status is not None:
            rate = self._documents / max(seconds, 1e-6)
            self._status.update(f"Ordering … {self._documents:,} documents, {rate:,.0f} per second, {left} left")


@contextmanager
def _bar(what: str, *, disable: bool) -> Iterator[Callable[[int | None], None]]:
    from tqdm import tqdm

    with tqdm(desc=what, unit=" documents", disable=disable, leave=False, dynamic_ncols=True) as bar:

        def update(total: int | None) -> None:
            if total is not None:
                bar.total = max(total, bar.n + 1)
            bar.update()

        yield update


class StageBars:
    """One bar per epoch where stderr is a terminal, now and then a line elsewhere; each epoch ends with a line."""

    def __enter__(self) -> StageBars:
        self._told = time.monotonic()
        self._bar: tqdm[None] | None = None
        self._of: tuple[str, int] = ("", -1)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.close()

    def __call__(self, progress: Progress) -> None:
        """Moves the bar; tqdm works out the time left."""
        from tqdm import tqdm

        epoch = f"{progress.stage} epoch {progress.epoch + 1}"
        if progress.score is not None:
            score = f"valid {progress.score:.2f} (best {progress.best:.2f})"
            self._tell(f"{epoch}: loss {progress.loss:.4f}, {score}")
            return
        if not is_watched():
            if time.monotonic() - self._told >= QUIET:
                self._tell(f"{epoch}: step {progress.step:,} of {progress.steps:,}, loss {progress.loss:.4f}")
            return
        of = (progress.stage, progress.epoch)
        if of != self._of or self._bar is None:
            if self._bar is not None:
                self._bar.close()
            title = f"{progress.stage} {progress.epoch + 1}/{progress.epochs}"
            self._bar = tqdm(total=progress.steps, desc=title, leave=False, mininterval=1.0)
            self._of = of
        self._bar.n = progress.step
        self._bar.set_postfix(loss=f"{progress.loss:.3f}", refresh=False)
        self._bar.update(0)

    def _tell(self, line: str) -> None:
        from tqdm import tqdm

        tqdm.write(line, file=sys.stderr)
        self._told = time.monotonic()
