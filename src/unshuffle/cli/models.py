"""The model of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unshuffle.system.orderer import Orderer


def load_orderer(name: str, **options: Any) -> Orderer:
    """A model with as many threads as suit it: the library leaves that choice to programs, such as this one."""
    from unshuffle.cli.progress import spinner

    with spinner("Loading the model"):
        from unshuffle.machine.threads import use_threads, wanted_threads
        from unshuffle.system.orderer import Orderer

        orderer = Orderer.from_pretrained(name, threads=wanted_threads(large=True), **options)
        use_threads(large=orderer.model.large)
        return orderer
