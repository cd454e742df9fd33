"""Put sentences into the order in which they read coherently."""

from __future__ import annotations

__version__ = "0.1.0"
