// Makes elements; text only ever becomes a text node.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** An HTML element with attributes, listeners ("onclick") and children. */
export const element = (name, options = {}, ...children) => fill(document.createElement(name), options, children);

/** The same for SVG. */
export const shape = (name, options = {}, ...children) =>
  fill(document.createElementNS("http://www.w3.org/2000/svg", name), options, children);

function fill(made, options, children) {
  for (const [name, value] of Object.entries(options)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

/** Announce something to screen readers. */
export function speak(words) {
  byId("spoken").textContent = words;
}

/** Show one line under an input, or hide it. */
export function showProblem(container, line) {
  container.textContent = line ?? "";
  container.hidden = !line;
}

/** Show what the service warns of, one line each. */
export function showWarnings(container, lines = []) {
  container.replaceChildren(...lines.map((line) => element("li", {}, line)));
  container.hidden = !lines.length;
}

/** While work is under way its button is marked busy; an error becomes a line. */
export async function busy(button, problem, work) {
  showProblem(problem);
  button.setAttribute("aria-busy", "true");
  try {
    await work();
  } catch (error) {
    showProblem(problem, error.message);
  } finally {
    button.removeAttribute("aria-busy");
  }
}
