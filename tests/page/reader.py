"""What a reader does on the page, and what they see."""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tests.serve.fake import EXAMPLES

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

Open = Callable[..., "Page"]
BY_NAME: dict[str, dict[str, Any]] = {example["name"]: example for example in EXAMPLES}
PROCESS = BY_NAME["A process"]


def order_example(page: "Page", name: str = "A process") -> None:
    page.click(f"#examples >> text={name}")
    until(lambda: page.locator("#sentences li").count() == len(BY_NAME[name]["sentences"]))


def shown(page: "Page") -> list[str]:
    return page.locator("#sentences .sentence").all_inner_texts()


def until(true: Callable[[], object]) -> None:
    """Waits from outside: the page's policy forbids Playwright's own way, which evaluates a string within."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen")


def at_rest(page: "Page", selector: str) -> None:
    """Waits until nothing moves it any more: what is loaded later may push it down."""
    seen: list[object] = []

    def stands() -> bool:
        seen.append(page.locator(selector).last.bounding_box())
        return len(seen) > 3 and seen[-1] == seen[-2] == seen[-3]

    until(stands)


def answering(page: "Page", path: str, **changed: Any) -> None:
    """From now on the service's answers at /v1/path have these fields."""

    def change(route: "Route") -> None:
        answer = route.fetch()
        route.fulfill(response=answer, json={**answer.json(), **changed})

    page.route(f"**/v1/{path}", change)


def flags(page: "Page") -> list[str]:
    return page.locator("#sentences .flag").all_inner_texts()
