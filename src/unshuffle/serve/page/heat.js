// The pairwise matrix as a heat map.
import { element } from "./element.js";
import { percent } from "./words.js";

const MOST_WITH_NUMBERS = 14;
const DEEPEST = 40; // percent of colour at which the numbers can still be read in light and dark

/** Fill a table: rows and columns in reading order, cells the chance that the row comes before the column. */
export function drawHeat(table, { sentences, order, labels, chance }) {
  table.classList.toggle("dense", order.length > MOST_WITH_NUMBERS);
  const heads = order.map((sentence) => element("th", { scope: "col", title: sentences[sentence] }, String(labels[sentence])));
  const rows = order.map((first, position) =>
    element("tr", {},
      element("th", { scope: "row", title: sentences[first] }, String(labels[first])),
      ...order.map((second, column) => cell(labels[first], labels[second], chance(first, second), column < position))));
  table.replaceChildren(
    element("thead", {}, element("tr", {}, element("td", {}), ...heads)),
    element("tbody", {}, ...rows));
}

/** Coloured by whether the pair stands as the model has it; the lower half only mirrors the upper and is paler. */
function cell(first, second, probability, mirrored) {
  if (first === second) return element("td", { class: "self" });
  const strength = Math.abs(probability - 0.5) * 2;
  const made = element("td", {
    class: `${probability >= 0.5 === mirrored ? "against" : "sure"}${mirrored ? " mirrored" : ""}`,
    title: `${first} before ${second}: ${percent(probability)}`,
  }, probability > 0.99 ? ">99" : probability < 0.01 ? "<1" : String(Math.round(100 * probability)));
  made.style.setProperty("--strength", `${Math.round(strength * DEEPEST)}%`);
  return made;
}
