"""The default beam: the narrowest that loses at most 0.1 tau on validation documents."""

from __future__ import annotations

from unshuffle.evaluation.predict import Prediction, figures, predict
from unshuffle.system.folder import load_model
from unshuffle.system.options import DEFAULT_BEAM
from unshuffle.system.orderer import Orderer
from unshuffle.text.readers.read import read_documents
from unshuffle_research.benchmarks.documents import nips_like
from unshuffle_research.benchmarks.machine import one_thread, seconds
from unshuffle_research.benchmarks.models import decoding_model
from unshuffle_research.benchmarks.settings import Settings
from unshuffle_research.benchmarks.targets import Report, Target

BEAMS = 1, 2, 4, 8, 16, 32, 64
LOST = 0.1


def run(settings: Settings) -> Report:
    """Needs a trained model and its validation documents; with random weights it only tries itself."""
    one_thread()
    if settings.model and settings.documents:
        model, documents = load_model(settings.model), list(read_documents(settings.documents))
    elif settings.quick:
        documents = nips_like(6, seed=6)
        model = decoding_model("se-grn", documents, settings)
    else:
        return Report("beams", (), {"skipped": "give --model and --documents (validation, in true order)"})
    orderer = Orderer(model)
    documents = list(orderer.parser.mentions(documents))
    taus, spent = {}, {}
    for beam in BEAMS:
        predictions: list[Prediction] = []
        spent[beam] = seconds(
            lambda beam=beam, into=predictions: into.extend(predict(orderer, documents, shuffles=1, beam=beam))  # type: ignore[misc]
        )
        taus[beam] = figures(predictions).mean.tau
    best = taus[BEAMS[-1]]
    narrowest = next(beam for beam in BEAMS if taus[beam] >= best - LOST)
    target = Target(
        name=f"tau that the default beam {DEFAULT_BEAM} loses against 64", ratio=best - taus[DEFAULT_BEAM], limit=LOST,
        at_most=True,
    )  # fmt: skip
    return Report(
        "beams",
        (target,),
        {
            "narrowest beam that loses at most 0.1 tau": narrowest,
            "tau": {f"beam {beam}": tau for beam, tau in taus.items()},
            "time in times of beam 1": {f"beam {beam}": time / spent[1] for beam, time in spent.items()},
        },
    )
