// The first tab: asks the service for an order and keeps headline, list, graph and matrix in step.
import { latest, post } from "./api.js";
import { cuesOf } from "./cues.js";
import { busy, byId, showProblem, showWarnings } from "./element.js";
import { offerExamples } from "./examples.js";
import { linkTo } from "./fragment.js";
import { drawGraph } from "./graph.js";
import { drawHeat } from "./heat.js";
import { markOthers, showOthers } from "./others.js";
import { chances, same } from "./pairs.js";
import { Player } from "./player.js";
import { copy, save, standalone } from "./save.js";
import { SentenceList } from "./sentences.js";
import { SplitField } from "./splitting.js";
import { drawnPairs, storyOf } from "./story.js";
import { showAdvice, showYours } from "./yours.js";

const NO_GRAPH = { entities: [], mentions: [], links: [] };
const LONG_LINK = 2000; // some mail programs cut what is longer

let found; // the service's answer
let of; // what was asked
let graph;
let chance;
let cues;
let labels; // by which the page calls each sentence: its position in the model's order
let steps = [];
let pairs = [];
let picture;

const list = new SentenceList(byId("sentences"), () => rearranged());
const field = new SplitField({ text: byId("text"), choice: byId("split"), outcome: byId("outcome") }, () => markOld());
const player = new Player((step) => {
  showStep(step);
  byId("caption").textContent = steps[step].caption;
  return steps[step].caption;
});

const ask = latest(async (signal, asked) => {
  const ordering = await post("order", { ...asked, n_best: 5 }, signal);
  const drawn = await post("graph", { sentences: ordering.input }, signal).catch((error) => {
    if (signal.aborted) throw error;
    return NO_GRAPH; // a server may be without a parser; the order is there all the same
  });
  return { ordering, drawn };
});

const score = latest(async (signal, sentences) => {
  await new Promise((resolve) => setTimeout(resolve, 120)); // a key held down asks once
  if (signal.aborted) return undefined;
  return post("score", { sentences }, signal);
});

const order = () => busy(byId("order"), byId("problem"), async () => {
  // Checked here and not by the service: an empty field is no request.
  if (!byId("text").value.trim()) throw new Error("There is nothing to put in order yet. Paste some sentences or pick an example.");
  const { asked } = field;
  const answer = await ask(asked);
  if (!answer) return;
  of = asked;
  show(answer);
});

function show({ ordering, drawn }) {
  found = ordering;
  graph = drawn;
  chance = chances(found.pairs);
  cues = cuesOf(found.input, graph);
  labels = [];
  found.order.forEach((sentence, position) => (labels[sentence] = position + 1));
  for (const id of ["result", "graph-body", "pairs-card", "others-card"]) byId(id).hidden = false;
  byId("welcome").hidden = true;
  showWarnings(byId("warnings"), found.warnings);
  markOld();
  list.load(found.input, found.order, labels);
  showOthers(found, labels, arrange);
  pairs = drawnPairs(found, graph);
  steps = storyOf(found, pairs);
  draw();
  player.load(steps.length);
  if (innerWidth < 900) byId("result").scrollIntoView();
}

/** Whatever depends on the arrangement and needs no answer. */
export function draw() {
  if (!found || byId("panel-order").hidden) return;
  const own = same(list.order, found.order);
  if (own) showHeadline();
  list.showSteps(cues, chance, found);
  drawHeat(byId("heat"), { sentences: found.input, order: list.order, labels, chance });
  picture = drawGraph(byId("graph"), { sentences: found.input, order: list.order, labels, graph, pairs });
  if (player.step !== undefined && player.step < steps.length) showStep(player.step);
  byId("reset").disabled = own;
  markOthers(found.n_best, list.order);
}

/** Draw a step of the story; the legend lists what is to be seen in it. */
function showStep(step) {
  if (!picture) return;
  picture.show(steps[step]);
  for (const entry of document.querySelectorAll(".legend li")) entry.hidden = !picture.drawing.querySelector(entry.dataset.of);
}

function showHeadline() {
  const { level, line, detail } = found.headline;
  byId("headline").textContent = line;
  byId("headline").dataset.level = level;
  byId("detail").textContent = detail;
  showAdvice();
}

/** An order that is no longer that of the text above it is marked so. */
function markOld() {
  const { text, split } = field.asked;
  const old = Boolean(found) && (text !== of.text || split !== of.split);
  byId("old").hidden = !old;
  byId("result").classList.toggle("stale", old);
}

function rearranged() {
  draw();
  if (same(list.order, found.order)) return;
  rescore().catch((error) => showProblem(byId("problem"), error.message));
}

function arrange(order) {
  list.load(found.input, order, labels);
  rearranged();
}

async function rescore() {
  const order = [...list.order];
  const coherence = await score(order.map((sentence) => found.input[sentence]));
  if (!coherence || !same(order, list.order)) return;
  showYours(coherence, found);
  showAdvice(coherence.moves[0], labels[order[coherence.moves[0]?.sentence]], (to) => list.moveTo(order[coherence.moves[0].sentence], to));
}

const shuffle = () => busy(byId("shuffle"), byId("problem"), async () => {
  if (!byId("text").value.trim()) throw new Error("There is nothing to shuffle yet. Paste some sentences or pick an example.");
  const { sentences } = await post("split", field.asked);
  for (let last = sentences.length - 1; last > 0; last -= 1) {
    const other = Math.floor(Math.random() * (last + 1));
    [sentences[last], sentences[other]] = [sentences[other], sentences[last]];
  }
  field.fill(sentences.join("\n"), "lines");
});

/** Fill in a text, for instance from a link, and order it. */
export function fillOrder(text, split = "auto") {
  byId("example-note").hidden = true;
  field.fill(text, split);
  order();
}

async function shareLink() {
  const link = linkTo("order", byId("text").value, byId("split").value);
  await copy(link);
  byId("link-hint").hidden = false;
  byId("link-hint").textContent = "Link copied. It holds your text after the “#”, a part that browsers do not send."
    + (link.length > LONG_LINK ? ` It is long (${link.length} characters): some mail programs cut such links.` : "");
}

const text = () => list.order.map((sentence) => found.input[sentence]).join("\n");

/** Make the tab work. */
export function setUpOrder() {
  offerExamples(byId("examples"), ({ sentences, shown, note }) => {
    fillOrder(shown.map((number) => sentences[number]).join("\n"), "lines");
    byId("example-note").textContent = note ?? "";
    byId("example-note").hidden = !note;
  });
  byId("order").addEventListener("click", order);
  byId("again-order").addEventListener("click", order);
  byId("shuffle").addEventListener("click", shuffle);
  byId("link").addEventListener("click", shareLink);
  byId("text").addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && order());
  byId("text").addEventListener("input", () => (byId("example-note").hidden = true));
  byId("reset").addEventListener("click", () => arrange(found.order));
  byId("copy").addEventListener("click", async () => {
    await copy(text());
    byId("copy").textContent = "Copied";
    setTimeout(() => (byId("copy").textContent = "Copy"), 1500);
  });
  byId("save-text").addEventListener("click", () => save("ordered.txt", "text/plain", `${text()}\n`));
  byId("save-json").addEventListener("click", () =>
    save("ordered.json", "application/json", `${JSON.stringify({ ...found, arranged: list.order }, null, 2)}\n`));
  byId("save-svg").addEventListener("click", () => save("graph.svg", "image/svg+xml", standalone(picture.drawing)));
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) < 2) return;
    width = contentRect.width;
    draw();
  }).observe(byId("graph-card"));
}
