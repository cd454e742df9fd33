// The second tab: a scrambled-sentence exercise, its verdict, and a sheet to print.
import { post } from "./api.js";
import { byId, element, showProblem } from "./element.js";
import { offerExamples } from "./examples.js";
import { save } from "./save.js";

const INSTRUCTION = "Put the sentences in the order in which they make sense. Write the number before each.";
let made;
let seed = 0;
let split = "sentences"; // "lines" once a change was made: a merged item holds several full stops

async function make() {
  const text = byId("paragraph").value;
  if (!text.trim()) return showProblem(byId("exercise-problem"), "There is no paragraph yet. Paste one or pick an example.");
  showProblem(byId("exercise-problem"));
  byId("make").setAttribute("aria-busy", "true");
  try {
    made = await post("exercise", { text, split, seed, margin: Number(byId("margin").value), mend: byId("mend").checked });
    show();
  } catch (error) {
    showProblem(byId("exercise-problem"), error.message);
  } finally {
    byId("make").removeAttribute("aria-busy");
  }
}

function show() {
  byId("again").disabled = false;
  byId("verdict-card").hidden = false;
  byId("sheet").hidden = false;
  byId("sheet-empty").hidden = true;
  const verdict = byId("verdict");
  verdict.classList.toggle("good", made.unambiguous);
  const changes = made.changes.length ? ` Changed: ${made.changes.join("; ")}.` : "";
  verdict.textContent = made.unambiguous
    ? `Yes. The right order leads every other by ${made.margin.toFixed(2)} of 1; the exercise is ${made.difficulty}.${changes}`
    : `No: ${made.reason}.${made.proposals.length ? " These changes would help:" : ""}`;
  byId("proposals").replaceChildren(...made.proposals.map(proposal));
  showSheet();
}

function proposal(one) {
  const places = one.sentences.map((place) => place + 1).join(" and ");
  const words = one.change === "drop" ? `Drop sentence ${places}` : `Merge sentences ${places}`;
  const use = () => {
    byId("paragraph").value = one.result.join("\n");
    split = "lines";
    make();
  };
  return element("div", { class: "proposal" },
    element("span", {}, words, element("small", {}, one.solves ? "makes it unambiguous" : `margin ${one.margin.toFixed(2)}`)),
    element("button", { type: "button", onclick: use }, "Do it"));
}

const title = () => byId("sheet-title").value.trim() || "Put the sentences in order";

function showSheet() {
  if (!made) return;
  const item = (text, place) => element("li", {}, element("span", { class: "blank" }), element("b", {}, `${made.labels[place]}.`), element("p", {}, text));
  const solved = (number, place) => element("li", {}, element("b", {}, `${place + 1}. (${made.labels[number]})`), element("p", {}, made.items[number]));
  byId("sheet-page").replaceChildren(
    element("h2", {}, title()),
    element("p", { class: "hint" }, `Difficulty: ${made.difficulty}`),
    element("p", {}, INSTRUCTION),
    element("ol", { class: "items" }, ...made.items.map(item)));
  byId("sheet-key").replaceChildren(
    element("h3", {}, `Answer key: ${key()}`),
    element("ol", { class: "items" }, ...made.solution.map(solved)));
}

const key = () => made.solution.map((number) => made.labels[number]).join(" ");

function asText() {
  const items = made.items.map((item, place) => `____  ${made.labels[place]}. ${item}`);
  return [title(), `Difficulty: ${made.difficulty}`, "", INSTRUCTION, "", ...items, "\f", `Answer key: ${key()}`, ""].join("\n");
}

/** Make the tab work. */
export function setUpExercise() {
  offerExamples(byId("exercise-examples"), false, (lines) => {
    byId("paragraph").value = lines.join(" ");
    split = "sentences";
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
  byId("paragraph").addEventListener("paste", () => (split = "sentences"));
  byId("sheet-title").addEventListener("input", showSheet);
  byId("print").addEventListener("click", () => print());
  byId("exercise-text").addEventListener("click", () => save("exercise.txt", "text/plain", asText()));
  byId("exercise-json").addEventListener("click", () =>
    save("exercise.json", "application/json", `${JSON.stringify({ title: title(), ...made }, null, 2)}\n`));
}
