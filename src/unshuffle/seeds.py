"""Every random draw comes from one seed and the name of what is drawn, so that nothing has to be remembered."""

from __future__ import annotations

import hashlib


def derived(seed: int, *names: object) -> int:
    """A 63-bit seed of its own for each use."""
    text = "/".join(map(str, (seed, *names)))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big") >> 1
