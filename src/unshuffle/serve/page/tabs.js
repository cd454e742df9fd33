// The tabs, as the ARIA practices ask: arrow keys change, only the chosen one is in the tab order.
import { readFragment } from "./fragment.js";

/** Make the tabs of the page work, also by the address's fragment; `shown(name)` is called with each change. */
export function setUpTabs(shown) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const name = (tab) => tab.id.replace("tab-", "");
  const choose = (tab) => {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    shown(name(tab));
  };
  tabs.forEach((tab, number) => {
    tab.addEventListener("click", () => {
      history.replaceState(null, "", `#${name(tab)}`);
      choose(tab);
    });
    tab.addEventListener("keydown", (event) => {
      const next = { ArrowLeft: number - 1, ArrowRight: number + 1, Home: 0, End: -1 }[event.key];
      if (next === undefined) return;
      event.preventDefault();
      const tabThere = tabs.at(next % tabs.length);
      tabThere.focus();
      tabThere.click();
    });
  });
  const follow = () => {
    const named = tabs.find((tab) => name(tab) === readFragment().tab);
    if (named) choose(named);
  };
  addEventListener("hashchange", follow);
  follow();
}
