"""The slots as one torch module: encode, refine, let sentences see each other, decode."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from unshuffle.decode.contracts import Gold, decoders
from unshuffle.encoders.contracts import Encoded, SentenceEncoder, States, paragraph_encoders, sentence_encoders
from unshuffle.graph.batch import Batch
from unshuffle.machine import Precision, computing, device_of
from unshuffle.refine.classifier import undecided_weights
from unshuffle.refine.iterative import Refined, Refiner
from unshuffle.result import PairProbability, Round
from unshuffle.search.contracts import Floats, Found, Search
from unshuffle.seeds import drawn_from
from unshuffle.system.config import SystemConfig


@dataclass(frozen=True, slots=True)
class Read:
    """What the network has made of a batch before decoding."""

    states: States
    refined: Refined | None


class Network(nn.Module):
    """Encodes sentences, refines the graph, lets sentences see each other, reads off the order."""

    def __init__(self, config: SystemConfig, *, words: int, vectors: Tensor | None = None) -> None:
        """`words`: how many words the tokenizer knows; `vectors`: what their embeddings start from."""
        super().__init__()

        # Each part starts from a seed of its own: another decoder must not change where the classifiers start, or what
        # several trainings share would depend on which of them came first.
        seed = int(torch.randint(2**62, (), device="cpu"))  # also where the parts themselves are on another device

        def encoder(part: str) -> SentenceEncoder:
            with drawn_from(seed, part):
                return sentence_encoders.build(config.sentence_encoder, words=words, vectors=vectors)

        sentence = encoder("sentence encoder")
        with drawn_from(seed, "paragraph encoder"):
            paragraph = paragraph_encoders.build(
                config.paragraph_encoder, width=sentence.width, entity_input=sentence.entity_width
            )
        with drawn_from(seed, "decoder"):
            decoder = decoders.build(
                config.decoder,
                width=paragraph.width,
                encoded_width=sentence.width,
                pair_width=sentence.pair_width,
            )
        self.order_sensitive = sentence.order_sensitive or paragraph.order_sensitive or decoder.order_sensitive
        self.sentence_encoder = sentence
        self.paragraph_encoder = paragraph
        self.decoder = decoder
        self.refiner: Refiner | None = None
        if config.refiner is not None:
            own = config.refiner.encoder == "own"
            needed = {"initial": config.refiner.initial, "iterative": config.refiner.rounds != 0}
            first, second = (encoder(part) if own and wanted else None for part, wanted in needed.items())
            with drawn_from(seed, "refiner"):
                self.refiner = Refiner(
                    config.refiner, encoders=(first, second), width=sentence.width, entity_input=sentence.entity_width
                )

    def sentence_encoders(self) -> Iterator[SentenceEncoder]:
        """The ordering model's own, then those of the refiner where it has its own."""
        yield self.sentence_encoder
        if self.refiner is not None:
            yield from self.refiner.sentence_encoders()

    def read(self, batch: Batch, encoded: Encoded | None = None) -> Read:
        """Everything up to the decoder; link weights that come with the batch stand in for the refiner's.

        `encoded`: what the sentence encoder has made of the batch, where that is known.
        """
        encoded = self.sentence_encoder(batch) if encoded is None else encoded
        refined = None
        weights = batch.weights
        if weights is None and self.refiner is not None:
            with torch.no_grad():
                refined = self.refiner(batch, encoded)
            weights = refined.weights
        if weights is None:
            weights = undecided_weights(batch.graph)
        return Read(self.paragraph_encoder(encoded, batch.graph, weights), refined)

    def forward(self, batch: Batch, gold: Gold, encoded: Encoded | None = None) -> Tensor:
        """The decoder's loss, and the paragraph encoder's where it has one of its own; `encoded` as in `read`."""
        states = self.read(batch, encoded).states
        loss = self.decoder.loss(states, batch.graph, gold)
        return loss + self.paragraph_encoder.auxiliary_loss(states, batch.graph, gold.position)

    def search(self, read: Read, batch: Batch, search: Search) -> list[Found]:
        """The best orders of each document."""
        return self.decoder.search(read.states, batch.graph, search)

    def transitions(self, read: Read, batch: Batch, order: Gold) -> Tensor:
        """Log-probability of each choice of a given order."""
        return self.decoder.transitions(read.states, batch.graph, order)


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
