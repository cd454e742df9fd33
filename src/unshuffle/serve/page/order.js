// The first tab: asks the service for an order and keeps list, graph, matrix and scores in step.
import { latest, post } from "./api.js";
import { byId, element, percent, showProblem, smallPercent } from "./element.js";
import { offerExamples } from "./examples.js";
import { drawGraph, nothingToDraw } from "./graph.js";
import { drawHeat } from "./heat.js";
import { Player } from "./player.js";
import { stepsOf } from "./rounds.js";
import { copy, save, standalone } from "./save.js";
import { SentenceList } from "./sentences.js";

let found; // the service's answer
let graph;
let steps = [];
let picture;
let best; // coherence of the model's order

const list = new SentenceList(byId("sentences"), () => rearranged());
const player = new Player((step) => {
  picture?.show(steps[step].links);
  byId("caption").textContent = steps[step].caption;
  return steps[step].caption;
});

const ask = latest(async (signal, asked) => {
  const ordering = await post("order", { ...asked, n_best: 5 }, signal);
  const drawn = await post("graph", { sentences: ordering.sentences }, signal);
  return { ordering, drawn };
});

const score = latest(async (signal, sentences) => {
  await new Promise((resolve) => setTimeout(resolve, 120)); // a key held down asks once
  if (signal.aborted) return undefined;
  return post("score", { sentences }, signal);
});

async function order() {
  const text = byId("text").value;
  // Said here and not by the service: an empty field is no request.
  if (!text.trim()) return showProblem(byId("problem"), "There is nothing to put in order yet. Paste some sentences or pick an example.");
  showProblem(byId("problem"));
  byId("order").setAttribute("aria-busy", "true");
  try {
    const answer = await ask({ text, split: byId("split").value });
    if (answer) await show(answer);
  } catch (error) {
    showProblem(byId("problem"), error.message);
  } finally {
    byId("order").removeAttribute("aria-busy");
  }
}

async function show({ ordering, drawn }) {
  found = ordering;
  graph = drawn;
  best = undefined;
  for (const id of ["result", "graph-body", "pairs-card", "others-card"]) byId(id).hidden = false;
  byId("welcome").hidden = true;
  byId("kept").hidden = !found.kept;
  byId("confidence-value").textContent = percent(found.confidence);
  byId("confidence-bar").style.width = `${100 * found.confidence}%`;
  list.load(found.sentences, found.order);
  if (innerWidth < 900) byId("result").scrollIntoView();
  showOrders();
  steps = stepsOf(found, graph);
  draw();
  player.load(steps.length);
  await rescore();
}

/** Whatever depends on the arrangement and needs no answer. */
export function draw() {
  if (!found || byId("panel-order").hidden) return;
  drawHeat(byId("heat"), { sentences: found.sentences, order: list.order, pairs: found.pairs });
  if (graph.links.length) picture = drawGraph(byId("graph"), { sentences: found.sentences, order: list.order, graph });
  else {
    picture = undefined;
    byId("graph").replaceChildren(nothingToDraw());
  }
  if (player.step !== undefined && player.step < steps.length) picture?.show(steps[player.step].links);
  byId("reset").disabled = same(list.order, found.order);
  for (const [number, item] of [...byId("orders").children].entries()) {
    item.firstChild.setAttribute("aria-pressed", String(same(found.n_best[number].order, list.order)));
  }
}

function rearranged() {
  draw();
  rescore().catch((error) => showProblem(byId("problem"), error.message));
}

function arrange(order) {
  list.load(found.sentences, order);
  rearranged();
}

async function rescore() {
  const order = [...list.order];
  const coherence = await score(order.map((sentence) => found.sentences[sentence]));
  if (!coherence || !same(order, list.order)) return;
  if (same(order, found.order)) best = coherence;
  byId("coherence-value").textContent = `${Math.round(coherence.percentile)} %`;
  byId("coherence-bar").style.width = `${coherence.percentile}%`;
  byId("coherence-hint").textContent = hint(coherence);
  list.showSteps(coherence.transitions);
  showAdvice(order, coherence.moves[0]);
}

