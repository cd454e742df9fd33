"""Graph recurrent network over sentences, entities and the document (Lai et al., 3.2 and 4.3)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Literal

from annotated_types import Ge, Lt
from torch import Tensor, nn

from unshuffle.encoders.contracts import Encoded, ParagraphEncoder, States, paragraph_encoders
from unshuffle.encoders.messages import LINK_MESSAGES, LinkMessage, MentionMessages, RelationMessages, both_directions
from unshuffle.graph.batch import GraphBatch
from unshuffle.layers.dropout import Dropout
from unshuffle.layers.gru import Gathered, SplitGRU
from unshuffle.layers.products import Linear
from unshuffle.layers.segments import scatter_sum
from unshuffle.parts.registry import PartConfig
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
    """The states of all nodes after some step: κ, ε and g of the paper."""

    sentences: Tensor  # (sentences, width)
    entities: Tensor  # (entities, entity width)
    documents: Tensor  # (documents, width)


class Updates:
    """The three recurrent units of one forward pass."""

    def __init__(self, grn: GRN) -> None:
        self.sentences = grn.sentence_update.unrolled()
        self.entities = grn.entity_update.unrolled()
        self.documents = grn.document_update.unrolled()


@dataclass(frozen=True, slots=True)
class Start:
    """Everything that does not depend on link weights; rounds of refinement share it."""

    sentences: Tensor  # (sentences, 3 width) what the encoder's vectors add to the gates of every step
    entities: Tensor  # (entities, 3 entity width)
    states: NodeStates
    steps_done: int
    updates: Updates

    def select(self, sentences: Tensor, entities: Tensor, documents: Tensor) -> Start:
        """The same for some of the documents."""
        states = NodeStates(
            self.states.sentences[sentences], self.states.entities[entities], self.states.documents[documents]
        )
        return replace(self, sentences=self.sentences[sentences], entities=self.entities[entities], states=states)


@paragraph_encoders.register("grn", GRNConfig)
class GRN(ParagraphEncoder):
    """Sentences, entities and the document read each other's states for a few steps.

    In the paper's symbols, for sentences i, entities j, roles r and the document g, step l computes from step l - 1:

        m_i = Σ w_ii' σ(W [κ_i; κ_i']) κ_i'            linked sentences, by their link weights (4.3)
        m̂_i = Σ σ(W [κ_i; ε_j; r_ij]) [ε_j; r_ij]      entities that sentence i mentions (3.2, and all that follows)
        κ_i = GRU([κ_i⁰; m_i; m̂_i; g], κ_i)
        m_j = Σ σ(W [ε_j; κ_i; r_ij]) [κ_i; r_ij]      sentences that mention entity j
        m̂_j = Σ σ(W [ε_j; ε_j']) ε_j'                  related entities
        ε_j = GRU([emb_j; m_j; m̂_j; g], ε_j)
        g = GRU([mean κ; mean ε], g)                   from the new κ and ε
    """

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
        self.sentence_update = SplitGRU(
            {"words": width, "linked": width, "mentioned": entity + role, "document": width}, width
        )
        related = {"related": entity} if config.relations else {}
        self.entity_update = SplitGRU(
            {"word": entity_input, "mentioning": width + role, "document": width, **related}, entity
        )
        self.document_update = SplitGRU({"sentences": width, "entities": entity}, width)
        self.entity_start = Linear(entity_input, entity) if config.initial_states == "encoder" else None
        self.dropout = Dropout(config.dropout)

    def forward(self, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """All steps from the encoder's vectors to the final states."""
        return self.finish(self.start(encoded, graph), encoded, graph, weights)

    def start(self, encoded: Encoded, graph: GraphBatch) -> Start:
        """Everything before the first step that reads link weights."""
        updates = Updates(self)
        sentences = updates.sentences.project(words=encoded.sentences)
        entities = updates.entities.project(word=encoded.entities)
        if self.entity_start is None:
            first = self._step_from_zero(sentences, entities, graph, updates)
            return Start(sentences, entities, first, steps_done=1, updates=updates)
        zero = encoded.sentences.new_zeros(graph.documents, self.width)
        states = NodeStates(encoded.sentences, self.entity_start(encoded.entities), zero)
        return Start(sentences, entities, states, steps_done=0, updates=updates)

    def finish(self, start: Start, encoded: Encoded, graph: GraphBatch, weights: Tensor) -> States:
        """The remaining steps under these link weights."""
        states = start.states
        links, link_weights = graph.links(), both_directions(weights)
        for _ in range(start.steps_done, self.config.steps):
            states = self._step(states, start, graph, links, link_weights)
        return States(encoded, self.dropout(states.sentences), states.documents)

    def _step(
        self, old: NodeStates, start: Start, graph: GraphBatch, links: Tensor, link_weights: Tensor
    ) -> NodeStates:
        """Sentences and entities read the old states, then the document reads the new ones."""
        kappa, epsilon, g = old.sentences, old.entities, old.documents
        roles = self.roles.weight
        related = {} if self.relations is None else {"related": self.relations(epsilon, graph)}
        sentences = start.updates.sentences(
            kappa,
            start.sentences,
            document=Gathered(g, graph.document_of_sentence),
            linked=self.links(kappa, links, link_weights),
            mentioned=self.to_sentences(kappa, epsilon, graph.mentions.flip(0), graph.roles, roles),
        )
        entities = start.updates.entities(
            epsilon,
            start.entities,
            document=Gathered(g, graph.document_of_entity),
            mentioning=self.to_entities(epsilon, kappa, graph.mentions, graph.roles, roles),
            **related,
        )
        return NodeStates(sentences, entities, self._document(sentences, entities, g, graph, start.updates))

    def _step_from_zero(self, words: Tensor, word: Tensor, graph: GraphBatch, updates: Updates) -> NodeStates:
        """The first step where all states are zero: links carry nothing, and a mention only its role."""
        entity, sentence = graph.mentions
        roles = self.roles.weight
        to_sentences, to_entities = self.to_sentences.from_zero(roles), self.to_entities.from_zero(roles)
        sentences = updates.sentences(
            None, words, mentioned=Gathered(to_sentences, graph.roles, sentence, graph.sentences)
        )
        entities = updates.entities(None, word, mentioning=Gathered(to_entities, graph.roles, entity, graph.entities))
        return NodeStates(sentences, entities, self._document(sentences, entities, None, graph, updates))

    def _document(
        self, sentences: Tensor, entities: Tensor, g: Tensor | None, graph: GraphBatch, updates: Updates
    ) -> Tensor:
        """The entities' sum is divided by their number plus one, so that a document may have none."""
        mean_sentence = scatter_sum(sentences, graph.document_of_sentence, graph.documents) / graph.sizes[:, None]
        entity_sum = scatter_sum(entities, graph.document_of_entity, graph.documents)
        return updates.documents(g, sentences=mean_sentence, entities=entity_sum / (graph.entity_counts[:, None] + 1))
