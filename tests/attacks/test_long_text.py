"""Lines, sentences and documents of any length: one line of refusal, in bounded memory."""

import gzip
import io
import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from unshuffle.errors import LONGEST, DataError
from unshuffle.text import document as limits
from unshuffle.text.document import LONGEST_SENTENCE, Document, document_of
from unshuffle.text.readers.read import ReadReport, read_documents
from unshuffle.text.readers.source import LONGEST_LINE

ROOT = Path(__file__).parents[2]
MB = 1_000_000


def grown() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


@pytest.mark.parametrize("format", ["lines", "text", "jsonl", "lower", "tsv", "csv"])
@pytest.mark.parametrize("letter", ["a", "ä", "a ", "\U0001f600"])
@pytest.mark.parametrize("packed", [False, True])
def test_one_endless_line_is_refused_in_bounded_memory(format: str, letter: str, packed: bool) -> None:
    text = letter * (12 * MB // len(letter))
    if format == "jsonl":
        text = json.dumps({"sentences": [text, "b"]}, ensure_ascii=False)
    elif format in ("tsv", "csv"):
        mark = "\t" if format == "tsv" else ","
        text = f"id{mark}sentence1{mark}sentence2\nx{mark}{text}{mark}b"
    content = text.encode()
    before = grown()
    with pytest.raises(DataError) as refused:
        list(read_documents(io.BytesIO(gzip.compress(content, 1) if packed else content), format))
    assert "\n" not in str(refused.value) and len(str(refused.value)) < 300
    assert grown() - before < 500_000  # kB


@pytest.mark.parametrize("format", ["lines", "jsonl"])
def test_a_line_beyond_the_limit_is_not_even_read_whole(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unshuffle.text.readers.source.LONGEST_LINE", 2**20)
    with pytest.raises(DataError, match="1 MB") as refused:
        list(read_documents(io.BytesIO(b"a " * 2**20), format))
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("format", ["lines", "text", "tsv"])
def test_an_endless_document_is_refused_and_not_kept(format: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("document", "readers.plain", "readers.source", "readers.table"):
        monkeypatch.setattr(f"unshuffle.text.{module}.LARGEST_DOCUMENT", 10_000)
    if format == "tsv":
        text = "id\tsentence\n" + "x\tA sentence of it.\n" * 5_000 + "y\tOne.\ny\tTwo.\n"
    else:
        text = "A sentence of it.\n" * 5_000 + ("\n" if format == "lines" else "---\n") + "One.\nTwo.\n"
    report = ReadReport()
    found = list(read_documents(io.BytesIO(text.encode()), format, "skip", report))
    assert [document.sentences for document in found] == [("One.", "Two.")]
    assert report.skipped == 1 and "Divide it into documents" in report.messages[0]


@pytest.mark.parametrize("given", ["list", "document", "text"])
def test_a_sentence_that_is_none_is_refused_in_the_library_too(given: str) -> None:
    long = "a" * (LONGEST_SENTENCE + 1)
    with pytest.raises(DataError, match="more than 100,000 characters"):
        if given == "list":
            document_of([long, "b"])
        elif given == "text":
            document_of(long + ". And more.")
        else:
            Document.from_sentences(["b", long])


def test_the_longest_sentence_is_still_one() -> None:
    assert document_of(["a" * LONGEST_SENTENCE, "b"]).sentences[1] == "b"
    assert limits.LARGEST_DOCUMENT > LONGEST_SENTENCE


def test_the_limits_are_those_that_the_page_tells() -> None:
    page = " ".join((ROOT / "SECURITY.md").read_text(encoding="utf-8").split())
    line, document = LONGEST_LINE // 2**20, limits.LARGEST_DOCUMENT // MB
    assert f"A line of more than {line} MB, a sentence of more than {LONGEST_SENTENCE:,} characters" in page
    assert f"a document of more than {document} million are refused" in page
    assert f"one line of {LONGEST:,} characters" in page


def command(*arguments: str, closed: str = "", given: bytes = b"One.\nTwo.\n") -> subprocess.CompletedProcess[bytes]:
    line = [sys.executable, "-c", "from unshuffle.cli import main; main()", *arguments]
    shell = " ".join(f"'{part}'" for part in line) + closed
    return subprocess.run(
        ["bash", "-c", shell], input=given, capture_output=True, cwd=ROOT, check=False, env=os.environ
    )


@pytest.mark.parametrize(
    "arguments", [["order"], ["order", "-"], ["score"], ["order", "--format", "jsonl"], ["exercise"], ["graph"]]
)
@pytest.mark.parametrize("closed", [" <&-", " >&-", " <&- >&-"])
def test_a_closed_stream_is_one_line_and_exit_2(arguments: list[str], closed: str) -> None:
    done = command(*arguments, closed=closed)
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1 and b"Traceback" not in done.stderr
