// What the model makes of an arrangement that the reader chose.
import { byId, element } from "./element.js";
import { times } from "./words.js";

/** The headline for the reader's own arrangement, held against the model's order. */
export function showYours(coherence, { n_best: [best] }) {
  const line = byId("headline");
  line.dataset.level = "fair";
  byId("detail").textContent = "The flagged steps are those of your arrangement.";
  if (coherence.log_probability == null || best.log_probability == null) {
    line.textContent = "Your arrangement: the model finds it hardly possible";
    return;
  }
  const change = coherence.log_probability - best.log_probability;
  line.textContent = `Your arrangement: to the model it is ${times(change)} its own`;
}

/** Offer the move that helps most, or nothing. */
export function showAdvice(move, label, take) {
  if (!move || !(move.gain > 0)) return byId("advice").replaceChildren();
  byId("advice").replaceChildren(
    element("span", { class: "hint" }, `What would help most: sentence ${label} at position ${move.to + 1}.`),
    element("button", { type: "button", onclick: () => take(move.to) }, "Move it"));
}
