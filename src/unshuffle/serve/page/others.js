// The best orders, each told by how it differs from the first, and the pairs that speak for it.
import { byId, element } from "./element.js";
import { moved, same } from "./pairs.js";
import { listed, percent, quote, smallPercent } from "./words.js";

const MOST_MOVES = 2;

/** Fill the list; `choose(order)` is called for the one that is pressed. */
export function showOthers({ n_best: orders, input: sentences, why }, labels, choose) {
  const most = orders[0].log_probability; // long documents' probabilities are too small for numbers, their shares are not
  byId("orders").replaceChildren(...orders.map((candidate) => {
    const bar = element("span", { class: "share" });
    bar.style.setProperty("--strength", `${100 * Math.exp(candidate.log_probability - most)}%`);
    const away = moved(orders[0].order, candidate.order);
    return element("li", {}, element("button", { type: "button", onclick: () => choose(candidate.order) },
      element("span", { class: "steps" }, ...numbers(candidate.order, labels, away)), bar,
      element("span", { class: "percent" }, smallPercent(candidate.probability)),
      element("span", { class: "difference" }, difference(orders[0].order, candidate.order, away, sentences))));
  }));
  byId("why-title").hidden = !why.length;
  byId("why").replaceChildren(...why.slice(0, 5).map((reason) => element("li", {},
    `${quote(sentences[reason.first])} before ${quote(sentences[reason.second])}: ${percent(reason.probability)}`,
    reason.shared.length ? `; both mention ${listed(reason.shared)}` : "")));
}

/** Mark the one that is shown. */
export function markOthers(orders, shown) {
  [...byId("orders").children].forEach((item, number) =>
    item.firstChild.setAttribute("aria-pressed", String(same(orders[number].order, shown))));
}

const numbers = (order, labels, away) => order.flatMap((sentence) => [
  element(away.includes(sentence) ? "b" : "span", {}, String(labels[sentence])), " "]);

function difference(from, to, away, sentences) {
  if (!away.length) return "the order the model likes best";
  const moves = away.slice(0, MOST_MOVES).map((sentence) =>
    `${quote(sentences[sentence])} ${to.indexOf(sentence) < from.indexOf(sentence) ? "earlier" : "later"}`);
  const rest = away.length - moves.length;
  return listed(rest ? [...moves, `${rest} more`] : moves);
}
