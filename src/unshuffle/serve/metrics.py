"""What the service counts, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Meters:
    """Counters of one service; a registry of their own keeps two services in one process apart."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter("unshuffle_requests", "Requests answered.", ["path", "status"], registry=self.registry)
        self.seconds = Histogram(
            "unshuffle_request_seconds", "Time from a request to its answer.", ["path"], registry=self.registry
        )
        self.open = Gauge("unshuffle_requests_open", "Requests not yet answered.", registry=self.registry)
        self.waiting = Gauge("unshuffle_documents_waiting", "Documents waiting for the model.", registry=self.registry)
        self.documents = Counter("unshuffle_documents", "Documents read.", ["work"], registry=self.registry)
        self.model_seconds = Counter(
            "unshuffle_model_seconds", "Time spent in the model thread.", ["work"], registry=self.registry
        )
        self.batch = Histogram(
            "unshuffle_batch_documents",
            "Documents in one call of the model.",
            buckets=(1, 2, 4, 8, 16, 32, 64, 128),
            registry=self.registry,
        )

    @contextmanager
    def work(self, work: str, documents: int) -> Iterator[None]:
        """Count and time one call: `parse`, `order` or `other`."""
        began = time.perf_counter()
        yield
        self.model_seconds.labels(work).inc(time.perf_counter() - began)
        self.documents.labels(work).inc(documents)
        if work == "order":
            self.batch.observe(documents)

    def text(self) -> bytes:
        """All counters in Prometheus' text format."""
        return generate_latest(self.registry)
