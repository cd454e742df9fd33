"""The page "Add a part", followed to the letter: its package is installed, its row trains, is saved, and orders."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.documents import VECTOR_WIDTH, random_documents, write_vectors
from tests.fixtures.systems import WIDTH

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "add-a-part.md").read_text(encoding="utf-8")


def run(folder: Path, *command: str, installed: Path | None = None) -> subprocess.CompletedProcess[str]:
    paths = [str(installed)] if installed else []
    paths += [os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files of the page, the package installed in `installed`, and documents to train on."""
    pytest.importorskip("hatchling", reason="needs the 'dev' extra")
    folder = tmp_path_factory.mktemp("page")
    for title, content in re.findall(r'```\w+ title="([^"]+)"\n(.*?)```', PAGE, re.DOTALL):
        (folder / title).parent.mkdir(exist_ok=True)
        (folder / title).write_text(content, encoding="utf-8")
    pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index", "--no-deps"]
    done = run(folder, *pip, "--no-build-isolation", "--target", "installed", "./my-parts")
    assert done.returncode == 0, done.stderr
    for number, split in enumerate(("train", "valid", "test")):
        lines = [json.dumps({"id": d.id, "sentences": d.sentences}) for d in random_documents(6, seed=number)]
        (folder / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (story,) = random_documents(1, sentences=(5, 5), seed=7)
    (folder / "story.lines").write_text("\n".join(story.sentences) + "\n", encoding="utf-8")
    return folder


def train(folder: Path, installed: Path | None) -> subprocess.CompletedProcess[str]:
    vectors = write_vectors(folder / "vectors.txt")
    sizes = [f"sentence_encoder.width={WIDTH}", "parser=none", "training.epochs=1", "tokens.minimum_count=1"]
    sizes += [f"tokens.vectors={vectors}", f"sentence_encoder.word_width={VECTOR_WIDTH}"]
    changes = [f"--set={size}" for size in sizes]
    given = ["--system", "my-row.toml", "--data", ".", "--out", "my-model"]
    return run(folder, "-m", "unshuffle", "train", *given, *changes, installed=installed)


def test_without_the_package_its_kind_is_unknown(followed: Path) -> None:
    done = train(followed, None)
    assert done.returncode == 2
    assert "paragraph_encoder has no kind 'mean'." in done.stderr and len(done.stderr.splitlines()) == 1


def test_the_page_can_be_followed(followed: Path) -> None:
    installed = followed / "installed"
    done = train(followed, installed)
    assert done.returncode == 0, done.stderr[-2000:]
    config = json.loads((followed / "my-model" / "config.json").read_text(encoding="utf-8"))
    assert '"kind": "mean", "share": 0.3' in json.dumps(config)
    done = run(followed, "-m", "unshuffle", "order", "story.lines", "--model", "my-model", installed=installed)
    assert done.returncode == 0, done.stderr
    story = (followed / "story.lines").read_text(encoding="utf-8")
    assert sorted(done.stdout.split()) == sorted(story.split())
    done = run(followed, "check.py", installed=installed)
    assert done.returncode == 0, done.stderr
