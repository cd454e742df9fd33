"""The spaCy component in a real pipeline."""

import json
import shutil
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import spacy
from spacy.tokens import Doc, DocBin

import unshuffle.integrations.spacy  # noqa: F401  where the entry point is not installed
from unshuffle.errors import ConfigError, DataError

ROOT = Path(__file__).parents[2]


def pipeline(model: str) -> spacy.Language:
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("unshuffle", config={"model": model})
    return nlp


def test_a_pipeline_orders_sentences_and_leaves_the_text(
    model: str, sentences: list[str], expected: tuple[int, ...]
) -> None:
    nlp = pipeline(model)
    doc = nlp(" ".join(sentences))
    assert doc.text == " ".join(sentences)
    assert tuple(doc._.unshuffle["order"]) == expected
    assert [span.text for span in doc._.unshuffled] == [sentences[place] for place in expected]
    many = list(nlp.pipe([" ".join(sentences), "", "One sentence."], batch_size=2))
    assert tuple(many[0]._.unshuffle["order"]) == expected and many[2]._.unshuffle["order"] == [0]
    assert many[1]._.unshuffle is None and many[1]._.unshuffled == []
    assert nlp.analyze_pipes()["problems"]["unshuffle"] == []


def test_pipeline_and_documents_are_written_and_read_as_any_others(
    model: str, tmp_path: Path, sentences: list[str]
) -> None:
    nlp = pipeline(model)
    nlp.to_disk(tmp_path / "nlp")
    again = spacy.load(tmp_path / "nlp")
    doc = again(" ".join(sentences))
    packed = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (read,) = DocBin(store_user_data=True).from_bytes(packed).get_docs(nlp.vocab)
    assert list(read._.unshuffle["order"]) == doc._.unshuffle["order"]
    assert read._.unshuffle["confidence"] == doc._.unshuffle["confidence"]


def test_the_model_that_a_saved_pipeline_names_is_checked_as_any_other(model: str, tmp_path: Path) -> None:
    hostile = Path(shutil.copytree(model, tmp_path / "hostile"))
    nlp = pipeline(str(hostile))
    nlp.to_disk(tmp_path / "nlp")
    described = json.loads((hostile / "config.json").read_text(encoding="utf-8"))
    described["system"]["decoder"]["kind"] = "os.system"
    (hostile / "config.json").write_text(json.dumps(described), encoding="utf-8")
    with pytest.raises(ConfigError, match="decoder has no kind"):
        spacy.load(tmp_path / "nlp")("One is here. Two is there.")


def test_without_sentence_boundaries_it_says_what_to_do(model: str) -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("unshuffle", config={"model": model})
    with pytest.raises(DataError, match="sentencizer"):
        nlp(Doc(nlp.vocab, ["No", "boundaries"]))


def test_the_entry_point_names_the_factory() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["spacy_factories"]["unshuffle"].partition(":")
    assert callable(getattr(import_module(module), name))
