// Two tabs, as the ARIA practices ask: arrow keys change, only the chosen one is in the tab order.

/** Make the tabs of the page work, also by the address's fragment. */
export function setUpTabs(shown) {
  const tabs = [...document.querySelectorAll('[role="tab"]')];
  const choose = (tab) => {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    shown();
  };
  tabs.forEach((tab, number) => {
    tab.addEventListener("click", () => {
      history.replaceState(null, "", `#${tab.id.replace("tab-", "")}`);
      choose(tab);
    });
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      const next = tabs[(number + step + tabs.length) % tabs.length];
      next.focus();
      next.click();
    });
  });
  const named = tabs.find((tab) => `#${tab.id.replace("tab-", "")}` === location.hash);
  if (named) choose(named);
}
