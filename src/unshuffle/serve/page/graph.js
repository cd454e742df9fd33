// Draws the sentence-entity graph: links as arcs on the left, sentences in reading order, entities on the right.
import { shape } from "./element.js";
import { percent, rightToLeft } from "./words.js";

const ROW = 52;
const LOW_ROW = 38; // where there are many
const MANY_LINKS = 30;
const MOST_ENTITIES = 16;
const NODE = 13;
const LINE = 16;

/**
 * Draw into a container and give back { show(step), drawing }.
 * `order`: input indices from top to bottom; `labels`: their numbers; `graph`: as the service answers; `pairs`: to be drawn.
 */
export function drawGraph(container, { sentences, order, labels, graph, pairs }) {
  const width = Math.max(300, Math.floor(container.clientWidth));
  const wide = width >= 520;
  const entities = chosen(graph);
  const rowHeight = order.length > 12 ? LOW_ROW : ROW;
  const height = Math.max(order.length * rowHeight, entities.length * 24) + 16;
  const arcs = Math.min(width * (wide ? 0.24 : 0.34), 46 + order.length * 15);
  const node = arcs + NODE + 6;
  const entityX = entities.length ? width - (wide ? 104 : 92) : width;
  const textOnly = !entities.length;
  const mentionX = textOnly ? width : wide ? node + (entityX - node) * 0.6 : node + NODE + 3;
  const row = Object.fromEntries(order.map((sentence, at) => [sentence, ((at + 0.5) * height) / order.length]));

  const drawing = shape("svg", {
    viewBox: `0 0 ${width} ${height}`, width, height, role: "group", class: "graph",
    "aria-label": `Graph of ${sentences.length} sentences, ${graph.entities.length} entities and ${pairs.length} pairs`,
  });
  const linkLayer = shape("g");
  drawing.append(
    linkLayer,
    mentions(graph, entities, row, labels, { entityX, mentionX, height }),
    ...order.map((sentence) => sentenceNode(sentences[sentence], sentence, labels[sentence], row[sentence], { node, withText: wide || textOnly })),
  );
  highlightOnHover(drawing);
  container.replaceChildren(drawing);
  for (const start of drawing.querySelectorAll(".start")) wrap(start, mentionX - node - NODE - 16, rowHeight === ROW ? 2 : 1);
  const ends = endPoints(pairs, row, rowHeight);
  const crowd = Math.min(1, MANY_LINKS / pairs.length); // many links are drawn finer, so that each can be seen
  const drawn = pairs.map(([first, second]) => link(linkLayer, first, second));

  /** Show a step of the story: `links` maps "i,j" to { weight, open }; `read`, `now` and `rival` are sentences. */
  function show({ links: weights, read = [], now, rival }) {
    for (const sentence of order) {
      const node = drawing.querySelector(`.node.s${sentence}`);
      node.classList.toggle("read", read.includes(sentence));
      node.classList.toggle("now", sentence === now);
      node.classList.toggle("rival", sentence === rival);
    }
    const longest = Math.max(1, order.length - 1);
    drawn.forEach(({ first, second, group, line, head, title }) => {
      const { weight, open } = weights[`${first},${second}`] ?? { weight: 0.5, open: true };
      const [from, to] = weight >= 0.5 ? [first, second] : [second, first];
      const strength = Math.abs(weight - 0.5) * 2;
      const start = ends[`${from}>${to}`];
      const end = ends[`${to}>${from}`];
      const rows = Math.abs(order.indexOf(first) - order.indexOf(second));
      const bulge = arcs * (0.3 + (0.7 * rows) / longest) * 1.2;
      const x = arcs;
      const aside = now !== undefined && now !== first && now !== second;
      group.setAttribute("class", `pair s${first} s${second}${aside ? " aside" : ""} ${open ? "open" : row[from] < row[to] ? "ahead" : "against"}`);
      line.setAttribute("d", `M${x} ${start}C${x - bulge} ${start} ${x - bulge} ${end} ${x - 5} ${end}`);
      line.setAttribute("stroke-width", ((open ? 1.2 : 1 + 1.6 * strength) * (0.4 + 0.6 * crowd)).toFixed(2));
      line.setAttribute("stroke-opacity", ((open ? 0.75 : 0.3 + 0.7 * strength) * (0.3 + 0.7 * crowd)).toFixed(2));
      head.setAttribute("d", `M${x + 2} ${end}l-8 -3.8v7.6z`);
      head.setAttribute("fill-opacity", open ? 0 : ((0.45 + 0.55 * strength) * (0.2 + 0.8 * crowd)).toFixed(2));
      title.textContent = open
        ? `${labels[first]} and ${labels[second]}: undecided`
        : `${labels[from]} before ${labels[to]}: ${percent(Math.max(weight, 1 - weight))}`;
    });
  }
  return { show, drawing };
}

/** The entities to show: those that most sentences mention. */
function chosen(graph) {
  const mentioned = graph.entities.map((word, entity) => ({
    entity, word, times: graph.mentions.filter((mention) => mention[0] === entity).length,
  }));
  return mentioned.sort((one, other) => other.times - one.times).slice(0, MOST_ENTITIES);
}

