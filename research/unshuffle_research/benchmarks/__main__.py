"""Measure, write JSON, fail where a target is missed: `python -m unshuffle_research.benchmarks [names] [--quick]`."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from unshuffle_research import RESULTS
from unshuffle_research.benchmarks.settings import Settings

NAMES = (
    "training",
    "training_bf16",
    "inference",
    "beams",
    "refinement",
    "scaling",
    "cold_start",
    "shipped",
    "long",
    "precision",
    "memory",
    "demo",
)


def main(arguments: list[str] | None = None) -> int:
    """Runs the benchmarks that are named, or all."""
    options = argparse.ArgumentParser(prog="python -m unshuffle_research.benchmarks", description=__doc__)
    options.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    options.add_argument("--quick", action="store_true", help="try the benchmarks on small networks; judges nothing")
    options.add_argument("--out", type=Path, default=RESULTS / "benchmarks", help="where the JSON goes")
    options.add_argument("--model", default="", help="folder of a trained model to decode with")
    options.add_argument("--documents", default="", help="validation documents, for the choice of the default beam")
    options.add_argument("--data", default="", help="folder of real texts, for shipped, long and precision")
    given = options.parse_args(arguments)
    unknown = [name for name in given.names if name not in NAMES]
    if unknown:
        options.error(f"there is no benchmark '{unknown[0]}'; known: {', '.join(NAMES)}")
    settings = Settings(quick=given.quick, model=given.model, documents=given.documents, data=given.data)
    failed = False
    for name in given.names or NAMES:
        report = import_module(f"unshuffle_research.benchmarks.{name}").run(settings)
        report.write(given.out, settings.quick)
        sys.stdout.write("\n".join(report.lines(settings.quick)) + "\n")
        sys.stdout.flush()
        failed |= report.failed(settings.quick)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
