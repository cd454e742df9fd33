"""Generic code never asks which concrete part it holds: what differs between parts, parts answer themselves."""

import ast
from pathlib import Path

import pytest
from torch import nn

from unshuffle.decode.contracts import Decoder, decoders
from unshuffle.encoders.contracts import ParagraphEncoder, SentenceEncoder, paragraph_encoders, sentence_encoders
from unshuffle.parts.registry import PartConfig, Registry
from unshuffle.system import config as _register  # noqa: F401  (imports every part)

ROOTS = [Path(__file__).parents[2] / path for path in ("src/unshuffle", "research/unshuffle_research")]
PART_FOLDERS = ("encoders", "decode", "refine", "graph")
ASKS = ("isinstance", "issubclass")
ASSERTS = {"benchmarks/twin.py"}
"""Compares its own copy of one system with ours, so it must hold that system."""


def concrete() -> dict[str, set[Path]]:
    """Classes of parts, of their configurations and of what they are made of, each with the folders defining it."""
    contracts = {"SentenceEncoder", "ParagraphEncoder", "Decoder", "PartConfig", "SentenceEncoderConfig", "Stepwise"}
    found: dict[str, set[Path]] = {}
    for folder in PART_FOLDERS:
        for file in (ROOTS[0] / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef) and file.name != "contracts.py" and node.name not in contracts:
                    found.setdefault(node.name, set()).add(ROOTS[0] / folder)
    return found


def names(node: ast.AST) -> set[str]:
    """Last names of everything in an expression: `a.b.C | D` -> C, D."""
    plain = {part.id for part in ast.walk(node) if isinstance(part, ast.Name)}
    return plain | {part.attr for part in ast.walk(node) if isinstance(part, ast.Attribute)}


def questions(source: str, known: set[str], kinds: set[str]) -> list[int]:
    """Lines that ask for a concrete part, by its class or by the name of its kind."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ASKS:
            if names(node.args[1]) & known:
                lines.append(node.lineno)
        elif isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            texts = {part.value for side in sides for part in ast.walk(side) if isinstance(part, ast.Constant)}
            asked = any("kind" in names(side) or _is_kind(side) for side in sides)
            if (asked and texts & kinds) or any(_is_type(side) and names(node) & known for side in sides):
                lines.append(node.lineno)
    return lines


def _is_kind(node: ast.AST) -> bool:
    return any(
        isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and part.slice.value == "kind"
        for part in ast.walk(node)
    )


def _is_type(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and names(node.func) == {"type"}


def kinds() -> set[str]:
    registries: tuple[Registry[nn.Module], ...] = (sentence_encoders, paragraph_encoders, decoders)  # type: ignore[assignment]
    return {kind for registry in registries for kind in registry.kinds()}


def test_no_generic_code_asks_for_a_concrete_part() -> None:
    classes, named = concrete(), kinds()
    found = []
    for root in ROOTS:
        for file in root.rglob("*.py"):
            if file.relative_to(root).as_posix() in ASSERTS:
                continue
            known = {name for name, folders in classes.items() if not any(file.is_relative_to(one) for one in folders)}
            lines = questions(file.read_text(encoding="utf-8"), known, named)
            found += [f"{file.relative_to(root)}:{line}" for line in lines]
    assert not found


@pytest.mark.parametrize(
    "line",
    [
        "isinstance(network.paragraph_encoder, GIN)",
        "isinstance(part, (Pointer, gin.GIN))",
        "config.decoder.kind == 'pointer'",
        "options['decoder']['kind'] in ('pointer', 'scores')",
        "type(part) is GIN",
    ],
)
def test_such_a_question_is_found(line: str) -> None:
    assert questions(line, {"GIN", "Pointer"}, {"pointer"}) == [1]


def test_a_part_that_keeps_no_contract_is_refused_when_it_is_registered() -> None:
    class Config(PartConfig):
        pass

    for registry, base in ((sentence_encoders, SentenceEncoder), (paragraph_encoders, ParagraphEncoder)):
        with pytest.raises(TypeError, match=f"must inherit from {base.__name__}"):
            registry.register("stray", Config)(nn.Linear)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="must inherit from PartConfig"):
        decoders.register("stray", int)(Decoder)
