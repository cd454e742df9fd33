"""The page "Add a part", done as it says: one file, one row, and the row trains, is saved, loaded, and orders."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from tests.fixtures.documents import VECTOR_WIDTH, random_documents, write_vectors
from tests.fixtures.systems import WIDTH

PAGE = (Path(__file__).parents[2] / "docs" / "add-a-part.md").read_text(encoding="utf-8")
USE = """
import json, sys
import my_part
from unshuffle.cli import main
from unshuffle.system.orderer import Orderer

sys.argv = ["unshuffle", *json.loads(sys.argv[1])]
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
orderer = Orderer.from_pretrained("model")
assert isinstance(orderer.model.network.paragraph_encoder, my_part.Mean)
assert orderer.model.config.paragraph_encoder.share == 0.3
sentences = json.loads(open("test.jsonl").readline())["sentences"]
found = orderer.order(sentences)
moved = orderer.order(sentences[::-1])
assert [sentences[place] for place in found.order] == [sentences[::-1][place] for place in moved.order]
print("ordered", len(found.order))
"""


def block(language: str) -> str:
    (found,) = re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    return str(found)


def test_the_page_can_be_followed(tmp_path: Path) -> None:
    (tmp_path / "my_part.py").write_text(block("python"), encoding="utf-8")
    (tmp_path / "my-row.toml").write_text(block("toml"), encoding="utf-8")
    vectors = write_vectors(tmp_path / "vectors.txt")
    for number, split in enumerate(("train", "valid", "test")):
        lines = [json.dumps({"id": d.id, "sentences": d.sentences}) for d in random_documents(6, seed=number)]
        (tmp_path / f"{split}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sizes = [f"sentence_encoder.width={WIDTH}", "parser=none", "training.epochs=1", "tokens.minimum_count=1"]
    sizes += [f"tokens.vectors={vectors}", f"sentence_encoder.word_width={VECTOR_WIDTH}"]
    changes = [part for size in sizes for part in ("--set", size)]
    train = ["train", "--system", "my-row.toml", "--data", ".", "--out", "model", *changes]
    done = subprocess.run(
        [sys.executable, "-c", USE, json.dumps(train)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "ordered" in done.stdout
