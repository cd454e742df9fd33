"""Exercises as files to print and to edit, where the service has what it takes to write them."""

import io

import pytest
from fastapi.testclient import TestClient

from tests.serve.fake import EXAMPLES, FakeOrderer
from unshuffle.exercises.formats import write
from unshuffle.serve.app import make_app
from unshuffle.serve.settings import Limits, Settings

pytest.importorskip("fpdf")
docx = pytest.importorskip("docx")

STORY = EXAMPLES[0]["sentences"]
WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


def test_a_file_has_the_exercise_that_was_shown(client: TestClient) -> None:
    asked = {"sentences": STORY, "seed": 5}
    shown = client.post("/v1/exercise", json=asked).json()
    answer = client.post("/v1/exercise/file", json={**asked, "format": "docx", "title": "For Monday"})
    assert (answer.status_code, answer.headers["content-type"]) == (200, WORD)
    assert answer.headers["content-disposition"] == 'attachment; filename="exercise.docx"'
    lines = [paragraph.text for paragraph in docx.Document(io.BytesIO(answer.content)).paragraphs]
    assert lines[0] == "For Monday"
    items = [line.rpartition("\t")[2] for line in lines if line.startswith("\t\t")]
    assert items == shown["items"] != STORY


def test_a_pdf_is_one_too(client: TestClient) -> None:
    answer = client.post("/v1/exercise/file", json={"sentences": STORY, "format": "pdf"})
    assert answer.headers["content-type"] == "application/pdf" and answer.content.startswith(b"%PDF-")
    polish = [*STORY[:2], "Łódź is far."]
    refused = client.post("/v1/exercise/file", json={"sentences": polish, "format": "pdf"})
    assert refused.status_code == 422 and "the fonts of a PDF have no" in refused.json()["error"]


def test_what_cannot_be_written_here_is_neither_offered_nor_made(
    model: FakeOrderer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(write, "find_spec", lambda name: None if name == "fpdf" else object())
    with TestClient(make_app(model), base_url="http://localhost") as client:
        assert client.get("/v1/models").json()["exercise_formats"] == ["docx"]
        answer = client.post("/v1/exercise/file", json={"sentences": STORY, "format": "pdf"})
    assert answer.status_code == 422 and model.batches == []
    assert answer.json()["error"].startswith("format: this service cannot write pdf. Choose one that GET /v1/models")


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({}, "format: it is missing. Give 'pdf' or 'docx'."),
        ({"format": "html"}, "format: it is an unknown word. Give 'pdf' or 'docx'."),
        ({"format": "pdf", "title": "x" * 121}, "title: it is too long. Give at most 120 characters."),
        ({"format": "pdf", "beam": 3}, "beam: there is no such field. Known are: "),
    ],
)
def test_a_wrong_field_is_told_what_it_takes(client: TestClient, asked: dict[str, object], error: str) -> None:
    answer = client.post("/v1/exercise/file", json={"sentences": STORY, **asked})
    assert answer.status_code == 422 and answer.json()["error"].startswith(error)


def test_files_have_the_limits_and_the_token_of_exercises(model: FakeOrderer) -> None:
    settings = Settings(token="0123456789abcdef", limits=Limits(cost=10))
    asked = {"sentences": STORY, "format": "docx"}
    with TestClient(make_app(model, settings), base_url="http://localhost") as client:
        assert client.post("/v1/exercise/file", json=asked).status_code == 401
        client.headers["authorization"] = f"Bearer {settings.token}"
        files = client.post("/v1/exercise/file", json=asked)
        exercises = client.post("/v1/exercise", json={"sentences": STORY})
    assert (files.status_code, files.json()["error"]) == (422, exercises.json()["error"])
    assert "cost: the request costs about" in files.json()["error"] and model.batches == []
