"""Takes the pictures of the page that the README shows: light, dark, phone and exercise.

Run a service first, then: python -m unshuffle_research.screenshots --url http://127.0.0.1:8000 --out docs/images
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Annotated, Any

import typer
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run")
WIDE: dict[str, Any] = {"viewport": {"width": 1280, "height": 1000}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
    "device_scale_factor": 2,
}


def main(
    url: Annotated[str, typer.Option(help="Where the service listens.")] = "http://127.0.0.1:8000",
    out: Annotated[Path, typer.Option(help="Folder for the pictures.")] = Path("docs/images"),
    example: Annotated[str, typer.Option(help="Which example to order.")] = "An abstract",
) -> None:
    """Take all pictures."""
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for scheme in ("light", "dark"):
            page = _ordered(browser, url, example, {**WIDE, "color_scheme": scheme})
            page.screenshot(path=out / f"page-{scheme}.png", full_page=True)
        page = _ordered(browser, url, example, {**PHONE, "color_scheme": "light"})
        page.locator("#graph-card").scroll_into_view_if_needed()
        page.evaluate("document.getElementById('graph-card').scrollIntoView()")
        page.wait_for_timeout(300)
        page.screenshot(path=out / "page-phone.png")
        page = browser.new_context(**WIDE).new_page()
        page.goto(f"{url}/#exercise")
        page.click(f"#exercise-examples >> text={example}")
        page.wait_for_selector("#sheet:not([hidden])")
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=out / "page-exercise.png")
        browser.close()


def _ordered(browser: Browser, url: str, example: str, options: dict[str, Any]) -> Page:
    """The page with an example in order."""
    page = browser.new_context(**options).new_page()
    page.goto(url)
    page.click(f"#examples >> text={example}")
    page.wait_for_selector("#sentences li .step.named")
    page.wait_for_timeout(600)
    page.mouse.move(0, 0)
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_timeout(600)
    return page


if __name__ == "__main__":
    typer.run(main)
