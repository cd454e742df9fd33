"""Runs the service with the fake model: `python -m tests.serve.fake_server '{"port": 8123}'`."""

import json
import sys

from tests.serve.fake import FakeOrderer, Reversed
from unshuffle.serve.run import run
from unshuffle.serve.settings import Batching, Connections, Limits, Settings


def main(options: dict[str, object]) -> None:
    model = FakeOrderer(**options.pop("model", {}))  # type: ignore[arg-type]
    others = [Reversed()] if options.pop("compare", False) else []
    batching = Batching(**options.pop("batching", {}))  # type: ignore[arg-type]
    limits = Limits(**options.pop("limits", {}))  # type: ignore[arg-type]
    connections = Connections(**options.pop("connections", {}))  # type: ignore[arg-type]
    settings = Settings(batching=batching, limits=limits, connections=connections, **options)  # type: ignore[arg-type]
    run(model, settings, others=others)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
