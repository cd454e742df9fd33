"""The service with the fake model, in this process and in one of its own."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra 'serve'")
pytest.importorskip("httpx", reason="needs the extra 'dev'")

import httpx
from fastapi.testclient import TestClient

from tests.serve.fake import FakeOrderer
from unshuffle.serve.app import make_app
from unshuffle.serve.settings import Settings

ROOT = Path(__file__).parents[2]


@pytest.fixture
def model() -> FakeOrderer:
    return FakeOrderer()


@pytest.fixture
def client(model: FakeOrderer) -> Iterator[TestClient]:
    with TestClient(make_app(model, Settings()), base_url="http://localhost") as client:
        yield client


class Server:
    """A process that serves; its log is a file."""

    def __init__(self, folder: Path, options: dict[str, Any]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / f"{self.port}.log"
        command = [sys.executable, "-m", "tests.serve.fake_server", json.dumps({"port": self.port, **options})]
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, cwd=ROOT, stderr=log)
        self._wait()

    def _wait(self) -> None:
        for _ in range(400):
            try:
                httpx.get(f"{self.url}/healthz", trust_env=False)
                return
            except httpx.TransportError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.05)
        raise AssertionError("the server did not start")

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(timeout=20)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    started: list[Server] = []

    def start(**options: Any) -> Server:
        started.append(Server(tmp_path, options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.process.kill()
            server.process.wait()
