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

/** Say something to those who do not see the page. */
export function speak(words) {
  byId("spoken").textContent = words;
}

/** 0.873 -> "87 %" */
export const percent = (share) => `${Math.round(100 * share)} %`;

/** 0.0034 -> "0.3 %": of all orders even the best may have little. */
export function smallPercent(share) {
  if (share >= 0.0995) return percent(share);
  return share < 0.0005 ? "< 0.1 %" : `${(100 * share).toFixed(1)} %`;
}

/** Show one line under an input, or take it away. */
export function showProblem(place, line) {
  place.textContent = line ?? "";
  place.hidden = !line;
}
