"""Bytes for fuzzing: anything at all, and sound inputs with a few things broken in them."""

import gzip
import random

from hypothesis import strategies as st

INTERESTING = (
    b"",
    b"\0",
    b"\n",
    b"\r",
    b'"',
    b"\\",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xe2\x80\xa8",
    b"[" * 2000,
    b"9" * 400,
)


def broken(seed: bytes, changes: list[tuple[int, str, bytes]]) -> bytes:
    """The input after some changes, each at a place."""
    data = bytearray(seed)
    for place, kind, piece in changes:
        at = place % (len(data) + 1)
        if kind == "insert":
            data[at:at] = piece
        elif kind == "replace":
            data[at : at + len(piece)] = piece
        elif kind == "delete":
            del data[at : at + 1 + len(piece)]
        elif kind == "cut":
            del data[at:]
        elif kind == "repeat":
            data[at:at] = data[at : at + 16] * (1 + len(piece))
        elif kind == "flip" and data:
            data[at % len(data)] ^= 1 << (len(piece) % 8)
    return bytes(data)


KINDS = ("insert", "replace", "delete", "cut", "repeat", "flip")


def mutated(draw: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """The same as `inputs`, drawn without Hypothesis, which takes longer for an input than most readers."""
    kind = draw.random()
    if kind < 0.1:
        return draw.randbytes(draw.randrange(300))
    if kind < 0.2:
        letters = (draw.randrange(0x80), draw.randrange(0x800), draw.randrange(0x11_0000))
        return _encoded("".join(chr(draw.choice(letters)) for _ in range(draw.randrange(100))))
    seed = draw.choice(seeds)
    changes = [
        (
            draw.randrange(max(len(seed), 1) + 16),
            draw.choice(KINDS),
            draw.choice(INTERESTING) if draw.random() < 0.4 else draw.randbytes(draw.randrange(9)),
        )
        for _ in range(draw.randrange(1, 9))
    ]
    data = broken(seed, changes)
    return gzip.compress(data, 1)[: draw.randrange(-9, 1) or None] if kind > 0.9 else data


def inputs(seeds: tuple[bytes, ...]) -> st.SearchStrategy[bytes]:
    """Mostly broken sound inputs, now and then packed, and now and then anything."""
    kinds = st.sampled_from(KINDS)
    pieces = st.one_of(st.sampled_from(INTERESTING), st.binary(max_size=8), st.text(max_size=4).map(_encoded))
    changes = st.lists(st.tuples(st.integers(0, 4_096), kinds, pieces), max_size=8)
    mutated = st.builds(broken, st.sampled_from(seeds), changes)
    packed = st.builds(lambda data, end: gzip.compress(data, 1)[: end or None], mutated, st.integers(-9, 0))
    anything = st.one_of(st.binary(max_size=300), st.text(max_size=100).map(_encoded))
    return st.one_of(mutated, mutated, mutated, anything, packed)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
