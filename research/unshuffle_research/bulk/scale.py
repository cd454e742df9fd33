"""What ordering a billion documents would take, simulated from measured figures.

`python -m unshuffle_research.bulk.scale [--write]` reads research/results/bulk/ray-default.json.
Simulated are parts handed out one by one by a driver, workers that start, order
and die, and files that are listed at the start. What is not measured (prices, deaths, the driver's time) is an option.
"""

from __future__ import annotations

import argparse
import heapq
import json
import random
import re
import sys
from dataclasses import dataclass
from pathlib import Path

from unshuffle_research import RESULTS, ROOT

MEASURED = RESULTS / "bulk" / "ray-default.json"
PAGE = ROOT / "docs" / "scale.md"
BLOCK = re.compile(r"(<!-- scale -->\n).*?(<!-- end scale -->)", re.DOTALL)
NOTHING_MEASURED = f"There is no `{MEASURED.relative_to(ROOT).as_posix()}` yet; above stands what writes it.\n"


@dataclass(frozen=True)
class World:
    """What the simulation knows."""

    per_core: float
    """Documents a second and core, measured."""
    start: float
    """Seconds from nothing to the first finished part, measured; a dead worker's successor needs as long."""
    documents: int
    part: int
    dispatch: float
    """Seconds of the driver for one part: what it can hand out is bounded by it."""
    spread: float
    """Standard deviation of a part's time, as a share of it."""
    deaths: float
    """Deaths of a worker an hour."""
    seed: int = 1


@dataclass(frozen=True)
class Outcome:
    """One simulated run."""

    workers: int
    hours: float
    efficiency: float
    """Useful seconds of all workers as a share of those paid."""
    lost: int
    """Parts that were done again."""


def simulate(world: World, workers: int, most: int = 200_000) -> Outcome:
    """Events in the order of time; a run of more parts than `most` is simulated with as many larger ones."""
    parts = -(-world.documents // world.part)
    scale = max(1.0, parts / most)
    parts, mean = int(parts / scale), world.part / world.per_core * scale
    dispatch = world.dispatch * scale
    draw = random.Random(world.seed)
    free = [world.start] * workers
    heapq.heapify(free)
    driver = end = useful = 0.0
    lost = 0
    waiting = parts
    while waiting:
        at = heapq.heappop(free)
        driver = max(driver, at) + dispatch  # one part after the other leaves the driver
        took = max(0.1 * mean, draw.gauss(mean, world.spread * mean))
        death = draw.expovariate(world.deaths / 3600) if world.deaths else float("inf")
        if death < took:  # the part is done again by somebody, and the worker restarts
            lost += 1
            heapq.heappush(free, driver + death + world.start)
            continue
        waiting -= 1
        useful += took
        end = max(end, driver + took)
        heapq.heappush(free, driver + took)
    return Outcome(workers, end / 3600, useful / (end * workers), lost)


def table(world: World, price: float, sizes: list[int]) -> str:
    """A row a cluster."""
    rows = [
        "| Cores | Hours | Core hours | Cost | Efficiency | Parts done again |",
        "|---:|---:|---:|---:|---:|---:|",
    ]
    for workers in sizes:
        found = simulate(world, workers)
        cost = found.hours * workers
        rows.append(
            f"| {workers:,} | {found.hours:,.1f} | {cost:,.0f} | {cost * price:,.0f} | {found.efficiency:.1%} "
            f"| {found.lost:,} |"
        )
    return "\n".join(rows) + "\n"


def page(chosen: argparse.Namespace) -> str:
    """What stands between the marks of docs/scale.md."""
    if not chosen.measured.is_file():
        return NOTHING_MEASURED
    found = json.loads(chosen.measured.read_text(encoding="utf-8"))
    per_core = found["steady_documents_per_second"] / found["workers"]
    world = World(
        per_core=per_core,
        start=found["start_seconds"],
        documents=chosen.documents,
        part=chosen.part,
        dispatch=chosen.dispatch,
        spread=chosen.spread,
        deaths=chosen.deaths,
    )
    bound = world.part / world.dispatch / per_core
    return (
        f"Measured ({found['model']}, {found['documents']:,} documents, {found['workers']} workers): "
        f"{per_core:.1f} documents per second and core, {found['start_seconds']:.0f} s to start, "
        f"{found['ratio']:.2f} times the speed with two workers, {found['worker_megabytes']:.0f} MB a worker.\n\n"
        f"Assumed: {chosen.documents:,} documents of that length, parts of {world.part:,} rows, "
        f"{world.dispatch * 1000:.0f} ms of the driver a part, {world.deaths} deaths a worker and hour, "
        f"{chosen.price} a core hour.\n\n"
        f"{table(world, chosen.price, chosen.cores)}\n"
        f"The driver keeps at most {bound:,.0f} cores busy with parts of this size; beyond that, more cores wait.\n"
    )


def main() -> int:
    """Prints the page's block, writes it, or checks that the page has it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measured", type=Path, default=MEASURED)
    parser.add_argument("--documents", type=int, default=1_000_000_000)
    parser.add_argument("--part", type=int, default=20_000)
    parser.add_argument("--dispatch", type=float, default=0.02, help="assumed: seconds of the driver a part")
    parser.add_argument("--spread", type=float, default=0.15, help="assumed: spread of a part's time")
    parser.add_argument("--deaths", type=float, default=0.01, help="assumed: deaths a worker and hour")
    parser.add_argument("--price", type=float, default=0.04, help="assumed: of a core hour, in any currency")
    parser.add_argument("--cores", type=int, nargs="+", default=[2, 64, 512, 4_096, 16_384, 65_536])
    parser.add_argument("--write", action="store_true", help="put it into docs/scale.md")
    chosen = parser.parse_args()
    said = page(chosen)
    if chosen.write:
        PAGE.write_text(
            BLOCK.sub(lambda found: found[1] + said + found[2], PAGE.read_text(encoding="utf-8")), encoding="utf-8"
        )
    print(said, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
