"""A language model as rival: the order whose text it finds most likely, by beam search over orders.

`python -m unshuffle_research.model.language_model --folder FOLDER --gguf FILE --data FOLDER` orders the same shuffled
test texts as `unshuffle domains` does and goes on where it was cut off, kind by kind.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unshuffle.evaluation.baselines import predict_baseline
from unshuffle.evaluation.predict import figures
from unshuffle.evaluation.results import command_line, commit, plain, versions, write_predictions
from unshuffle.storage.files import write_json
from unshuffle.text.document import Document
from unshuffle_research import RESULTS
from unshuffle_research.model.mixture import held_out
from unshuffle_research.model.recipe import load_recipe


@dataclass(frozen=True)
class Beginning:
    """Sentences chosen so far, their log-likelihood, and what the model remembers of them."""

    chosen: tuple[int, ...]
    likelihood: float
    memory: Any


class LikeliestOrder:
    """Beam search over orders by the likelihood of their text under a causal language model."""

    def __init__(self, model: Any, tokenizer: Any, beam: int) -> None:
        self.model, self.tokenizer, self.beam = model, tokenizer, beam
        self.start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id

    @torch.inference_mode()
    def __call__(self, document: Document) -> Sequence[int]:
        """The most likely order that the beam finds."""
        pieces = [self.tokenizer(f" {sentence}").input_ids for sentence in document.sentences]
        kept = [Beginning((), 0.0, None)]
        for _ in pieces:
            grown: dict[tuple[frozenset[int], int], tuple[float, Beginning, int]] = {}
            for beginning in kept:
                left = [number for number in range(len(pieces)) if number not in beginning.chosen]
                gains = self._gains(beginning.memory, [pieces[number] for number in left])
                for number, gain in zip(left, gains, strict=True):
                    # Of beginnings with the same sentences and the same last one, the likeliest is enough.
                    same = frozenset((*beginning.chosen, number)), number
                    total = beginning.likelihood + gain
                    if same not in grown or total > grown[same][0]:
                        grown[same] = total, beginning, number
            best = sorted(grown.values(), key=lambda found: -found[0])[: self.beam]
            kept = [self._longer(beginning, number, total, pieces[number]) for total, beginning, number in best]
        return kept[0].chosen

    def _gains(self, memory: Any, sentences: Sequence[list[int]]) -> list[float]:
        """Log-likelihood of each sentence after what is remembered."""
        first = [] if memory is not None else [self.start]
        ids, there = _padded([first + sentence for sentence in sentences])
        before = self._repeated(memory, len(sentences))
        known = 0 if memory is None else memory[1]
        mask = torch.cat([torch.ones(len(ids), known, dtype=torch.long), there.long()], 1)
        last = None if memory is None else memory[2].expand(len(ids), 1, -1)
        logits = self.model(input_ids=ids, attention_mask=mask, past_key_values=before, use_cache=True).logits
        # The first piece is judged by what came before, each other one by those before it.
        guesses = logits[:, :-1] if last is None else torch.cat([last, logits[:, :-1]], 1)
        asked = ids[:, 1:] if last is None else ids
        judged = there[:, 1:] if last is None else there
        chance = guesses.float().log_softmax(-1).gather(-1, asked[..., None]).squeeze(-1)
        return [float(gain) for gain in (chance * judged).sum(1)]

    def _longer(self, beginning: Beginning, number: int, likelihood: float, sentence: list[int]) -> Beginning:
        memory = beginning.memory
        ids = torch.tensor([([] if memory is not None else [self.start]) + sentence])
        before = self._repeated(memory, 1)
        known = 0 if memory is None else memory[1]
        mask = torch.ones(1, known + ids.shape[1], dtype=torch.long)
        out = self.model(input_ids=ids, attention_mask=mask, past_key_values=before, use_cache=True)
        remembered = (out.past_key_values, known + ids.shape[1], out.logits[:, -1:])
        return Beginning((*beginning.chosen, number), likelihood, remembered)

    @staticmethod
    def _repeated(memory: Any, times: int) -> Any:
        from transformers import DynamicCache

        cache = DynamicCache()
        if memory is not None:
            for layer, known in enumerate(memory[0].layers):
                cache.update(known.keys.expand(times, -1, -1, -1), known.values.expand(times, -1, -1, -1), layer)
        return cache


def _padded(rows: Sequence[list[int]]) -> tuple[Tensor, Tensor]:
    longest = max(map(len, rows))
    ids = torch.tensor([row + [0] * (longest - len(row)) for row in rows])
    return ids, torch.tensor([[position < len(row) for position in range(longest)] for row in rows])


def main() -> None:
    """Orders the test texts of every kind that has no figures yet."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--folder", required=True, help="folder of the language model")
    options.add_argument("--gguf", default=None, help="its file, where it is packed as GGUF")
    options.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    options.add_argument("--out", type=Path, default=RESULTS / "language-model", help="folder for the figures")
    options.add_argument("--most", type=int, default=60, help="documents of each kind")
    options.add_argument("--beam", type=int, default=4)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    torch.set_num_threads(1)
    packed = {"gguf_file": chosen.gguf} if chosen.gguf else {}
    model: Any = AutoModelForCausalLM.from_pretrained(chosen.folder, dtype=torch.bfloat16, **packed)
    model.eval()
    order = LikeliestOrder(model, AutoTokenizer.from_pretrained(chosen.folder, **packed), chosen.beam)
    for recipe in map(load_recipe, ("default", "unseen")):
        texts = held_out(recipe.last.mixture, chosen.data, "test", chosen.most)
        texts = {**held_out(recipe.last.mixture, chosen.data, "valid", chosen.most), **texts}
        for kind, documents in texts.items():
            path = chosen.out / f"language-model-{kind}-{chosen.seed}.json"
            if path.exists():
                continue
            started = time.monotonic()
            predictions = list(predict_baseline(order, documents, seed=chosen.seed))
            write_predictions(path.with_suffix(".orders.jsonl.gz"), predictions)
            described = {"system": "language-model", "dataset": kind, "seed": chosen.seed, "beam": chosen.beam}
            origin = {"command": command_line(), "commit": commit(), "versions": versions()}
            minutes = round((time.monotonic() - started) / 60, 2)
            write_json(path, described | origin | {"minutes": minutes, "test": plain(figures(predictions))})
            print(kind, minutes, plain(figures(predictions))["tau"], flush=True)


if __name__ == "__main__":
    main()
