"""The same work on a Ray cluster: parts are rows of a Ray dataset, workers its actors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from typing import Any

from unshuffle.bulk.manifest import Done
from unshuffle.bulk.parts import Part
from unshuffle.errors import ConfigError, MissingExtra, UnshuffleError
from unshuffle.integrations.rows import RowSettings

FAILED = "failed"


class OrderParts:
    """For `map_batches`: one part in, the note that it is done out; the documents never pass through the driver."""

    def __init__(self, settings: RowSettings, folder: str) -> None:
        from unshuffle.bulk.work import PartWorker

        self._worker = PartWorker(settings, folder)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[Any]]:
        """Parts and notes travel as JSON."""
        import json

        notes = []
        for text in batch["part"]:
            try:
                notes.append(asdict(self._worker(Part(**json.loads(str(text))))))
            except UnshuffleError as error:  # an exception would only be tried again
                notes.append({FAILED: str(error)})
        return {"note": [json.dumps(note) for note in notes]}


def done_on_ray(
    parts: Sequence[Part], settings: RowSettings, folder: str, workers: int, address: str | None = None
) -> Iterator[Done]:
    """Each part's note as it comes; killed workers are restarted by Ray and their part is done again."""
    import json

    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtra("The Ray engine", "ray") from None
    if not ray.is_initialized():
        ray.init(address=address, include_dashboard=False, log_to_driver=False)
    # Text in and out: every column of a Ray dataset has one type, and a part's numbers may be missing.
    rows = [{"part": json.dumps(asdict(part))} for part in parts]
    dataset = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        OrderParts,
        fn_constructor_args=(settings, folder),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(workers, len(rows)), max_tasks_in_flight_per_actor=1),
        num_cpus=1,  # restarts and retries are unlimited by default: a dead worker's part is done again
    )
    names = {field.name for field in fields(Done)}
    for row in dataset.iter_rows():
        note = json.loads(row["note"])
        if FAILED in note:
            raise ConfigError(note[FAILED])
        yield Done(**{name: note[name] for name in names})
