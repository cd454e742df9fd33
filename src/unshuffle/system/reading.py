"""Documents that a torch network has read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from unshuffle.graph.batch import Batch
from unshuffle.machine.devices import Precision, computing, device_of
from unshuffle.result import PairProbability, Round
from unshuffle.search.contracts import Floats, Found, Search
from unshuffle.system.network import Network, Read


@dataclass(frozen=True)
class TorchReading:
    """A batch after the network's encoders."""

    network: Network
    batch: Batch
    made: Read
    precision: Precision

    @classmethod
    @torch.inference_mode()
    def of(cls, network: Network, batch: Batch, precision: Precision) -> TorchReading:
        """Everything up to the decoder."""
        device = device_of(network)
        batch = batch.to(device)
        with computing(device, precision):
            return cls(network, batch, network.read(batch), precision)

    @torch.inference_mode()
    def search(self, search: Search) -> list[Found]:
        """The best orders of each document."""
        with computing(device_of(self.network), self.precision):
            return self.network.search(self.made, self.batch, search)

    @torch.inference_mode()
    def choices(self, orders: Sequence[Sequence[int]]) -> Floats:
        """Orders of the only document -> (orders, sentences) log-probability of each of their choices."""
        with computing(device_of(self.network), self.precision):
            return self.network.decoder.choices(self.made.states, self.batch.graph)(orders)

    def rounds(self) -> list[tuple[Round, ...]]:
        """Each document's own rounds, in its own sentence numbers; rounds in which it had settled are left out."""
        graph, read = self.batch.graph, self.made
        if read.refined is None:
            return [()] * graph.documents
        document_of_pair = graph.document_of_sentence[graph.pairs[0]]
        document = document_of_pair.tolist()
        first, second = (graph.pairs - graph.first_sentence[document_of_pair]).tolist()
        found: list[list[Round]] = [[] for _ in range(graph.documents)]
        for trace in read.refined.rounds:
            weights, undecided = trace.weights.tolist(), trace.undecided.tolist()
            rows: list[list[PairProbability]] = [[] for _ in range(graph.documents)]
            open_pairs: list[list[tuple[int, int]]] = [[] for _ in range(graph.documents)]
            for where, one, other, weight, unsure in zip(document, first, second, weights, undecided, strict=True):
                rows[where].append(PairProbability(one, other, weight))
                if unsure:
                    open_pairs[where].append((one, other))
            for where, active in enumerate(trace.active.tolist()):
                if active:
                    found[where].append(Round(tuple(rows[where]), tuple(open_pairs[where])))
        return [tuple(steps) for steps in found]
