// Not a module: it runs before the first paint, so that the colours do not change under the reader's eyes.
(() => {
  const words = { auto: "as the system", light: "light", dark: "dark" };
  const read = () => {
    try {
      return localStorage.getItem("theme") ?? "auto";
    } catch {
      return "auto"; // storage may be forbidden
    }
  };
  let theme = read() in words ? read() : "auto";

  const show = () => {
    document.documentElement.dataset.theme = theme;
    document.getElementById("theme")?.setAttribute("aria-label", `Colours: ${words[theme]}`);
    document.getElementById("theme")?.setAttribute("title", `Colours: ${words[theme]}`);
  };
  show();

  addEventListener("DOMContentLoaded", () => {
    show();
    document.getElementById("theme").addEventListener("click", () => {
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      // The first press always changes what is seen.
      const cycle = dark ? ["auto", "light", "dark"] : ["auto", "dark", "light"];
      theme = cycle[(cycle.indexOf(theme) + 1) % cycle.length];
      try {
        localStorage.setItem("theme", theme);
      } catch {
        // it then lasts as long as the page
      }
      show();
    });
  });
})();
