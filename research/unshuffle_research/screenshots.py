"""Takes the pictures of the page that the README shows: light, dark, phone, draft, compare and exercise.

Start `unshuffle serve` first, then: python -m unshuffle_research.screenshots
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
    example: Annotated[str, typer.Option(help="Which example to show.")] = "A story",
) -> None:
    """Take all pictures."""
    out.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(FLAGS))
        for scheme in ("light", "dark"):
            page = _picked(browser, url, "order", example, {**WIDE, "color_scheme": scheme})
            page.screenshot(path=out / f"page-{scheme}.png", full_page=True)
        page = _picked(browser, url, "order", example, {**PHONE, "color_scheme": "light"})
        page.evaluate("document.getElementById('result').scrollIntoView()")
        page.screenshot(path=out / "page-phone.png")
        for tab in ("draft", "compare", "exercise"):
            page = _picked(browser, url, tab, example, WIDE)
            if tab == "draft" and page.locator("#passage .movable").count():
                page.locator("#passage .movable").first.hover()
            page.screenshot(path=out / f"page-{tab}.png", full_page=tab == "compare")
        browser.close()


BUTTONS = {
    "order": "#examples",
    "draft": "#draft-examples",
    "compare": "#compare-examples",
    "exercise": "#exercise-examples",
}
RESULTS = {"order": "#result", "draft": "#draft-result", "compare": "#compare-result", "exercise": "#sheet"}


def _picked(browser: Browser, url: str, tab: str, example: str, options: dict[str, Any]) -> Page:
    """A tab of the page after an example was picked, its answer shown and everything at rest."""
    page = browser.new_context(**options).new_page()
    page.goto(f"{url}/#{tab}")
    page.click(f"{BUTTONS[tab]} >> text={example}")
    page.wait_for_selector(f"{RESULTS[tab]}:not([hidden])")
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    page.wait_for_timeout(1200)
    return page


if __name__ == "__main__":
    typer.run(main)
