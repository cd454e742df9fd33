"""A causal language model on this machine as a judge: which of two sentences it rather reads first; needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from unshuffle.errors import ConfigError, MissingExtra
from unshuffle.judge.contracts import Answers, Trust
from unshuffle.result import Spend
from unshuffle.storage.files import read_json

LIKELY = Trust(reliability=0.75, temperature=8.0)
"""Log-likelihoods of whole sentences are surer of themselves than right; `trust-judge` fits better numbers."""
OWN_CODE = (None, "eager", "sdpa")
"""What a folder may say of the code for attention."""
ROWS = 8
"""Sequences that are read at once."""


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
        rows = [self._row(pieces, *way) for first, second in pairs for way in ((first, second), (second, first))]
        likely: list[float] = []
        for at in range(0, len(rows), ROWS):
            likely += self._likelihoods(rows[at : at + ROWS])
        odds = torch.tensor(likely, dtype=torch.float64).view(-1, 2)
        chances = (odds[:, 0] - odds[:, 1]).clamp(-30, 30).sigmoid().tolist()
        return Answers(chances, Spend(tokens_read=sum(len(ids) for ids, _ in rows)))

    def _row(self, pieces: Sequence[Sequence[int]], first: int, second: int) -> tuple[list[int], int]:
        """Word pieces, and from which on they count."""
        most = (self.longest - 1) // 2
        asked = [*pieces[first][:most], *pieces[second][:most]]
        before: list[int] = []
        if self.context:
            before = [piece for at, some in enumerate(pieces) if at not in (first, second) for piece in some]
            before = before[: max(self.longest - 1 - len(asked), 0)]
        return [*self._start, *before, *asked], max(len(self._start) + len(before), 1)

    def _likelihoods(self, rows: Sequence[tuple[list[int], int]]) -> list[float]:
        longest = max(len(ids) for ids, _ in rows)
        ids = torch.tensor([row + [0] * (longest - len(row)) for row, _ in rows])
        place = torch.arange(longest)
        there = place < torch.tensor([len(row) for row, _ in rows])[:, None]
        counted = there & (place >= torch.tensor([start for _, start in rows])[:, None])
        logits = self.model(input_ids=ids, attention_mask=there.long()).logits[:, :-1].float()
        chance = logits.log_softmax(-1).gather(-1, ids[:, 1:, None]).squeeze(-1)  # (rows, longest - 1)
        found: list[float] = (chance * counted[:, 1:]).sum(1).tolist()
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
