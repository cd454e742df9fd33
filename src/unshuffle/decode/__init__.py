"""States to orders; importing this package registers every kind of decoder."""

from unshuffle.decode import pointer

__all__ = ["pointer"]
