"""SE-GRN as one writes it from the equations: padded batches, dense graphs, torch's own recurrent layers.

It stands for how the published programs work and is the benchmarks' yardstick: the same weights, the same results.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from unshuffle.decode.pointer import Pointer
from unshuffle.encoders.messages import MentionMessages, Sum
from unshuffle.encoders.paragraph.grn import GRN
from unshuffle.encoders.sentence.bilstm import BiLSTM
from unshuffle.layers.gru import SplitGRU
from unshuffle.system.network import Network
from unshuffle_research.benchmarks.twin_batch import PaddedBatch


class Twin(nn.Module):
    """Encoder, graph network and pointer of a trained or untrained SE-GRN, as a dense network."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        encoder, grn, pointer = network.sentence_encoder, network.paragraph_encoder, network.decoder
        assert isinstance(encoder, BiLSTM) and isinstance(grn, GRN) and isinstance(pointer, Pointer)
        assert isinstance(grn.links, Sum) and grn.relations is None and grn.entity_start is None
        width, self.steps = grn.width, grn.config.steps
        words, word_width = encoder.embedding.table.weight.shape
        self.embedding = nn.Embedding(words, word_width)
        self.word_dropout = nn.Dropout(encoder.embedding.dropout.rate)
        self.lstm = nn.LSTM(word_width, width // 2, batch_first=True, bidirectional=True)
        self.sentence_dropout = nn.Dropout(encoder.dropout.rate)
        self.roles = nn.Embedding(*grn.roles.weight.shape)
        self.sentence_gate = _gate(grn.to_sentences)
        self.entity_gate = _gate(grn.to_entities)
        self.sentence_cell = _cell(grn.sentence_update)
        self.entity_cell = _cell(grn.entity_update)
        self.document_cell = _cell(grn.document_update)
        self.state_dropout = nn.Dropout(grn.dropout.rate)
        self.decoder = nn.LSTM(width, width, batch_first=True)
        self.key, self.query, self.score = (
            nn.Linear(layer.in_features, layer.out_features) for layer in (pointer.key, pointer.query, pointer.score)
        )
        self.embedding.load_state_dict(encoder.embedding.table.state_dict())
        self.lstm.load_state_dict(encoder.lstm.state_dict())
        self.roles.load_state_dict(grn.roles.state_dict())
        self.decoder.load_state_dict(pointer.lstm.state_dict())
        self.key.load_state_dict(pointer.key.state_dict())
        self.query.load_state_dict(pointer.query.state_dict())
        self.score.load_state_dict(pointer.score.state_dict())

    def encode(self, batch: PaddedBatch) -> tuple[Tensor, Tensor]:
        """(documents, sentences, width), (documents, entities, word width)."""
        there = batch.lengths > 0
        words = self.word_dropout(self.embedding(batch.words[there]))
        packed = pack_padded_sequence(words, batch.lengths[there], batch_first=True, enforce_sorted=False)
        _, (last, _) = self.lstm(packed)
        vectors = words.new_zeros(*there.shape, 2 * last.shape[-1])
        vectors[there] = self.sentence_dropout(last.transpose(0, 1).flatten(1))
        return vectors, self.word_dropout(self.embedding(batch.entity_words))

    def read(self, batch: PaddedBatch) -> tuple[Tensor, Tensor, Tensor]:
        """Encoder vectors and states of the sentences, and the documents' states."""
        vectors, entities = self.encode(batch)
        documents, sentences, width = vectors.shape
        there, named = (batch.lengths > 0)[..., None].float(), batch.entity_mask[..., None].float()
        role = self.roles(batch.roles)  # (documents, sentences, entities, role)
        edge = (batch.roles > 0)[..., None].float()
        state = vectors.new_zeros(documents, sentences, width)
        entity_state = vectors.new_zeros(documents, entities.shape[1], self.entity_cell.hidden_size)
        whole = vectors.new_zeros(documents, width)
        grid = edge.shape[:3]
        for _ in range(self.steps):
            heard = torch.einsum("bij,bjd->bid", batch.links, state)
            mine = state[:, :, None].expand(*grid, -1)
            named_here = entity_state[:, None].expand(*grid, -1)
            told = torch.cat([named_here, role], -1)
            gate = torch.sigmoid(self.sentence_gate(torch.cat([mine, told], -1)))
            from_entities = (edge * gate * told).sum(2)
            told = torch.cat([mine, role], -1)
            gate = torch.sigmoid(self.entity_gate(torch.cat([named_here, told], -1)))
            from_sentences = (edge * gate * told).sum(1)
            everywhere = whole[:, None]
            new_state = self.sentence_cell(
                torch.cat([vectors, heard, from_entities, everywhere.expand_as(vectors)], -1).flatten(0, 1),
                state.flatten(0, 1),
            ).view_as(state)
            if entities.shape[1]:
                around = everywhere.expand(-1, entities.shape[1], -1)
                inputs = torch.cat([entities, from_sentences, around], -1).flatten(0, 1)
                entity_state = self.entity_cell(inputs, entity_state.flatten(0, 1)).view_as(entity_state) * named
            state = new_state * there
            mean = state.sum(1) / batch.sizes[:, None]
            entity_mean = entity_state.sum(1) / (batch.entity_mask.sum(1, keepdim=True) + 1)
            whole = self.document_cell(torch.cat([mean, entity_mean], -1), whole)
        return vectors, self.state_dropout(state), whole

    def forward(self, batch: PaddedBatch, order: Tensor) -> Tensor:
        """Negative log-likelihood of `order` (documents, sentences; padded by any number), per document."""
        vectors, state, whole = self.read(batch)
        keys = self.key(torch.cat([vectors, state], -1))
        chosen = vectors.gather(1, order[..., None].expand_as(vectors))
        inputs = torch.cat([torch.zeros_like(chosen[:, :1]), chosen[:, :-1]], 1)
        hidden, _ = self.decoder(inputs, (whole[None], torch.zeros_like(whole)[None]))
        logits = self.attend(hidden, keys[:, None])  # (documents, steps, sentences)
        step = torch.arange(order.shape[1])
        position = torch.argsort(order, 1)
        used = position[:, None, :] < step[None, :, None]
        absent = step >= batch.sizes[:, None]
        logits = logits.masked_fill(used | absent[:, None], -1e9)
        chances = torch.log_softmax(logits, -1).gather(2, order[..., None]).squeeze(-1)
        return -(chances * ~absent).sum() / len(order)

    def attend(self, hidden: Tensor, keys: Tensor) -> Tensor:
        """Score of every sentence as the next one."""
        scores: Tensor = self.score(torch.tanh(self.query(hidden)[..., None, :] + keys)).squeeze(-1)
        return scores


def _gate(messages: MentionMessages) -> nn.Linear:
    """One layer on the concatenation [target; source; role]."""
    layers = (messages.from_target, messages.from_source, messages.from_role)
    gate = nn.Linear(sum(layer.in_features for layer in layers), messages.width)
    with torch.no_grad():
        gate.weight.copy_(torch.cat([layer.weight for layer in layers], 1))
        gate.bias.copy_(messages.from_target.bias)
    return gate


def _cell(update: SplitGRU) -> nn.GRUCell:
    """Torch's cell on the concatenated input."""
    weight = torch.cat([part.weight for part in update.parts], 1)  # type: ignore[misc]
    cell = nn.GRUCell(weight.shape[1], update.width)
    with torch.no_grad():
        cell.weight_ih.copy_(weight)
        cell.bias_ih.copy_(update.parts[0].bias)  # type: ignore[arg-type]
        cell.weight_hh.copy_(update.hidden.weight)
        cell.bias_hh.copy_(torch.cat([torch.zeros(2 * update.width), update.candidate_bias]))
    return cell
