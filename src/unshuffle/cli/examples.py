"""Two examples per command, shown below its help."""

from __future__ import annotations

EXAMPLES: dict[str, tuple[str, str]] = {
    "order": (
        "unshuffle order notes.txt",
        "unshuffle order chunks.jsonl --format json --keep-if-unsure auto --out ordered.jsonl",
    ),
    "order-files": (
        "unshuffle order-files corpus/ --out ordered/",
        "unshuffle order-files part-1.jsonl part-2.parquet --out ordered/ --workers 4",
    ),
    "score": (
        "unshuffle score draft.txt",
        "unshuffle score essays.jsonl --format json --out scores.jsonl",
    ),
    "graph": (
        "unshuffle graph story.txt --out story.svg",
        "unshuffle graph stories.jsonl --number 3 --out third.png",
    ),
    "exercise": (
        "unshuffle exercise story.txt --out sheet.pdf --key key.pdf --count 3",
        "unshuffle exercise story.txt --mend --keep 1 --out question.xml --format moodle",
    ),
    "systems": ("unshuffle systems", "unshuffle systems --format json"),
    "train": (
        "unshuffle train --system irse-grn --data corpus/ --out my-model",
        "unshuffle train --system se-grn --data corpus/ --out my-model --set training.epochs=5 --resume",
    ),
    "fine-tune": (
        "unshuffle fine-tune my-texts.jsonl --out my-model",
        "unshuffle fine-tune train.jsonl --valid valid.jsonl --test test.jsonl --out my-model --minutes 30",
    ),
    "export": (
        "unshuffle export my-model --out small-model",
        "unshuffle export my-model --out small-model --storage float16",
    ),
    "evaluate": (
        "unshuffle evaluate test.jsonl --model my-model",
        "unshuffle evaluate --predictions results/my-model.orders.jsonl.gz",
    ),
    "calibrate": (
        "unshuffle calibrate valid.jsonl --model my-model",
        "unshuffle calibrate news.jsonl stories.jsonl --model my-model --plot reliability.svg",
    ),
    "serve": (
        "unshuffle serve",
        "UNSHUFFLE_TOKEN=secret unshuffle serve --host 0.0.0.0 --port 80 --model my-model",
    ),
}


def epilog(command: str) -> str | None:
    """The examples as the help shows them; None for commands of other packages."""
    if command not in EXAMPLES:
        return None
    # Blank lines keep the help from joining the lines.
    return "\n\n".join(["Examples:", *(f"  {line}" for line in EXAMPLES[command])])
