"""Progress bars with the time that is left."""

from __future__ import annotations

import sys
from types import TracebackType

from tqdm import tqdm

from unshuffle.training.loop import Progress


class StageBars:
    """One bar per epoch where stderr is a terminal; each finished epoch leaves a line there."""

    def __enter__(self) -> StageBars:
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
        if progress.score is not None:
            line = f"{progress.stage} epoch {progress.epoch + 1}: loss {progress.loss:.4f}, valid {progress.score:.2f}"
            tqdm.write(f"{line} (best {progress.best:.2f})", file=sys.stderr)
            return
        of = (progress.stage, progress.epoch)
        if of != self._of or self._bar is None:
            if self._bar is not None:
                self._bar.close()
            title = f"{progress.stage} {progress.epoch + 1}/{progress.epochs}"
            self._bar = tqdm(total=progress.steps, desc=title, leave=False, mininterval=1.0, disable=None)
            self._of = of
        self._bar.n = progress.step
        self._bar.set_postfix(loss=f"{progress.loss:.3f}", refresh=False)
        self._bar.update(0)
