// The comparing tab: two orders of one text side by side.
import { post } from "./api.js";
import { busy, byId, element, showWarnings } from "./element.js";
import { offerExamples } from "./examples.js";
import { agreement, moved, same } from "./pairs.js";
import { SplitField } from "./splitting.js";
import { count, times } from "./words.js";

const AS_GIVEN = "given";
const MODEL = "model:"; // then the name of one of several models
const SIDES = ["left", "right"];
const field = new SplitField({ text: byId("compared"), choice: byId("compare-split"), outcome: byId("compare-outcome") }, () => markOld());
let of;

const compare = () => busy(byId("compare"), byId("compare-problem"), async () => {
  const { asked } = field;
  if (!asked.text.trim()) throw new Error("There is nothing to compare yet. Paste some sentences or pick an example.");
  const kinds = SIDES.map((side) => byId(`${side}-kind`).value);
  const orders = [];
  for (const kind of kinds) orders.push(await orderBy(kind, asked));
  of = state();
  show(orders);
});

async function orderBy(kind, asked) {
  if (kind.startsWith(MODEL)) return { of: kind, ...await post("order", { ...asked, model: kind.slice(MODEL.length), n_best: 1 }) };
  if (kind !== AS_GIVEN) return post("order", { ...asked, beam: Number(kind), n_best: 1 });
  const { sentences, warnings } = await post("split", asked);
  return { input: sentences, warnings, order: sentences.map((_, position) => position) };
}

function show(found) {
  const [left, right] = found;
  byId("compare-result").hidden = false;
  byId("compare-summary").textContent = summary(left, right);
  showWarnings(byId("compare-warnings"), left.warnings ?? right.warnings);
  const away = new Set(moved(left.order, right.order));
  SIDES.forEach((side, number) => {
    const { order, input } = found[number];
    const other = found[1 - number].order;
    byId(`${side}-name`).textContent = byId(`${side}-kind`).selectedOptions[0].textContent;
    byId(`${side}-list`).replaceChildren(...order.map((sentence, position) => {
      const there = other.indexOf(sentence) + 1;
      return element("li", { class: away.has(sentence) ? "elsewhere" : "" },
        element("p", { dir: "auto" }, input[sentence]),
        away.has(sentence) ? element("small", {}, there === position + 1 ? "same position, other neighbours" : `position ${there} on the other side`) : null);
    }));
  });
  markOld();
}

function summary(left, right) {
  if (same(left.order, right.order)) return "Both give the same order.";
  const [agreeing, all] = agreement(left.order, right.order);
  const away = moved(left.order, right.order).length;
  const known = left.log_probability != null && right.log_probability != null;
  const likelier = known && left.of === right.of // to one model, that is
    ? ` To the model, the right one is ${times(right.log_probability - left.log_probability)} the left one.` : "";
  return `${count(away, "move")} ${away === 1 ? "turns" : "turn"} one into the other; ${agreeing} of ${count(all, "pair")} stand the same way round.${likelier}`;
}

const state = () => JSON.stringify([field.asked, ...SIDES.map((side) => byId(`${side}-kind`).value)]);

function markOld() {
  const old = Boolean(of) && state() !== of;
  byId("compare-old").hidden = !old;
  byId("compare-result").classList.toggle("stale", old);
}

/** Offer what the server has: several models, or one whose searches are compared. */
export function showModels(names) {
  const [first, ...others] = names;
  if (!others.length) {
    byId("compare-model").textContent = `This server has one model (${first}), so you can compare the text as given with its order, or a narrow search with a wide one.`;
    return;
  }
  byId("compare-model").textContent = `This server has ${count(names.length, "model")}: hold them against each other or against the text as given. Search widths are those of ${first}.`;
  SIDES.forEach((side, number) => {
    byId(`${side}-kind`).append(...names.map((name) => element("option", { value: MODEL + name }, name)));
    byId(`${side}-kind`).value = MODEL + names[number];
  });
}

/** Make the tab work. */
export function setUpCompare() {
  offerExamples(byId("compare-examples"), ({ sentences, shown }) => {
    field.fill(shown.map((number) => sentences[number]).join("\n"), "lines");
    compare();
  });
  byId("compare").addEventListener("click", compare);
  for (const side of SIDES) byId(`${side}-kind`).addEventListener("change", markOld);
}
