"""What has to be reached: each target with its ratio, PASS or FAIL, in one JSON file a benchmark."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from unshuffle.evaluation.results import command_line, commit, versions
from unshuffle.storage.files import write_json
from unshuffle_research.benchmarks.machine import described

Verdict = Literal["PASS", "FAIL", "NOISY", "QUICK"]


@dataclass(frozen=True, kw_only=True)
class Target:
    """A ratio and the limit that it must keep."""

    name: str
    ratio: float
    limit: float
    at_most: bool = False
    """Whether the ratio must stay below the limit, and not above."""
    noisy: bool = False
    """Whether the machine was too busy to say anything."""

    def verdict(self, quick: bool) -> Verdict:
        """A quick run tries the benchmark, not the program: its networks are too small to say anything."""
        if quick:
            return "QUICK"
        if self.noisy:
            return "NOISY"
        kept = self.ratio <= self.limit if self.at_most else self.ratio >= self.limit
        return "PASS" if kept else "FAIL"


@dataclass(frozen=True)
class Report:
    """What one benchmark found."""

    name: str
    targets: tuple[Target, ...]
    figures: dict[str, Any] = field(default_factory=dict)
    """Ratios and shares that no target is set for."""

    def lines(self, quick: bool) -> list[str]:
        """As it is printed."""
        found = [f"{self.name}"]
        for target in self.targets:
            sign = "<=" if target.at_most else ">="
            row = f"{target.verdict(quick):5} {target.name}: {target.ratio:.3g} ({sign} {target.limit:g})"
            found.append(f"  {row}")
        found += [f"        {name}: {_short(value)}" for name, value in self.figures.items()]
        return found

    def write(self, folder: Path, quick: bool) -> Path:
        """`<name>.json`, with what decides whether the figures can be compared."""
        path = folder / f"{self.name}.json"
        rows = [asdict(target) | {"verdict": target.verdict(quick)} for target in self.targets]
        head = {"benchmark": self.name, "quick": quick, "targets": rows, "figures": self.figures}
        write_json(
            path, head | {"command": command_line(), "machine": described(), "commit": commit(), "versions": versions()}
        )
        return path

    def failed(self, quick: bool) -> bool:
        """Whether any target was missed."""
        return any(target.verdict(quick) == "FAIL" for target in self.targets)


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_short(entry)}" for name, entry in value.items())
    return str(value)


def exponent(sizes: list[float], times: list[float]) -> float:
    """How time grows with size: the slope of a line through the logarithms."""
    import numpy as np

    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])


def environment() -> dict[str, str]:
    """Of processes that are started: one thread each, as here."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "UNSHUFFLE_THREADS": "1"}
