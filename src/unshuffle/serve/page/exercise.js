// The teacher's tab: a scrambled-sentence exercise, its verdict, and a sheet to print.
import { post } from "./api.js";
import { busy, byId, element, showWarnings } from "./element.js";
import { offerExamples } from "./examples.js";
import { save } from "./save.js";
import { guessSplit } from "./splitting.js";

const INSTRUCTION = "Put the sentences in the order in which they make sense. "
  + "Write 1 on the line before the sentence that comes first, 2 before the next, and so on.";
const FORMATS = { pdf: "PDF", docx: "Word" };
let made;
let of; // what it was made of
let seed = 0;
let taken = []; // the items of the proposal that was taken last

const make = () => busy(byId("make"), byId("exercise-problem"), async () => {
  const text = byId("paragraph").value;
  if (!text.trim()) throw new Error("There is no paragraph yet. Paste one or pick an example.");
  const asked = { text, split: splitOf(text), seed, margin: Number(byId("margin").value), mend: byId("mend").checked };
  made = await post("exercise", asked);
  of = asked;
  show();
});

/** At lines as long as some of them are items that were taken: a merged one holds several full stops. */
function splitOf(text) {
  const lines = text.split("\n");
  return taken.some((item) => lines.includes(item)) ? "lines" : guessSplit(text);
}

function markOld() {
  byId("exercise-old").hidden = !made || byId("paragraph").value === of.text;
}

function show() {
  markOld();
  byId("again").disabled = false;
  byId("verdict-card").hidden = false;
  byId("sheet").hidden = false;
  byId("sheet-empty").hidden = true;
  const verdict = byId("verdict");
  verdict.classList.toggle("good", made.unambiguous);
  const changes = made.changes.length ? ` ${made.changes.join(". ")}.` : "";
  verdict.textContent = made.unambiguous
    ? `Yes. The right order has a lead of ${made.margin.toFixed(2)} (of at most 1) over every other. The exercise is ${made.difficulty}.${changes}`
    : `No: ${made.reason}.${made.proposals.length ? " These changes would help:" : ""}`;
  byId("rival").textContent = made.rival?.why ?? "";
  byId("rival").hidden = !made.rival;
  showWarnings(byId("exercise-warnings"), made.warnings);
  byId("proposals").replaceChildren(...made.proposals.map(proposal));
  showSheet();
}

function proposal(one) {
  const positions = one.sentences.map((position) => position + 1).join(" and ");
  const words = one.change === "drop" ? `Drop sentence ${positions}` : `Merge sentences ${positions}`;
  const use = () => {
    taken = one.result;
    byId("paragraph").value = taken.join("\n");
    make();
  };
  return element("div", { class: "proposal" },
    element("span", {}, words, element("small", {}, one.solves ? "makes it unambiguous" : `margin ${one.margin.toFixed(2)}`)),
    element("button", { type: "button", onclick: use }, "Do it"));
}

const title = () => byId("sheet-title").value.trim() || "Put the sentences in order";

function showSheet() {
  if (!made) return;
  const item = (text, position) => element("li", {}, element("span", { class: "blank" }), element("b", {}, `${made.labels[position]}.`), element("p", { dir: "auto" }, text));
  const solved = (number, position) => element("li", {}, element("b", {}, `${position + 1}. (${made.labels[number]})`), element("p", { dir: "auto" }, made.items[number]));
  byId("sheet-page").replaceChildren(
    element("h2", {}, title()),
    element("p", { class: "who" }, element("span", {}, "Name"), element("span", {}, "Date")),
    element("p", {}, INSTRUCTION),
    element("ol", { class: "items" }, ...made.items.map(item)));
  byId("sheet-key").replaceChildren(
    element("h3", {}, `Answer key: ${key()}`),
    element("ol", { class: "items" }, ...made.solution.map(solved)));
}

const key = () => made.solution.map((number) => made.labels[number]).join(" ");

function asText() {
  const items = made.items.map((item, position) => `____  ${made.labels[position]}. ${item}`);
  return [title(), "", "Name: ____________________   Date: ____________", "", INSTRUCTION, "", ...items, "\f", `Answer key: ${key()}`, ""].join("\n");
}

/** Offer the files that the service can write. */
export function showFormats(formats) {
  byId("exercise-files").prepend(...formats.map((format) => {
    const name = FORMATS[format] ?? format;
    const button = element("button", { type: "button", id: `exercise-${format}`, title: `Download as ${name}` }, name);
    button.addEventListener("click", () => busy(button, byId("exercise-problem"), async () => {
      const file = await post("exercise/file", { ...of, format, title: title() }, undefined, "blob");
      save(`exercise.${format}`, file.type, file);
    }));
    return button;
  }));
}

/** Make the tab work. */
export function setUpExercise() {
  offerExamples(byId("exercise-examples"), ({ sentences }) => {
    byId("paragraph").value = sentences.join(" ");
    make();
  });
  byId("make").addEventListener("click", () => {
    seed = 0;
    make();
  });
  byId("again").addEventListener("click", () => {
    seed += 1;
    make();
  });
  byId("paragraph").addEventListener("input", markOld);
  byId("sheet-title").addEventListener("input", showSheet);
  byId("print").addEventListener("click", () => print());
  byId("exercise-text").addEventListener("click", () => save("exercise.txt", "text/plain", asText()));
  byId("exercise-json").addEventListener("click", () =>
    save("exercise.json", "application/json", `${JSON.stringify({ title: title(), ...made }, null, 2)}\n`));
}
