"""Runs the service with the fake model: `python -m tests.serve.fake_server '{"port": 8123}'`."""

import json
import sys

from tests.serve.fake import FakeOrderer
from unshuffle.serve.run import run
from unshuffle.serve.settings import Batching, Limits, Settings


def main(options: dict[str, object]) -> None:
    model = FakeOrderer(**options.pop("model", {}))  # type: ignore[arg-type]
    batching = Batching(**options.pop("batching", {}))  # type: ignore[arg-type]
    limits = Limits(**options.pop("limits", {}))  # type: ignore[arg-type]
    run(model, Settings(batching=batching, limits=limits, **options))  # type: ignore[arg-type]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
