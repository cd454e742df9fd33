"""Every random draw comes from one seed and the name of what is drawn, so that nothing has to be remembered."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager


def derived(seed: int, *names: object) -> int:
    """A 63-bit seed of its own for each use."""
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1


@contextmanager
def drawn_from(seed: int, *names: object) -> Iterator[None]:
    """Inside, torch draws from a seed of this use's own; outside, it goes on as if nothing had been drawn."""
    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derived(seed, *names))
        yield
