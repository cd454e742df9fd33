"""Ordering: against the dense twin, against the arithmetic limit, part by part, and how time grows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import torch

from unshuffle.graph.batch import collate
from unshuffle.graph.prepare import Item, batches
from unshuffle.machine import Precision, computing, usable_precision
from unshuffle.search.contracts import Found, Search
from unshuffle.system.folder import Model
from unshuffle.system.options import DEFAULT_BEAM
from unshuffle.system.orderer import Orderer
from unshuffle.text.document import Document
from unshuffle_research.benchmarks.arithmetic import forward_flops, refined_flops
from unshuffle_research.benchmarks.documents import nips_like, of_size, raw
from unshuffle_research.benchmarks.machine import one_thread, sgemm_rate, side_by_side
from unshuffle_research.benchmarks.models import decoding_model, items_of
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target, exponent
from unshuffle_research.benchmarks.twin import Twin
from unshuffle_research.benchmarks.twin_search import best_order

CPU = torch.device("cpu")
WIDE = 64
BEAMS = 1, 8, WIDE
TOGETHER = 32
TWIN_WIDE, TWIN_DEFAULT, TWIN_ONE = 3.0, 5.0, 4.0
NEAR = 1e-4


def run(settings: Settings) -> Report:
    """SE-GRN beside its twin; then sizes, parts and growth with IRSE-GRN."""
    one_thread()
    count, repeats = (6, 1) if settings.quick else (96, 3)
    documents = nips_like(count, seed=2)
    model = decoding_model("se-grn", documents, settings)
    items = items_of(model, documents)
    twin = Twin(model.network).eval()
    # The scores of random weights were scaled a hundredfold, and their rounding with them.
    assert_same_orders(model, twin, items, near=NEAR if settings.model else 10 * NEAR)
    calls: dict[str, Callable[[], object]] = {f"beam {beam}": partial(order, model, items, beam) for beam in BEAMS}
    calls["default beam"] = partial(order, model, items, DEFAULT_BEAM)
    calls["one document at a time"] = partial(order, model, items, DEFAULT_BEAM, together=1)
    fewest = usable_precision("auto", CPU)
    calls[f"one document at a time, {fewest}"] = partial(
        order, model, items, DEFAULT_BEAM, together=1, precision=fewest
    )
    calls["one document at a time, beam 64"] = partial(order, model, items, WIDE, together=1)
    calls["all of the beam kept"] = partial(order, model, items, DEFAULT_BEAM, keep=DEFAULT_BEAM)
    calls["twin, beam 1"] = lambda: [best_order(twin, item, 1) for item in items]
    calls["twin, beam 64"] = lambda: [best_order(twin, item, WIDE) for item in items]
    rate = sgemm_rate()
    spent = side_by_side(calls, repeats=repeats)
    rate = max(rate, sgemm_rate())
    limit = forward_flops(model.config, items) / rate
    orderer, size_model = _orderer(settings)
    return Report(
        "inference",
        (
            Target(
                name="beam 64: times the twin, same orders",
                ratio=spent["twin, beam 64"] / spent[f"beam {WIDE}"],
                limit=TWIN_WIDE,
            ),
            Target(
                name=f"default beam {DEFAULT_BEAM}: times the twin's beam 64",
                ratio=spent["twin, beam 64"] / spent["default beam"],
                limit=TWIN_DEFAULT,
            ),
            Target(
                name="one document at a time, default beam, bfloat16 where there are instructions for it: "
                "times the twin's beam 64",
                ratio=spent["twin, beam 64"] / spent[f"one document at a time, {fewest}"],
                limit=TWIN_ONE,
            ),
        ),
        {
            "documents per second": {name: count / time for name, time in spent.items()},
            f"orders that {fewest} changes, of {count}": sum(
                one.orders[0] != other.orders[0]
                for one, other in zip(
                    order(model, items, DEFAULT_BEAM), order(model, items, DEFAULT_BEAM, precision=fewest), strict=True
                )
            ),
            "share of the arithmetic limit": {name: limit / time for name, time in spent.items()},
            "parts, share of the whole": {
                name: parts(orderer, some, repeats) for name, some in _sizes(settings.quick).items()
            },
            "share of the limit by size": {
                name: _share(size_model, some, rate, repeats) for name, some in _sizes(settings.quick).items()
            },
            "time grows with sentences to the power": _growth_with_sentences(size_model, settings.quick),
            "time grows with documents to the power": _growth_with_documents(model, items),
            "sgemm (GFLOP/s)": rate / 1e9,
        },
    )


@torch.inference_mode()
def order(
    model: Model,
    items: Sequence[Item],
    beam: int,
    *,
    keep: int = 1,
    together: int = TOGETHER,
    precision: Precision = "32",
) -> list[Found]:
    """All documents, in batches of like length, as `Orderer` makes them."""
    found: dict[int, Found] = {}
    for numbers in batches(items, together):
        batch = collate([items[number] for number in numbers])
        with computing(CPU, precision):
            read = model.network.read(batch)
            best = model.network.search(read, batch, Search(beam=beam, keep=keep))
        found |= dict(zip(numbers, best, strict=True))
    return [found[number] for number in range(len(items))]


def assert_same_orders(model: Model, twin: Twin, items: Sequence[Item], *, near: float = NEAR) -> None:
    """The wide beam finds what the twin finds; one order in fifty may be another, equally good one."""
    expected = [best_order(twin, item, WIDE) for item in items]
    for together in (TOGETHER, 1):
        different = 0
        found = order(model, items, WIDE, together=together)
        for ours, (theirs, log_probability) in zip(found, expected, strict=True):
            assert abs(ours.log_probabilities[0] - log_probability) < near, "the twin has found a better or worse order"
            different += ours.orders[0] != theirs
        assert different <= len(items) // 50, f"{different} orders differ from the twin's"


def parts(orderer: Orderer, documents: list[Document], repeats: int) -> dict[str, float]:
    """Share of parsing, preparing, collating, encoding, refining and decoding, from raw sentences on."""
    bare = [Document.from_sentences(text) for text in raw(documents)]
    parsed = list(orderer.parser.mentions(bare))
    network, preparer = orderer.model.network, orderer.model.preparer
    items = [preparer.item(document) for document in parsed]
    batch = collate(items)
    with torch.inference_mode():
        encoded = network.sentence_encoder(batch)
        read = network.read(batch)
        refiner = network.refiner
        weights = torch.full((batch.graph.pairs.shape[1],), 0.5)
        calls: dict[str, Callable[[], object]] = {
            "parse": lambda: list(orderer.parser.mentions(bare)),
            "prepare": lambda: [preparer.item(document) for document in parsed],
            "collate": lambda: collate(items),
            "encode": lambda: network.sentence_encoder(batch),
            "refine": lambda: refiner(batch, encoded) if refiner is not None else None,
            "graph network": lambda: network.paragraph_encoder(encoded, batch.graph, weights),
            **{
                f"decode, beam {beam}": partial(network.search, read, batch, Search(beam=beam, keep=1))
                for beam in BEAMS
            },
        }
        spent = side_by_side(calls, repeats=repeats)
    whole = sum(time for name, time in spent.items() if not name.startswith("decode") or name.endswith(" 8"))
    return {name: time / whole for name, time in spent.items()}


def _sizes(quick: bool) -> dict[str, list[Document]]:
    """One document of each size."""
    sizes: dict[str, list[Document]] = {"5": of_size(5, 10), "6 of 25 words": of_size(6, 25)}
    if not quick:
        sizes |= {"20": of_size(20), "50": of_size(50)}
    return sizes | {"200": of_size(40 if quick else 200)}


def _orderer(settings: Settings) -> tuple[Orderer, Model]:
    model = decoding_model("irse-grn", nips_like(40, seed=3), settings)
    return Orderer(model), model


def _share(model: Model, documents: list[Document], rate: float, repeats: int) -> dict[str, float]:
    """Of the plain equations' limit, refinement rounds included, at each beam."""
    items = items_of(model, documents)
    with torch.inference_mode():
        refined = model.network.read(collate(items)).refined
    rounds = len(refined.rounds) - 1 if refined is not None else 0
    limit = (refined_flops if refined is not None else _plain)(model.config, items, rounds) / rate
    spent = side_by_side({f"beam {beam}": partial(order, model, items, beam) for beam in BEAMS}, repeats=repeats)
    return {name: limit / time for name, time in spent.items()}


def _plain(config: object, items: Sequence[Item], rounds: float) -> float:
    return forward_flops(config, items)  # type: ignore[arg-type]


def _growth_with_sentences(model: Model, quick: bool) -> dict[str, float]:
    sizes = [5, 10, 20] if quick else [10, 25, 50, 100, 200]
    items = {size: items_of(model, of_size(size)) for size in sizes}
    return {f"beam {beam}": _growth(items, model, beam) for beam in BEAMS}


def _growth_with_documents(model: Model, items: list[Item]) -> float:
    counts = sorted({max(len(items) // part, 1) for part in (8, 4, 2, 1)})
    return _growth({count: items[:count] for count in counts}, model, DEFAULT_BEAM)


def _growth(items: dict[int, list[Item]], model: Model, beam: int) -> float:
    calls = {str(size): partial(order, model, some, beam) for size, some in items.items()}
    return exponent([float(size) for size in items], list(side_by_side(calls, repeats=2).values()))
