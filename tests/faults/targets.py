"""What is fuzzed: each target takes bytes, and only an error of one line that the user can mend may come out."""

import io
import json
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

from tests.fixtures.tiny import save_tiny, tiny_options
from unshuffle.bulk.parts import cut
from unshuffle.bulk.reading import read_part
from unshuffle.errors import UnshuffleError
from unshuffle.rank.constraints import Constraints
from unshuffle.system.config import SystemConfig
from unshuffle.system.orderer import Orderer
from unshuffle.text.readers.read import FORMATS, read_documents
from unshuffle.text.split import split_sentences

Target = Callable[[bytes], None]
JSONL = b'{"id": "a", "sentences": ["One a.", "Two b."], "x": {"y": [1, null]}}\n["Three."]\n'
SEEDS: dict[str, tuple[bytes, ...]] = {
    "jsonl": (JSONL, b"[" * 50 + b"]" * 50, b'{"sentences": ["\\ud800"]}', b'\xef\xbb\xbf["x"]'),
    "csv": (b'id,sentence,position\nx,"One, a.",1\nx,Two b.,2\n', b"id,first,second\ny,One.,\n"),
    "tsv": (b"id\tsentence\nx\tOne a.\nx\tTwo b.\n", b"id\tsentence1\tsentence2\ny\tOne.\tTwo.\n"),
    "lines": (b"One a.\nTwo b.\n\nThree c.\n", "Ein Satz.\r\nZwei – „Sätze“.\u2028x\n".encode()),
    "text": (b"Dr. Who came. He left!\n\nThe end.\n---\nNext one.\x0cPage.", "「はい。」 Да? 👩‍👩‍👧".encode()),
    "lower": (b"one a . <eos> two b . <eos>\n<eos>\nthree <eos> <eos> four\n",),
}


def allowed(call: Callable[[], object]) -> None:
    """Runs it; an error of ours is an answer if it is one line."""
    try:
        call()
    except UnshuffleError as error:
        message = str(error)
        assert message and "\n" not in message and len(message) < 2_000, f"bad message: {message!r}"


def read_with(format: str, data: bytes) -> None:
    """A reader, both ways of meeting broken records."""
    for rule in ("skip", "stop"):
        allowed(lambda rule=rule: [_sound(document) for document in read_documents(io.BytesIO(data), format, rule)])  # type: ignore[misc]


def _sound(document: object) -> None:
    sentences: tuple[str, ...] = document.sentences  # type: ignore[attr-defined]
    assert sentences and all(isinstance(sentence, str) and sentence.strip() for sentence in sentences)
    "".join(sentences).encode("utf-8")


@cache
def orderer() -> Orderer:
    """A tiny model."""
    return Orderer.from_pretrained(save_tiny(Path(tempfile.mkdtemp(prefix="unshuffle-fuzz-")) / "tiny"))


def order(data: bytes) -> None:
    """Any text as sentences, some of them equal, under made-up constraints."""
    half = "\ud800" if data[:1] == b"\xed" else ""
    sentences = (half + data.decode("utf-8", "replace")).split("\n")[:12]
    places = list(data[:4])
    rules = (
        Constraints(before=((places[0] % 9, places[1] % 9),), fixed=())
        if len(places) == 4 and data[0] % 5 == 0
        else None
    )

    def call() -> None:
        found = orderer().order(sentences, beam=1 + len(data) % 4, constraints=rules)
        assert sorted(found.order) == list(range(len(sentences)))
        assert 0 <= found.confidence <= 1 and 0 <= found.probability <= 1 + 1e-6
        json.dumps(found.to_json(), allow_nan=False)

    allowed(call)


def bulk_rows(ending: str, data: bytes) -> None:
    """The rows of a part: one each line or row, good or told."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"x{ending}"
        file.write_bytes(data)
        for part in cut([file], 3):
            allowed(lambda part=part: [len(some.rows) for some in read_part(part, 2)])  # type: ignore[misc]


def system_config(data: bytes) -> None:
    """A model's description with one value replaced."""
    text = json.dumps(tiny_options())
    place = int.from_bytes(data[:2], "big") % len(text)
    changed = text[:place] + data[2:].decode("utf-8", "replace") + text[place + len(data) % 7 :]
    try:
        options = json.loads(changed)
    except (ValueError, RecursionError):
        return
    if isinstance(options, dict):
        allowed(lambda: SystemConfig.read(options))


def split(data: bytes) -> None:
    """Running text: no character but space is lost."""
    text = data.decode("utf-8", "replace")
    found = split_sentences(text)
    assert "".join("".join(found).split()) == "".join(text.split())


@cache
def parquet_seed() -> bytes:
    """A small sound file."""
    import pyarrow as pa
    from pyarrow import parquet

    sink = io.BytesIO()
    rows = {"id": ["a", "b", None, "d"], "sentences": [["One.", "Two."], [], None, ["x", ""]], "n": [1, 2, 3, 4]}
    parquet.write_table(pa.table(rows), sink, row_group_size=2)
    return sink.getvalue()


TARGETS: dict[str, Target] = {
    **{f"read-{format}": partial(read_with, format) for format in FORMATS},
    "order": order,
    "bulk-jsonl": partial(bulk_rows, ".jsonl"),
    "bulk-parquet": partial(bulk_rows, ".parquet"),
    "config": system_config,
    "split": split,
}


def seeds(target: str) -> tuple[bytes, ...]:
    """Sound inputs to start from."""
    kind = target.partition("-")[2]
    if kind == "parquet":
        return (parquet_seed(),)
    if target == "order":
        return (*SEEDS["lines"], "a\na\nb\u200b\n".encode(), b"\xed\xa0\x80")
    return SEEDS.get(kind) or SEEDS["text"]