function mentions(graph, entities, row, labels, { entityX, mentionX, height }) {
  const shown = entities.map(({ entity, word }) => {
    const own = graph.mentions.filter((mention) => mention[0] === entity);
    return { word, own, wanted: own.reduce((sum, mention) => sum + row[mention[1]], 0) / (own.length || 1) };
  });
  shown.sort((one, other) => one.wanted - other.wanted);
  const layer = shape("g");
  spread(shown.map((entity) => entity.wanted), 24, height).forEach((y, number) => {
    const { word, own } = shown[number];
    const group = shape("g", { class: `entity ${own.map((mention) => `s${mention[1]}`).join(" ")}` });
    for (const [, sentence, role] of own) {
      const middle = (mentionX + entityX) / 2;
      group.append(shape("path", {
        class: `mention ${role} s${sentence}`,
        d: `M${mentionX} ${row[sentence]}C${middle} ${row[sentence]} ${middle} ${y} ${entityX - 5} ${y}`,
      }, shape("title", {}, `${word}: ${role} in ${labels[sentence]}`)));
    }
    group.append(
      shape("circle", { class: "dot", cx: entityX, cy: y, r: 4.5 }),
      shape("text", { class: "word", x: entityX + 10, y: y + 4.5 }, word.length > 13 ? `${word.slice(0, 12)}…` : word),
    );
    layer.append(group);
  });
  return layer;
}

/** Heights as near as possible to those wanted, at least `gap` apart, within the height. */
function spread(wanted, gap, height) {
  const heights = [];
  wanted.forEach((y, number) => heights.push(Math.max(y, number ? heights[number - 1] + gap : gap / 2)));
  for (let number = heights.length - 1; number >= 0; number -= 1) {
    const most = number === heights.length - 1 ? height - gap / 2 : heights[number + 1] - gap;
    heights[number] = Math.min(heights[number], most);
  }
  return heights;
}

function sentenceNode(text, sentence, label, y, { node, withText }) {
  const mirrored = rightToLeft(text) ? { direction: "rtl", "text-anchor": "end" } : {};
  return shape("g", { class: `node s${sentence}`, tabindex: 0, role: "img", "aria-label": `${label}: ${text}` },
    shape("title", {}, text),
    shape("circle", { cx: node, cy: y, r: NODE }),
    shape("text", { class: "number", x: node, y: y + 4.5, "text-anchor": "middle" }, String(label)),
    withText ? shape("text", { class: "start", x: node + NODE + 8, y: y + 4.5, ...mirrored }, text) : null);
}

/** Break a text element's words into lines no wider than this; what does not fit into the last one is cut. */
function wrap(start, most, lines) {
  const words = start.textContent.split(/\s+/u);
  const [x, y] = [Number(start.getAttribute("x")), Number(start.getAttribute("y"))];
  const spans = [];
  start.replaceChildren();
  while (words.length && spans.length < lines) {
    const span = shape("tspan", { x });
    start.append(span);
    spans.push(span);
    const fits = (text) => ((span.textContent = text), span.getComputedTextLength() <= most);
    const more = (taken) => (spans.length === lines && taken < words.length ? "…" : "");
    let taken = words.length;
    while (taken > 1 && !fits(words.slice(0, taken).join(" ") + more(taken))) taken -= 1;
    const end = more(taken);
    let line = words.splice(0, taken).join(" ");
    while (line && !fits(line + end)) line = line.slice(0, -1); // a single word may be too long
  }
  spans.forEach((span, number) => span.setAttribute("y", y + (number - (spans.length - 1) / 2) * LINE));
}

/** Where each link meets each of its sentences: side by side, sorted by where the other end lies. */
function endPoints(links, row, rowHeight) {
  const others = {};
  for (const [first, second] of links) {
    (others[first] ??= []).push(second);
    (others[second] ??= []).push(first);
  }
  const ends = {};
  for (const [sentence, ones] of Object.entries(others)) {
    const lowestFirst = [...ones].sort((one, other) => row[other] - row[one]);
    const above = lowestFirst.filter((other) => row[other] < row[sentence]);
    const below = lowestFirst.filter((other) => row[other] > row[sentence]);
    const gap = Math.min(5, (rowHeight - 14) / Math.max(1, ones.length));
    // From both sides the longest arcs come to the middle, so that arcs do not cross at the node.
    [...above, ...below].forEach((other, at) => {
      ends[`${sentence}>${other}`] = row[sentence] + (at - (ones.length - 1) / 2) * gap;
    });
  }
  return ends;
}

function link(layer, first, second) {
  const title = shape("title");
  const line = shape("path", { class: "link" });
  const head = shape("path", { class: "head" });
  const group = shape("g", {}, title, line, head);
  layer.append(group);
  return { first, second, group, line, head, title };
}

/** Looking at a sentence dims what does not concern it. */
function highlightOnHover(drawing) {
  const look = (event) => {
    const node = event.target.closest?.(".node");
    const own = node && [...node.classList].find((name) => /^s\d+$/.test(name));
    drawing.classList.toggle("looking", Boolean(own));
    for (const part of drawing.querySelectorAll(".pair, .mention, .entity, .node")) {
      part.classList.toggle("near", Boolean(own) && part.classList.contains(own));
    }
  };
  for (const event of ["mouseover", "focusin", "mouseleave", "focusout"]) drawing.addEventListener(event, look);
}
