"""The page in a real browser, served by a real server."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.serve.conftest import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("page"), {})
    yield server
    server.stop()


@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator["Browser"]:
    """Closed with its module: the driver keeps an event loop running, in which no other test could start its own."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: "Browser", server: Server) -> Iterator[Callable[..., "Page"]]:
    """Opens the page; at the end no error may have been logged and no request may have left the host."""
    contexts: list[Any] = []
    faults: list[str] = []

    def log(message: Any) -> None:
        if message.type in {"error", "warning"}:
            faults.append(message.text)

    def request(one: Any) -> None:
        if not one.url.startswith((server.url, "blob:", "data:")):
            faults.append(f"request to {one.url}")

    def start(path: str = "/", *, url: str = "", **options: Any) -> "Page":
        context = browser.new_context(accept_downloads=True, **options)
        contexts.append(context)
        page: Page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", log)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("request", request)
        page.goto((url or server.url) + path)
        page.wait_for_selector(".chip", state="attached")
        return page

    yield start
    for context in contexts:
        context.close()
    assert faults == []
