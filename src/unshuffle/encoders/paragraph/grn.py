"""Graph recurrent network over sentences, entities and the document (Lai et al., 3.2 and 4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.encoders.messages.links import LINK_MESSAGES, LinkMessage, both_directions
from unshuffle.encoders.messages.mentions import MentionMessages, RelationMessages
from unshuffle.graph.batch import GraphBatch, add_into, taken
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.gru import SharedGRU, SplitGRU
from unshuffle.parts.config import PartConfig
from unshuffle.text.document import Role


@dataclass(frozen=True, kw_only=True)
class GRNConfig(PartConfig):
    """Graph recurrent network; the defaults are the paper's."""

    steps: Annotated[int, Ge(1)] = 3
    """Rounds of message passing."""
    entity_width: Annotated[int, Ge(1)] = 150
    role_width: Annotated[int, Ge(1)] = 50
    dropout: Annotated[float, Ge(0), Lt(1)] = 0.5
    """On the final sentence states."""
    link_message: LinkMessage = "gated"
    """How link weights enter: `gated` is the paper's equation, the others are the released programs'."""
    initial_states: Literal["zero", "encoder"] = "zero"
    """`encoder` starts from the encoder's vectors, as the paper says; `zero` as every released program does."""
    relations: bool = False
    """Whether related entities send each other messages."""


@dataclass(frozen=True, slots=True)
class NodeStates:
    """The states of all nodes after some step."""

    sentences: Tensor  # (sentences, width)
    entities: Tensor  # (entities, entity width)
    documents: Tensor  # (documents, width)


@dataclass(frozen=True, slots=True)
class Start:
    """What does not depend on link weights, so refinement rounds share it."""

    sentences: Tensor  # (sentences, 3 width) gates from the encoder's vectors
    entities: Tensor  # (entities, 3 entity width)
    states: NodeStates
    steps_done: int


class _Updates:
    """The three recurrent units of one pass."""

    def __init__(self, grn: GRN) -> None:
        self.sentences = SharedGRU(grn.sentence_update)
        self.entities = SharedGRU(grn.entity_update)
        self.documents = SharedGRU(grn.document_update)


@paragraph_encoders.register("grn", GRNConfig)
class GRN(ParagraphEncoder):
    """Nodes read their neighbours' messages and the document state, a few times over."""

    def __init__(self, config: GRNConfig, *, width: int, entity_input: int) -> None:
        super().__init__()
        self.config = config
        self.width = width
        entity, role = config.entity_width, config.role_width
        self.roles = nn.Embedding(len(Role) + 1, role)
        self.links = LINK_MESSAGES[config.link_message](width)
        self.to_sentences = MentionMessages(target=width, source=entity, role=role)
        self.to_entities = MentionMessages(target=entity, source=width, role=role)
        self.relations = RelationMessages(entity) if config.relations else None
        self.sentence_update = SplitGRU([width, width, entity + role, width], width)
        related = [entity] if config.relations else []
        self.entity_update = SplitGRU([entity_input, width + role, width, *related], entity)
        self.document_update = SplitGRU([width, entity], width)
        self.entity_start = nn.Linear(entity_input, entity) if config.initial_states == "encoder" else None
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """All steps at once."""
        updates = _Updates(self)
        return self._finish(self._start(encoded, graph, updates), encoded, graph, weights, updates)

    def start(self, encoded: Encoded, graph: GraphBatch) -> Start:
        """Everything up to the first step that reads link weights."""
        return self._start(encoded, graph, _Updates(self))

    def finish(self, start: Start, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """The remaining steps under these link weights."""
        return self._finish(start, encoded, graph, weights, _Updates(self))

    def _start(self, encoded: Encoded, graph: GraphBatch, updates: _Updates) -> Start:
        sentences = updates.sentences.project(0, encoded.sentences)
        entities = updates.entities.project(0, encoded.entities)
        if self.entity_start is not None:
            documents = encoded.sentences.new_zeros(graph.documents, self.width)
            states = NodeStates(encoded.sentences, self.entity_start(encoded.entities), documents)
            return Start(sentences, entities, states, 0)
        return Start(sentences, entities, self._first_step(sentences, entities, graph, updates), 1)

    def _finish(self, start: Start, encoded: Encoded, graph: GraphBatch, weights: Tensor, updates: _Updates) -> States:
        states = start.states
        links, both = graph.links(), both_directions(weights)
        for _ in range(start.steps_done, self.config.steps):
            states = self._step(states, start, graph, links, both, updates)
        return States(encoded, self.dropout(states.sentences), states.documents)

    def _first_step(self, sentences: Tensor, entities: Tensor, graph: GraphBatch, updates: _Updates) -> NodeStates:
        """A step from zero states: no content moves, only roles; of the large products a few rows are left."""
        entity_index, sentence_index = graph.mentions
        roles = self.roles.weight
        said = updates.sentences.project(2, self.to_sentences.from_nothing(roles))  # (roles, 3 width)
        heard = add_into(taken(said, graph.roles), sentence_index, graph.sentences)
        new_sentences = updates.sentences(sentences + heard, None)
        said = updates.entities.project(1, self.to_entities.from_nothing(roles))
        heard = add_into(taken(said, graph.roles), entity_index, graph.entities)
        new_entities = updates.entities(entities + heard, None)
        document = self._document(new_sentences, new_entities, None, graph, updates)
        return NodeStates(new_sentences, new_entities, document)

    def _step(
        self, states: NodeStates, start: Start, graph: GraphBatch, links: Tensor, weights: Tensor, updates: _Updates
    ) -> NodeStates:
        """Sentences and entities read old states; the document then reads the new ones."""
        sentences, entities, documents = states.sentences, states.entities, states.documents
        roles = self.roles.weight
        update = updates.sentences
        gates = start.sentences + taken(update.project(3, documents), graph.document_of_sentence)
        gates = gates + update.project(1, self.links(sentences, links, weights))
        heard = self.to_sentences(sentences, entities, graph.mentions.flip(0), graph.roles, roles)
        new_sentences = update(gates + update.project(2, heard), sentences)
        update = updates.entities
        gates = start.entities + taken(update.project(2, documents), graph.document_of_entity)
        heard = self.to_entities(entities, sentences, graph.mentions, graph.roles, roles)
        gates = gates + update.project(1, heard)
        if self.relations is not None:
            gates = gates + update.project(3, self.relations(entities, graph))
        new_entities = update(gates, entities)
        document = self._document(new_sentences, new_entities, documents, graph, updates)
        return NodeStates(new_sentences, new_entities, document)

    def _document(
        self, sentences: Tensor, entities: Tensor, state: Tensor | None, graph: GraphBatch, updates: _Updates
    ) -> Tensor:
        """The document reads the mean of its sentences and of its entities (plus one, so that none is no trouble)."""
        read = add_into(sentences, graph.document_of_sentence, graph.documents) / graph.sizes[:, None]
        told = add_into(entities, graph.document_of_entity, graph.documents) / (graph.entity_counts[:, None] + 1)
        gates = updates.documents.project(0, read) + updates.documents.project(1, told)
        return updates.documents(gates, state)
