"""A causal language model on this machine as a judge: which of two sentences it rather reads first; needs torch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from unshuffle.encoders.pretrained.checkpoint import without_bars
from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.judge.contracts import Answers, Trust
from unshuffle.result import Spend
from unshuffle.storage.files import read_json

LIKELY = Trust(reliability=0.75, temperature=8.0)
"""Log-likelihoods of whole sentences are surer of themselves than right; `trust-judge` fits better numbers."""
OWN_CODE = (None, "eager", "sdpa")
"""What a folder may say of the code for attention."""


class LanguageModelJudge:
    """Compares how likely one sentence and then the other is after the rest of the text, with the two exchanged."""

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        context: bool = True,
        longest: int = 512,
        trust: Trust | None = None,
    ) -> None:
        """`context`: whether the other sentences come first; of what is longer than `longest` pieces they are cut."""
        self.model, self.tokenizer = model.eval(), tokenizer
        self.context, self.longest = context, longest
        self.trust = trust or LIKELY
        start = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        self._start = [] if start is None else [int(start)]

    @classmethod
    def load(cls, place: str | Path, *, context: bool = True, trust: Trust | None = None) -> LanguageModelJudge:
        """A folder as the transformers library saves it, or a .gguf file."""
        try:
            transformers = import_module("transformers")
        except ModuleNotFoundError:
            raise MissingExtra("A language model as judge", "bert") from None
        path = Path(place)
        folder, packed = (path.parent, {"gguf_file": path.name}) if path.is_file() else (path, {})
        safe: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False, **packed}
        weights: dict[str, Any] = {"dtype": torch.float32, **safe}
        if not packed:  # the folder may come from a stranger
            weights["use_safetensors"] = True
            if foreign := _foreign_code(read_json(folder / "config.json", most=2**20)):
                raise ConfigError(f"judge {place}: its config.json names code, {foreign}. Take that line out.")
        try:
            with without_bars(transformers):
                tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **safe)
                model = transformers.AutoModelForCausalLM.from_pretrained(str(folder), **weights)
        except Exception as error:  # the library raises whatever its parts raise for a defect
            reason = " ".join(str(error).split())[:200] or type(error).__name__
            raise ConfigError(f"judge {place}: no causal language model can be read there ({reason}).") from None
        return cls(model, tokenizer, context=context, trust=trust)

    @torch.inference_mode()
    def answers(self, sentences: Sequence[str], pairs: Sequence[tuple[int, int]]) -> Answers:
        """The chance of each pair, before its temperature."""
        pieces = [self.tokenizer(f" {sentence.strip()}", add_special_tokens=False).input_ids for sentence in sentences]
        chances, read = [], 0
        for first, second in pairs:
            before, one, other = self._cut(pieces, first, second)
            forward, backward = self._likelihoods(before, [[*one, *other], [*other, *one]])
            chances.append(1 / (1 + math.exp(min(max(backward - forward, -30.0), 30.0))))
            read += len(before) + 2 * (len(one) + len(other))
        return Answers(chances, Spend(tokens_read=read))

    def _cut(self, pieces: Sequence[list[int]], first: int, second: int) -> tuple[list[int], list[int], list[int]]:
        """What is read before the two sentences, and the two, of word pieces."""
        most = (self.longest - 1) // 2
        one, other = pieces[first][:most], pieces[second][:most]
        rest = [piece for at, some in enumerate(pieces) if at not in (first, second) for piece in some]
        left = max(self.longest - 1 - len(one) - len(other), 0) if self.context else 0
        return [*self._start, *rest[:left]], one, other

    def _likelihoods(self, before: list[int], rows: list[list[int]]) -> list[float]:
        """Of each row after what comes before, which is read once; rows are equally long."""
        ids = torch.tensor(rows)
        memory = heads = None
        if before:
            read = self.model(input_ids=torch.tensor([before]), use_cache=True)
            memory = read.past_key_values
            memory.batch_repeat_interleave(len(rows))
            heads = read.logits[:, -1:].expand(len(rows), -1, -1)
        logits = self.model(input_ids=ids, past_key_values=memory, use_cache=True).logits[:, :-1]
        if heads is None:  # nothing foretells the first piece
            ids = ids[:, 1:]
        else:
            logits = torch.cat([heads, logits], 1)
        chance = logits.float().log_softmax(-1).gather(-1, ids[..., None]).squeeze(-1)  # (rows, pieces)
        found: list[float] = chance.sum(1).tolist()
        return found


def _foreign_code(described: Any) -> str:
    """An entry, however deep, that names code for a part: the library would fetch it from a hub, and run it."""
    if isinstance(described, list):
        return next((found for value in described if (found := _foreign_code(value))), "")
    for name, value in described.items() if isinstance(described, dict) else ():
        if name.endswith("_implementation") and value not in OWN_CODE:
            return f"{name[:40]!r}: {str(value)[:40]!r}"
        if found := _foreign_code(value):
            return found
    return ""
