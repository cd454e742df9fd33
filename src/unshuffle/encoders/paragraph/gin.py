"""Graph isomorphism networks over constraint graphs of several windows (Zhu et al., 2021: ConsGraph)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import torch
from annotated_types import Ge, Lt, MinLen
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.encoders.messages import WindowHead, both_directions, window_edges, window_loss
from unshuffle.errors import ConfigError
from unshuffle.graph.batch import GraphBatch, ordered_pairs
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.segments import scatter_sum, segment_mean
from unshuffle.parts.registry import PartConfig


@dataclass(frozen=True, kw_only=True)
class GINConfig(PartConfig):
    """Constraint-graph paragraph encoder; the defaults are the paper's for stories of five sentences."""

    edges: Literal["windows", "links"] = "windows"
    """`windows`: one graph per window, from a classifier of ordered pairs; `links`: the document's weighted links for
    every network."""
    windows: Annotated[tuple[Annotated[int, Ge(2)], ...], MinLen(1)] = (2, 3, 5)
    """A graph links sentences to those fewer than this many positions later; NIPS: 5, 8, 15."""
    depths: Annotated[tuple[Annotated[int, Ge(1)], ...], MinLen(1)] = (2, 3, 5)
    """Layers of the network on each graph."""
    width: Annotated[int, Ge(1)] = 512
    pair_width: Annotated[int, Ge(0)] = 0
    """Width of the pair vectors the windows are read from; 0 reads them from the two sentence vectors."""
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.1
    """On the sentence states."""


@paragraph_encoders.register("gin", GINConfig)
class GIN(ParagraphEncoder):
    """Sentences add up the states of their predecessors in each graph; the graphs' results are concatenated.

    Window classifiers are trained jointly by `auxiliary_loss`, where the paper trains three of them beforehand.
    Layer normalisation replaces batch normalisation, whose statistics would mix documents.
    """

    def __init__(self, config: GINConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        if config.edges == "windows" and len(config.windows) != len(config.depths):
            raise ConfigError(
                f"paragraph_encoder.depths: there are {len(config.depths)} for {len(config.windows)} windows. "
                "Give one per window."
            )
        self.config = config
        self.width = config.width
        self.head: WindowHead | None = None
        if config.edges == "windows":
            self.head = WindowHead(width=width, pair_width=config.pair_width, windows=len(config.windows))
        self.networks = nn.ModuleList(GINLayers(width, config.width, depth) for depth in config.depths)
        self.output = nn.Linear(len(config.depths) * config.width, config.width)
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """(sentences, input) -> (sentences, width), (documents, width)."""
        logits = None
        if self.head is not None:
            pairs = ordered_pairs(graph)
            logits = self.head(encoded, pairs)  # (ordered pairs, windows)
            edges, shares = pairs, list(window_edges(logits.sigmoid(), graph, self.config.windows).unbind(1))
        else:
            target, source = graph.links()
            # A weight is the chance that the target comes first, and here messages go from predecessors to successors.
            edges, shares = torch.stack([source, target]), [1 - both_directions(weights)] * len(self.networks)
        read = [network(encoded.sentences, edges, share) for network, share in zip(self.networks, shares, strict=True)]
        sentences = self.output(torch.cat(read, 1)).relu()
        documents = segment_mean(sentences, graph.document_of_sentence, graph.documents)
        return States(encoded, self.dropout(sentences), documents, windows=logits)

    def auxiliary_loss(self, states: States, graph: GraphBatch, position: Tensor) -> Tensor:
        """Loss of the window classifiers; `position`: (sentences,) position of each sentence in the true order."""
        if states.windows is None:
            return states.sentences.new_zeros(())
        return window_loss(states.windows, graph, position, self.config.windows)


class GINLayers(nn.Module):
    """A few layers, h' = MLP(h + sum of weighted predecessors), and a projection of all of them (Xu et al., 2019)."""

    def __init__(self, inputs: int, width: int, depth: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Linear(width if layer else inputs, width),
                nn.LayerNorm(width),
                nn.ReLU(),
                nn.Linear(width, width),
                nn.LayerNorm(width),
                nn.ReLU(),
            )
            for layer in range(depth)
        )
        self.output = nn.Linear(depth * width, width)

    def forward(self, states: Tensor, edges: Tensor, weights: Tensor) -> Tensor:
        """`edges`: (2, edges) from and to; gives (sentences, width)."""
        start, end = edges
        seen = []
        for layer in self.layers:
            states = layer(states + scatter_sum(weights[:, None] * states[start], end, len(states)))
            seen.append(states)
        together: Tensor = self.output(torch.cat(seen, 1))
        return together