function hint(coherence) {
  const share = coherence.percentile > 99.5 ? "almost every random order" : `${Math.round(coherence.percentile)} % of random orders`;
  const compared = `reads better than ${share}`;
  if (!best || same(list.order, found.order) || coherence.log_probability == null) return compared;
  const change = coherence.log_probability - best.log_probability;
  return `${compared}; log-probability ${change < 0 ? "−" : "+"}${Math.abs(change).toFixed(1)} against the model’s order`;
}

function showAdvice(order, move) {
  if (!move || !(move.gain > 0)) return byId("advice").replaceChildren();
  const sentence = order[move.sentence];
  byId("advice").replaceChildren(
    element("span", { class: "hint" }, `It would gain most by moving sentence ${sentence + 1} to place ${move.to + 1}.`),
    element("button", { type: "button", onclick: () => list.moveTo(sentence, move.to) }, "Move it"));
}

function showOrders() {
  const most = Math.max(...found.n_best.map((candidate) => candidate.probability), Number.MIN_VALUE);
  byId("orders").replaceChildren(...found.n_best.map((candidate) => {
    const bar = element("span", { class: "share" });
    bar.style.setProperty("--strength", `${(100 * candidate.probability) / most}%`);
    return element("li", {}, element("button", { type: "button", onclick: () => arrange(candidate.order) },
      element("span", { class: "steps" }, candidate.order.map((sentence) => sentence + 1).join(" ")), bar,
      element("span", { class: "percent" }, smallPercent(candidate.probability))));
  }));
  byId("why-title").hidden = !found.why.length;
  byId("why").replaceChildren(...found.why.slice(0, 5).map((reason) => element("p", { class: "hint" },
    `${reason.first + 1} before ${reason.second + 1} (${percent(reason.probability)})${reason.shared.length ? `: both mention ${reason.shared.join(", ")}` : ""}`)));
}

async function shuffle() {
  const text = byId("text").value;
  if (!text.trim()) return showProblem(byId("problem"), "There is nothing to shuffle yet. Paste some sentences or pick an example.");
  showProblem(byId("problem"));
  try {
    const { sentences } = await post("split", { text, split: byId("split").value });
    for (let last = sentences.length - 1; last > 0; last -= 1) {
      const other = Math.floor(Math.random() * (last + 1));
      [sentences[last], sentences[other]] = [sentences[other], sentences[last]];
    }
    fill(sentences);
  } catch (error) {
    showProblem(byId("problem"), error.message);
  }
}

function fill(lines) {
  byId("text").value = lines.join("\n");
  byId("split").value = "lines";
  showProblem(byId("problem"));
}

const same = (one, other) => one.length === other.length && one.every((value, place) => value === other[place]);
const text = () => list.order.map((sentence) => found.sentences[sentence]).join("\n");

/** Make the tab work. */
export function setUpOrder() {
  offerExamples(byId("examples"), true, (lines) => {
    fill(lines);
    order();
  });
  byId("order").addEventListener("click", order);
  byId("shuffle").addEventListener("click", shuffle);
  byId("text").addEventListener("keydown", (event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && order());
  byId("text").addEventListener("paste", () => (byId("split").value = "sentences"));
  byId("reset").addEventListener("click", () => arrange(found.order));
  byId("copy").addEventListener("click", async () => {
    await copy(text());
    byId("copy").textContent = "Copied";
    setTimeout(() => (byId("copy").textContent = "Copy"), 1500);
  });
  byId("save-text").addEventListener("click", () => save("ordered.txt", "text/plain", `${text()}\n`));
  byId("save-json").addEventListener("click", () =>
    save("ordered.json", "application/json", `${JSON.stringify({ ...found, arranged: list.order }, null, 2)}\n`));
  byId("save-svg").addEventListener("click", () => picture && save("graph.svg", "image/svg+xml", standalone(picture.drawing)));
  let width = 0;
  new ResizeObserver(([{ contentRect }]) => {
    if (Math.abs(contentRect.width - width) < 2) return;
    width = contentRect.width;
    draw();
  }).observe(byId("graph-card"));
}
