"""What can do the work of a bulk run."""

from __future__ import annotations

from typing import Literal

Engine = Literal["local", "ray"]
"""Processes of this machine, or a Ray cluster."""
