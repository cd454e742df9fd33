"""The nginx file of `deploy/`, run between a client with TLS and a service with a token."""

import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.serve.conftest import Server

GIVEN = Path(__file__).parents[2] / "deploy" / "nginx.conf"
TOKEN = "a-token-of-some-length"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

pytestmark = pytest.mark.skipif(not NGINX or not shutil.which("openssl"), reason="needs nginx and openssl")


@pytest.fixture
def proxy(serve: Callable[..., Server], tmp_path: Path) -> Iterator[httpx.Client]:
    """Reaches the service as order.example through nginx."""
    server = serve(token=TOKEN, allowed_hosts=["order.example"])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    certificate, key = tmp_path / "own.pem", tmp_path / "own.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=order.example"),
            *("-addext", "subjectAltName=DNS:order.example", "-keyout", key, "-out", certificate),
        ],
        check=True,
        capture_output=True,
    )
    text = GIVEN.read_text(encoding="utf-8")
    for there, here in (
        ("127.0.0.1:8000", f"127.0.0.1:{server.port}"),
        ("listen 443 ", f"listen 127.0.0.1:{port} "),
        ("rate=5r/s", "rate=1r/m"),  # so that a slow machine comes to the limit, too
        ("/etc/ssl/order.example.pem", str(certificate)),
        ("/etc/ssl/private/order.example.key", str(key)),
    ):
        assert there in text
        text = text.replace(there, here)
    folders = "".join(f"{name}_temp_path {tmp_path};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    whole = f"daemon off; pid {tmp_path}/pid; events {{}} http {{ access_log off; {folders}\n{text}\n}}"
    (tmp_path / "nginx.conf").write_text(whole, encoding="utf-8")
    command = [str(NGINX), "-p", tmp_path, "-e", tmp_path / "error.log", "-c", tmp_path / "nginx.conf"]
    running = subprocess.Popen(command, stderr=subprocess.PIPE)
    trusted = ssl.create_default_context(cafile=str(certificate))
    try:
        _wait(port, running, tmp_path / "error.log")
        # The name in the certificate and the header is order.example; the address is this machine's.
        with httpx.Client(base_url=f"https://127.0.0.1:{port}", verify=trusted, trust_env=False) as client:
            client.headers["host"] = "order.example"
            yield client
    finally:
        running.terminate()
        running.wait(timeout=20)


def _wait(port: int, running: "subprocess.Popen[bytes]", log: Path) -> None:
    for _ in range(400):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert running.poll() is None, log.read_text()
            time.sleep(0.05)
    raise AssertionError("nginx did not start")


def test_the_given_file_passes_requests_with_the_token_on(proxy: httpx.Client) -> None:
    named = {"extensions": {"sni_hostname": "order.example"}}
    asked = {"sentences": ["Two 2.", "One 1."]}
    bearer = {"authorization": f"Bearer {TOKEN}"}
    assert proxy.get("/healthz", **named).json() == {"status": "ok"}
    assert proxy.get("/", **named).text.startswith("<!doctype html>")
    assert proxy.post("/v1/order", json=asked, **named).status_code == 401
    answer = proxy.post("/v1/order", json=asked, headers=bearer, **named)
    assert (answer.status_code, answer.json()["order"]) == (200, [1, 0])
    assert proxy.get("/metrics", headers=bearer, **named).status_code == 404
    large = proxy.post("/v1/order", content=b" " * 2_000_000, headers=bearer, **named)
    assert large.status_code == 413
    found = [proxy.post("/v1/order", json=asked, headers=bearer, **named).status_code for _ in range(30)]
    assert set(found) == {200, 503} and found[0] == 200  # the burst of one client, and beyond
